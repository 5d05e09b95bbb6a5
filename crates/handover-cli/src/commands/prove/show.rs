//! What people see of an experiment.

use handover_prove::stats::Interval;
use handover_prove::{Difference, Plan, Progress, Report, TrialState};

use super::{Lab, ProveArgs, power, trial};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// What is about to happen, before it costs anything.
pub(super) fn start(app: &App, plan: &Plan, resumed: bool) {
    let arms: Vec<String> = plan.arms.iter().map(ToString::to_string).collect();
    let verb = if resumed { "Continuing" } else { "Beginning" };
    app.ui.note(format_args!(
        "{verb} experiment {}: {} tasks × {} × {} = {} trials with {}",
        plan.id,
        plan.tasks.len(),
        arms.join(", "),
        plan.repeat,
        plan.trials().len(),
        plan.host
    ));
    app.ui.note(power(plan));
}

/// One trial.
pub(super) fn trial(lab: &Lab<'_>, progress: &Progress, number: usize, done: &trial::Done) {
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
    lab.app.ui.note(format_args!(
        "{}/{} {task}, {}: {done}{used}",
        progress.judged() + progress.dropped(),
        progress.trials.len(),
        trial.arm
    ));
}

/// The result, in the form that was asked for.
pub(super) fn result(app: &App, args: &ProveArgs, report: &Report, exit: Exit) -> Outcome {
    if let Some(out) = &args.html {
        html(app, report, out)?;
    }
    let document = serde_json::to_value(report).unwrap_or_default();
    app.ui.answer_all(document, |_| summary(app, report))?;
    Ok(exit)
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
        let share =
            if arm.trials == 0 { 0.0 } else { 100.0 * arm.passed as f64 / arm.trials as f64 };
        let each = |sum: Option<f64>, digits: usize| match sum {
            Some(sum) if arm.trials > 0 => format!("{:.digits$}", sum / arm.trials as f64),
            Some(_) | None => "–".to_owned(),
        };
        vec![
            arm.name.to_string(),
            arm.trials.to_string(),
            arm.passed.to_string(),
            format!("{share:.0} %"),
            each(arm.cost_usd, 3),
            each(arm.tokens.map(|all| all as f64), 0),
            each(arm.turns.map(|all| all as f64), 1),
        ]
    });
    let header = ["arm", "trials", "passed", "share", "$ each", "tokens each", "turns each"];
    ui.table(&header, arms.collect(), "None.")?;
    ui.line("")?;
    let header = ["compared", "points", "95 %", "cost", "tokens", "verdict"];
    ui.table(&header, report.differences.iter().map(row).collect(), "Nothing to compare.")?;
    for one in report.differences.iter().filter(|one| !one.reason.is_empty()) {
        ui.line(format_args!("{} – {}: {}.", one.a, one.b, one.reason))?;
    }
    for warning in &report.warnings {
        ui.line(format_args!("Note: {warning}"))?;
    }
    Ok(())
}

fn row(one: &Difference) -> Vec<String> {
    let points = |share: f64| format!("{:+.0}", share * 100.0);
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
    vec![
        format!("{} – {}", one.a, one.b),
        points(one.effect),
        format!("{} to {}", points(one.low), points(one.high)),
        other(one.cost_usd, 3),
        other(one.tokens, 0),
        one.verdict.as_str().to_owned(),
    ]
}
