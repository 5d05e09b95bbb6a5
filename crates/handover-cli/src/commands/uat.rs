//! `handover run uat`

use handover_engine::pipeline::{Closing, Pipeline, UatStep};
use handover_engine::report;
use handover_engine::uat::Document;
use handover_model::{EpicId, Host, RunState, UatGate};
use serde_json::{Value, json};

use super::Outcome;
use super::run::{RunArgs, Shown, engine, money, outcome, request};
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input::agent_programs;

/// Run an epic's acceptance scenarios, and list the manual ones
///
/// Scenarios are read from docs/uat/epic-EPIC-uat.json. Programs run in a worktree of the epic's branch,
/// never in your checkout and never through a shell. Only programs on the `uat.allow` list and the project's
/// own tools are started.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UatArgs {
    /// Epic: `1`, `epic-1` or the path of its file
    #[arg(value_name = "EPIC")]
    epic: String,

    /// Scenarios to run: quick (fully automatic), full (also the automatic steps of the others) or skip
    #[arg(long, default_value = "quick")]
    gate: UatGate,

    /// Maximum number of fix attempts by an agent [default: uat.heal]
    #[arg(long, value_name = "N")]
    heal: Option<u32>,

    /// Have an agent write the scenarios first
    #[arg(long)]
    generate: bool,

    /// Resume an unfinished run
    #[arg(long)]
    resume: bool,

    #[arg(long, help = agent_programs(" [default: runs.host, else claude]"), value_parser = handover_agents::parse_host)]
    host: Option<Host>,

    /// Program and arguments for host `command`, run without a shell
    #[arg(long, value_name = "\"PROGRAM ARGS\"")]
    agent_command: Option<String>,

    /// Model, if the agent program lets us choose
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Start no agent that would exceed this total cost [default: budget.run]
    #[arg(long, value_name = "USD", value_parser = money)]
    max_cost: Option<f64>,
}

/// Decisions about runs that are looked at for approvals.
const DECISIONS: u32 = 1_000;

const EXAMPLES: &str = "\
Examples:
  handover run uat 1                           run the automatic scenarios
  handover run uat 1 --gate full --heal 2      run more, and have an agent fix failures
  handover run uat 1 --gate skip               only list the manual scenarios
  handover run uat 1 --generate                have an agent write the scenarios first

Exit codes: 0 every scenario that ran passed, 1 some failed, 2 no usable scenarios.";

pub(crate) fn run(app: &App, args: UatArgs) -> Outcome {
    app.require_trust()?;
    let heal = args.heal.unwrap_or(app.config()?.uat.heal);
    let mut request = request(
        app,
        &RunArgs {
            epic: args.epic,
            host: args.host,
            agent_command: args.agent_command,
            model: args.model,
            max_cost: args.max_cost,
            resume: args.resume,
            uat_blocking: true,
            ..RunArgs::default()
        },
    )?;
    request.only_closing = true;
    request.pipeline = Pipeline::story(true, app.config()?.runs.profile).closed_with(Closing {
        generate: args.generate,
        uat: Some(UatStep { gate: args.gate, heal }),
        retro: false,
        commit: args.generate || heal > 0,
    });
    engine(app, |engine| {
        if !args.generate && engine.scenarios(&request.epic, None)?.is_none() {
            let message = format!("epic `{}` has no scenarios", request.epic);
            return Err(CommandError::new(Exit::Usage, "not_found", message).hinted(format!(
                "`handover run uat {0} --generate` has an agent write docs/uat/epic-{0}-uat.json.",
                request.epic
            )));
        }
        let mut shown = Shown::new(app, false, &engine.cancel);
        let is_json = app.ui.is_json();
        let (id, state) = engine.run(&request, &mut |state, progress| {
            if !is_json {
                shown.progress(state, progress);
            }
        })?;
        shown.lost()?;
        let document = engine.scenarios(&request.epic, Some(&state.head))?;
        let mut answer = report::uat(&state).unwrap_or_default();
        answer["run"] = json!(id);
        answer["human"] = json!(human(document.as_ref(), &approvals(app, &request.epic)?));
        app.ui.answer("uat", &answer, |_| show(app, &answer))?;
        let reason = state.stopped.clone().unwrap_or_default();
        if matches!(state.state, RunState::Failed | RunState::Blocked) {
            return Ok(Exit::Failed);
        }
        outcome(state.state, &reason, &format!("uat {}", request.epic))
    })
}

/// What people said about the scenarios of an epic, in any of its runs, the latest first.
fn approvals(app: &App, epic: &EpicId) -> Result<Vec<Value>, CommandError> {
    let decided = app.store()?.decided(&app.project_id()?, DECISIONS)?;
    let of_epic = decided.into_iter().filter(|one| one.epic == *epic);
    let approval = of_epic.map(|mut one| one.entry.entry["approval"].take());
    Ok(approval.filter(|approval| !approval.is_null()).collect())
}

/// What a person must do, or has done.
fn human(document: Option<&Document>, approvals: &[Value]) -> Vec<Value> {
    let scenarios = document.into_iter().flat_map(|document| &document.scenarios);
    scenarios
        .filter(|scenario| scenario.needs_a_person())
        .map(|scenario| {
            json!({
                "id": scenario.id, "title": scenario.title, "criterion": scenario.criterion,
                "kind": scenario.kind, "steps": scenario.steps, "expected": scenario.expected,
                "approval": approvals.iter().find(|said| said["scenario"] == scenario.id.as_str()),
            })
        })
        .collect()
}

fn show(app: &App, uat: &Value) -> Result<(), CommandError> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| uat[key].as_u64().unwrap_or_default();
    app.ui.line(format_args!(
        "Acceptance of epic {} ({}): {}. {} passed, {} failed.",
        text(uat, "epic"),
        text(uat, "gate"),
        text(uat, "state"),
        number("passed"),
        number("failed"),
    ))?;
    if let Some(reason) = uat["reason"].as_str() {
        app.ui.line(reason)?;
    }
    let rows = uat["scenarios"].as_array().into_iter().flatten().map(|scenario| {
        vec![
            text(scenario, "id"),
            text(scenario, "kind"),
            text(scenario, "outcome"),
            text(scenario, "criterion"),
            handover_text::cut::cut(&text(scenario, "reason"), 100),
        ]
    });
    app.ui.table(&["scenario", "kind", "outcome", "criterion", "why"], rows.collect(), "None.")?;
    let human = uat["human"].as_array().map(Vec::as_slice).unwrap_or_default();
    if !human.is_empty() {
        app.ui.line("\nFor a person:")?;
    }
    for scenario in human {
        app.ui.line(format_args!(
            "  {} ({})",
            text(scenario, "id"),
            text(scenario, "criterion")
        ))?;
        let said = &scenario["approval"];
        if !said.is_null() {
            let word = if said["holds"] == true { "approved" } else { "rejected" };
            let note = text(said, "note");
            let note = if note.is_empty() { note } else { format!(": {note}") };
            app.ui.line(format_args!("    {word} by {}{note}", text(said, "by")))?;
        }
        for step in scenario["steps"].as_array().into_iter().flatten() {
            app.ui.line(format_args!("    [ ] {}", step.as_str().unwrap_or_default()))?;
        }
        if !text(scenario, "expected").is_empty() {
            app.ui.line(format_args!("    [ ] to be seen: {}", text(scenario, "expected")))?;
        }
    }
    Ok(())
}
