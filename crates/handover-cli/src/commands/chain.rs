//! `handover chain`, and `handover run` with several epics

use handover_engine::Progress;
use handover_engine::chain::{ChainLink, ChainRequest, Report};
use handover_model::EpicId;
use serde_json::{Value, json};

use super::Outcome;
use super::run::{RunArgs, Shown, engine, epic, outcome, request, warn_of_trust};
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::count;

/// Run several epics in dependency order
///
/// Each epic is an ordinary run and takes the flags of `run`. It starts where the epics that it depends on
/// ended, and finishes with a retrospective whose handoff is passed to its dependents. A failed epic stops
/// only its dependents. `--max-cost` limits the total.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ChainArgs {
    #[command(flatten)]
    pub(super) run: RunArgs,

    /// Further epics
    #[arg(value_name = "EPIC", help_heading = None)]
    pub(super) more: Vec<String>,
}

const EXAMPLES: &str = "\
Examples:
  handover run 1 2 3 --dry-run                 show the order
  handover run 1 2 3 --uat quick --max-cost 50
  handover run 1 2 3 --resume                  resume after an interruption

Epics declare dependencies in docs/epics: `depends_on: [1]`, `Depends on: Epic 1` or a `## Dependencies` section.

Exit codes: 0 all epics done, 1 some failed, 3 some blocked, 4 over budget, 5 environment, 130 interrupted.";

pub(crate) fn run(app: &App, args: ChainArgs) -> Outcome {
    let ChainArgs { run: mut args, more } = args;
    // What one epic hands over to the next is written down by its look back.
    let is_asked_for = args.retro || args.uat.is_some();
    args.retro = true;
    let mut each = request(app, &args)?;
    each.close = is_asked_for;
    let mut epics = vec![each.epic.clone()];
    for word in &more {
        epics.push(epic(app, word)?);
    }
    if !args.dry_run {
        warn_of_trust(app, &each);
    }
    engine(app, |engine| {
        if args.dry_run {
            return preview(app, &engine.chain_order(&epics)?);
        }
        let request = ChainRequest { epics: epics.clone(), each: each.clone() };
        let mut shown: Option<Shown<'_>> = None;
        let report = engine.chain(&request, &mut |_, state, progress| {
            let is_another = matches!(progress, Progress::Started { .. });
            let shown = match &mut shown {
                Some(shown) if !is_another => shown,
                other => other.insert(Shown::new(app, args.plain, &engine.cancel)),
            };
            shown.progress(state, progress);
        })?;
        // The board goes before what is printed.
        drop(shown);
        if app.ui.is_json() {
            let line = json!({"schema": 1, "type": "chain_ended", "chain": report.document()});
            app.ui.document(&line)?;
        } else {
            show(app, &report)?;
        }
        let names: Vec<&str> = epics.iter().map(EpicId::as_str).collect();
        let stopped = report.epics.iter().find(|epic| epic.state == Some(report.state));
        let reason = stopped.map(|epic| epic.reason.clone()).unwrap_or_default();
        outcome(report.state, &reason, &format!("chain {}", names.join(" ")))
    })
}

fn preview(app: &App, order: &[ChainLink]) -> Outcome {
    let epics: Vec<Value> =
        order.iter().map(|link| json!({"epic": link.epic, "builds_on": link.builds_on})).collect();
    app.ui.answer("chain", &json!({"epics": epics}), |ui| {
        let rows = order.iter().enumerate().map(|(n, link)| {
            let on: Vec<&str> = link.builds_on.iter().map(EpicId::as_str).collect();
            vec![(n + 1).to_string(), link.epic.to_string(), on.join(", ")]
        });
        ui.table(&["order", "epic", "builds on"], rows.collect(), "No epics.")
    })?;
    Ok(Exit::Done)
}

/// Scripted agents take less than a second, real ones minutes.
fn seconds(duration_ms: u64) -> String {
    match duration_ms {
        ..10_000 => format!("{}.{} s", duration_ms / 1_000, duration_ms % 1_000 / 100),
        10_000..600_000 => format!("{} s", duration_ms / 1_000),
        _ => format!("{} min", duration_ms / 60_000),
    }
}

fn show(app: &App, report: &Report) -> Result<(), CommandError> {
    let spent = report.spent();
    app.ui.line(format_args!(
        "\n{}: {}, {}, {} of agents",
        count(report.epics.len(), "epic"),
        report.state,
        spent.price(),
        seconds(spent.duration_ms)
    ))?;
    let rows = report.epics.iter().map(|epic| {
        let stories: Vec<String> =
            epic.stories.iter().map(|(state, count)| format!("{count} {state}")).collect();
        let uat = epic.uat.as_ref().and_then(|uat| uat["state"].as_str()).unwrap_or_default();
        vec![
            epic.epic.to_string(),
            epic.state.map_or("pending", handover_model::RunState::as_str).to_owned(),
            stories.join(", "),
            uat.to_owned(),
            epic.spent.price().cell(),
            seconds(epic.spent.duration_ms),
            epic.branch.clone().unwrap_or_default(),
            handover_text::cut::cut(&epic.reason, 80),
        ]
    });
    let header = ["epic", "state", "stories", "acceptance", "usd", "time", "branch", "why"];
    app.ui.table(&header, rows.collect(), "No epics.")?;
    for epic in &report.epics {
        for (story, state, reason) in &epic.failures {
            let reason = handover_text::cut::cut(reason, 160);
            app.ui.line(format_args!("  {story} {state}: {reason}"))?;
        }
    }
    Ok(())
}
