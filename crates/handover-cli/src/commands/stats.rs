//! `handover stats`

use std::collections::BTreeMap;
use std::fmt::Display;

use handover_engine::Spent;
use handover_engine::stats::{self, Arm, Difference, Learning, Period, Stats, UseOf, Uses};
use handover_model::Timestamp;
use handover_text::cut;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::{Ui, count};

/// Show totals across all sessions and runs
///
/// Sessions, receipts by state, tokens delivered and saved, packages never delivered, what agents used of what they
/// received, redactions by rule, run cost by phase and role, error patterns. Saved tokens are those of packages that
/// agents received as a summary and never opened. Used is what an agent opened, named or echoed, where Handover saw
/// its conversation: by kind, role and section, over time, and per item with `--items`. What agents received again and
/// again and never used is offered for retirement; what learning from use does is compared with the briefs that do
/// without it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover stats\n  handover stats --since 7d\n  handover stats --items\n  handover stats --since 2026-11-01T00:00:00Z --json"
)]
pub(crate) struct StatsArgs {
    /// Only count what happened since then: hours or days such as 12h or 7d, or an RFC 3339 time
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,

    /// List the packages, notes and strategies that cost most tokens unused
    #[arg(long)]
    items: bool,
}

/// So many items are printed; JSON has more.
const SHOWN_ITEMS: usize = 20;
/// So many that are never used are printed.
const SHOWN_IDLE: usize = 5;

