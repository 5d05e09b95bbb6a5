//! Tallies of use: kept up to date whenever the use of an item is recorded, and derived from receipts when a project is
//! filled.

use handover_model::learn::{HALF_LIFE_DAYS, UseTallies, UseTally};
use handover_model::{ItemKind, ProjectId, Timestamp, Use};
use handover_store::rows::Columns;
use handover_store::{AllTallies, JudgedItem, Result, WHOLE_KIND, tally_change};

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
                let item = columns.text()?;
                let (used, judged) = (columns.real()?, columns.real()?);
                Ok((item, UseTally { used, judged, at: columns.time()? }))
            },
        )?;
        let of = |item: &str| found.iter().find(|(id, _)| id == item).map(|(_, tally)| *tally);
        Ok(UseTallies {
            of_kind: of(WHOLE_KIND),
            items: items.iter().map(|item| of(item)).collect(),
        })
    }

    /// Counts what became of an item of a receipt that was made `at` a time.
    pub(crate) fn tally(
        &self,
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
            // As `UseTally::add`.
            self.change(
                "INSERT INTO item_use AS u (project, kind, item, used, judged, at)
                 VALUES ($1, $2, $3, $4, $5, $6)
                 ON CONFLICT (project, kind, item) DO UPDATE SET
                    used = greatest(0, u.used * power(2, (u.at - greatest(u.at, $6)) / $7)
                        + $4 * power(2, ($6 - greatest(u.at, $6)) / $7)),
                    judged = greatest(0, u.judged * power(2, (u.at - greatest(u.at, $6)) / $7)
                        + $5 * power(2, ($6 - greatest(u.at, $6)) / $7)),
                    at = greatest(u.at, $6)",
                params![project, kind.as_str(), item, used, judged, at, HALF_LIFE_DAYS * 86_400e6],
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
                    used: columns.parsed()?,
                    at: columns.time()?,
                })
            },
        )?;
        let mut all = AllTallies::default();
        judged.into_iter().for_each(|judged| all.count(judged));
        let rows = value::columns(all.iter().map(|(project, kind, item, tally)| {
            row![project, kind.as_str(), item, tally.used, tally.judged, tally.at]
        }));
        if !rows.is_empty() {
            self.change(
                "INSERT INTO item_use (project, kind, item, used, judged, at)
                 SELECT * FROM unnest($1, $2, $3, $4, $5, $6)",
                &rows,
            )?;
        }
        Ok(())
    }
}
