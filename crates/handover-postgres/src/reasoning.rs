//! Reasoning.

use handover_model::{AgentId, Confidence, GroupId, Phase, Reasoning, Role, SessionId};
use handover_store::rows::{self, REASONING, to_json};
use handover_store::{NewReasoning, ReasoningFilter, Reasonings, Result, StoreError, TimeOrder};
use handover_text::Clean;

use crate::value::params;
use crate::{OF_SESSION, PostgresStore};

impl Reasonings for PostgresStore {
    fn add_reasoning(&self, new: &NewReasoning) -> Result<Reasoning> {
        self.write(|| {
            let session = self.session_key(&new.session)?;
            if let Some(group) = &new.group {
                self.ensure_group(session, group, new.now)?;
            }
            let added = self.first(
                &format!(
                    "INSERT INTO reasoning (session, group_id, role, agent_id, iteration, phase,
                        confidence, content, refs, created_at, trust)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING {REASONING}"
                ),
                params![
                    session,
                    new.group.as_ref().map(GroupId::as_str),
                    new.role.as_str(),
                    new.agent_id.as_ref().map(AgentId::as_str),
                    new.iteration,
                    new.phase.as_str(),
                    new.confidence.map(Confidence::as_str),
                    new.content.as_str(),
                    to_json(&new.references.iter().map(Clean::as_str).collect::<Vec<_>>()),
                    new.now,
                    new.trust.as_str(),
                ],
                |row| rows::reasoning(&new.session, row),
            )?;
            added.ok_or_else(|| StoreError::damaged("reasoning got no row"))
        })
    }

    fn reasoning(&self, session: &SessionId, filter: &ReasoningFilter) -> Result<Vec<Reasoning>> {
        let order = match filter.order {
            TimeOrder::NewestFirst => "created_at DESC, id DESC",
            TimeOrder::OldestFirst => "created_at, id",
        };
        self.all_of(
            session,
            &format!(
                "SELECT {REASONING} FROM reasoning WHERE {OF_SESSION} AND ($2 IS NULL OR group_id = $2)
                    AND ($3 IS NULL OR role = $3) AND ($4 IS NULL OR phase = $4)
                 ORDER BY {order} LIMIT $5 OFFSET $6"
            ),
            params![
                session.as_str(),
                filter.group.as_ref().map(GroupId::as_str),
                filter.role.as_ref().map(Role::as_str),
                filter.phase.map(Phase::as_str),
                filter.limit,
                filter.skip,
            ],
            |row| rows::reasoning(session, row),
        )
    }
}
