//! Runs scenarios one after the other, each program under supervision and none through a shell.

use std::time::{Duration, Instant};

use handover_agents::{
    AgentError, AgentEvent, CancelToken, Ended, Environment, Invocation, Outcome, SpawnId, run_tool,
};
use handover_model::{Host, ScenarioOutcome, UatGate};
use handover_text::Redactor;

use super::{Allowed, Document, Expect, Scenario, is_run, judge};
use crate::data::ScenarioResult;

/// How much of a program's output is kept.
const TAIL: usize = 2_000;
/// How much of it is read.
const OUTPUT: usize = 1 << 20;
/// How much it may print before it is killed.
const FLOOD: u64 = 64 << 20;

/// What scenarios run with.
pub struct ScenarioContext<'a> {
    /// What they may start, and where.
    pub allowed: Allowed<'a>,
    /// The environment that programs see.
    pub environment: &'a Environment,
    /// The marker of their processes.
    pub spawn: SpawnId,
    /// Redacts their output.
    pub redactor: &'a Redactor,
    /// Stops them.
    pub cancel: &'a CancelToken,
}

/// Runs the scenarios that the gate selects; the others appear in the results as not run. `between` is
/// called before each scenario, `on_event` for events of its programs.
pub fn run_scenarios(
    document: &Document,
    gate: UatGate,
    context: &ScenarioContext<'_>,
    between: &mut dyn FnMut(&Scenario),
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Vec<ScenarioResult>, AgentError> {
    let mut results = Vec::new();
    for scenario in &document.scenarios {
        let begin = Instant::now();
        let mut result = ScenarioResult {
            id: scenario.id.clone(),
            criterion: scenario.criterion.clone(),
            kind: scenario.kind,
            outcome: ScenarioOutcome::NotRun,
            reason: String::new(),
            tail: String::new(),
            duration_ms: 0,
        };
        if is_run(scenario, gate) && !context.cancel.is_cancelled() {
            between(scenario);
            (result.outcome, result.reason, result.tail) = one(scenario, context, on_event)?;
            result.duration_ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        results.push(result);
    }
    Ok(results)
}

/// The outcome, the reason, and the end of the output.
type StepResult = (ScenarioOutcome, String, String);

fn one(
    scenario: &Scenario,
    context: &ScenarioContext<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<StepResult, AgentError> {
    // Everything is checked before anything is started.
    for argv in scenario.commands() {
        if let Err(refused) = context.allowed.check(argv) {
            return Ok((ScenarioOutcome::Refused, refused.to_string(), String::new()));
        }
    }
    let seconds = Duration::from_secs(scenario.timeout);
    let mut call =
        |argv: &[String], expect: &Expect| started(argv, expect, seconds, context, on_event);
    let fine = Expect::default();
    let mut result: StepResult = (ScenarioOutcome::Passed, String::new(), String::new());
    for argv in &scenario.setup {
        result = call(argv, &fine)?;
        if result.0 != ScenarioOutcome::Passed {
            result.1 = format!("the set-up `{}` failed: {}", argv.join(" "), result.1);
            break;
        }
    }
    if result.0 == ScenarioOutcome::Passed {
        result = call(&scenario.argv, scenario.expect.as_ref().unwrap_or(&fine))?;
    }
    for argv in &scenario.cleanup {
        let (outcome, ..) = call(argv, &fine)?;
        if outcome != ScenarioOutcome::Passed && result.1.is_empty() {
            result.1 = format!("the clean-up `{}` failed", argv.join(" "));
        }
    }
    result.1 = context.redactor.clean(&result.1).cut(500).as_str().to_owned();
    Ok(result)
}

/// Runs one program; no process it started outlives it. Its file is checked again, because an earlier
/// program may have changed it.
fn started(
    argv: &[String],
    expect: &Expect,
    longest: Duration,
    context: &ScenarioContext<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<StepResult, AgentError> {
    let no = |outcome, why: &dyn std::fmt::Display| Ok((outcome, why.to_string(), String::new()));
    let program = match context.allowed.check(argv) {
        Ok(program) => program,
        Err(refused) => return no(ScenarioOutcome::Refused, &refused),
    };
    let mut invocation =
        Invocation::new(Host::COMMAND, context.spawn.clone(), context.allowed.folder);
    invocation.program = program;
    invocation.args = argv.iter().skip(1).map(Into::into).collect();
    invocation.environment = context.environment.clone();
    invocation.limits.wall = Some(longest);
    invocation.limits.output_cap = OUTPUT;
    invocation.limits.flood = Some(FLOOD);
    let outcome = match run_tool(&invocation, on_event, context.cancel) {
        Ok(outcome) => outcome,
        Err(AgentError::Start { source, .. }) => {
            return no(ScenarioOutcome::Failed, &format_args!("it could not be started: {source}"));
        }
        Err(error @ AgentError::ProgramNotFound { .. }) => {
            return no(ScenarioOutcome::Failed, &error);
        }
        Err(error) => return Err(error),
    };
    match judge(expect, &outcome) {
        Ok(()) => no(ScenarioOutcome::Passed, &""),
        Err(why) => Ok((ScenarioOutcome::Failed, why, tail(&outcome, context.redactor))),
    }
}

fn tail(outcome: &Outcome, redactor: &Redactor) -> String {
    let mut text = outcome.stdout.text();
    if !outcome.stderr.text().trim().is_empty() {
        text = format!("{text}\n{}", outcome.stderr.text());
    }
    if outcome.ended == Ended::Cancelled {
        return String::new();
    }
    let text = redactor.clean(text.trim()).as_str().to_owned();
    let from = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    text[from..].trim().to_owned()
}
