//! `handover coverage`

#[cfg(feature = "mcp")]
mod dashboard;
mod judge;
mod kept;

use std::collections::BTreeMap;
use std::path::PathBuf;

use handover_model::{Coverage, Host, Timestamp};
use serde_json::{Map, Value, json};

use judge::{Judged, Spawn, Unconnected, judged};

use super::{Outcome, hook};
use crate::app::App;
use crate::commands::doctor::Check;
use crate::error::{CommandError, Exit};
use crate::input::date;
use crate::ui::count;

/// Compare the subagents of agent programs with their receipts
///
/// Reads what Claude Code, Codex, Copilot CLI, Gemini CLI, opencode and Qwen Code keep of this project's conversations
/// and their subagents. Every subagent is briefed, exempt by a rule of the configuration, or refused; if none of
/// these holds, it was missed, and the reason says why. Subagents of programs that were not connected then are only
/// counted, and those from before Handover was used in this project do not count. The percentage
/// is of those that were not missed. Exits with 1 if any was.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover coverage\n  handover coverage --since 2026-11-01\n  handover coverage --json | jq '.spawns[] | select(.state == \"missed\")'"
)]
pub(crate) struct CoverageArgs {
    /// Only this agent program
    #[arg(long, value_parser = hook::host_that(|_| true))]
    host: Option<Host>,

    /// Nothing older than this date
    #[arg(long, value_name = "DATE", value_parser = date)]
    since: Option<Timestamp>,

    /// Transcripts in this file or folder instead of where the programs keep them; repeatable
    #[arg(long, value_name = "PATH")]
    path: Vec<PathBuf>,
}

pub(crate) fn run(app: &App, args: &CoverageArgs) -> Outcome {
    let Judged { spawns, unconnected } = judged(app, args.host, args.since, &args.path)?;
    let answer = json!({
        "spawns": spawns, "counts": counts(&spawns), "percent": percent(&spawns),
        "not_connected": unconnected,
    });
    app.ui.answer_all(answer, |ui| {
        let rows = spawns.iter().map(|spawn| {
            let id = spawn.agent.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string);
            let reason = spawn.reason.clone().unwrap_or_default();
            vec![spawn.host.to_string(), id, spawn.kind.clone(), spawn.state.to_string(), reason]
        });
        let empty = match unconnected.is_empty() {
            true => "No subagents have been started here since Handover was set up.",
            false => {
                "No connected agent program has started a subagent here since Handover was set up."
            }
        };
        ui.table(&["host", "agent", "kind", "state", "reason"], rows.collect(), empty)?;
        if !spawns.is_empty() {
            ui.note(summary(&spawns));
        }
        if let Some(note) = not_connected(&unconnected) {
            ui.note(note);
        }
        Ok(())
    })?;
    Ok(if missed(&spawns) == 0 { Exit::Done } else { Exit::Failed })
}

/// How many days `doctor` and the dashboard look back.
const DAYS: i64 = 7;

fn lately(app: &App) -> Result<Judged, CommandError> {
    judged(app, None, Some(app.now().plus_seconds(-DAYS * 86_400)), &[])
}

/// One line of it, over the last days, for `handover doctor`.
pub(crate) fn check(app: &App) -> Result<Option<Check>, CommandError> {
    let Judged { spawns, unconnected } = lately(app)?;
    let counted = (!spawns.is_empty()).then(|| summary(&spawns));
    let parts: Vec<String> = counted.into_iter().chain(not_connected(&unconnected)).collect();
    if parts.is_empty() {
        return Ok(None);
    }
    let detail = format!("last {DAYS} days: {}", parts.join("; "));
    Ok(Some(match missed(&spawns) {
        0 => Check::fine("coverage", detail),
        _ => Check::wrong("coverage", detail, "`handover coverage` lists them with the reasons."),
    }))
}

/// How many subagents there were in programs that were not connected, which is no failure.
fn not_connected(unconnected: &[Unconnected]) -> Option<String> {
    let mut hosts: BTreeMap<Host, usize> = BTreeMap::new();
    for one in unconnected {
        *hosts.entry(one.host).or_default() += 1;
    }
    let parts: Vec<String> =
        hosts.iter().map(|(host, count)| format!("{count} in {host}")).collect();
    let all = unconnected.len();
    (all > 0).then(|| format!("not connected: {all} ({})", parts.join(", ")))
}

fn missed(spawns: &[Spawn]) -> usize {
    spawns.iter().filter(|spawn| spawn.state == Coverage::Missed).count()
}

fn counts(spawns: &[Spawn]) -> Map<String, Value> {
    let count = |state: &Coverage| spawns.iter().filter(|spawn| spawn.state == *state).count();
    Coverage::ALL.iter().map(|state| (state.to_string(), count(state).into())).collect()
}

/// How many of a hundred subagents were briefed, exempt or refused; none if there were none. Rounded down: one that was
/// missed is never 100.
fn percent(spawns: &[Spawn]) -> Option<usize> {
    let covered = spawns.len() - missed(spawns);
    (100 * covered).checked_div(spawns.len())
}

fn summary(spawns: &[Spawn]) -> String {
    let counts = counts(spawns);
    let parts: Vec<String> = Coverage::ALL
        .iter()
        .map(|state| format!("{} {state}", counts.get(state.as_str()).unwrap_or(&Value::Null)))
        .collect();
    let (percent, all) = (percent(spawns).unwrap_or_default(), count(spawns.len(), "subagent"));
    format!("{percent} % of {all} covered: {}", parts.join(", "))
}
