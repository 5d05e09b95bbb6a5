//! The trials of an experiment, one after the other: what comes next, when to wait, and when to stop.

use std::time::{Duration, Instant};

use handover_engine::backoff;
use handover_model::Timestamp;
use handover_prove::{Progress, TrialState};

use super::record::Record;
use super::trial::{self, Done};
use super::{Lab, judge, prompts, show};
use crate::commands::Outcome;
use crate::commands::run::waiting;
use crate::error::{CommandError, Exit};

/// Trials in a row whose agent could not work, after which it is not the trial's fault.
const MOST_FAILURES: u32 = 2;

/// The same if it may be over soon, such as a server that is overloaded: each is tried again later.
const MOST_TRANSIENT_FAILURES: u32 = 4;

/// How soon an interruption ends a wait.
const TICK: Duration = Duration::from_millis(100);

impl Lab<'_> {
    /// Does the trials that are left, in their order.
    pub(super) fn conduct(&self, record: &Record) -> Outcome {
        let app = self.app;
        prompts::prepare(self, record)?;
        for entry in judge::check_all(self, &record.progress()?.checked)? {
            record.add(&entry)?;
        }
        let (mut failures, mut limits, mut done_here, begun) = (0, 0, 0, app.now());
        loop {
            let progress = record.progress()?;
            let Some(next) = progress.next() else { return Ok(Exit::Done) };
            if self.cancel.is_cancelled() {
                app.ui.note("Interrupted. `--resume` continues from here.");
                return Ok(Exit::Interrupted);
            }
            // An agent that was paid for is judged, whatever the budget says.
            let is_paid = matches!(progress.trials[next].1, TrialState::Unjudged { .. });
            if let Some(why) = self.over_budget(&progress).filter(|_| !is_paid) {
                app.ui.note(why);
                return Ok(Exit::Budget);
            }
            let done = trial::run(self, record, &progress, next, limits)?;
            if let Done::Limited(until) = done {
                limits += 1;
                let words = waiting(until);
                app.ui.note(format_args!("{}{}", words[..1].to_uppercase(), &words[1..]));
                self.wait_until(until);
                continue;
            }
            limits = 0;
            let after = record.progress()?;
            done_here += 1;
            let seconds = (app.now().as_micros() - begun.as_micros()) / 1_000_000;
            let left = after.trials.len() - after.judged() - after.dropped();
            show::trial(self, &after, next, &done, show::time_left(seconds, done_here, left));
            self.note_unpriced(&progress, &after);
            let Done::Dropped { is_transient, .. } = done else {
                failures = 0;
                continue;
            };
            failures += 1;
            let most = if is_transient { MOST_TRANSIENT_FAILURES } else { MOST_FAILURES };
            if failures >= most && !self.cancel.is_cancelled() {
                let message =
                    format!("{failures} trials in a row could not be done; the last: {done}");
                return Err(CommandError::new(Exit::Environment, "agent", message)
                    .hinted("Fix the agent program or the judge; `--resume` continues."));
            }
            if is_transient {
                let pause = backoff(failures);
                app.ui.note(format_args!("Trying again in {} s", pause.as_secs()));
                self.wait(pause);
            }
        }
    }

    /// Why the budget ends the experiment, if it does. Until there is something to compare, it must hold the rest of a
    /// round: one trial of each arm.
    fn over_budget(&self, progress: &Progress) -> Option<String> {
        let most = self.plan.max_cost?;
        let (spent, dearest, arms) = (progress.spent_usd, progress.most_usd, self.plan.arms.len());
        let left = arms.saturating_sub(progress.judged()).max(1);
        if !progress.has_round(arms) && spent + dearest * left as f64 > most {
            return Some(format!(
                "The budget of ${most:.2} does not hold one trial of each of the {arms} arms, so there is nothing to compare: ${spent:.2} is spent, and an agent cost up to ${dearest:.2}. `--resume` with a larger `--max-cost` continues."
            ));
        }
        (spent + dearest > most).then(|| {
            format!(
                "The next trial might exceed the budget (${spent:.2} of ${most:.2} spent). `--resume` with a larger `--max-cost` continues."
            )
        })
    }

    /// Says once that a budget limits nothing.
    fn note_unpriced(&self, before: &Progress, after: &Progress) {
        if self.plan.max_cost.is_some() && before.ended == 0 && after.ended > 0 && after.priced == 0
        {
            self.app.ui.note(
                "The agent program does not report what it costs, so `--max-cost` ends nothing.",
            );
        }
    }

    fn wait_until(&self, until: Timestamp) {
        while self.app.now() < until && !self.cancel.is_cancelled() {
            std::thread::sleep(TICK);
        }
    }

    fn wait(&self, span: Duration) {
        let begun = Instant::now();
        while begun.elapsed() < span && !self.cancel.is_cancelled() {
            std::thread::sleep(TICK);
        }
    }
}
