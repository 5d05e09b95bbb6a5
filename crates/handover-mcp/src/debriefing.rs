//! What an agent leaves behind, in one transaction.
//!
//! The one place that stores a debrief for MCP.

use std::collections::BTreeMap;

use handover_model::{
    AgentId, GroupId, KnownEvent, PackageId, Phase, ReasoningId, Role, SessionId,
};
use handover_store::{ErrorSighting, NewEvent, NewPackage, NewReasoning, Registered, Store};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Seat, ToolError};

/// How an agent says that it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verdict {
    /// The work is done.
    Complete,
    /// It cannot go on without something from outside.
    Blocked,
    /// What was looked at is good.
    Passed,
    /// It is good after small repairs.
    PassedWithFixes,
    /// What was looked at is not good, or the work did not succeed.
    Failed,
    /// It should be tried once more.
    Retry,
    /// It should be left out.
    Skip,
    /// Somebody else must decide.
    Escalate,
}

/// An error that was met and solved.
#[derive(Debug, Clone)]
pub(crate) struct Solved {
    pub(crate) message: String,
    pub(crate) solution: String,
}

/// Everything that an agent leaves behind.
#[derive(Debug, Clone)]
pub(crate) struct Debrief {
    pub(crate) session: SessionId,
    pub(crate) group: Option<GroupId>,
    pub(crate) role: Role,
    pub(crate) agent_id: Option<AgentId>,
    pub(crate) iteration: u32,
    pub(crate) verdict: Verdict,
    pub(crate) summary: String,
    pub(crate) reasoning: BTreeMap<Phase, String>,
    pub(crate) packages: Vec<NewPackage>,
    pub(crate) errors: Vec<Solved>,
}

/// What became of it.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    pub(crate) reasoning: Vec<ReasoningId>,
    pub(crate) packages: Vec<PackageId>,
    pub(crate) errors: Vec<String>,
}

/// Stores all of it or nothing.
pub(crate) fn store(seat: &Seat<'_>, debrief: &Debrief) -> Result<Stored, ToolError> {
    let project = seat.store.session(&debrief.session)?.project;
    let stored = seat.store.writing(|store| {
        let mut stored = Stored::default();
        for (phase, text) in thoughts(debrief) {
            let new = NewReasoning {
                session: debrief.session.clone(),
                group: debrief.group.clone(),
                role: debrief.role.clone(),
                agent_id: debrief.agent_id.clone(),
                iteration: debrief.iteration,
                phase,
                confidence: None,
                content: seat.redactor.clean(text.trim()),
                references: Vec::new(),
                now: seat.now,
            };
            stored.reasoning.push(store.add_reasoning(&new)?.id);
        }
        let registered = store.register_packages(&debrief.packages)?;
        stored.packages = registered.iter().map(|Registered { package, .. }| package.id).collect();
        for error in &debrief.errors {
            let sighting = ErrorSighting {
                project: project.clone(),
                kind: None,
                message: seat.redactor.clean(error.message.trim()),
                hints: Vec::new(),
                language: None,
                ttl_days: seat.config.learning.ttl_days,
                session: Some(debrief.session.clone()),
                group: debrief.group.clone(),
                role: Some(debrief.role.clone()),
                command: None,
                now: seat.now,
            };
            let solution = seat.redactor.clean(error.solution.trim());
            stored.errors.push(store.resolve_error(&sighting, &solution)?.hash);
        }
        log(seat, store, debrief, &stored)?;
        Ok(stored)
    })?;
    Ok(stored)
}

/// The reasoning; the summary stands for a completion that was not given.
fn thoughts(debrief: &Debrief) -> impl Iterator<Item = (Phase, &str)> {
    let given = debrief.reasoning.iter().map(|(phase, text)| (*phase, text.as_str()));
    let missing = !debrief.reasoning.contains_key(&Phase::Completion);
    given.chain(missing.then_some((Phase::Completion, debrief.summary.as_str())))
}

fn log(
    seat: &Seat<'_>,
    store: &dyn Store,
    debrief: &Debrief,
    stored: &Stored,
) -> handover_store::Result<()> {
    let verdict = json!({"role": debrief.role, "verdict": debrief.verdict});
    let left = json!({
        "role": debrief.role,
        "verdict": debrief.verdict,
        "summary": debrief.summary,
        "reasoning": stored.reasoning,
        "packages": stored.packages,
        "errors": stored.errors,
    });
    for (kind, payload) in [(KnownEvent::Debrief, left), (KnownEvent::Verdict, verdict)] {
        store.log_event(&NewEvent {
            session: debrief.session.clone(),
            group: debrief.group.clone(),
            kind: kind.into(),
            payload: seat.redactor.clean_json(payload),
            key: None,
            now: seat.now,
        })?;
    }
    Ok(())
}
