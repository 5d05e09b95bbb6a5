//! Reasoning.

use handover_model::{AgentId, Confidence, GroupId, Phase, Reasoning, Role, SessionId};
use handover_store::rows::{self, REASONING, to_json};
use handover_store::{NewReasoning, ReasoningFilter, Reasonings, Result, StoreError, TimeOrder};
use handover_text::Clean;

use crate::{SqliteStore, ensure_group, query, session_key, sums};

impl Reasonings for SqliteStore {
    fn add_reasoning(&self, new: &NewReasoning) -> Result<Reasoning> {
        let references = to_json(&new.references.iter().map(Clean::as_str).collect::<Vec<_>>());
        self.write(|tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            let added = query::first(
                tx,
                &format!(
                    "INSERT INTO reasoning (session, group_id, role, agent_id, iteration, phase,
                        confidence, content, refs, created_at, trust)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING {REASONING}"
                ),
                rusqlite::params![
                    session,
                    new.group.as_ref().map(GroupId::as_str),
                    new.role.as_str(),
                    new.agent_id.as_ref().map(AgentId::as_str),
                    new.iteration,
                    new.phase.as_str(),
                    new.confidence.map(Confidence::as_str),
                    new.content.as_str(),
                    references,
                    new.now.as_micros(),
                    new.trust.as_str(),
                ],
                |row| rows::reasoning(&new.session, row),
            )?;
            added.ok_or_else(|| StoreError::damaged("an insert returned no row"))
        })
    }

    fn reasoning(&self, session: &SessionId, filter: &ReasoningFilter) -> Result<Vec<Reasoning>> {
        let key = session_key(&self.connection, session)?;
        let order = match filter.order {
            TimeOrder::NewestFirst => "created_at DESC, id DESC",
            TimeOrder::OldestFirst => "created_at, id",
        };
        let intact = sums::intact("reasoning", "reasoning");
        query::records(
            &self.connection,
            &format!(
                "SELECT {REASONING}, {intact} FROM reasoning WHERE session = ?1 AND (?2 IS NULL OR group_id = ?2)
                    AND (?3 IS NULL OR role = ?3) AND (?4 IS NULL OR phase = ?4)
                 ORDER BY {order} LIMIT ?5 OFFSET ?6"
            ),
            (
                key,
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.phase.map(Phase::as_str),
                filter.limit.map_or(-1, i64::from),
                filter.skip,
            ),
            |row| rows::reasoning(session, row),
        )
    }
}
