//! What people see of an experiment.

use handover_prove::report::{in_points, power_in_words, smallest_visible};
use handover_prove::stats::Interval;
use handover_prove::{Difference, Plan, Progress, Report, TrialState};
use serde_json::json;

use super::{Lab, ProveArgs, trial};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::ui::count;

/// How large an experiment is.
pub(super) fn size(plan: &Plan) -> String {
    let arms: Vec<String> = plan.arms.iter().map(ToString::to_string).collect();
    format!(
        "{} × {} ({}) × {} = {} with {}",
        count(plan.tasks.len() as u64, "task"),
        count(plan.arms.len() as u64, "arm"),
        arms.join(", "),
        plan.repeat,
        count(plan.trials().len() as u64, "trial"),
        plan.host
    )
}

/// What an experiment would be, without beginning it.
pub(super) fn planned(app: &App, plan: &Plan, usual_usd: Option<f64>) -> Outcome {
    let trials = plan.trials().len();
    let expected = usual_usd.map(|usd| usd * trials as f64);
    let document = json!({
        "trials": trials,
        "tasks": plan.tasks,
        "arms": plan.arms,
        "repeat": plan.repeat,
        "host": plan.host,
        "smallest_visible": smallest_visible(plan),
        "expected_cost_usd": expected,
    });
    app.ui.answer("plan", &document, |ui| {
        ui.line(size(plan))?;
        ui.line(power_in_words(plan))?;
        match (usual_usd, expected) {
            (Some(usd), Some(expected)) => ui.line(format_args!(
                "An agent of earlier experiments cost ${usd:.2} on average: about ${expected:.2} in all."
            )),
            (_, _) => ui.line("No earlier experiment says what an agent costs here; `--max-cost` limits it."),
        }
    })?;
    Ok(Exit::Done)
}

/// About how long the rest takes, if the trials so far say so and it is worth saying.
pub(super) fn time_left(seconds: i64, done: usize, left: usize) -> Option<String> {
    if done < 2 || left == 0 {
        return None;
    }
    let minutes = (seconds as f64 / done as f64 * left as f64 / 60.0).ceil();
    match minutes {
        ..2.0 => None,
        ..120.0 => Some(format!("about {minutes:.0} min left")),
        _ => Some(format!("about {:.0} h left", minutes / 60.0)),
    }
}

/// One trial.
pub(super) fn trial(
    lab: &Lab<'_>,
    progress: &Progress,
    number: usize,
    done: &trial::Done,
    time_left: Option<String>,
) {
    let (trial, state) = &progress.trials[number];
    let used = match state {
        TrialState::Judged { agent, .. } => {
            let cost = agent.cost_usd.map(|usd| format!(", ${usd:.2}")).unwrap_or_default();
            format!(" ({:.0} s{cost})", agent.duration_ms as f64 / 1_000.0)
        }
        TrialState::Waiting
        | TrialState::Running { .. }
        | TrialState::Unjudged { .. }
        | TrialState::Dropped { .. } => String::new(),
    };
    let task = &lab.plan.tasks[trial.task];
    let time_left = time_left.map(|left| format!("; {left}")).unwrap_or_default();
    lab.app.ui.note(format_args!(
        "{}/{} {task}, {}: {done}{used}{time_left}",
        progress.judged() + progress.dropped(),
        progress.trials.len(),
        trial.arm
    ));
}

/// The result, in the form that was asked for.
pub(super) fn result(app: &App, args: &ProveArgs, report: &Report, exit: Exit) -> Outcome {
    page(app, args, report)?;
    let document = serde_json::to_value(report).unwrap_or_default();
    app.ui.answer_all(document, |_| summary(app, report))?;
    if let (None, Some(file)) = (&args.html, &args.file) {
        let file = file.display();
        app.ui.note(format_args!("For a page: handover prove {file} --show --html result.html"));
    }
    Ok(exit)
}

