//! `handover debrief`

use handover_context::debrief::{Debrief, Origin, Setting, keep, keep_missing, parse};
use handover_context::learning::Binding;
use handover_model::{AgentId, ReceiptId, Role};
use serde_json::json;

use super::Outcome;
use super::stack::stack_of;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

/// Keep what an agent left behind: verdict, reasoning, packages, solved errors
///
/// Reads the agent's last message from standard input and looks for its fenced `handover` block.
/// With --receipt, session, group, role and attempt come from there.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover debrief --receipt r_0190… < last-message.md\n  claude -p … | handover debrief --role developer --group login\n  handover debrief --schema"
)]
pub(crate) struct DebriefArgs {
    /// The receipt that the agent started with
    #[arg(long, value_name = "ID")]
    receipt: Option<ReceiptId>,

    /// Who the agent was, where there is no receipt
    #[arg(long, required_unless_present_any = ["receipt", "schema"])]
    role: Option<Role>,

    /// Which agent of that role
    #[arg(long, value_name = "ID")]
    agent_id: Option<AgentId>,

    /// Print the JSON Schema of the block and do nothing else
    #[arg(long)]
    schema: bool,
}

pub(crate) fn run(app: &App, args: DebriefArgs) -> Outcome {
    if args.schema {
        app.ui.bytes(handover_context::debrief::SCHEMA.as_bytes())?;
        return Ok(Exit::Done);
    }
    let origin = origin(app, &args)?;
    let text = app.stdin.read("the agent's last message")?;
    let debrief = parse(&text);
    let kept = keep_debrief(app, &origin, &debrief, false)?;
    let answer = json!({
        "debrief": debrief, "missing": debrief.missing, "kept": kept,
    });
    app.ui.answer_all(answer, |ui| show(ui, &debrief, kept.as_ref()))?;
    Ok(Exit::Done)
}

fn origin(app: &App, args: &DebriefArgs) -> Result<Origin, CommandError> {
    let origin = match &args.receipt {
        Some(id) => {
            let receipt = app.store()?.receipt(id)?;
            Origin {
                session: receipt.session,
                group: receipt.group,
                role: receipt.role,
                agent: args.agent_id.clone(),
                iteration: receipt.iteration,
                receipt: Some(receipt.id),
                now: app.now(),
            }
        }
        None => Origin {
            session: app.session()?,
            group: app.group()?,
            role: args.role.clone().ok_or_else(|| {
                CommandError::invalid("neither a receipt nor a role is given")
                    .hinted("Pass `--receipt ID` or `--role ROLE`.")
            })?,
            agent: args.agent_id.clone(),
            iteration: 0,
            receipt: None,
            now: app.now(),
        },
    };
    app.store()?.session(&origin.session)?;
    Ok(origin)
}

/// Stores a debrief, or that there is none.
pub(crate) fn keep_debrief(
    app: &App,
    origin: &Origin,
    debrief: &Debrief,
    asked: bool,
) -> Result<Option<handover_context::debrief::Kept>, CommandError> {
    let binding = stack_of(app).map(|stack| Binding::of(&stack, None)).unwrap_or_default();
    let setting = Setting {
        store: app.store()?,
        redactor: app.redactor()?,
        places: app.places()?,
        config: app.config()?,
        binding: &binding,
    };
    let said_something =
        debrief.is_there() || debrief.verdict.is_some() || !debrief.packages.is_empty();
    if said_something {
        return Ok(Some(keep(setting, origin, debrief)?));
    }
    keep_missing(setting, origin, asked)?;
    Ok(None)
}

/// A debrief for people.
pub(crate) fn show(
    ui: &Ui,
    debrief: &Debrief,
    kept: Option<&handover_context::debrief::Kept>,
) -> Result<(), CommandError> {
    ui.line(format_args!("Verdict    {}", debrief.verdict.map_or("–", |v| v.as_str())))?;
    if let Some(summary) = &debrief.summary {
        ui.line(format_args!("Summary    {summary}"))?;
    }
    match kept {
        Some(kept) => {
            ui.line(format_args!(
                "Kept       {} of reasoning, {} packages, {} errors, {} strategies",
                kept.reasoning,
                kept.packages.len(),
                kept.errors.len(),
                kept.strategies
            ))?;
            for refused in &kept.refused {
                ui.line(format_args!("Not kept   {refused}"))?;
            }
        }
        None => ui.line(format_args!("Kept       that it left no debrief"))?,
    }
    if !debrief.missing.is_empty() {
        ui.line(format_args!("Missing    {}", debrief.missing.join(", ")))?;
    }
    Ok(())
}
