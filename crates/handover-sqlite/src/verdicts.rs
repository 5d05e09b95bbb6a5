//! Verdicts.

use handover_model::{AgentId, GroupId, ReceiptId, Role, SessionId, VerdictRecord};
use handover_store::rows::{self, VERDICT, to_json};
use handover_store::{NewVerdict, Result, StoreError, VerdictFilter, Verdicts};
use handover_text::Clean;

use crate::{SqliteStore, ensure_group, query, session_key, sums};

impl Verdicts for SqliteStore {
    fn add_verdict(&self, new: &NewVerdict) -> Result<VerdictRecord> {
        let findings = to_json(&new.findings.iter().map(Clean::as_str).collect::<Vec<_>>());
        self.write(|tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            let added = query::first(
                tx,
                &format!(
                    "INSERT INTO verdict (session, group_id, role, agent_id, iteration, receipt, verdict,
                        summary, findings, created_at, trust)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING {VERDICT}"
                ),
                rusqlite::params![
                    session,
                    new.group.as_ref().map(GroupId::as_str),
                    new.role.as_str(),
                    new.agent_id.as_ref().map(AgentId::as_str),
                    new.iteration,
                    new.receipt.as_ref().map(ReceiptId::as_str),
                    new.verdict.as_str(),
                    new.summary.as_ref().map(Clean::as_str),
                    findings,
                    new.now.as_micros(),
                    new.trust.as_str(),
                ],
                |row| rows::verdict(&new.session, row),
            )?;
            added.ok_or_else(|| StoreError::damaged("an insert returned no row"))
        })
    }

    fn verdicts(&self, session: &SessionId, filter: &VerdictFilter) -> Result<Vec<VerdictRecord>> {
        let key = session_key(&self.connection, session)?;
        let intact = sums::intact("verdict", "verdict");
        query::records(
            &self.connection,
            &format!(
                "SELECT {VERDICT}, {intact} FROM verdict WHERE session = ?1 AND (?2 IS NULL OR group_id = ?2)
                    AND (?3 IS NULL OR role = ?3) AND (?4 IS NULL OR receipt = ?4)
                 ORDER BY created_at DESC, id DESC LIMIT ?5"
            ),
            (
                key,
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.receipt.as_ref().map(ReceiptId::as_str),
                filter.limit.map_or(-1, i64::from),
            ),
            |row| rows::verdict(session, row),
        )
    }
}
