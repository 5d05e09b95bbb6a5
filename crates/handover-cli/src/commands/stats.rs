//! `handover stats`

use std::collections::BTreeMap;
use std::fmt::Display;

use handover_engine::Spent;
use handover_engine::stats::{self, Stats};
use handover_model::Timestamp;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

/// Show totals across all sessions and runs
///
/// Sessions, receipts by state, tokens delivered and saved, packages never delivered, redactions by rule,
/// run cost by phase and role, error patterns. Saved tokens are those of packages that agents received as
/// a summary and never opened.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover stats\n  handover stats --since 7d\n  handover stats --since 2026-11-01T00:00:00Z --json"
)]
pub(crate) struct StatsArgs {
    /// Only count what happened since then: hours or days such as 12h or 7d, or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
}

pub(crate) fn run(app: &App, args: StatsArgs) -> Outcome {
    let since = args.since.map(|text| moment(&text, app.now())).transpose()?;
    let store = app.store()?;
    let stats = stats::of(store, &app.project_id()?, since)?;
    app.ui.answer("stats", &stats, |ui| print(ui, &stats))?;
    Ok(Exit::Done)
}

/// Parses `12h`, `7d` or an RFC 3339 time.
fn moment(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    let ago = [("h", 3_600), ("d", 86_400)].iter().find_map(|(unit, seconds)| {
        let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
        Some(now.plus_seconds(-i64::from(count) * seconds))
    });
    match ago {
        Some(time) => Ok(time),
        None => text.parse().map_err(|_| {
            CommandError::invalid(format!("`{text}` is not a time"))
                .hinted("Use `12h`, `7d`, or a time such as 2026-11-01T00:00:00Z.")
        }),
    }
}

fn print(ui: &Ui, stats: &Stats) -> Result<(), CommandError> {
    if let Some(since) = stats.since {
        ui.line(format_args!("Since      {since}"))?;
    }
    ui.line(format_args!("Sessions   {}", listed(&stats.sessions)))?;
    ui.line(format_args!("Receipts   {}", listed(&stats.receipts)))?;
    ui.line(format_args!(
        "Tokens     {} delivered, {} saved",
        stats.tokens.delivered, stats.tokens.saved
    ))?;
    ui.line(format_args!(
        "Packages   {}, {} never delivered, {} never opened",
        stats.packages.total, stats.packages.never_delivered, stats.packages.never_read
    ))?;
    ui.line(format_args!("Redacted   {}", listed(&stats.redactions)))?;
    ui.line(format_args!(
        "Errors     {} patterns, {} solved, {} occurrences",
        stats.errors.patterns, stats.errors.solved, stats.errors.occurrences
    ))?;
    ui.line(format_args!("Cost       {}", spent(&stats.cost.total)))?;
    for (title, costs) in [("phase", &stats.cost.by_phase), ("role", &stats.cost.by_role)] {
        for (name, cost) in costs {
            ui.line(format_args!("  {title:<6} {name:<20} {}", spent(cost)))?;
        }
    }
    Ok(())
}

fn listed(counts: &BTreeMap<impl Display, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    parts.join(", ")
}

fn spent(cost: &Spent) -> String {
    format!("{:.4} USD, {} tokens, {} turns", cost.cost_usd, cost.tokens, cost.turns)
}
