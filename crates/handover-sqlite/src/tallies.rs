//! Tallies of use: kept up to date whenever the use of an item is recorded, and derived from receipts when a store is
//! filled or repaired.

use handover_model::learn::{UseTallies, UseTally};
use handover_model::{ItemKind, ProjectId};
use handover_store::rows::{Columns, Row};
use handover_store::{JudgedItem, Result, Tallies, WHOLE_KIND};
use rusqlite::Connection;

use crate::{query, sums};

fn get(
    connection: &Connection,
    project: &str,
    kind: ItemKind,
    item: &str,
) -> Result<Option<UseTally>> {
    let intact = sums::intact("item_use", "item_use");
    let sql = format!(
        "SELECT used, judged, at, {intact} FROM item_use WHERE project = ?1 AND kind = ?2 AND item = ?3"
    );
    query::record(connection, &sql, (project, kind.as_str(), item), |row| {
        let mut columns = Columns::of(row);
        Ok(UseTally { used: columns.real()?, judged: columns.real()?, at: columns.time()? })
    })
}

fn put(tx: &Connection, project: &str, kind: ItemKind, item: &str, tally: &UseTally) -> Result<()> {
    let sql = "INSERT OR REPLACE INTO item_use (project, kind, item, used, judged, at)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let UseTally { used, judged, at } = tally;
    query::execute(tx, sql, (project, kind.as_str(), item, used, judged, at.as_micros()))?;
    Ok(())
}

/// The tallies of some items and of their kind. Without one of the kind there are none.
pub(crate) fn of(
    connection: &Connection,
    project: &ProjectId,
    kind: ItemKind,
    items: &[String],
) -> Result<UseTallies> {
    let Some(of_kind) = get(connection, project.as_str(), kind, WHOLE_KIND)? else {
        return Ok(UseTallies { of_kind: None, items: vec![None; items.len()] });
    };
    let items = items.iter().map(|item| get(connection, project.as_str(), kind, item));
    Ok(UseTallies { of_kind: Some(of_kind), items: items.collect::<Result<_>>()? })
}

/// Counts what became of items of a receipt.
pub(crate) fn count(tx: &Connection, judged: &[JudgedItem]) -> Result<()> {
    let mut changed = Tallies::default();
    for one in judged {
        changed.count(one, |item| get(tx, &one.project, one.kind, item))?;
    }
    put_all(tx, &changed)
}

fn put_all(tx: &Connection, tallies: &Tallies) -> Result<()> {
    tallies.iter().try_for_each(|(project, kind, item, tally)| put(tx, project, kind, item, tally))
}

/// Derives all tallies from the receipts, whatever they are now.
pub(crate) fn rebuild(tx: &Connection) -> Result<()> {
    query::execute(tx, "DELETE FROM item_use", [])?;
    let sql = "SELECT s.project, i.kind, i.item, i.used, r.created_at FROM receipt_item i
        JOIN receipt r ON r.id = i.receipt JOIN session s ON s.key = r.session
        WHERE i.used IS NOT NULL ORDER BY r.created_at, r.id, i.position";
    let mut all = Tallies::default();
    for judged in query::all(tx, sql, [], judged)? {
        all.count(&judged, |_| Ok(None))?;
    }
    put_all(tx, &all)
}

fn judged(row: &dyn Row) -> Result<JudgedItem> {
    let mut columns = Columns::of(row);
    Ok(JudgedItem {
        project: columns.text()?,
        kind: columns.parsed()?,
        item: columns.text()?,
        before: None,
        used: columns.parsed()?,
        at: columns.time()?,
    })
}
