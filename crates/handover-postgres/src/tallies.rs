//! Tallies of use: kept up to date whenever the use of an item is recorded, and derived from receipts when a project is
//! filled.

use handover_model::learn::{UseTallies, UseTally};
use handover_model::{ItemKind, ProjectId};
use handover_store::rows::Columns;
use handover_store::{JudgedItem, Result, Tallies, WHOLE_KIND};

use crate::PostgresStore;
use crate::value::{self, params, row};

impl PostgresStore {
    pub(crate) fn tallies_of(
        &self,
        project: &ProjectId,
        kind: ItemKind,
        items: &[String],
    ) -> Result<UseTallies> {
        let all = || std::iter::once(WHOLE_KIND).chain(items.iter().map(String::as_str));
        let asked = value::columns(all().map(|item| row![project.as_str(), kind.as_str(), item]));
        let found = self.all(
            "SELECT u.item, u.used, u.judged, u.at FROM unnest($1, $2, $3) AS q (project, kind, item)
                JOIN item_use u ON u.project = q.project COLLATE \"C\"
                    AND u.kind = q.kind COLLATE \"C\" AND u.item = q.item COLLATE \"C\"",
            &asked,
            |row| {
                let mut columns = Columns::of(row);
                Ok((columns.text()?, tally(&mut columns)?))
            },
        )?;
        let of = |item: &str| found.iter().find(|(id, _)| id == item).map(|(_, tally)| *tally);
        Ok(UseTallies {
            of_kind: of(WHOLE_KIND),
            items: items.iter().map(|item| of(item)).collect(),
        })
    }

    /// Counts what became of items of a receipt, in a write that is serialized with all others of the project.
    pub(crate) fn tally(&self, judged: &[JudgedItem]) -> Result<()> {
        let mut changed = Tallies::default();
        for one in judged {
            changed.count(one, |item| {
                self.first(
                    "SELECT used, judged, at FROM item_use WHERE project = $1 AND kind = $2 AND item = $3",
                    params![one.project.as_str(), one.kind.as_str(), item],
                    |row| tally(&mut Columns::of(row)),
                )
            })?;
        }
        self.put_tallies(&changed)
    }

    fn put_tallies(&self, tallies: &Tallies) -> Result<()> {
        let rows = value::columns(tallies.iter().map(|(project, kind, item, tally)| {
            row![project, kind.as_str(), item, tally.used, tally.judged, tally.at]
        }));
        if !rows.is_empty() {
            self.change(
                "INSERT INTO item_use (project, kind, item, used, judged, at)
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (project, kind, item) DO UPDATE SET
                    used = excluded.used, judged = excluded.judged, at = excluded.at",
                &rows,
            )?;
        }
        Ok(())
    }

    /// Derives all tallies from the receipts, whatever they are now.
    pub(crate) fn rebuild_tallies(&self) -> Result<()> {
        self.change("DELETE FROM item_use", &[])?;
        let judged = self.all(
            "SELECT s.project, i.kind, i.item, i.used, r.created_at FROM receipt_item i
                JOIN receipt r ON r.id = i.receipt JOIN session s ON s.key = r.session
             WHERE i.used IS NOT NULL ORDER BY r.created_at, r.id, i.position",
            &[],
            |row| {
                let mut columns = Columns::of(row);
                Ok(JudgedItem {
                    project: columns.text()?,
                    kind: columns.parsed()?,
                    item: columns.text()?,
                    before: None,
                    used: columns.parsed()?,
                    at: columns.time()?,
                })
            },
        )?;
        let mut all = Tallies::default();
        judged.iter().try_for_each(|judged| all.count(judged, |_| Ok(None)))?;
        self.put_tallies(&all)
    }
}

fn tally(columns: &mut Columns<'_>) -> Result<UseTally> {
    Ok(UseTally { used: columns.real()?, judged: columns.real()?, at: columns.time()? })
}
