//! The pace of a demo: pauses that a key skips, on a terminal only.

use std::cell::Cell;
use std::io::IsTerminal as _;
use std::time::Duration;

use crate::error::{CommandError, Exit};
use crate::terminal::{Key, QuietTerminal};

/// How fast a person reads.
const PER_CHARACTER: Duration = Duration::from_millis(50);
const PER_LINE: Duration = Duration::from_millis(320);
/// Nobody waits longer than this for anything.
const LONGEST: Duration = Duration::from_secs(9);
/// How long a scripted agent takes for one step.
const AGENT_STEP: Duration = Duration::from_millis(1_100);

/// Whether and how to pause.
pub(super) struct Pace {
    is_slow: Cell<bool>,
}

impl Pace {
    /// Slow if a person watches and did not ask otherwise.
    pub(super) fn new(fast: bool) -> Self {
        let watched = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        Self { is_slow: Cell::new(watched && !fast) }
    }

    pub(super) fn is_slow(&self) -> bool {
        self.is_slow.get()
    }

    /// The pause of a scripted agent between two steps.
    pub(super) fn agent_step(&self) -> Duration {
        if self.is_slow() { AGENT_STEP } else { Duration::ZERO }
    }

    /// Time to read a sentence.
    pub(super) fn read(&self, text: &str) -> Result<(), CommandError> {
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        self.pause(PER_CHARACTER.saturating_mul(characters))
    }

    /// Time to look at this many lines.
    pub(super) fn look(&self, lines: u32) -> Result<(), CommandError> {
        self.pause(PER_LINE.saturating_mul(lines))
    }

    /// Waits, unless a key is pressed: any key ends this pause, `q` and Escape all of them.
    fn pause(&self, time: Duration) -> Result<(), CommandError> {
        if !self.is_slow() {
            return Ok(());
        }
        let key = QuietTerminal::new().and_then(|terminal| terminal.key(time.min(LONGEST)));
        match key {
            Some(Key::Interrupt) => {
                return Err(CommandError::new(
                    Exit::Interrupted,
                    "interrupted",
                    "the demo was interrupted",
                ));
            }
            Some(Key::Char('q') | Key::Escape) => self.is_slow.set(false),
            Some(_) | None => {}
        }
        Ok(())
    }
}
