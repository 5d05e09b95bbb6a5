//! `handover status`

use handover_engine::{Price, report};
use handover_text::cut::{cut, one_line};
use serde_json::Value;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Show the state of a run: stories, phases and cost
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover status\n  handover status --json | jq .run.state")]
pub(crate) struct StatusArgs {
    /// Run: its id, or at least four characters of it [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

pub(crate) fn run(app: &App, args: StatusArgs) -> Outcome {
    let run = app.find_run(args.run.as_deref())?;
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

/// A run for people.
pub(super) fn show(app: &App, run: &Value) -> Result<(), CommandError> {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let is_uncommitted = run["no_commit"] == true;
    let place = if is_uncommitted {
        format!("worktrees in .handover/runs/{}/worktrees", text(run, "id"))
    } else {
        format!("branch {}", text(run, "branch"))
    };
    app.ui.wrapped(
        2,
        format_args!(
            "Run {} of epic {}: {}, {}, {place}",
            text(run, "id"),
            text(run, "epic"),
            text(run, "state"),
            Price::of(run),
        ),
    )?;
    if let Ok(until) = text(run, "waits_until").parse() {
        app.ui.line(super::run::waiting(until))?;
    }
    let (mut rows, mut reasons) = (Vec::new(), Vec::new());
    let closing = Some(&run["closing"]).filter(|closing| closing.is_object());
    for story in run["stories"].as_array().into_iter().flatten().chain(closing) {
        let commit = text(story, "commit");
        let place = if commit.is_empty() {
            text(story, "failed_branch")
        } else {
            commit.chars().take(10).collect()
        };
        let mut why = text(story, "reason");
        if is_asked(&why, &text(story, "question")) {
            why.clear();
        }
        if !why.is_empty() && text(story, "state") != "skipped" {
            reasons.push(format!("{} {}: {why}", text(story, "id"), text(story, "state")));
        }
        rows.push(vec![
            text(story, "id"),
            text(story, "state"),
            Price::of(story).cell(),
            clock(story["duration_ms"].as_u64().unwrap_or_default()),
            place,
            phases(story),
            cut(&why, 100),
        ]);
    }
    let mut header = vec!["story", "state", "usd", "time", "kept in", "phases", "why"];
    if app.ui.is_narrow() {
        // The reasons have lines of their own.
        header.pop();
        for row in &mut rows {
            row.pop();
        }
    }
    app.ui.table(&header, rows, "No stories.")?;
    for reason in reasons.iter().filter(|_| app.ui.is_narrow()) {
        app.ui.wrapped(2, reason)?;
    }
    for story in run["stories"].as_array().into_iter().flatten() {
        for line in story["test_setup"].as_array().into_iter().flatten() {
            let (id, line) = (text(story, "id"), line.as_str().unwrap_or_default());
            app.ui.wrapped(2, format_args!("{id} changed how it is tested: {line}"))?;
        }
    }
    let mut asked = false;
    for story in run["stories"].as_array().into_iter().flatten() {
        let question = text(story, "question");
        asked |= !question.is_empty();
        for (n, line) in question.lines().enumerate() {
            let who = if n == 0 { format!("{} asks:", text(story, "id")) } else { String::new() };
            app.ui.wrapped(2, format_args!("{who} {line}"))?;
        }
    }
    if asked {
        app.ui.note("Answer with `handover run answer STORY TEXT --resume`.");
    } else if let Some(next) = next_step(run) {
        app.ui.note(app.ui.wrap(&format!("Next: {next}")));
    }
    Ok(())
}

/// Whether the question of a story, which has lines of its own, says why it waits.
fn is_asked(why: &str, question: &str) -> bool {
    let (why, question) = (one_line(why), one_line(question));
    !question.is_empty() && (question.contains(&why) || why.contains(&question))
}

/// The steps of a story in few words. The voices of a party are counted: `3 review passed, 1 review failed`.
fn phases(story: &Value) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut steps: Vec<(String, usize)> = Vec::new();
    for phase in story["phases"].as_array().into_iter().flatten() {
        let is_voice = phase["persona"].is_string();
        let step = match text(phase, "status") {
            status if status.is_empty() => {
                format!("{} {}", text(phase, "phase"), text(phase, "verdict"))
            }
            status => format!("{} {status}", text(phase, "role")),
        };
        match steps.last_mut() {
            Some((last, count)) if is_voice && *last == step => *count += 1,
            Some(_) | None => steps.push((step, 1)),
        }
    }
    let shown = steps.into_iter().map(|(step, count)| match count {
        1 => step,
        _ => format!("{count} {step}"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn clock(millis: u64) -> String {
    let seconds = millis / 1_000;
    format!("{:02}:{:02}", seconds / 60, seconds % 60)
}

/// What to do with a run that has ended.
fn next_step(run: &Value) -> Option<String> {
    let text = |key: &str| run[key].as_str().unwrap_or_default();
    let (epic, branch) = (text("epic"), text("branch"));
    let is_new = run["head"] != run["base"] && run["no_commit"] != true;
    let unaccepted = (run["uat"]["state"] == "failed").then(|| {
        let reason = run["uat"]["reason"].as_str();
        match reason {
            Some(reason) => format!(
                "acceptance has failed: {reason}; `handover run uat {epic} --generate` has an agent write scenarios."
            ),
            None if run["uat"]["failed"] == 0 => format!(
                "acceptance has no result; `handover run uat {epic} --generate` has an agent write scenarios."
            ),
            None => format!(
                "acceptance has failed, see {}; `handover run uat {epic} --heal 1` has an agent fix it.",
                run["uat"]["document"].as_str().unwrap_or_default()
            ),
        }
    });
    Some(match text("state") {
        "done" if unaccepted.is_some() => return unaccepted,
        "done" if is_new => {
            let is_merged = run["merged"] == true;
            let merge = if is_merged { String::new() } else { format!("`git merge {branch}`; ") };
            format!(
                "{merge}`handover open run` shows what was done, `handover report` writes a page of it to send."
            )
        }
        "failed" | "blocked" => format!(
            "`handover open` shows why, with the output of tests and agents; `handover run {epic}` works on what is not done."
        ),
        _ => return None,
    })
}
