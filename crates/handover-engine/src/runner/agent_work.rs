//! An agent at work, on a thread of its own: its program, and what it says.

use std::borrow::Cow;
use std::path::Path;
use std::time::{Duration, Instant};

use handover_agents::{AgentEvent, Ended, Invocation, Outcome, Tee, run};
use handover_handoff::follow_up;

use super::agent::{AgentDone, AgentJob, Seat, spent};
use super::crew::{Link, Word};
use crate::EngineError;
use crate::ledger::Spent;
use crate::task::ending;
use crate::verdict::{self, Asked, MAX_RESULT, Said, Unclear};

/// How much of an agent's output is kept on disk.
const LOG_BYTES: u64 = 16 << 20;
/// How often a sign of life is passed on.
const ACTIVITY: Duration = Duration::from_millis(500);

impl AgentJob {
    pub(super) fn work(self, link: &Link<'_>) -> Result<AgentDone, EngineError> {
        let Self { call, handoff, read, invocation, wait, .. } = self;
        sleep(wait, link)?;
        let (outcome, said, more) = call.seat.work(&invocation, &read, link)?;
        Ok(AgentDone { call, handoff, host: invocation.host, outcome, said, more })
    }
}

/// How an agent ended, what it said, and what being asked once more cost.
type Worked = (Outcome, Result<Said, Unclear>, Spent);

impl Seat {
    pub(super) fn work(
        &self,
        invocation: &Invocation,
        read: &str,
        link: &Link<'_>,
    ) -> Result<Worked, EngineError> {
        let outcome = supervised(self, invocation, "log", link)?;
        let (said, more) = verdict(self, read, invocation, &outcome, link)?;
        Ok((outcome, said, more))
    }
}

fn sleep(mut left: Duration, link: &Link<'_>) -> Result<(), EngineError> {
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

/// What the agent says. Whoever did the work and forgot to say so is asked once, where its program
/// can go on with the same conversation: a missing phrase must not cost a whole story.
fn verdict(
    seat: &Seat,
    read: &str,
    invocation: &Invocation,
    outcome: &Outcome,
    link: &Link<'_>,
) -> Result<(Result<Said, Unclear>, Spent), EngineError> {
    let asked = Asked {
        subject: &seat.id,
        phase: seat.step.phase,
        nonce: &seat.nonce,
        read,
        statuses: &seat.step.statuses,
    };
    let said = |outcome: &Outcome| {
        verdict::read(asked, result_file(&seat.result()).as_deref(), &outcome.final_text)
    };
    let first = said(outcome);
    let conversation = outcome.report.host_session.clone();
    let (Err(Unclear::Missing), true, Some(conversation)) =
        (&first, outcome.is_success(), conversation)
    else {
        return Ok((first, Spent::default()));
    };
    let ending = ending(&seat.id, &seat.step, &seat.nonce, &seat.result());
    let question =
        format!("You have ended without a verdict. Do no more work; only say it.\n\n{ending}");
    let prompt = invocation.prompt.as_ref().map(|prompt| follow_up(prompt, question));
    let again = Invocation { prompt, resume: Some(conversation), ..invocation.clone() };
    let answer = supervised(seat, &again, "again.log", link)?;
    let said = if answer.is_success() { said(&answer) } else { first };
    Ok((said, spent(&answer, &Said::default())))
}

/// Runs the agent, with its process told as soon as it exists.
fn supervised(
    seat: &Seat,
    invocation: &Invocation,
    log: &str,
    link: &Link<'_>,
) -> Result<Outcome, EngineError> {
    let redactor = link.redactor;
    let mut tee =
        Tee::create(&seat.file(log), LOG_BYTES, |line| Cow::Owned(redactor.redact_bytes(line)))?;
    let mut shown = Instant::now();
    let mut on_event = |event: AgentEvent| {
        if let AgentEvent::Spawned(process) = &event {
            link.say(Word::Spawned(process.clone()));
        }
        if let Some(what) = activity(&event)
            && shown.elapsed() >= ACTIVITY
        {
            shown = Instant::now();
            let what = redactor.clean(&what).cut(120).as_str().to_owned();
            link.say(Word::Activity { story: seat.id.clone(), what });
        }
    };
    let outcome = run(invocation, Some(&mut tee), &mut on_event, &link.cancel)?;
    if outcome.ended == Ended::Cancelled {
        return Err(EngineError::Interrupted);
    }
    Ok(outcome)
}

/// The result, if it is a file of a reasonable size. A link could lead anywhere.
fn result_file(path: &Path) -> Option<Vec<u8>> {
    let data = fs_err::symlink_metadata(path).ok()?;
    if !data.is_file() {
        return Some(b"not a file".to_vec());
    }
    if data.len() > MAX_RESULT {
        return Some(b"too large".to_vec());
    }
    fs_err::read(path).ok()
}

/// What is worth showing.
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
