//! One trial: a clone, an agent, a judge; each step is in the journal before the next begins.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_agents::{
    AgentEvent, Ended, Invocation, Limits, Outcome as AgentOutcome, SpawnId, Tee, end_marked,
    run as run_agent,
};
use handover_engine::{lifted_at, log_filter};
use handover_files::Sync;
use handover_handoff::TrialPrompt;
use handover_model::{AdmittedPrompt, FailureClass, HostSessionId, Timestamp};
use handover_prove::{AgentEnd, Entry, Progress, TrialState};

use super::Lab;
use super::judge::{self, TrialClone};
use super::prompts::Prompt;
use super::record::Record;
use super::tasks::PreparedTask;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::learn::Tables;
use crate::local_time;

/// How much of an agent's raw output is kept.
const LOG_BYTES: u64 = 16 << 20;

/// How long a leftover process may take to clean up.
const GRACE: Duration = Duration::from_secs(2);

/// What came of it.
pub(super) enum Done {
    Judged(bool),
    /// It says nothing about its arm.
    Dropped {
        reason: String,
        /// Whether it may succeed if it is tried again later.
        is_transient: bool,
    },
    /// The agent program has reached a usage limit, which is lifted then.
    Limited(Timestamp),
    Interrupted,
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Judged(true) => f.write_str("passed"),
            Self::Judged(false) => f.write_str("failed"),
            Self::Dropped { reason, .. } => f.write_str(reason),
            Self::Limited(_) => f.write_str("stopped by a usage limit"),
            Self::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Does a trial, or what is left of it. `limits` is how often in a row it met a usage limit.
pub(super) fn run(
    lab: &Lab<'_>,
    record: &Record,
    progress: &Progress,
    number: usize,
    limits: u32,
) -> Result<Done, CommandError> {
    let (trial, state) = &progress.trials[number];
    let task = &lab.tasks[trial.task];
    match state {
        TrialState::Unjudged { .. } => {
            let path = record.clone_of(number)?;
            if judge::is_there(&path) {
                let mut clone = TrialClone::at(lab.app, lab.repo, path, lab.cancel);
                clone.redirect()?;
                return judged(lab, record, number, task, &clone);
            }
            let reason = "its clone was deleted before it was judged".to_owned();
            return dropped(lab, record, number, reason, false);
        }
        // The program was killed; what its agent did is neither known nor judged.
        TrialState::Running { receipt, .. } => {
            end_marked(&SpawnId::new(receipt.as_str())?, GRACE)?;
            let _ = fs_err::remove_dir_all(record.clone_of(number)?);
        }
        TrialState::Waiting | TrialState::Judged { .. } | TrialState::Dropped { .. } => {}
    }
    start(lab, record, progress, number, limits)
}

fn start(
    lab: &Lab<'_>,
    record: &Record,
    progress: &Progress,
    number: usize,
    limits: u32,
) -> Result<Done, CommandError> {
    let (app, trial) = (lab.app, progress.trials[number].0);
    let (task, arm) = (&lab.tasks[trial.task], trial.arm);
    let Some(prompt) = Prompt::read(record, &task.task.id, arm)? else {
        let message = format!("the prompt of task `{}` for `{arm}` is missing", task.task.id);
        return Err(CommandError::new(Exit::Environment, "damaged", message)
            .hinted("`--resume` makes it again."));
    };
    let clone = TrialClone::make(lab, task, record.clone_of(number)?)?;
    prompt.place_files(&clone.path)?;
    if lab.cancel.is_cancelled() {
        return Ok(Done::Interrupted);
    }
    let receipt = app.new_receipt()?;
    let admitted = app.handoffs()?.admit_trial(TrialPrompt {
        experiment: &lab.plan.id,
        receipt: receipt.clone(),
        session: record.session()?,
        role: task.task.role.clone(),
        model: lab.plan.model.as_deref(),
        text: prompt.text_for(receipt.as_str()),
        has: prompt.parts(),
        now: app.now(),
    })?;
    let invocation = invocation(lab, progress, task, &clone, &admitted)?;
    record.add(&Entry::Started {
        trial: number,
        receipt: receipt.clone(),
        clone: clone.path.clone(),
        at: app.now(),
    })?;
    let outcome = match supervised(lab, record, number, &invocation) {
        Ok(outcome) => outcome,
        Err(error) => {
            app.handoffs()?.failed(&receipt, &error.message, app.now())?;
            // No agent has worked.
            record.add(&Entry::Interrupted { trial: number, at: app.now() })?;
            return Err(error);
        }
    };
    let agent = AgentEnd {
        ended: judge::in_words(&outcome),
        failure: outcome.failure.as_ref().map(|failure| failure.class.to_string()),
        cost_usd: outcome.report.cost_usd,
        tokens: Some(outcome.report.usage.total()).filter(|tokens| *tokens > 0),
        turns: outcome.report.turns,
        duration_ms: u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX),
    };
    record.add(&Entry::Ended { trial: number, agent, at: app.now() })?;
    bind(lab, record, &outcome)?;
    if outcome.ended == Ended::Cancelled {
        record.add(&Entry::Interrupted { trial: number, at: app.now() })?;
        return Ok(Done::Interrupted);
    }
    if let Some(until) = lifted_at(&outcome, app.now(), limits, &local_time::next_at) {
        record.add(&Entry::Interrupted { trial: number, at: app.now() })?;
        return Ok(Done::Limited(until));
    }
    if let Some(reason) = not_its_fault(app, &outcome)? {
        let is_transient = outcome.failure.as_ref().is_some_and(|one| one.class.is_transient());
        return dropped(lab, record, number, reason, is_transient);
    }
    judged(lab, record, number, task, &clone)
}

