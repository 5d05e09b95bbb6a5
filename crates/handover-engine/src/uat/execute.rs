//! Trying scenarios out: one program after the other, each under supervision, none through a shell.

use std::time::{Duration, Instant};

use handover_agents::{
    AgentError, AgentEvent, CancelToken, Ended, Environment, Invocation, Outcome, SpawnId, run,
};
use handover_model::{Host, ScenarioOutcome, UatGate};
use handover_text::Redactor;

use super::{Allowed, Document, Expect, Scenario, ScenarioResult, is_tried, judge};

/// How much of a program's output is kept to be shown.
const TAIL: usize = 2_000;
/// How much of it is read at all.
const OUTPUT: usize = 1 << 20;
/// How much it may print before it is ended.
const FLOOD: u64 = 64 << 20;

/// How scenarios are tried out.
pub struct Setting<'a> {
    /// What may be started, and where.
    pub allowed: Allowed<'a>,
    /// What programs see of the environment.
    pub environment: &'a Environment,
    /// The mark of their processes.
    pub spawn: SpawnId,
    /// How secrets are found in what they print.
    pub redactor: &'a Redactor,
    /// Who stops them.
    pub cancel: &'a CancelToken,
}

/// Tries out what the gate asks for; the others are in the list as well. `on_event` hears about the
/// programs, `between` is called before each scenario that is tried.
pub fn try_out(
    document: &Document,
    gate: UatGate,
    setting: &Setting<'_>,
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
        if is_tried(scenario, gate) && !setting.cancel.is_cancelled() {
            between(scenario);
            (result.outcome, result.reason, result.tail) = one(scenario, setting, on_event)?;
            result.duration_ms = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
        }
        results.push(result);
    }
    Ok(results)
}

/// What came of it, why, and the end of what was printed.
type Came = (ScenarioOutcome, String, String);

fn one(
    scenario: &Scenario,
    setting: &Setting<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Came, AgentError> {
    // All of it is looked at before any of it is started.
    for argv in scenario.commands() {
        if let Err(refused) = setting.allowed.check(argv) {
            return Ok((ScenarioOutcome::Refused, refused.to_string(), String::new()));
        }
    }
    let seconds = Duration::from_secs(scenario.timeout);
    let mut call =
        |argv: &[String], expect: &Expect| started(argv, expect, seconds, setting, on_event);
    let fine = Expect::default();
    let mut came: Came = (ScenarioOutcome::Passed, String::new(), String::new());
    for argv in &scenario.setup {
        came = call(argv, &fine)?;
        if came.0 != ScenarioOutcome::Passed {
            came.1 = format!("the set-up `{}` failed: {}", argv.join(" "), came.1);
            break;
        }
    }
    if came.0 == ScenarioOutcome::Passed {
        came = call(&scenario.argv, scenario.expect.as_ref().unwrap_or(&fine))?;
    }
    for argv in &scenario.cleanup {
        let (outcome, ..) = call(argv, &fine)?;
        if outcome != ScenarioOutcome::Passed && came.1.is_empty() {
            came.1 = format!("the clean-up `{}` failed", argv.join(" "));
        }
    }
    came.1 = setting.redactor.clean(&came.1).cut(500).as_str().to_owned();
    Ok(came)
}

/// Runs one program. Nothing that it starts stays behind. What was allowed a moment ago is looked at
/// again: the program before may have changed it.
fn started(
    argv: &[String],
    expect: &Expect,
    longest: Duration,
    setting: &Setting<'_>,
    on_event: &mut dyn FnMut(AgentEvent),
) -> Result<Came, AgentError> {
    let no = |outcome, why: &dyn std::fmt::Display| Ok((outcome, why.to_string(), String::new()));
    let program = match setting.allowed.check(argv) {
        Ok(program) => program,
        Err(refused) => return no(ScenarioOutcome::Refused, &refused),
    };
    let mut invocation =
        Invocation::new(Host::COMMAND, setting.spawn.clone(), setting.allowed.folder);
    invocation.program = program;
    invocation.args = argv.iter().skip(1).map(Into::into).collect();
    invocation.environment = setting.environment.clone();
    invocation.limits.wall = Some(longest);
    invocation.limits.output_cap = OUTPUT;
    invocation.limits.flood = Some(FLOOD);
    let outcome = match run(&invocation, None, on_event, setting.cancel) {
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
        Err(why) => Ok((ScenarioOutcome::Failed, why, tail(&outcome, setting.redactor))),
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
