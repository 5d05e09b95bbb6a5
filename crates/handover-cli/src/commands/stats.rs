//! `handover stats`

use std::collections::BTreeMap;
use std::fmt::Display;

use handover_engine::Spent;
use handover_engine::stats::{self, Stats, UseOf, Uses};
use handover_model::Timestamp;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::{Ui, count};

/// Show totals across all sessions and runs
///
/// Sessions, receipts by state, tokens delivered and saved, packages never delivered, what agents used of what they
/// received, redactions by rule, run cost by phase and role, error patterns. Saved tokens are those of packages that
/// agents received as a summary and never opened. Used is what an agent opened, named or echoed, where Handover saw
/// its conversation.
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
        let number: u32 = text.strip_suffix(unit)?.parse().ok()?;
        Some(now.plus_seconds(-i64::from(number) * seconds))
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
    print_use(ui, &stats.used)?;
    ui.line(format_args!(
        "Redacted   {} in briefs; what is stored was redacted when it was written",
        listed(&stats.redactions)
    ))?;
    ui.line(format_args!(
        "Errors     {}, {} solved, {}",
        count(stats.errors.patterns, "pattern"),
        stats.errors.solved,
        count(stats.errors.occurrences, "occurrence")
    ))?;
    ui.line(format_args!("Cost       {}", spent(&stats.cost.total)))?;
    for (title, costs) in [("phase", &stats.cost.by_phase), ("role", &stats.cost.by_role)] {
        for (name, cost) in costs {
            ui.line(format_args!("  {title:<6} {name:<20} {}", spent(cost)))?;
        }
    }
    Ok(())
}

/// How much of what agents received they used.
fn print_use(ui: &Ui, uses: &Uses) -> Result<(), CommandError> {
    if uses.total.items == 0 {
        return Ok(());
    }
    ui.line(format_args!("Use        {}: {}", share(&uses.total), listed(&uses.by_use)))?;
    let rows = uses.by_kind.iter().map(|(kind, of)| ("kind", kind.to_string(), of));
    let rows = rows.chain(uses.by_role.iter().map(|(role, of)| ("role", role.to_string(), of)));
    let rows =
        rows.chain(uses.by_section.iter().map(|(name, of)| ("section", (*name).to_owned(), of)));
    for (title, name, of) in rows {
        ui.line(format_args!("  {title:<8} {name:<20} {}", share(of)))?;
    }
    Ok(())
}

fn share(of: &UseOf) -> String {
    let UseOf { items, used, tokens, used_tokens } = of;
    format!("of {tokens} tokens, {used_tokens} were used ({used} of {items} items)")
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
