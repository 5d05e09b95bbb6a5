//! `debrief`: the report of an agent at the end of its work.

use std::collections::BTreeMap;
use std::path::PathBuf;

use handover_context::package_file::Placement;
use handover_handoff::{Debrief, EndedAgent, Ending, ErrorNote, PackageNote};
use handover_model::{
    AgentId, GroupId, PackageKind, Phase, Priority, ReceiptId, Role, SessionId, Verdict,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::save_package::{PackageSpec, Source, all_or_nothing, prepare};
use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits::MAX_TEXT_BYTES;
use crate::{limits, schema};

pub(crate) struct DebriefTool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Your role
    #[schemars(with = "String")]
    role: Role,
    /// How it ended
    #[schemars(schema_with = "schema::verdict")]
    verdict: Verdict,
    /// The receipt of your brief, from its marker: proof that you saw it
    #[schemars(with = "Option<String>")]
    receipt: Option<ReceiptId>,
    /// What you did, in a few sentences
    summary: String,
    /// What must be fixed, if you judge the work of others: one line each, with file and line
    #[serde(default)]
    findings: Vec<String>,
    /// Your reasoning, by phase
    #[serde(default)]
    #[schemars(schema_with = "schema::by_phase")]
    reasoning: BTreeMap<Phase, String>,
    /// Knowledge that other roles will need
    #[serde(default)]
    packages: Vec<PackageInput>,
    /// Errors that you encountered, with their solutions
    #[serde(default)]
    errors: Vec<ErrorInput>,
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

/// A package as save_package takes it; role and group are those of the debrief.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PackageInput {
    /// The text, as Markdown. Either this or `path`
    text: Option<String>,
    /// An existing Markdown file inside the project. Either this or `text`
    path: Option<PathBuf>,
    /// What it carries; required with `text`
    #[serde(default)]
    #[schemars(schema_with = "schema::kind")]
    kind: Option<PackageKind>,
    /// One or two lines that other agents see
    summary: Option<String>,
    /// The roles that it is for; default: everyone
    #[schemars(with = "Option<Vec<String>>")]
    consumers: Option<Vec<Role>>,
    /// How much it matters; default medium
    #[serde(default)]
    #[schemars(schema_with = "schema::priority")]
    priority: Option<Priority>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ErrorInput {
    /// The error message
    message: String,
    /// What solved it; omit it if nothing did
    solution: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// How many pieces of reasoning were stored
    reasoning: usize,
    /// The packages that were registered
    packages: Vec<i64>,
    /// The error patterns that were learned
    errors: Vec<String>,
    /// How many strategies the project learned from it
    strategies: usize,
    /// Whether the receipt is confirmed
    confirmed: bool,
    /// Unusual but accepted
    warnings: Vec<String>,
}

impl Tool for DebriefTool {
    const NAME: &'static str = "debrief";
    const TITLE: &'static str = "Debrief";
    const DESCRIPTION: &'static str = "Your report at the end of your work: verdict, summary, reasoning, what others need to know, \
        which errors you solved. It is stored completely or not at all. Call it once, as the last thing \
        you do.";
    const EFFECT: Effect = Effect::Adds;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("summary", &input.summary, MAX_TEXT_BYTES)?;
        for (phase, text) in &input.reasoning {
            limits::text(&format!("reasoning.{phase}"), text, MAX_TEXT_BYTES)?;
        }
        limits::items("findings", &input.findings)?;
        for finding in &input.findings {
            limits::text("findings", finding, MAX_TEXT_BYTES)?;
        }
        limits::items("packages", &input.packages)?;
        limits::items("errors", &input.errors)?;
        for error in &input.errors {
            limits::text("errors.message", &error.message, MAX_TEXT_BYTES)?;
            limits::optional("errors.solution", error.solution.as_ref(), MAX_TEXT_BYTES)?;
        }
        let session = context.session(input.session.as_ref())?;
        let role = context.no_secret("role", input.role)?;
        let agent = input.agent_id.map(|id| context.no_secret("agent id", id)).transpose()?;
        let assignment = context.handoffs().assignment(EndedAgent {
            receipt: input.receipt,
            role: Some(role),
            session: Some(session),
            group: context.group(input.group.as_ref())?,
            iteration: input.iteration,
            agent,
        })?;
        let mut debrief = Debrief {
            receipt: assignment.receipt.clone(),
            verdict: Some(input.verdict),
            summary: Some(input.summary),
            findings: input.findings,
            reasoning: input.reasoning,
            errors: input
                .errors
                .into_iter()
                .map(|error| ErrorNote { message: error.message, solution: error.solution })
                .collect(),
            ..Debrief::default()
        };
        all_or_nothing(|written| {
            let mut warnings = Vec::new();
            for package in input.packages {
                let note = PackageNote {
                    path: String::new(),
                    kind: package.kind,
                    priority: package.priority,
                    summary: package.summary.clone(),
                    consumers: package.consumers.clone().unwrap_or_default(),
                };
                let source = Source::of(package.text, package.path)?;
                let spec = PackageSpec {
                    kind: package.kind,
                    summary: package.summary,
                    producer: Some(assignment.role.clone()),
                    consumers: package.consumers,
                    priority: package.priority,
                    placement: assignment.group.clone().map(Placement::Group),
                    iteration: None,
                    supersedes: None,
                };
                // An invalid package fails the call before anything is stored.
                let draft = prepare(context, &assignment.session, &source, spec, written)?;
                warnings.extend(draft.warnings);
                debrief.packages.push(PackageNote { path: draft.package.path, ..note });
            }
            let ending = Ending::new(&assignment, &debrief, context.now);
            let kept = context.handoffs().ended(ending)?.kept().cloned().unwrap_or_default();
            warnings.extend(kept.refused);
            Ok(Output {
                reasoning: kept.reasoning,
                packages: kept.packages.iter().map(|id| id.0).collect(),
                errors: kept.errors,
                strategies: kept.strategies,
                confirmed: kept.confirmed,
                warnings,
            })
        })
    }
}
