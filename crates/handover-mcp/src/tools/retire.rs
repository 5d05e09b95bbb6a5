//! `retire`: takes a record out of use, or back into use.

use handover_context::by_hand::ByHand;
use handover_context::notes::{self, Decision};
use handover_model::{PackageId, RecordState, Trust};
use handover_store::{ErrorFilter, StrategyFilter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::{RequestError, ToolError};
use crate::limits::{self, MAX_LINE_BYTES};

/// The command of a person.
const RETIRE: &str = "retire";

pub(crate) struct Retire;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The kind of record
    kind: RecordKind,
    /// Its id, as a brief or a search names it
    id: String,
    /// Why it no longer counts
    reason: Option<String>,
    /// live takes it back into use; default: retired
    #[schemars(with = "Option<String>")]
    state: Option<RecordState>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum RecordKind {
    Package,
    Note,
    Strategy,
    Error,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The id of the record
    id: String,
    /// Its state: live or retired
    state: String,
    /// Why it is retired
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What a person passes to `handover undo`
    operation: String,
}

impl Tool for Retire {
    const NAME: &'static str = "retire";
    const TITLE: &'static str = "Retire a record";
    const DESCRIPTION: &'static str = "Takes a package, note, strategy or known error that turned out to be wrong or outdated out of \
        use, with the reason, or back into use. It is kept, and a person can undo it. What a person wrote or \
        the project's documents say, only a person can retire.";
    const EFFECT: Effect = Effect::AddsOnce;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("id", &input.id, MAX_LINE_BYTES)?;
        limits::optional("reason", input.reason.as_ref(), MAX_LINE_BYTES)?;
        let hand = context.by_hand()?;
        let why = input.reason.as_deref();
        let state = input.state.unwrap_or(RecordState::Retired);
        let (id, state, reason) = match input.kind {
            RecordKind::Package => {
                let id: PackageId = input.id.trim().parse()?;
                let package = context.store.package(id)?;
                only_of_agents(package.trust, "package", &input.id, RETIRE)?;
                let project = context.store.session(&package.session)?.project;
                let hand = ByHand { project: &project, ..hand.clone() };
                let package = hand.set_package(id, state, why)?;
                (package.id.to_string(), package.state.to_string(), package.reason)
            }
            RecordKind::Note => {
                let note = notes::named(context.store, &context.project, input.id.trim())?;
                only_of_agents(note.trust, "note", &input.id, RETIRE)?;
                let decision = match state {
                    RecordState::Live => Decision::Restore,
                    RecordState::Retired => Decision::Retire { reason: why },
                };
                let note = hand.decide(&note, decision)?;
                (note.id.to_string(), note.state.to_string(), note.reason)
            }
            RecordKind::Strategy => {
                let all = context.store.strategies(&context.project, &StrategyFilter::default())?;
                for one in all.iter().filter(|one| is_named(&one.id, &input.id)) {
                    only_of_agents(one.trust, "strategy", &input.id, RETIRE)?;
                }
                let strategy = hand.set_strategy(input.id.trim(), state, why)?;
                (strategy.id, strategy.state.to_string(), strategy.reason)
            }
            RecordKind::Error => {
                let all = context.store.errors(&context.project, &ErrorFilter::default())?;
                for one in all.iter().filter(|one| is_named(&one.hash, &input.id)) {
                    only_of_agents(one.trust, "error", &input.id, RETIRE)?;
                }
                let pattern = hand.set_error(input.id.trim(), state, why)?;
                (pattern.hash, pattern.state.to_string(), pattern.reason)
            }
        };
        Ok(Output { id, state, reason, operation: hand.id.to_string() })
    }
}

/// Whether a part of an id may mean this one.
fn is_named(id: &str, part: &str) -> bool {
    id.starts_with(part.trim()) || id.ends_with(part.trim())
}

/// An agent decides about what agents said, not about what people and the project's documents say. `verb` is the
/// command with which a person decides.
pub(super) fn only_of_agents(
    trust: Trust,
    what: &str,
    id: &str,
    verb: &str,
) -> Result<(), ToolError> {
    if trust <= Trust::Agent {
        return Ok(());
    }
    let done = match verb {
        RETIRE => "retire it",
        _ => "confirm that something replaces it",
    };
    Err(ToolError::Request(RequestError {
        code: "forbidden",
        message: format!("{what} `{id}` is of class {trust}, so only a person can {done}"),
        hint: Some(format!("Ask a person to run `handover {what} {verb} {id}`.")),
    }))
}
