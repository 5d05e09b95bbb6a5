//! `handover receipt show`

use handover_engine::stats::{UseOf, use_of};
use handover_model::{ItemKind, KnownEvent, Provision, Receipt};
use handover_store::{EventFilter, ReceiptFilter};
use handover_text::redactions;
use serde_json::Value;

use super::titles::Titles;
use crate::app::{App, short_id};
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::ui::{Ui, count, share};

/// Where values begin.
const COLUMN: usize = 11;

/// Lines of a task that are shown.
const TASK_LINES: usize = 6;

/// Show what an agent received, what was left out, and why
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt show\n  handover receipt show 4f2a91 --text\n  handover receipt show latest --json"
)]
pub(crate) struct ShowArgs {
    /// Receipt: its id, at least four characters of it, or `latest` [default: the newest]
    id: Option<String>,

    /// Print only the text that the agent received, without its task
    #[arg(long)]
    text: bool,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let receipt = match &args.id {
        Some(id) => app.find_receipt(id)?,
        None => newest(app)?,
    };
    if args.text {
        app.ui.bytes(receipt.text.as_deref().unwrap_or_default().as_bytes())?;
        return Ok(Exit::Done);
    }
    let debrief = debrief_of(app, &receipt)?;
    app.ui.answer("receipt", &receipt, |ui| {
        print_heading(ui, &receipt)?;
        print_provisions(ui, &receipt)?;
        print_contents(ui, &receipt, &Titles::new(app, &receipt.session))?;
        debrief.as_ref().map_or(Ok(()), |debrief| print_debrief(ui, debrief))
    })?;
    Ok(Exit::Done)
}

/// Whom the receipt is for, and how large the text was.
fn print_heading(ui: &Ui, receipt: &Receipt) -> Result<(), CommandError> {
    ui.line(format_args!("Receipt    {} ({})", short_id(receipt.id.as_str()), receipt.state))?;
    if let Some(task) = &receipt.task {
        print_task(ui, task)?;
    }
    ui.line(format_args!("Time       {}", ui.time(receipt.created_at)))?;
    let group = match &receipt.group {
        Some(group) => format!("of group {group}"),
        None => "(no group)".to_owned(),
    };
    ui.wrapped(
        COLUMN,
        format_args!("For        {} {group}, attempt {}", receipt.role, receipt.iteration + 1),
    )?;
    ui.line(format_args!("Session    {}", receipt.session))?;
    ui.line(format_args!(
        "Model      {} (tokens counted for {})",
        receipt.model.as_deref().unwrap_or("unknown"),
        receipt.tokenizer
    ))?;
    ui.line(format_args!("Zone       {}, {}", receipt.zone, count(receipt.tokens, "token")))
}

/// The beginning of the task, a line below the other.
fn print_task(ui: &Ui, task: &str) -> Result<(), CommandError> {
    let lines: Vec<&str> =
        task.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    for (nth, line) in lines.iter().take(TASK_LINES).enumerate() {
        let name = if nth == 0 { "Task" } else { "" };
        ui.wrapped(COLUMN, format_args!("{name:<10} {}", handover_text::cut::cut(line, 200)))?;
    }
    if lines.len() > TASK_LINES {
        ui.line(format_args!("{:<10} and {} more", "", count(lines.len() - TASK_LINES, "line")))?;
    }
    Ok(())
}

/// The parts of the brief that are missing, disabled or degraded, and the tokens of each section.
fn print_provisions(ui: &Ui, receipt: &Receipt) -> Result<(), CommandError> {
    let is_brief = receipt.sections.iter().any(|section| section.name == "role");
    let parts =
        [("Context", &receipt.provided.context), ("Special.", &receipt.provided.specialization)];
    for (name, provision) in parts {
        match provision {
            Provision::Present => {}
            // `assemble` produces only context.
            Provision::Missing if name == "Special." && !is_brief => {}
            Provision::Missing => ui.line(format_args!("{name:<10} missing"))?,
            Provision::Disabled { by } => ui.line(format_args!("{name:<10} disabled by {by}"))?,
            Provision::Degraded { reason } => {
                ui.line(format_args!("{name:<10} degraded: {reason}"))?;
            }
        }
    }
    let names = receipt.sections.iter().map(|section| section.name.len());
    let width = names.max().unwrap_or_default();
    for section in &receipt.sections {
        ui.line(format_args!(
            "  {:<width$} {} of {} tokens",
            section.name, section.used, section.budget
        ))?;
    }
    Ok(())
}

