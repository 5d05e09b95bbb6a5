//! Lines of text into events.

use super::outcome;
use crate::adapters::Normaliser;
use crate::{AgentEvent, Captured, Ended, Report};

pub(in crate::adapters) struct Command;

impl Normaliser for Command {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        on_event(AgentEvent::Text(line.to_owned()));
    }

    fn report(self: Box<Self>, ended: Ended, stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(ended, stdout, stderr)
    }
}
