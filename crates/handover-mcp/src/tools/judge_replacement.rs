//! `judge_replacement`: whether a later note or package replaces an earlier one.

use handover_context::by_hand::ByHand;
use handover_context::notes::{self, Decision};
use handover_model::{AmendmentDecision, PackageId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::retire::only_of_agents;
use super::{Effect, Tool};
use crate::context::RequestContext;
use crate::error::ToolError;
use crate::limits::{self, MAX_LINE_BYTES};

pub(crate) struct JudgeReplacement;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What the ids name: note or package
    kind: Kind,
    /// The earlier one
    id: String,
    /// The later one; default: the one that was found
    by: Option<String>,
    /// Whether the later one replaces the earlier one
    replaces: bool,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Note,
    Package,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The earlier one
    id: String,
    /// confirmed or rejected
    decision: String,
    /// What a person passes to `handover undo`
    operation: String,
}

impl Tool for JudgeReplacement {
    const NAME: &'static str = "judge_replacement";
    const TITLE: &'static str = "Judge a replacement";
    const DESCRIPTION: &'static str = "Records what the user decided about a note or package that a brief shows as outdated or leaves out \
        as amended: confirmed, it stays out of briefs; rejected, both statements count. Call it only when \
        the user said so; a person can undo it. That something replaces what a person wrote or the project's \
        documents and commits say, only a person can confirm.";
    const EFFECT: Effect = Effect::AddsOnce;
    type Input = Input;
    type Output = Output;

    fn call(context: &RequestContext<'_>, input: Input) -> Result<Output, ToolError> {
        limits::text("id", &input.id, MAX_LINE_BYTES)?;
        limits::optional("by", input.by.as_ref(), MAX_LINE_BYTES)?;
        let decision = match input.replaces {
            true => AmendmentDecision::Confirmed,
            false => AmendmentDecision::Rejected,
        };
        let hand = context.by_hand()?;
        let id = match input.kind {
            Kind::Note => of_note(context, &hand, &input)?,
            Kind::Package => of_package(context, &hand, &input, decision)?,
        };
        Ok(Output { id, decision: decision.to_string(), operation: hand.id.to_string() })
    }
}

const CONFIRM: &str = "confirm";

fn of_note(
    context: &RequestContext<'_>,
    hand: &ByHand<'_>,
    input: &Input,
) -> Result<String, ToolError> {
    let RequestContext { store, project, .. } = context;
    let note = notes::named(*store, project, &input.id)?;
    let by = input.by.as_deref().map(|by| notes::named(*store, project, by)).transpose()?;
    let by = by.as_ref();
    let decision = match input.replaces {
        true => {
            only_of_agents(note.trust, "note", &input.id, CONFIRM)?;
            Decision::Confirm { by }
        }
        false => Decision::Reject { by },
    };
    Ok(hand.decide(&note, decision)?.id.to_string())
}

fn of_package(
    context: &RequestContext<'_>,
    hand: &ByHand<'_>,
    input: &Input,
    decision: AmendmentDecision,
) -> Result<String, ToolError> {
    let number = |text: &str| {
        text.parse::<i64>().map(PackageId).map_err(|_| {
            ToolError::invalid(format!("`{text}` is not a package id"), "Pass a number.")
        })
    };
    let by = input.by.as_deref().map(number).transpose()?;
    let id = number(&input.id)?;
    if input.replaces {
        only_of_agents(context.store.package(id)?.trust, "package", &input.id, CONFIRM)?;
    }
    Ok(hand.decide_package(id, by, decision)?.earlier.id)
}
