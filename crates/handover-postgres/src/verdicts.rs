//! Verdicts.

use handover_model::{AgentId, GroupId, ReceiptId, Role, SessionId, VerdictRecord};
use handover_store::rows::{self, VERDICT, to_json};
use handover_store::{NewVerdict, Result, StoreError, VerdictFilter, Verdicts};
use handover_text::Clean;

use crate::value::params;
use crate::{OF_SESSION, PostgresStore};

impl Verdicts for PostgresStore {
    fn add_verdict(&self, new: &NewVerdict) -> Result<VerdictRecord> {
        self.write(|| {
            let session = self.session_key(&new.session)?;
            if let Some(group) = &new.group {
                self.ensure_group(session, group, new.now)?;
            }
            let added = self.first(
                &format!(
                    "INSERT INTO verdict (session, group_id, role, agent_id, iteration, receipt, verdict,
                        summary, findings, created_at, trust)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING {VERDICT}"
                ),
                params![
                    session,
                    new.group.as_ref().map(GroupId::as_str),
                    new.role.as_str(),
                    new.agent_id.as_ref().map(AgentId::as_str),
                    new.iteration,
                    new.receipt.as_ref().map(ReceiptId::as_str),
                    new.verdict.as_str(),
                    new.summary.as_ref().map(Clean::as_str),
                    to_json(&new.findings.iter().map(Clean::as_str).collect::<Vec<_>>()),
                    new.now,
                    new.trust.as_str(),
                ],
                |row| rows::verdict(&new.session, row),
            )?;
            added.ok_or_else(|| StoreError::damaged("an insert returned no row"))
        })
    }

    fn verdicts(&self, session: &SessionId, filter: &VerdictFilter) -> Result<Vec<VerdictRecord>> {
        self.all_of(
            session,
            &format!(
                "SELECT {VERDICT} FROM verdict WHERE {OF_SESSION} AND ($2 IS NULL OR group_id = $2)
                    AND ($3 IS NULL OR role = $3) AND ($4 IS NULL OR receipt = $4)
                 ORDER BY created_at DESC, id DESC LIMIT $5"
            ),
            params![
                session.as_str(),
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.receipt.as_ref().map(ReceiptId::as_str),
                filter.limit,
            ],
            |row| rows::verdict(session, row),
        )
    }
}
