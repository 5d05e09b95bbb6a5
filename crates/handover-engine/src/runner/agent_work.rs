//! Runs an agent's program on a worker thread and reads its report.

use std::time::{Duration, Instant};

use handover_agents::{AgentEvent, Ended, Invocation, Outcome, Tee, run};
use handover_handoff::follow_up_prompt;
use handover_model::{AdmittedPrompt, Trace};
use handover_text::cut::cut;

use super::agent::{AgentAttempt, AgentDone, AgentFailed, AgentJob, spent};
use super::result_file::ResultFile;
use super::workers::{Delivered, JobResult, WorkerEvent, WorkerLink};
use crate::EngineError;
use crate::data::Spent;
use crate::log_filter::{ShownLines, log_filter};
use crate::observe;
use crate::task::reminder;
use crate::verdict::{self, AgentReport, ReportContext, ReportError};

/// How much of an agent's output is kept on disk.
const LOG_BYTES: u64 = 16 << 20;
/// How often activity is passed on to be shown.
const ACTIVITY: Duration = Duration::from_millis(500);

impl AgentJob {
    pub(super) fn work(self, link: &WorkerLink<'_>) -> JobResult {
        let Self { call, handoff, read, invocation, wait, .. } = self;
        if !wait.is_zero() {
            let what = format!("waits {} s before it tries again", wait.as_secs().max(1));
            link.send(WorkerEvent::Activity { story: call.attempt.story.clone(), what });
        }
        let worked = sleep(wait, link).and_then(|()| call.attempt.work(&invocation, &read, link));
        match worked {
            Ok(Worked { outcome, report, follow_up, trace }) => {
                JobResult::Agent(Box::new(AgentDone {
                    call,
                    handoff,
                    outcome,
                    report,
                    follow_up,
                    trace,
                }))
            }
            Err(error) => {
                let started = link.has_spawned();
                JobResult::AgentFailed(Box::new(AgentFailed { handoff, started, error }))
            }
        }
    }
}

/// What came of an agent's program.
pub(super) struct Worked {
    pub(super) outcome: Outcome,
    pub(super) report: Result<AgentReport, ReportError>,
    /// The usage of the follow-up call.
    pub(super) follow_up: Spent,
    pub(super) trace: Trace,
}

impl AgentAttempt {
    pub(super) fn work(
        &self,
        invocation: &Invocation,
        read: &str,
        link: &WorkerLink<'_>,
    ) -> Result<Worked, EngineError> {
        let (phase, attempt) = (self.step.phase, self.number);
        let voice = self.step.voice.as_ref().map(|voice| voice.persona.as_str());
        let _span =
            tracing::debug_span!("phase", story = self.story, %phase, attempt, voice).entered();
        tracing::debug!(host = %invocation.host, role = %self.step.role, "agent starts");
        let result = ResultFile::create(self)?;
        let mut trace = Trace::default();
        trace.given(invocation.prompt.as_ref().map(AdmittedPrompt::text).unwrap_or_default());
        let outcome = supervised(self, invocation, "log", link, &mut trace)?;
        let duration_ms = outcome.duration.as_millis() as u64;
        tracing::debug!(ended = ?outcome.ended, failure = ?outcome.failure, duration_ms, "agent ended");
        let (report, follow_up) = report(self, &result, read, invocation, &outcome, link)?;
        result.keep(link.redactor)?;
        Ok(Worked { outcome, report, follow_up, trace })
    }
}

fn sleep(mut left: Duration, link: &WorkerLink<'_>) -> Result<(), EngineError> {
    while left > Duration::ZERO {
        if link.cancel.is_cancelled() {
            return Err(EngineError::Interrupted);
        }
        let nap = left.min(Duration::from_millis(100));
        std::thread::sleep(nap);
        left -= nap;
    }
    Ok(())
}

/// Reads the agent's report. An agent that forgot its verdict is asked once more if its program can
/// resume the conversation: a missing phrase must not cost a whole story.
fn report(
    attempt: &AgentAttempt,
    result: &ResultFile<'_>,
    read: &str,
    invocation: &Invocation,
    outcome: &Outcome,
    link: &WorkerLink<'_>,
) -> Result<(Result<AgentReport, ReportError>, Spent), EngineError> {
    let context = ReportContext {
        subject: &attempt.story,
        phase: attempt.step.phase,
        nonce: &attempt.nonce,
        receipt: invocation.prompt.as_ref().map(AdmittedPrompt::receipt),
        read,
        statuses: &attempt.step.statuses,
    };
    // The latest answer that has a verdict: one that follows may only say that a child has ended.
    let read_report = |outcome: &Outcome| {
        let file = result.read();
        let read = |text: &str| verdict::read(context, file.as_deref(), text);
        let last = read(&outcome.final_text);
        match last {
            Err(ReportError::Missing) => {
                let earlier = outcome.answers().skip(1).map(read);
                earlier.into_iter().find(|it| !is_missing(it)).unwrap_or(last)
            }
            known => known,
        }
    };
    let first = read_report(outcome);
    if !is_missing(&first) || !outcome.is_success() {
        return Ok((first, Spent::default()));
    }
    let question = reminder(&attempt.story, &attempt.step, &attempt.nonce, &attempt.result());
    let prompt = invocation.prompt.as_ref().map(|prompt| follow_up_prompt(prompt, question));
    let Some(again) = prompt.and_then(|prompt| invocation.follow_up(outcome, prompt)) else {
        return Ok((first, Spent::default()));
    };
    let answer = supervised(attempt, &again, "again.log", link, &mut Trace::default())?;
    let report = if answer.is_success() { read_report(&answer) } else { first };
    Ok((report, spent(&answer, &AgentReport::default())))
}

