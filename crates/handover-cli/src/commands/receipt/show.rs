//! `handover receipt show`

use handover_engine::stats::{UseOf, use_of};
use handover_model::{ItemKind, KnownEvent, Provision, Receipt, ReceiptItem};
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
    app.ui.answer("receipt", &receipt, |ui| {
        lines(app, &receipt)?.iter().try_for_each(|line| ui.wrapped(COLUMN, line))
    })?;
    Ok(Exit::Done)
}

/// A receipt for reading, in lines of any length.
pub(crate) fn lines(app: &App, receipt: &Receipt) -> Result<Vec<String>, CommandError> {
    let mut lines = heading(&app.ui, receipt);
    lines.extend(provisions(receipt));
    lines.extend(contents(&app.ui, receipt, &Titles::new(app, &receipt.session)));
    if let Some(debrief) = debrief_of(app, receipt)? {
        lines.extend(ending(&debrief));
    }
    Ok(lines)
}

/// Whom the receipt is for, and how large the text was.
fn heading(ui: &Ui, receipt: &Receipt) -> Vec<String> {
    let mut lines =
        vec![format!("Receipt    {} ({})", short_id(receipt.id.as_str()), receipt.state)];
    lines.extend(receipt.task.as_deref().into_iter().flat_map(task));
    let group = match &receipt.group {
        Some(group) => format!("of group {group}"),
        None => "(no group)".to_owned(),
    };
    lines.extend([
        format!("Time       {}", ui.time(receipt.created_at)),
        format!("For        {} {group}, attempt {}", receipt.role, receipt.iteration + 1),
        format!("Session    {}", receipt.session),
        format!(
            "Model      {} (tokens counted for {})",
            receipt.model.as_deref().unwrap_or("unknown"),
            receipt.tokenizer
        ),
        format!("Zone       {}, {}", receipt.zone, count(receipt.tokens, "token")),
    ]);
    lines
}

/// The beginning of the task, a line below the other.
fn task(task: &str) -> Vec<String> {
    let lines: Vec<&str> =
        task.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let named = lines.iter().take(TASK_LINES).enumerate().map(|(nth, line)| {
        let name = if nth == 0 { "Task" } else { "" };
        format!("{name:<10} {}", handover_text::cut::cut(line, 200))
    });
    let rest = lines.len().saturating_sub(TASK_LINES);
    let more = (rest > 0).then(|| format!("{:<10} and {} more", "", count(rest, "line")));
    named.chain(more).collect()
}

/// The parts of the brief that are missing, disabled or degraded, and the tokens of each section.
fn provisions(receipt: &Receipt) -> Vec<String> {
    let is_brief = receipt.sections.iter().any(|section| section.name == "role");
    let parts =
        [("Context", &receipt.provided.context), ("Special.", &receipt.provided.specialization)];
    let without = parts.into_iter().filter_map(|(name, provision)| match provision {
        Provision::Present => None,
        // `assemble` produces only context.
        Provision::Missing if name == "Special." && !is_brief => None,
        Provision::Missing => Some(format!("{name:<10} missing")),
        Provision::Disabled { by } => Some(format!("{name:<10} disabled by {by}")),
        Provision::Degraded { reason } => Some(format!("{name:<10} degraded: {reason}")),
    });
    let names = receipt.sections.iter().map(|section| section.name.len());
    let width = names.max().unwrap_or_default();
    let sections = receipt.sections.iter().map(|section| {
        format!("  {:<width$} {} of {} tokens", section.name, section.used, section.budget)
    });
    without.chain(sections).collect()
}

/// What is in, what is out and why, and what was changed on the way. Scores are shares of the best one, from 0 to 100.
fn contents(ui: &Ui, receipt: &Receipt, titles: &Titles<'_>) -> Vec<String> {
    let scores = receipt.items.iter().map(|item| item.score);
    let best = scores.chain(receipt.left_out.iter().map(|item| item.score)).fold(0.0, f64::max);
    let mut lines: Vec<String> =
        receipt.items.iter().flat_map(|one| item(ui, one, best, titles)).collect();
    if let Some(UseOf { tokens, used_tokens, .. }) = use_of(receipt) {
        lines.push(format!("Used       {used_tokens} of {tokens} tokens"));
    }
    for item in &receipt.left_out {
        let reason = match &item.amended_by {
            Some(by) => by.to_string(),
            None => item.reason.to_string(),
        };
        let title = titles.of(item.kind.as_str(), &item.id);
        let line = format!("Out        {title}: {reason}, {}", scored(item.score, best));
        lines.push(line.trim_end_matches(", ").to_owned());
    }
    lines.extend(receipt.failure.iter().map(|failure| format!("Failed     {failure}")));
    lines.extend(receipt.trimmed.iter().map(|part| format!("Trimmed    {part}")));
    lines.extend(removed(receipt));
    lines
}

/// What went in, and what became of it.
fn item(ui: &Ui, item: &ReceiptItem, best: f64, titles: &Titles<'_>) -> Vec<String> {
    // Only packages have versions.
    let version = match item.kind {
        ItemKind::Package => format!(" v{}", item.version),
        ItemKind::Note
        | ItemKind::Reasoning
        | ItemKind::Error
        | ItemKind::Strategy
        | ItemKind::Verdict => String::new(),
    };
    let mut lines = vec![format!(
        "In         {}{version} ({}), {}, {}{}",
        titles.of(item.kind.as_str(), &item.id),
        item.form,
        item.trust,
        scored(item.score, best),
        count(item.tokens, "token")
    )];
    let read = item.read_at.map(|at| format!("read {}", ui.time(at)));
    let used = item.used.map(|used| used.to_string());
    let outdated = item.outdated.as_ref().map(|by| format!("outdated: {by}"));
    let flags: Vec<&str> = item.flags.iter().map(|flag| flag.as_str()).collect();
    let flags = (!flags.is_empty()).then(|| format!("flagged: {}", flags.join(", ")));
    let stale = item.stale.iter().map(|stale| format!("{} {stale}", stale.name()));
    let known = [read, used, outdated, flags].into_iter().flatten().chain(stale);
    lines.extend(known.map(|known| format!("{:<10} {known}", "")));
    lines
}

/// A score as a share of the best one. What is not ranked has none.
fn scored(score: f64, best: f64) -> String {
    if score == 0.0 { String::new() } else { format!("score {}, ", share(score, best)) }
}

/// What was removed for this brief, and what had been removed before it was stored.
fn removed(receipt: &Receipt) -> Vec<String> {
    let rules = receipt.redactions.iter();
    let mut lines: Vec<String> =
        rules.map(|(rule, number)| format!("Redacted   {number} by {rule}")).collect();
    let shown = receipt.text.as_deref().map_or(0, redactions);
    let before = shown.saturating_sub(receipt.redactions.values().sum());
    if before > 0 {
        lines.push(format!("Redacted   {before} when it was stored"));
    }
    lines
}

/// How the agent ended and what was kept of its last message.
fn ending(debrief: &Value) -> [String; 2] {
    let text = |key: &str| debrief[key].as_str().unwrap_or("–").to_owned();
    let kept = &debrief["kept"];
    let length = |key: &str| kept[key].as_array().map_or(0, Vec::len);
    [
        format!("Ended      {}: {}", text("verdict"), text("summary")),
        format!(
            "Kept       {}, {}, {}",
            count(kept["reasoning"].as_u64().unwrap_or(0), "reasoning entry"),
            count(length("packages"), "package"),
            count(length("errors"), "error")
        ),
    ]
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
