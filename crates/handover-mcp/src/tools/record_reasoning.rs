//! `record_reasoning`: a decision, risk or finding for the agents that follow.

use handover_model::{AgentId, Confidence, GroupId, Phase, Reasoning, Role, SessionId, Trust};
use handover_store::NewReasoning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits::{MAX_LINE_BYTES, MAX_TEXT_BYTES};
use crate::{limits, schema};

pub(crate) struct RecordReasoning;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Your role
    #[schemars(with = "String")]
    role: Role,
    /// The phase of work that it belongs to
    #[schemars(schema_with = "schema::phase")]
    phase: Phase,
    /// The reasoning itself: what you chose over what, and why
    content: String,
    /// How sure you are
    #[serde(default)]
    #[schemars(schema_with = "schema::confidence")]
    confidence: Option<Confidence>,
    /// What it refers to: paths, ids, links
    #[serde(default)]
    references: Vec<String>,
    /// The task group
    #[schemars(with = "Option<String>")]
    group: Option<GroupId>,
    /// Which agent of your role you are
    #[schemars(with = "Option<String>")]
    agent_id: Option<AgentId>,
    /// Which attempt; default 0
    iteration: Option<u32>,
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The record
    id: i64,
    /// How many secrets were redacted
    redactions: u32,
}

impl Tool for RecordReasoning {
    const NAME: &'static str = "record_reasoning";
    const TITLE: &'static str = "Record reasoning";
    const DESCRIPTION: &'static str = "Records reasoning for the agents after you: what you understood, decided (and over what), \
        risked, were blocked by, or completed. Record decisions when you make them. Secrets are \
        redacted.";
    const EFFECT: Effect = Effect::Adds;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        let (stored, redactions) = record(context, input)?;
        Ok(Output { id: stored.id.0, redactions })
    }
}

/// Stores one piece of reasoning; also returns how many secrets were redacted.
pub(crate) fn record(
    context: &RequestContext<'_>,
    input: Input,
) -> Result<(Reasoning, u32), ToolError> {
    limits::text("content", &input.content, MAX_TEXT_BYTES)?;
    limits::items("references", &input.references)?;
    for reference in &input.references {
        limits::text("references", reference, MAX_LINE_BYTES)?;
    }
    let content = context.redactor.clean(input.content.trim());
    let redactions = content.redactions();
    let new = NewReasoning {
        session: context.session(input.session.as_ref())?,
        group: context.group(input.group.as_ref())?,
        role: context.no_secret("role", input.role)?,
        agent_id: input.agent_id.map(|id| context.no_secret("agent id", id)).transpose()?,
        iteration: input.iteration.unwrap_or(0),
        phase: input.phase,
        confidence: input.confidence,
        content,
        references: input.references.iter().map(|text| context.redactor.clean(text)).collect(),
        now: context.now,
        trust: Trust::Agent,
    };
    Ok((context.store.add_reasoning(&new)?, redactions))
}