pub(crate) fn run(app: &App, args: StatsArgs) -> Outcome {
    let since = args.since.map(|text| moment(&text, app.now())).transpose()?;
    let store = app.store()?;
    let stats = stats::of(store, &app.project_id()?, since, app.now())?;
    app.ui.answer("stats", &stats, |ui| print(ui, &stats, args.items))?;
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

fn print(ui: &Ui, stats: &Stats, items: bool) -> Result<(), CommandError> {
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
    print_use(ui, stats)?;
    if items {
        print_items(ui, stats)?;
    }
    print_never_used(ui, stats)?;
    print_learning(ui, &stats.learning)?;
    ui.line(format_args!(
        "Redacted   {} in briefs, {} in packages when they were stored",
        listed(&stats.redactions),
        stats.stored_redactions
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
fn print_use(ui: &Ui, stats: &Stats) -> Result<(), CommandError> {
    let uses = &stats.used;
    if uses.total.items == 0 {
        return Ok(());
    }
    ui.line(format_args!("Use        {}: {}", share(&uses.total), listed(&uses.by_use)))?;
    let row = |title: &str, name: &str, of: &UseOf, over_time: String| {
        ui.line(format_args!("  {title:<8} {name:<20} {}{over_time}", share(of)))
    };
    let parts = |part: &dyn Fn(&Uses) -> Option<UseOf>| {
        let periods = stats.use_over_time.iter();
        over_time(periods.filter_map(|period| Some((period.period, part(&period.uses)?))))
    };
    for (kind, of) in &uses.by_kind {
        row("kind", kind.as_str(), of, parts(&|uses| uses.by_kind.get(kind).copied()))?;
    }
    for (role, of) in &uses.by_role {
        row("role", role.as_str(), of, parts(&|uses| uses.by_role.get(role).copied()))?;
    }
    for (name, of) in &uses.by_section {
        row("section", name, of, parts(&|uses| uses.by_section.get(name).copied()))?;
    }
    for period in stats.use_over_time.iter().filter(|period| period.uses.total.items > 0) {
        row("when", period.period.label(), &period.uses.total, String::new())?;
    }
    Ok(())
}

/// The share of each part of the past, the latest first, if there is more than one: `; 7 days 40 %, before 25 %`.
fn over_time(parts: impl Iterator<Item = (Period, UseOf)>) -> String {
    let shares: Vec<String> = parts
        .filter_map(|(period, of)| Some(format!("{} {:.0} %", period.label(), of.percent()?)))
        .collect();
    if shares.len() < 2 { String::new() } else { format!("; {}", shares.join(", ")) }
}

/// What became of single items, those first that cost most without being used.
fn print_items(ui: &Ui, stats: &Stats) -> Result<(), CommandError> {
    for one in stats.use_by_item.iter().take(SHOWN_ITEMS) {
        let name = cut::cut(&format!("{} {}", one.kind, one.id), 29);
        let parts = one.over_time.iter().map(|(period, of)| (*period, *of));
        ui.line(format_args!("  {name:<29} {}{}", share(&one.uses), over_time(parts)))?;
    }
    let more = stats.use_by_item.len().saturating_sub(SHOWN_ITEMS);
    if more > 0 {
        ui.line(format_args!("  {more} more with --json"))?;
    }
    Ok(())
}

/// What could be retired, with the commands that do it.
fn print_never_used(ui: &Ui, stats: &Stats) -> Result<(), CommandError> {
    let idle = &stats.never_used;
    if idle.is_empty() {
        return Ok(());
    }
    let tokens: u64 = idle.iter().map(|one| one.tokens).sum();
    let items = count(idle.len() as u64, "item");
    ui.line(format_args!("Never used {items}, {tokens} tokens; to retire them:"))?;
    for one in idle.iter().take(SHOWN_IDLE) {
        let title = cut::cut(&cut::one_line(&one.title), 40);
        ui.line(format_args!("  {}  # {title}", one.command))?;
    }
    if idle.len() > SHOWN_IDLE {
        ui.line(format_args!("  {} more with --json", idle.len() - SHOWN_IDLE))?;
    }
    Ok(())
}

/// What learning from use does, as far as the figures show it.
fn print_learning(ui: &Ui, learning: &Learning) -> Result<(), CommandError> {
    let Learning { kinds, applied, held_out, .. } = learning;
    if kinds.is_empty() {
        return Ok(());
    }
    let state = kinds.iter().map(|(kind, state)| match state.enough {
        true => format!("{kind}s by {:.0} uses", state.judged),
        false => format!("{kind}s not yet ({:.0} of {:.0} uses)", state.judged, state.needed),
    });
    ui.line(format_args!("Learning   {}", state.collect::<Vec<_>>().join(", ")))?;
    if applied.briefs + held_out.briefs == 0 {
        return Ok(());
    }
    ui.line(format_args!("  with it     {}", arm(applied)))?;
    ui.line(format_args!("  held out    {}", arm(held_out)))?;
    ui.line(format_args!("  use         {}", apart(learning.use_difference, "use")))?;
    ui.line(format_args!("  success     {}", apart(learning.verdict_difference, "success")))
}

fn arm(arm: &Arm) -> String {
    let used = arm.used.map_or_else(
        || "none seen".to_owned(),
        |used| format!("{:.0} % of {} used", used * 100.0, count(arm.judged, "brief")),
    );
    let success = arm.success.map_or_else(
        || "no verdicts".to_owned(),
        |share| {
            let [low, high] = [share.low, share.high].map(|share| share * 100.0);
            format!("{} of {} succeeded ({low:.0}–{high:.0} %)", arm.succeeded, arm.verdicts)
        },
    );
    format!("{}, {used}, {success}", count(arm.briefs, "brief"))
}

/// A difference in points, and whether it is one.
fn apart(difference: Option<Difference>, of_what: &str) -> String {
    let Some(apart) = difference else {
        return "too few briefs to compare".to_owned();
    };
    let [by, low, high] = [apart.difference, apart.low, apart.high].map(|share| share * 100.0);
    let points = format!("{by:+.1} points with it ({low:+.1} to {high:+.1})");
    match apart.is_unclear() {
        true => format!("{points}: no measurable difference in {of_what}"),
        false => points,
    }
}

fn share(of: &UseOf) -> String {
    let UseOf { items, used, tokens, used_tokens } = of;
    if *tokens == 0 {
        return format!("used {used} of {}", count(*items, "item"));
    }
    format!("used {used_tokens} of {tokens} tokens ({used} of {items} items)")
}

fn listed(counts: &BTreeMap<impl Display, u64>) -> String {
    if counts.is_empty() {
        return "none".to_owned();
    }
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{count} {name}")).collect();
    parts.join(", ")
}

fn spent(cost: &Spent) -> String {
    format!("{}, {} tokens, {} turns", cost.price(), cost.tokens, cost.turns)
}