fn is_missing(report: &Result<AgentReport, ReportError>) -> bool {
    matches!(report, Err(ReportError::Missing))
}

/// Runs the program under supervision and reports its process as soon as it exists.
fn supervised(
    attempt: &AgentAttempt,
    invocation: &Invocation,
    log: &str,
    link: &WorkerLink<'_>,
    trace: &mut Trace,
) -> Result<Outcome, EngineError> {
    let redactor = link.redactor;
    let log = attempt.logs.create_file(&attempt.file(log))?;
    let mut tee = Tee::new(log, LOG_BYTES, || log_filter(redactor));
    let (mut shown, mut lines) = (Instant::now(), ShownLines::new(redactor));
    let mut on_event = |event: AgentEvent| {
        if let AgentEvent::Spawned(process) = &event {
            let receipt = invocation.prompt.as_ref().map(|prompt| prompt.receipt().clone());
            let delivered = receipt.map(|receipt| Delivered { receipt, host: invocation.host });
            link.send(WorkerEvent::Spawned { process: process.clone(), delivered });
        }
        observe(trace, &event);
        let Some(what) = activity(&event) else { return };
        lines.push(&what);
        if shown.elapsed() >= ACTIVITY {
            shown = Instant::now();
            let what = cut(&lines.last(), 120);
            link.send(WorkerEvent::Activity { story: attempt.story.clone(), what });
        }
    };
    let outcome = run(invocation, Some(&mut tee), &mut on_event, &link.cancel)?;
    if outcome.ended == Ended::Cancelled {
        return Err(EngineError::Interrupted);
    }
    Ok(outcome)
}

/// The part of an event that is worth showing.
fn activity(event: &AgentEvent) -> Option<String> {
    match event {
        AgentEvent::Text(text) | AgentEvent::Notice(text) => text.lines().next().map(str::to_owned),
        AgentEvent::ToolStarted(tool) => Some(format!("{} {}", tool.name, tool.about)),
        AgentEvent::Retry { reason, .. } => Some(format!("waits: {reason}")),
        AgentEvent::Spawned(_)
        | AgentEvent::Started { .. }
        | AgentEvent::ToolEnded { .. }
        | AgentEvent::Usage(_)
        | AgentEvent::Activity
        | AgentEvent::Result { .. }
        | AgentEvent::Raw(_)
        | AgentEvent::Stderr(_) => None,
    }
    .filter(|text| !text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use handover_agents::{CancelToken, Tool, Used};
    use handover_model::config::RedactionConfig;
    use handover_text::Redactor;

    use super::*;

    #[test]
    fn only_informative_events_are_shown() {
        let tool =
            Tool { id: "1".into(), name: "Bash".into(), about: "ls".into(), input: "ls".into() };
        let retry = AgentEvent::Retry { attempt: 1, reason: "overloaded".into() };
        for (event, shown) in [
            (AgentEvent::Text("one\ntwo".into()), Some("one")),
            (AgentEvent::Notice("careful".into()), Some("careful")),
            (AgentEvent::ToolStarted(tool), Some("Bash ls")),
            (retry, Some("waits: overloaded")),
            (AgentEvent::Text("  \nx".into()), None),
            (AgentEvent::Text(String::new()), None),
            (AgentEvent::Activity, None),
            (AgentEvent::Usage(Used::default()), None),
            (AgentEvent::Raw("x".into()), None),
            (AgentEvent::Stderr("x".into()), None),
            (AgentEvent::Result { text: "x".into(), failed: false }, None),
            (AgentEvent::ToolEnded { id: "1".into(), failed: false, shown: String::new() }, None),
            (AgentEvent::Started { session: None, model: None }, None),
        ] {
            assert_eq!(activity(&event).as_deref(), shown, "{event:?}");
        }
    }

    #[test]
    fn waiting_ends_when_the_run_is_cancelled() {
        let redactor = Redactor::new(&RedactionConfig::default()).unwrap();
        let (sender, _receiver) = channel();
        let cancel = CancelToken::default();
        let link = WorkerLink::new(7, sender, &redactor, cancel.clone());
        sleep(Duration::ZERO, &link).unwrap();
        sleep(Duration::from_millis(1), &link).unwrap();
        cancel.cancel();
        let stopped = sleep(Duration::from_secs(3_600), &link);
        assert!(matches!(stopped, Err(EngineError::Interrupted)), "{stopped:?}");
        // Nothing to wait for means nothing to interrupt.
        sleep(Duration::ZERO, &link).unwrap();
    }
}
