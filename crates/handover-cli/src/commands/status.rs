//! `handover status`

use handover_engine::report;
use handover_model::{Run, RunId};
use handover_store::{RecordKind, RunFilter, StoreError};
use serde_json::Value;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Show the state of a run: stories, phases and cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover status\n  handover status --json | jq .run.state")]
pub(crate) struct StatusArgs {
    /// Run id [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<RunId>,
}

pub(crate) fn run(app: &App, args: StatusArgs) -> Outcome {
    let run = find(app, args.run)?;
    let Some(document) = report::of_run(app.store()?, &run, &crate::env::machine())? else {
        return Err(CommandError::new(
            Exit::Failed,
            "empty_run",
            format!("run `{}` died before it was planned", run.id),
        )
        .hinted(format!("Start it again with `handover run {}`.", run.epic)));
    };
    app.ui.answer("run", &document, |_| show(app, &document))?;
    Ok(Exit::Done)
}

/// The run that was named, or the latest.
pub(super) fn find(app: &App, id: Option<RunId>) -> Result<Run, CommandError> {
    let store = app.store()?;
    match id {
        Some(id) => Ok(store.run_record(&id)?),
        None => {
            let filter = RunFilter { epic: None, limit: Some(1) };
            let latest = store.runs(&filter)?.pop();
            latest.ok_or_else(|| {
                CommandError::from(StoreError::not_found(RecordKind::Run, "latest"))
                    .hinted("Start one with `handover run EPIC`.")
            })
        }
    }
}

/// A run for people.
pub(super) fn show(app: &App, run: &Value) -> Result<(), CommandError> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    app.ui.line(format_args!(
        "Run {} of epic {}: {}, {:.4} USD, branch {}",
        text(run, "id"),
        text(run, "epic"),
        text(run, "state"),
        run["cost_usd"].as_f64().unwrap_or_default(),
        text(run, "branch"),
    ))?;
    let mut rows = Vec::new();
    let closing = Some(&run["closing"]).filter(|closing| closing.is_object());
    for story in run["stories"].as_array().into_iter().flatten().chain(closing) {
        let phases: Vec<String> = story["phases"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|phase| {
                // A member of a team, a voice of a party, or another agent.
                let who = ["persona", "phase"].map(|key| text(phase, key));
                match text(phase, "status") {
                    status if status.is_empty() => {
                        format!("{} {}", who.join(" ").trim(), text(phase, "verdict"))
                    }
                    status => format!("{} {status}", text(phase, "role")),
                }
            })
            .collect();
        let commit = text(story, "commit");
        let place = if commit.is_empty() {
            text(story, "failed_branch")
        } else {
            commit.chars().take(10).collect()
        };
        rows.push(vec![
            text(story, "id"),
            text(story, "state"),
            format!("{:.4}", story["cost_usd"].as_f64().unwrap_or_default()),
            place,
            phases.join(", "),
            handover_text::cut::cut(&text(story, "reason"), 100),
        ]);
    }
    app.ui.table(&["story", "state", "usd", "kept in", "phases", "why"], rows, "No stories.")?;
    for story in run["stories"].as_array().into_iter().flatten() {
        for line in story["test_setup"].as_array().into_iter().flatten() {
            let (id, line) = (text(story, "id"), line.as_str().unwrap_or_default());
            app.ui.line(format_args!("{id} changed how it is tested: {line}"))?;
        }
    }
    let mut asked = false;
    for story in run["stories"].as_array().into_iter().flatten() {
        let question = text(story, "question");
        asked |= !question.is_empty();
        for (n, line) in question.lines().enumerate() {
            let who = if n == 0 { format!("{} asks:", text(story, "id")) } else { String::new() };
            app.ui.line(format_args!("{who} {line}"))?;
        }
    }
    if asked {
        app.ui.note("Answer with `handover answer STORY TEXT --resume`.");
    }
    Ok(())
}
