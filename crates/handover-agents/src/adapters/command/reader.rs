//! Turns lines of text into events.

use super::outcome;
use crate::{AgentEvent, Captured, Ended, OutputReader, Report};

pub(super) struct Reader;

impl OutputReader for Reader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        on_event(AgentEvent::Text(line.to_owned()));
    }

    fn report(self: Box<Self>, ended: Ended, stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(ended, stdout, stderr)
    }
}
