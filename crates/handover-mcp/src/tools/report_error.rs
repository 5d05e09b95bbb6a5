//! `report_error`: an error and its solution.

use handover_context::learning::match_errors;
use handover_model::learn::Trust;
use handover_model::{ErrorPattern, GroupId, Role, SessionId};
use handover_store::{CleanSignature, ErrorSighting};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits;
use crate::limits::{MAX_LINE_BYTES, MAX_TEXT_BYTES};

/// Similar known errors in an answer.
const SIMILAR: usize = 3;

pub(crate) struct ReportError;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The error message
    message: String,
    /// What solved it; omit it while it is unsolved
    solution: Option<String>,
    /// Its type, such as TypeError; default: taken from the message
    kind: Option<String>,
    /// The command that failed
    command: Option<String>,
    /// The programming language
    language: Option<String>,
    /// Your role
    #[schemars(with = "Option<String>")]
    role: Option<Role>,
    /// The task group
    #[schemars(with = "Option<String>")]
    group: Option<GroupId>,
    /// The session, if the server was not started for one and more than one is active
    #[schemars(with = "Option<String>")]
    session: Option<SessionId>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The pattern of this error
    pattern: Pattern,
    /// Similar known errors, best first
    similar: Vec<Pattern>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Pattern {
    /// Identifies the pattern on the command line
    hash: String,
    /// The message without paths, numbers and quoted values
    message: String,
    /// What solved it most often
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<String>,
    /// Confidence in the solution, 0 to 1
    #[schemars(with = "f64")]
    confidence: Trust,
    /// How often it was seen
    occurrences: u64,
}

impl Tool for ReportError {
    const NAME: &'static str = "report_error";
    const TITLE: &'static str = "Report an error";
    const DESCRIPTION: &'static str = "Records an error that you encountered, with its solution once you have one, and returns what is \
        known about it: the project remembers across sessions. Report it first without a solution; a \
        known one may come back.";
    const EFFECT: Effect = Effect::Adds;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("message", &input.message, MAX_TEXT_BYTES)?;
        limits::optional("solution", input.solution.as_ref(), MAX_TEXT_BYTES)?;
        for (what, value) in
            [("kind", &input.kind), ("command", &input.command), ("language", &input.language)]
        {
            limits::optional(what, value.as_ref(), MAX_LINE_BYTES)?;
        }
        // Errors belong to the project, so no session is required; one that is named must exist.
        let session = match (&input.session, context.session(input.session.as_ref())) {
            (_, Ok(session)) => Some(session),
            (Some(_), Err(error)) => return Err(error),
            (None, Err(_)) => None,
        };
        let project = match &session {
            Some(session) => context.store.session(session)?.project,
            None => context.project.clone(),
        };
        let clean = |text: &String| context.redactor.clean(text.trim());
        let sighting = ErrorSighting {
            project,
            signature: CleanSignature::new(
                input.kind.as_deref(),
                &input.message,
                &[],
                context.redactor,
            ),
            language: input.language.map(|name| clean(&name.to_lowercase())),
            ttl_days: context.config.learning.ttl_days,
            // Groups belong to sessions.
            group: if session.is_some() { context.group(input.group.as_ref())? } else { None },
            session,
            role: input.role.map(|role| context.no_secret("role", role)).transpose()?,
            command: input.command.as_ref().map(clean),
            now: context.now,
            trust: handover_model::Trust::Agent,
        };
        let pattern = match &input.solution {
            Some(solution) => context.store.resolve_error(&sighting, &clean(solution))?,
            None => context.store.record_error(&sighting)?,
        };
        let message = clean(&input.message);
        let message = message.as_str();
        let similar =
            match_errors(context.store, &sighting.project, message, SIMILAR + 1, context.now)?;
        Ok(Output {
            similar: similar
                .iter()
                .filter(|other| other.hash != pattern.hash && other.solution.is_some())
                .take(SIMILAR)
                .map(|other| summarize(context, other))
                .collect(),
            pattern: summarize(context, &pattern),
        })
    }
}

fn summarize(context: &RequestContext<'_>, pattern: &ErrorPattern) -> Pattern {
    Pattern {
        hash: pattern.hash.clone(),
        message: context.redact(&pattern.said()),
        solution: pattern.solution.as_deref().map(|solution| context.redact(solution)),
        confidence: pattern.confidence,
        occurrences: pattern.occurrences,
    }
}
