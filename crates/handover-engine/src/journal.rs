//! The journal of a run: every effect before it starts, every event after it happens.
//!
//! Several effects can be open at once. An intent without an event may have been started or even finished,
//! so every effect must be idempotent.

use handover_agents::Identity;
use handover_model::{JournalEntry, JournalKind, RunId, RunState, Timestamp};
use handover_store::{NewJournalEntry, Store};
use handover_text::Redactor;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::EngineError;
use crate::lock::lease_end;
use crate::reducer::{Effect, Event, State};

/// Appends to the journal of one run.
pub(crate) struct Journal<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) redactor: &'a Redactor,
    pub(crate) run: RunId,
    pub(crate) fence: u64,
    pub(crate) seq: u64,
    /// How long each entry extends the lock of the epic, in seconds.
    pub(crate) lease: u64,
    pub(crate) death: Option<Death>,
}

/// Where tests make the engine crash, as with `kill -9`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Death {
    /// Before this entry is written, with its effect already done.
    Before(u64),
    /// After this entry is written, before anything else happens.
    After(u64),
}

/// An effect whose intent is in the journal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Intent {
    pub(crate) seq: u64,
    pub(crate) effect: Effect,
    pub(crate) at: Timestamp,
}

/// An entry that does not change the state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub(crate) enum Note {
    /// A process was started.
    Spawned {
        /// Its identity, to find it again after a crash.
        process: Identity,
    },
    /// Orphans of a crashed engine were killed.
    Reaped {
        /// How many processes.
        count: u32,
    },
    /// A warning.
    Said {
        /// The text that was shown.
        text: String,
    },
}

impl Journal<'_> {
    pub(crate) fn intent(
        &mut self,
        effect: &Effect,
        now: Timestamp,
    ) -> Result<Intent, EngineError> {
        self.append(JournalKind::Intent, effect, None, now)?;
        Ok(Intent { seq: self.seq, effect: effect.clone(), at: now })
    }

    /// Writes an event and returns it as it was written, redacted.
    pub(crate) fn event(&mut self, event: &Event, now: Timestamp) -> Result<Event, EngineError> {
        let state = match event {
            Event::Started { .. } | Event::Resumed { .. } => Some(RunState::Running),
            Event::Stopped { state, .. } | Event::Ended { state } => Some(*state),
            Event::Opened { .. }
            | Event::PhaseEnded(_)
            | Event::BaseChecked { .. }
            | Event::GatesEnded { .. }
            | Event::Rebased { .. }
            | Event::UatEnded { .. }
            | Event::WaitEnded { .. }
            | Event::GaveUp { .. }
            | Event::Refused { .. }
            | Event::Committed { .. }
            | Event::Parked { .. }
            | Event::Answered { .. }
            | Event::Retried { .. }
            | Event::Approved { .. }
            | Event::Merged { .. } => None,
        };
        self.event_in(event, state, now)
    }

    /// Writes an event after which the run is in a state of its own.
    pub(crate) fn event_in(
        &mut self,
        event: &Event,
        state: Option<RunState>,
        now: Timestamp,
    ) -> Result<Event, EngineError> {
        let written = self.append(JournalKind::Result, event, state, now)?;
        serde_json::from_value(written).map_err(|error| self.unreadable(self.seq, &error))
    }

    pub(crate) fn note(&mut self, note: &Note, now: Timestamp) -> Result<(), EngineError> {
        self.append(JournalKind::Note, note, None, now).map(drop)
    }

    fn append(
        &mut self,
        kind: JournalKind,
        entry: &impl Serialize,
        state: Option<RunState>,
        now: Timestamp,
    ) -> Result<serde_json::Value, EngineError> {
        let value = serde_json::to_value(entry)
            .unwrap_or_else(|error| json!({"note": "said", "text": error.to_string()}));
        let entry = self.redactor.clean_json(value);
        let until = self.until(now);
        let written = entry.value().clone();
        let new = NewJournalEntry { seq: self.seq + 1, kind, entry, state, until, now };
        if self.death == Some(Death::Before(new.seq)) {
            handover_agents::die();
        }
        self.store.append_journal(&self.run, &new, self.fence)?;
        self.seq += 1;
        if self.death == Some(Death::After(self.seq)) {
            handover_agents::die();
        }
        Ok(written)
    }

    /// When an entry written now makes the lock expire.
    pub(crate) fn until(&self, now: Timestamp) -> Timestamp {
        lease_end(now, self.lease)
    }

    fn unreadable(&self, seq: u64, error: &serde_json::Error) -> EngineError {
        EngineError::Journal { run: self.run.to_string(), seq, reason: error.to_string() }
    }
}

/// A journal read back.
#[derive(Debug, Clone)]
pub struct Folded {
    /// The state after all events.
    pub state: State,
    /// Effects that were started and have no event, in the order of their intents.
    pub(crate) open: Vec<Intent>,
    /// The processes that these effects started.
    pub(crate) processes: Vec<Identity>,
    /// The number of the last entry.
    pub(crate) seq: u64,
}

impl Folded {
    /// Applies an event and closes the effect it belongs to.
    fn apply_event(&mut self, run: &RunId, event: &Event) {
        self.state.apply(event);
        let Some(at) = self.open.iter().position(|intent| event.answers(&intent.effect)) else {
            return;
        };
        let mark = mark(run, self.open.remove(at).seq);
        self.processes.retain(|process| process.spawn != mark);
    }
}

/// The marker of the processes that belong to one effect.
pub(crate) fn mark(run: &RunId, seq: u64) -> String {
    format!("{run}-{seq}")
}

/// Reads a journal back; none if it has no plan yet.
pub fn fold(run: &RunId, entries: &[JournalEntry]) -> Result<Option<Folded>, EngineError> {
    let mut folded: Option<Folded> = None;
    for entry in entries {
        let unreadable = |error: serde_json::Error| EngineError::Journal {
            run: run.to_string(),
            seq: entry.seq,
            reason: error.to_string(),
        };
        match entry.kind {
            JournalKind::Result => {
                let event: Event =
                    serde_json::from_value(entry.entry.clone()).map_err(unreadable)?;
                match &mut folded {
                    None => {
                        folded = State::start(&event).map(|state| Folded {
                            state,
                            open: Vec::new(),
                            processes: Vec::new(),
                            seq: entry.seq,
                        });
                    }
                    Some(folded) => folded.apply_event(run, &event),
                }
            }
            JournalKind::Intent => {
                let effect = serde_json::from_value(entry.entry.clone()).map_err(unreadable)?;
                if let Some(folded) = &mut folded {
                    folded.open.push(Intent { seq: entry.seq, effect, at: entry.created_at });
                }
            }
            JournalKind::Note => {
                let note = serde_json::from_value(entry.entry.clone());
                if let (Some(folded), Ok(Note::Spawned { process })) = (&mut folded, note) {
                    folded.processes.push(process);
                }
            }
        }
        if let Some(folded) = &mut folded {
            folded.seq = entry.seq;
        }
    }
    Ok(folded)
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
