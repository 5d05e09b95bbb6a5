//! `handover assemble`

use std::fmt::Write as _;

use handover_context::assemble::{Assembly, Explained, fallback};
use handover_context::shape;
use handover_handoff::{Delivery, HandoffRequest, Recorded};
use handover_model::{KnownEvent, ReceiptState, Role};
use handover_store::NewEvent;
use serde_json::json;

use super::Outcome;
use super::brief::{note_delivered, warn_unless_stored};
use super::request::RequestArgs;
use crate::app::{App, short_id};
use crate::error::{Code, CommandError, Exit};

/// Assemble one agent's context, with a receipt
///
/// Prints exactly the Markdown that the agent should see. A store that is locked or cannot be written
/// is read as it is, and the receipt waits in `.handover/spool/`. If anything else fails (the store is
/// damaged or gone), the agent still gets a minimal block and exit code 0; only invalid arguments are
/// refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AssembleArgs {
    #[command(flatten)]
    pub(super) request: RequestArgs,

    /// Show for every candidate why it is in or out
    #[arg(long)]
    pub(super) explain: bool,

    /// Mark the receipt delivered once the text is written
    #[arg(long)]
    pub(super) deliver: bool,
}

const EXAMPLES: &str = "\
Examples:
  handover assemble --role developer --group login --task \"Refresh tokens in parallel\"
  handover assemble --role qa_expert --task-file story.md --model opus --explain
  handover assemble --role tech_lead --current-tokens 130000 --deliver --json";

pub(crate) fn run(app: &App, args: AssembleArgs) -> Outcome {
    app.answer_within_a_second();
    app.tolerate_unknown_keys();
    let task = args.request.task(app)?;
    // Arguments are the caller's responsibility; from here on nothing may stop an agent.
    app.group()?;
    let assembled = app.existing_store().and_then(|_| app.session()).and_then(|session| {
        let request = args.request.request(app, session, task)?;
        let request = HandoffRequest { explain: args.explain, ..request };
        Ok(app.handoffs()?.assemble(&request, Delivery::now_if(args.deliver))?)
    });
    match assembled {
        Ok((assembly, recorded)) => answer(app, &args, &assembly, &recorded)
            .inspect_err(|error| give_back(app, &args, &assembly, &recorded, &error.message))
            // The text is lost with its reader, but assembling never answers 5.
            .map_err(|error| CommandError { exit: error.exit.min(Exit::Failed), ..error }),
        Err(error) if error.exit == Exit::Usage && error.code != Code::InvalidConfig => Err(error),
        Err(error) => degraded(app, &args.request.role, &error),
    }
}

fn answer(app: &App, args: &AssembleArgs, assembly: &Assembly, recorded: &Recorded) -> Outcome {
    warn_unless_stored(app, &assembly.receipt.id, recorded);
    note_delivered(app, &assembly.receipt);
    let state = if args.deliver { ReceiptState::Delivered } else { ReceiptState::Assembled };
    if app.ui.is_json() {
        app.ui.document(&shape::assembly(assembly, state, args.explain))?;
    } else {
        app.ui.bytes(assembly.markdown.as_bytes())?;
        if args.explain {
            explain(app, assembly);
        }
    }
    if args.deliver && *recorded == Recorded::Store {
        app.handoffs()?.started(&assembly.receipt.id, None, app.now())?;
    }
    Ok(Exit::Done)
}

/// The text could not be written: releases its packages.
fn give_back(
    app: &App,
    args: &AssembleArgs,
    assembly: &Assembly,
    recorded: &Recorded,
    reason: &str,
) {
    if args.deliver
        && let Ok(handoffs) = app.handoffs()
    {
        handoffs.not_written(&assembly.receipt.id, recorded, reason, app.now());
    }
}

/// The rule that decided, the statement that replaced it, and what became of the names in what is shown.
fn why(candidate: &Explained, scale: f64) -> String {
    let mut why = match &candidate.amended_by {
        Some(by) if candidate.included => format!("{}, outdated: {by}", candidate.why()),
        Some(by) => by.to_string(),
        None => candidate.why(),
    };
    if candidate.terms.stale < 0.0 {
        let _ = write!(why, "; {:+.0} for naming what is gone", candidate.terms.stale * scale);
    }
    if candidate.terms.used != 0.0 {
        let _ = write!(why, "; {:+.0} for its use in earlier briefs", candidate.terms.used * scale);
    }
    for stale in &candidate.stale {
        let _ = write!(why, "; {} {stale}", stale.name());
    }
    why
}

/// Prints every candidate. The best score is 100; the terms are on the same scale, so that they add up.
fn explain(app: &App, assembly: &Assembly) {
    let best = assembly.candidates.iter().map(|one| one.score).fold(0.0, f64::max);
    let scale = if best > 0.0 { 100.0 / best } else { 1.0 };
    let rows = assembly
        .candidates
        .iter()
        .map(|candidate| {
            let terms = &candidate.terms;
            let mut row = vec![
                format!("{} {}", candidate.kind, short_id(&candidate.id.to_string())),
                (if candidate.included { "in" } else { "out" }).to_owned(),
            ];
            let values = [
                candidate.score,
                terms.priority,
                terms.same_group,
                terms.addressed,
                terms.recency,
                terms.task,
            ];
            // Reasoning, errors and strategies have an order of their own.
            let is_ranked = values.iter().any(|value| *value != 0.0);
            row.extend(values.iter().map(|value| match is_ranked {
                true => format!("{:.0}", value * scale),
                false => "–".to_owned(),
            }));
            row.push(candidate.trust.map_or_else(|| "–".to_owned(), |trust| trust.to_string()));
            row.push(why(candidate, scale));
            row
        })
        .collect();
    let header = [
        "candidate",
        "",
        "score",
        "priority",
        "group",
        "addressed",
        "recency",
        "task",
        "trust",
        "why",
    ];
    app.ui.side_table(&header, rows);
}

/// Falls back to a minimal block; reports the failure, and logs it if the store allows.
fn degraded(app: &App, role: &Role, error: &CommandError) -> Outcome {
    app.ui.warn(format_args!("context assembly failed: {}", error.message));
    let markdown = fallback(role);
    let event = || -> Result<(), CommandError> {
        let new = NewEvent {
            session: app.session()?,
            group: app.group()?,
            kind: KnownEvent::Degraded.into(),
            payload: app.redactor()?.clean_json(json!({"role": role, "error": error.message})),
            key: None,
            now: app.now(),
        };
        app.store()?.log_event(&new)?;
        Ok(())
    };
    // Best effort: the store may be what failed, and nobody waits for a lock twice.
    if !matches!(error.code, Code::StoreBusy | Code::NoStore) {
        let _ = event();
    }
    if app.ui.is_json() {
        app.ui.document(&json!({
            "schema": 1, "receipt": null, "state": "failed", "zone": "normal", "usage_pct": 0.0,
            "degraded": true, "reason": error.message,
            "budget": {"window": 0, "effective": 0, "remaining": 0, "context": 0, "errors": 0},
            "packages": [], "available": 0, "overflow": 0, "reasoning": [], "errors": [],
            "strategies": [], "redactions": 0, "tokens": handover_text::tokens::estimate(&markdown),
            "markdown": markdown,
        }))?;
    } else {
        app.ui.bytes(markdown.as_bytes())?;
    }
    Ok(Exit::Done)
}