fn invocation(
    lab: &Lab<'_>,
    progress: &Progress,
    task: &PreparedTask,
    clone: &TrialClone<'_>,
    prompt: &AdmittedPrompt,
) -> Result<Invocation, CommandError> {
    let (app, host) = (lab.app, lab.plan.host);
    let config = app.config()?;
    let folder: PathBuf = clone.path.join(&lab.repo.prefix);
    let mut invocation = Invocation::new(host, SpawnId::new(prompt.receipt().as_str())?, folder);
    lab.program.apply(&mut invocation);
    invocation.prompt = Some(prompt.clone());
    invocation.environment = judge::environment(app, host)?;
    for (name, value) in clone.variables() {
        invocation.environment.set(name, value);
    }
    invocation.databases = Some(&Tables);
    // What the user allows agents that nobody watches.
    invocation.profile = config.runs.profile;
    invocation.model.clone_from(&lab.plan.model);
    let seconds = lab.plan.timeout.or(task.task.timeout).unwrap_or(config.agents.timeout);
    let limit = |seconds: u64| (seconds > 0).then(|| Duration::from_secs(seconds));
    invocation.limits = Limits {
        wall: limit(seconds),
        idle: limit(config.agents.idle_timeout),
        cost_usd: lab.plan.max_cost.map(|most| (most - progress.spent_usd).max(0.01)),
        ..Limits::default()
    };
    Ok(invocation)
}

fn supervised(
    lab: &Lab<'_>,
    record: &Record,
    number: usize,
    invocation: &Invocation,
) -> Result<AgentOutcome, CommandError> {
    let (app, redactor) = (lab.app, lab.app.redactor()?);
    let logs = record.logs();
    logs.create()?;
    let log = logs.create_file(&format!("trial-{number}.log"))?;
    let mut tee = Tee::new(log, LOG_BYTES, || log_filter(redactor));
    let Some(prompt) = &invocation.prompt else {
        return Err(CommandError::invalid("a trial needs a prompt"));
    };
    let mut delivery = Ok(());
    let mut on_event = |event: AgentEvent| {
        if matches!(event, AgentEvent::Spawned(_)) {
            delivery = app.handoffs().and_then(|handoffs| {
                Ok(handoffs.started(prompt.receipt(), Some(invocation.host), app.now())?)
            });
        }
    };
    let outcome = run_agent(invocation, Some(&mut tee), &mut on_event, lab.cancel)?;
    if let Err(error) = delivery {
        app.ui.warn(format_args!("the delivery was not stored: {}", error.message));
    }
    Ok(outcome)
}

/// Its conversation belongs to the experiment, so that `coverage` knows why its subagents were not briefed.
fn bind(lab: &Lab<'_>, record: &Record, outcome: &AgentOutcome) -> Result<(), CommandError> {
    let conversation =
        outcome.report.host_session.as_deref().and_then(|id| HostSessionId::new(id).ok());
    if let Some(conversation) = conversation {
        lab.app.store()?.bind_host(
            lab.plan.host,
            &conversation,
            &record.session()?,
            lab.app.now(),
        )?;
    }
    Ok(())
}

/// Why a trial says nothing about its arm: the agent could not work, whatever it was given. An agent that ran out of
/// time, gave up or crashed has failed.
fn not_its_fault(app: &App, outcome: &AgentOutcome) -> Result<Option<String>, CommandError> {
    let Some(failure) = &outcome.failure else { return Ok(None) };
    let is_ours = failure.class.is_transient()
        || matches!(
            failure.class,
            FailureClass::Auth
                | FailureClass::Quota
                | FailureClass::Model
                | FailureClass::Usage
                | FailureClass::MaxBudget
        );
    let message = app.redactor()?.clean(&failure.message);
    Ok(is_ours.then(|| format!("{}: {}", failure.class, message.as_str())))
}

fn judged(
    lab: &Lab<'_>,
    record: &Record,
    number: usize,
    task: &PreparedTask,
    clone: &TrialClone<'_>,
) -> Result<Done, CommandError> {
    let app = lab.app;
    let outcome = clone.judge(task)?;
    if outcome.ended == Ended::Cancelled {
        return Ok(Done::Interrupted);
    }
    let said = format!("{}\n{}", outcome.stdout.text(), outcome.stderr.text());
    let said = app.redactor()?.clean(&said);
    record.logs().create()?;
    record.logs().replace(
        &format!("trial-{number}.judge.txt"),
        said.as_str().as_bytes(),
        Sync::No,
    )?;
    let passed = outcome.ended == Ended::Exited(0);
    record.add(&Entry::Judged {
        trial: number,
        passed,
        judge: judge::in_words(&outcome),
        at: app.now(),
    })?;
    let _ = fs_err::remove_dir_all(&clone.path);
    Ok(Done::Judged(passed))
}

fn dropped(
    lab: &Lab<'_>,
    record: &Record,
    number: usize,
    reason: String,
    is_transient: bool,
) -> Result<Done, CommandError> {
    record.add(&Entry::Dropped { trial: number, reason: reason.clone(), at: lab.app.now() })?;
    Ok(Done::Dropped { reason, is_transient })
}
