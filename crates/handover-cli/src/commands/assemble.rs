//! `handover assemble`

use std::path::PathBuf;

use handover_context::assemble::{Assembly, Request, Setting, assemble, deliver, fallback};
use handover_model::{KnownEvent, ReasoningLevel, ReceiptId, ReceiptState, Role};
use handover_store::NewEvent;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input;

/// Put together the context of one agent: ranked, redacted, inside its budget, with a receipt
///
/// Prints exactly the Markdown that the agent should see. Whatever fails on the way (the store is
/// locked, damaged, gone), the agent still gets a minimal block and exit code 0; only arguments that
/// make no sense are refused.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AssembleArgs {
    /// Who the text is for
    #[arg(long)]
    role: Role,

    /// What the agent is to do; what fits it best comes first
    #[arg(long, value_name = "TEXT", conflicts_with = "task_file", allow_hyphen_values = true,
        value_parser = crate::input::argument)]
    task: Option<String>,

    /// The same from a file, or from standard input for `-`
    #[arg(long, value_name = "FILE")]
    task_file: Option<PathBuf>,

    /// The model of the agent, by any of its names
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// How many tokens its window holds already
    #[arg(long, default_value = "0", value_name = "N")]
    current_tokens: u64,

    /// Which attempt; a new one gets everything again
    #[arg(long, default_value = "0", value_name = "N")]
    iteration: u32,

    /// Other agents' reasoning: on or off [default: by role]
    #[arg(long, value_name = "on|off", value_parser = on_or_off)]
    reasoning: Option<bool>,

    /// How much of it: minimal, medium or full
    #[arg(long, value_name = "LEVEL", default_value = "medium")]
    reasoning_level: ReasoningLevel,

    /// At most so many packages [default: by role]
    #[arg(long, value_name = "K")]
    limit: Option<usize>,

    /// Say for every candidate why it is in or out
    #[arg(long)]
    explain: bool,

    /// Count the text as delivered once it is written
    #[arg(long)]
    deliver: bool,
}

const EXAMPLES: &str = "\
Examples:
  handover assemble --role developer --group login --task \"Refresh tokens in parallel\"
  handover assemble --role qa_expert --task-file story.md --model opus --explain
  handover assemble --role tech_lead --current-tokens 130000 --deliver --json";

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err("`on` or `off` is expected".to_owned()),
    }
}

pub(crate) fn run(app: &App, args: AssembleArgs) -> Outcome {
    let task = match (&args.task, &args.task_file) {
        (Some(task), _) => Some(task.clone()),
        (None, Some(file)) => Some(input::file(file, &app.stdin, "the task")?),
        (None, None) => None,
    };
    // Arguments are the caller's affair; from here on nothing may stop an agent.
    let group = app.group()?;
    let assembled =
        request(app, &args, task, group).and_then(|request| Ok(assemble(setting(app)?, &request)?));
    match assembled {
        Ok(assembly) => answer(app, &args, &assembly),
        Err(error) if error.exit == Exit::Usage && error.code != "invalid_config" => Err(error),
        Err(error) => degraded(app, &args.role, &error),
    }
}

fn setting(app: &App) -> Result<Setting<'_>, CommandError> {
    Ok(Setting { store: app.store()?, redactor: app.redactor()?, config: &app.config()?.assembly })
}

fn request(
    app: &App,
    args: &AssembleArgs,
    task: Option<String>,
    group: Option<handover_model::GroupId>,
) -> Result<Request, CommandError> {
    Ok(Request {
        session: app.session()?,
        role: args.role.clone(),
        group,
        task,
        model: args.model.clone(),
        current_tokens: args.current_tokens,
        iteration: args.iteration,
        reasoning: args.reasoning,
        reasoning_level: args.reasoning_level,
        limit: args.limit,
        cap: None,
        deliver: args.deliver,
        explain: args.explain,
        receipt: ReceiptId::new(format!("r_{}", uuid::Uuid::now_v7().simple()))?,
        now: app.now(),
    })
}

fn answer(app: &App, args: &AssembleArgs, assembly: &Assembly) -> Outcome {
    let state = if args.deliver { ReceiptState::Delivered } else { ReceiptState::Assembled };
    if app.ui.is_json() {
        app.ui.document(&document(assembly, state, args.explain))?;
    } else {
        app.ui.bytes(assembly.markdown.as_bytes())?;
        if args.explain {
            explain(app, assembly);
        }
    }
    if args.deliver {
        // Written without an error: now it counts.
        deliver(setting(app)?, assembly, None, app.now())?;
    }
    Ok(Exit::Done)
}

fn document(assembly: &Assembly, state: ReceiptState, explain: bool) -> Value {
    let errors: Vec<Value> = assembly
        .errors
        .iter()
        .map(|pattern| {
            json!({
                "hash": pattern.hash,
                "message": pattern.signature.message,
                "solution": pattern.solution,
                "confidence": pattern.confidence,
                "occurrences": pattern.occurrences,
            })
        })
        .collect();
    let strategies: Vec<Value> = assembly
        .strategies
        .iter()
        .map(|s| json!({"id": s.id, "topic": s.topic, "insight": s.insight, "helpfulness": s.helpfulness}))
        .collect();
    let mut document = json!({
        "schema": 1,
        "receipt": assembly.receipt.id,
        "state": state,
        "zone": assembly.zone,
        "usage_pct": assembly.usage_percent,
        "degraded": false,
        "budget": assembly.budget,
        "packages": assembly.packages,
        "available": assembly.available,
        "overflow": assembly.overflow,
        "reasoning": assembly.reasoning,
        "errors": errors,
        "strategies": strategies,
        "redactions": assembly.redactions,
        "tokens": assembly.tokens,
        "markdown": assembly.markdown,
    });
    if explain {
        document["candidates"] = serde_json::to_value(&assembly.candidates).unwrap_or_default();
    }
    document
}

fn explain(app: &App, assembly: &Assembly) {
    let rows = assembly
        .candidates
        .iter()
        .map(|candidate| {
            let terms = &candidate.terms;
            let mut row = vec![
                candidate.id.to_string(),
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
            row.extend(values.iter().map(|value| format!("{value:.3}")));
            row.push(candidate.reason.to_string());
            row
        })
        .collect();
    let header =
        ["package", "", "score", "priority", "group", "addressed", "recency", "task", "why"];
    app.ui.side_table(&header, rows);
}

/// The agent goes on with a minimal block; the failure is told, and kept if it can be.
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
    // Best effort: the store may be what failed.
    let _ = event();
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
