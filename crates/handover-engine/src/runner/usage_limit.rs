//! Usage limits of agent programs: until when the run waits, and the waiting. Experiments wait by the same rule.

use handover_agents::{ClockTime, Outcome, Resets};
use handover_model::Timestamp;

use super::Runner;
use crate::EngineError;
use crate::reducer::{Effect, Event, StoryRun};

/// A limit that is lifted later than this is a mistake of ours or the program's.
const LONGEST: i64 = 8 * 24 * 3_600;

/// When the usage limit that ended an agent is lifted; none if there is no limit, or no time is known. A limit that turns
/// out to last longer is tried again less and less often: `times` is how often in a row it was met before.
pub fn lifted_at(
    outcome: &Outcome,
    now: Timestamp,
    times: u32,
    next_at: &dyn Fn(&ClockTime) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let lifted = match outcome.report.resets.as_ref()? {
        Resets::At(seconds) => Timestamp::default().plus_seconds(*seconds),
        Resets::After(span) => {
            now.plus_seconds(i64::try_from(span.as_secs()).unwrap_or(i64::MAX).saturating_add(1))
        }
        Resets::Clock(clock) => next_at(clock)?,
    };
    let earliest = now.plus_seconds(1 << times.min(11));
    (lifted <= now.plus_seconds(LONGEST)).then(|| lifted.max(earliest))
}

impl Runner<'_, '_> {
    /// When the usage limit that ended an agent of a story is lifted.
    pub(super) fn lifted_at(&self, outcome: &Outcome, story: &StoryRun) -> Option<Timestamp> {
        lifted_at(outcome, self.now(), story.limited(), &|clock| (self.engine.next_at)(clock))
    }

    /// Ends the waiting once its time has come. Returns the error that stops the run, if there is one.
    pub(super) fn poll_wait(&mut self) -> Result<Option<EngineError>, EngineError> {
        let is_wait = |effect: &Effect| matches!(effect, Effect::Wait { .. });
        if self.engine.cancel.is_cancelled() {
            let before = self.in_flight.len();
            self.in_flight.retain(|intent| !is_wait(&intent.effect));
            return Ok((self.in_flight.len() < before).then_some(EngineError::Interrupted));
        }
        let now = self.now();
        let over = |effect: &Effect| matches!(effect, Effect::Wait { until } if *until <= now);
        while let Some(at) = self.in_flight.iter().position(|intent| over(&intent.effect)) {
            if let Effect::Wait { until } = self.in_flight.remove(at).effect
                && let Some(stop) = self.record(&Event::WaitEnded { until })?
            {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }
}
