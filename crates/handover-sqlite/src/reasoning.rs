//! Reasoning.

use handover_model::{
    AgentId, Confidence, GroupId, Phase, Reasoning, ReasoningId, Role, SessionId,
};
use handover_store::{NewReasoning, ReasoningFilter, Reasonings, Result, TimeOrder};
use handover_text::Clean;
use rusqlite::Row;

use crate::error::backend;
use crate::{SqliteStore, ensure_group, row, session_key};

fn read(session: &SessionId, r: &Row<'_>) -> rusqlite::Result<Reasoning> {
    Ok(Reasoning {
        id: ReasoningId(r.get("id")?),
        session: session.clone(),
        group: row::parsed_opt(r, "group_id")?,
        role: row::parsed(r, "role")?,
        agent_id: row::parsed_opt(r, "agent_id")?,
        iteration: r.get("iteration")?,
        phase: row::parsed(r, "phase")?,
        confidence: row::parsed_opt(r, "confidence")?,
        content: r.get("content")?,
        references: row::json(r, "refs")?,
        created_at: row::time(r, "created_at")?,
    })
}

impl Reasonings for SqliteStore {
    fn add_reasoning(&self, new: &NewReasoning) -> Result<Reasoning> {
        let references =
            row::to_json(&new.references.iter().map(Clean::as_str).collect::<Vec<_>>());
        self.write(|tx| {
            let session = session_key(tx, &new.session)?;
            if let Some(group) = &new.group {
                ensure_group(tx, session, group, new.now)?;
            }
            tx.query_row(
                "INSERT INTO reasoning (session, group_id, role, agent_id, iteration, phase,
                    confidence, content, refs, created_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) RETURNING *",
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
                ],
                |r| read(&new.session, r),
            )
            .map_err(backend)
        })
    }

    fn reasoning(&self, session: &SessionId, filter: &ReasoningFilter) -> Result<Vec<Reasoning>> {
        let key = session_key(&self.connection, session)?;
        let order = match filter.order {
            TimeOrder::NewestFirst => "created_at DESC, id DESC",
            TimeOrder::OldestFirst => "created_at, id",
        };
        row::all(
            &self.connection,
            &format!(
                "SELECT * FROM reasoning WHERE session = ?1 AND (?2 IS NULL OR group_id = ?2)
                    AND (?3 IS NULL OR role = ?3) AND (?4 IS NULL OR phase = ?4)
                 ORDER BY {order} LIMIT ?5"
            ),
            (
                key,
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.phase.map(Phase::as_str),
                filter.limit.map_or(-1, i64::from),
            ),
            |r| read(session, r),
        )
    }
}