/// What is in, what is out and why, and what was changed on the way. Scores are shares of the best one, from 0 to 100.
fn print_contents(ui: &Ui, receipt: &Receipt, titles: &Titles<'_>) -> Result<(), CommandError> {
    let scores = receipt.items.iter().map(|item| item.score);
    let best = scores.chain(receipt.left_out.iter().map(|item| item.score)).fold(0.0, f64::max);
    for item in &receipt.items {
        // Only packages have versions.
        let version = match item.kind {
            ItemKind::Package => format!(" v{}", item.version),
            ItemKind::Note
            | ItemKind::Reasoning
            | ItemKind::Error
            | ItemKind::Strategy
            | ItemKind::Verdict => String::new(),
        };
        ui.wrapped(
            COLUMN,
            format_args!(
                "In         {}{version} ({}), {}, {}{}",
                titles.of(item.kind.as_str(), &item.id),
                item.form,
                item.trust,
                scored(item.score, best),
                count(item.tokens, "token")
            ),
        )?;
        if let Some(at) = item.read_at {
            ui.line(format_args!("           read {}", ui.time(at)))?;
        }
        if let Some(used) = item.used {
            ui.line(format_args!("           {used}"))?;
        }
        if let Some(by) = &item.outdated {
            ui.line(format_args!("           outdated: {by}"))?;
        }
        if !item.flags.is_empty() {
            let flags: Vec<&str> = item.flags.iter().map(|flag| flag.as_str()).collect();
            ui.line(format_args!("           flagged: {}", flags.join(", ")))?;
        }
        for stale in &item.stale {
            ui.line(format_args!("           {} {stale}", stale.name()))?;
        }
    }
    if let Some(UseOf { tokens, used_tokens, .. }) = use_of(receipt) {
        ui.line(format_args!("Used       {used_tokens} of {tokens} tokens"))?;
    }
    for item in &receipt.left_out {
        let reason = match &item.amended_by {
            Some(by) => by.to_string(),
            None => item.reason.to_string(),
        };
        let title = titles.of(item.kind.as_str(), &item.id);
        let score = scored(item.score, best);
        let line = format!("Out        {title}: {reason}, {score}");
        ui.wrapped(COLUMN, line.trim_end_matches(", "))?;
    }
    if let Some(failure) = &receipt.failure {
        ui.line(format_args!("Failed     {failure}"))?;
    }
    for part in &receipt.trimmed {
        ui.line(format_args!("Trimmed    {part}"))?;
    }
    print_redactions(ui, receipt)
}

/// A score as a share of the best one. What is not ranked has none.
fn scored(score: f64, best: f64) -> String {
    if score == 0.0 { String::new() } else { format!("score {}, ", share(score, best)) }
}

/// What was removed for this brief, and what had been removed before it was stored.
fn print_redactions(ui: &Ui, receipt: &Receipt) -> Result<(), CommandError> {
    for (rule, number) in &receipt.redactions {
        ui.line(format_args!("Redacted   {number} by {rule}"))?;
    }
    let shown = receipt.text.as_deref().map_or(0, redactions);
    let before = shown.saturating_sub(receipt.redactions.values().sum());
    if before > 0 {
        ui.line(format_args!("Redacted   {before} when it was stored"))?;
    }
    Ok(())
}

/// How the agent ended and what was kept of its last message.
fn print_debrief(ui: &Ui, debrief: &Value) -> Result<(), CommandError> {
    let text = |key: &str| debrief[key].as_str().unwrap_or("–").to_owned();
    ui.wrapped(COLUMN, format_args!("Ended      {}: {}", text("verdict"), text("summary")))?;
    let kept = &debrief["kept"];
    let length = |key: &str| kept[key].as_array().map_or(0, Vec::len);
    ui.wrapped(
        COLUMN,
        format_args!(
            "Kept       {}, {}, {}",
            count(kept["reasoning"].as_u64().unwrap_or(0), "reasoning entry"),
            count(length("packages"), "package"),
            count(length("errors"), "error")
        ),
    )
}

/// The newest receipt, within the session if one is given.
fn newest(app: &App) -> Result<Receipt, CommandError> {
    let filter =
        ReceiptFilter { session: app.named_session()?, limit: Some(1), ..ReceiptFilter::default() };
    match app.store()?.receipts(&filter)?.pop() {
        Some(receipt) => Ok(app.store()?.receipt(&receipt.id)?),
        None => Err(CommandError::new(Exit::Usage, "not_found", "no receipts yet")
            .hinted("`handover brief`, `spawn` and `assemble` create them.")),
    }
}

/// The debrief event for a receipt, if the agent has ended.
fn debrief_of(app: &App, receipt: &Receipt) -> Result<Option<Value>, CommandError> {
    let filter = EventFilter { kind: Some(KnownEvent::Debrief.into()), ..EventFilter::default() };
    let events = app.store()?.events(&receipt.session, &filter)?;
    let id = receipt.id.as_str();
    let payload = events.into_iter().map(|event| event.payload);
    Ok(payload.into_iter().find(|payload| payload["receipt"] == id))
}
