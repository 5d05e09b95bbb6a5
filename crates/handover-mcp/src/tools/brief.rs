//! `brief`: the whole prompt of a role.

use handover_model::{GroupId, Role, SessionId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::briefing::{self, BriefRequest};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::limits::{MAX_LINE_BYTES, MAX_TEXT_BYTES};

pub(crate) struct Brief;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The role that will do the work: developer, senior_software_engineer, qa_expert, tech_lead, investigator,
    /// requirements_engineer, project_manager, orchestrator, or any other role
    #[schemars(with = "String")]
    role: Role,
    /// What to do; the most relevant context comes first
    task: Option<String>,
    /// The task group
    #[schemars(with = "Option<String>")]
    group: Option<GroupId>,
    /// The model that will read the brief, by any of its names
    model: Option<String>,
    /// Which attempt; default: how often this role was given a brief
    iteration: Option<u32>,
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The receipt that proves what was given
    receipt: String,
    /// Which attempt this is
    iteration: u32,
    /// Tokens of the text
    tokens: u64,
    /// The text: context, specialization, role and task, with the receipt's marker
    text: String,
}

impl Tool for Brief {
    const NAME: &'static str = "brief";
    const TITLE: &'static str = "Brief for a role";
    const DESCRIPTION: &'static str = "Everything that a role needs before it starts: relevant packages, reasoning and known errors, \
        guidance for the project's technology, the rules of the role, and the task. Use it at the start \
        of your own work, or put its whole text into the prompt of an agent that you start. It counts as \
        delivered.";
    const EFFECT: Effect = Effect::Adds;
    const IS_PROMPT: bool = true;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::optional("task", input.task.as_ref(), MAX_TEXT_BYTES)?;
        limits::optional("model", input.model.as_ref(), MAX_LINE_BYTES)?;
        let brief = briefing::brief(
            context,
            BriefRequest {
                session: context.session(input.session.as_ref())?,
                group: context.group(input.group.as_ref())?,
                role: context.no_secret("role", input.role)?,
                task: input.task,
                model: input.model,
                iteration: input.iteration,
            },
        )?;
        Ok(Output {
            receipt: brief.receipt,
            iteration: brief.iteration,
            tokens: brief.tokens,
            text: brief.text,
        })
    }
}