/// Whether the page that was asked for can be written, before anything is paid for.
pub(super) fn check_page(app: &App, args: &ProveArgs) -> Result<(), CommandError> {
    let Some(out) = &args.html else { return Ok(()) };
    let path = app.folder()?.join(out);
    let wrong = if !cfg!(feature = "dashboard") {
        Some("this program was built without pages".to_owned())
    } else if path.is_dir() {
        Some(format!("`{}` is a folder", out.display()))
    } else if path.parent().is_none_or(|folder| !folder.is_dir()) {
        Some(format!("there is no folder for `{}`", out.display()))
    } else {
        None
    };
    match wrong {
        Some(wrong) => Err(CommandError::invalid(wrong)
            .hinted("`--html` takes the path of a file in a folder that exists.")),
        None => Ok(()),
    }
}

/// Writes the page, if one was asked for.
pub(super) fn page(app: &App, args: &ProveArgs, report: &Report) -> Result<(), CommandError> {
    args.html.as_ref().map_or(Ok(()), |out| html(app, report, out))
}

#[cfg(feature = "dashboard")]
fn html(app: &App, report: &Report, out: &std::path::Path) -> Result<(), CommandError> {
    let page = handover_web::experiment(report, app.project_id()?.as_str(), app.now());
    let path = app.folder()?.join(out);
    fs_err::write(&path, page).map_err(|error| crate::error::io(&error))?;
    app.ui.note(format_args!("Wrote {}", out.display()));
    Ok(())
}

#[cfg(not(feature = "dashboard"))]
fn html(_app: &App, _report: &Report, _out: &std::path::Path) -> Result<(), CommandError> {
    Err(CommandError::invalid("this program was built without pages").hinted("Use `--json`."))
}

fn summary(app: &App, report: &Report) -> Result<(), CommandError> {
    let ui = &app.ui;
    ui.line(&report.answer)?;
    ui.line("")?;
    let arms = report.arms.iter().map(|arm| {
        let share = match arm.trials {
            0 => "–".to_owned(),
            trials => format!("{:.0} %", 100.0 * arm.passed as f64 / trials as f64),
        };
        let each = |mean: Option<f64>, digits: usize| {
            mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.digits$}"))
        };
        vec![
            arm.name.to_string(),
            arm.trials.to_string(),
            arm.passed.to_string(),
            share,
            each(arm.cost_each(), 3),
            each(arm.tokens_each(), 0),
            each(arm.turns_each(), 1),
        ]
    });
    let header = ["arm", "trials", "passed", "share", "$ each", "tokens each", "turns each"];
    ui.table(&header, arms.collect(), "None.")?;
    ui.line("")?;
    let header = ["compared", "points", "95 %", "$", "tokens", "turns", "verdict"];
    ui.table(&header, report.differences.iter().map(row).collect(), "Nothing to compare.")?;
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for one in report.differences.iter().filter(|one| !one.reason.is_empty() && one.tasks > 0) {
        let name = format!("{} – {}", one.a, one.b);
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((&one.reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        ui.line(format_args!("{}: {reason}.", names.join(", ")))?;
    }
    for warning in &report.warnings {
        ui.line(format_args!("Note: {warning}"))?;
    }
    Ok(())
}

fn row(one: &Difference) -> Vec<String> {
    let other = |interval: Option<Interval>, digits: usize| {
        interval.map_or_else(
            || "–".to_owned(),
            |one| {
                format!(
                    "{:+.digits$} ({:+.digits$} to {:+.digits$})",
                    one.effect, one.low, one.high
                )
            },
        )
    };
    let (effect, limits) = match one.tasks {
        0 => ("–".to_owned(), "–".to_owned()),
        _ => (in_points(one.effect), format!("{} to {}", in_points(one.low), in_points(one.high))),
    };
    vec![
        format!("{} – {}", one.a, one.b),
        effect,
        limits,
        other(one.cost_usd, 3),
        other(one.tokens, 0),
        other(one.turns, 1),
        one.verdict.as_str().replace('_', " "),
    ]
}
