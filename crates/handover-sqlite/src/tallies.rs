//! Tallies of use: kept up to date whenever the use of an item is recorded, and derived from receipts when a store is
//! filled or repaired.

use handover_model::learn::{UseTallies, UseTally};
use handover_model::{ItemKind, ProjectId, Timestamp, Use};
use handover_store::rows::{Columns, Row};
use handover_store::{AllTallies, JudgedItem, Result, WHOLE_KIND, tally_change};
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

/// Counts what became of an item of a receipt that was made `at` a time.
pub(crate) fn count(
    tx: &Connection,
    project: &str,
    (kind, item): (ItemKind, &str),
    before: Option<Use>,
    now: Use,
    at: Timestamp,
) -> Result<()> {
    if !UseTally::counts(kind) {
        return Ok(());
    }
    let Some((used, judged)) = tally_change(before, now) else { return Ok(()) };
    for item in [WHOLE_KIND, item] {
        let mut tally = get(tx, project, kind, item)?.unwrap_or_default();
        tally.add(used, judged, at);
        put(tx, project, kind, item, &tally)?;
    }
    Ok(())
}

/// Derives all tallies from the receipts, whatever they are now.
pub(crate) fn rebuild(tx: &Connection) -> Result<()> {
    query::execute(tx, "DELETE FROM item_use", [])?;
    let sql = "SELECT s.project, i.kind, i.item, i.used, r.created_at FROM receipt_item i
        JOIN receipt r ON r.id = i.receipt JOIN session s ON s.key = r.session
        WHERE i.used IS NOT NULL ORDER BY r.created_at, r.id, i.position";
    let mut all = AllTallies::default();
    for judged in query::all(tx, sql, [], judged)? {
        all.count(judged);
    }
    for (project, kind, item, tally) in all.iter() {
        put(tx, project, kind, item, tally)?;
    }
    Ok(())
}

fn judged(row: &dyn Row) -> Result<JudgedItem> {
    let mut columns = Columns::of(row);
    Ok(JudgedItem {
        project: columns.text()?,
        kind: columns.parsed()?,
        item: columns.text()?,
        used: columns.parsed()?,
        at: columns.time()?,
    })
}
