//! Turns lines into events.

use super::outcome;
use super::stream::{ErrorInfo, Event, Line, Step, ToolUse};
use crate::adapters::{Parsed, parse};
use crate::event::text_of;
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Tool, Usage, Used};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) session: Option<String>,
    /// What the agent said last.
    pub(super) text: String,
    pub(super) turns: u32,
    pub(super) usage: Usage,
    pub(super) cost: Option<f64>,
    pub(super) last_error: Option<ErrorInfo>,
    /// Whether the last turn was its end.
    pub(super) done: bool,
    pub(super) unknown_lines: u64,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        let Line { event, session } = match parse(line, on_event) {
            Parsed::Blank => return,
            Parsed::Unknown => {
                self.unknown_lines += 1;
                return;
            }
            Parsed::Line(line) => line,
        };
        if self.session.is_none() && session.is_some() {
            self.session.clone_from(&session);
            on_event(AgentEvent::Started { session, model: None });
        }
        match event {
            Event::Text { part } => {
                self.text.clone_from(&part.text);
                on_event(AgentEvent::Text(part.text));
            }
            Event::ToolUse { part } => tool(part, on_event),
            Event::StepFinish { part } => self.finished(&part, on_event),
            Event::Error { error } => {
                on_event(AgentEvent::Notice(error.data.message.clone()));
                self.last_error = Some(error);
            }
            Event::Other => on_event(AgentEvent::Activity),
        }
    }

    fn report(self: Box<Self>, ended: Ended, _stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(*self, ended, stderr)
    }
}

impl Reader {
    fn finished(&mut self, step: &Step, on_event: &mut dyn FnMut(AgentEvent)) {
        self.turns += 1;
        if let Some(tokens) = &step.tokens {
            self.usage.input += tokens.input + tokens.cache.read + tokens.cache.write;
            self.usage.cached_input += tokens.cache.read;
            self.usage.output += tokens.output + tokens.reasoning;
        }
        if let Some(cost) = step.cost {
            self.cost = Some(self.cost.unwrap_or_default() + cost);
        }
        on_event(AgentEvent::Usage(Used {
            usage: self.usage,
            cost_usd: self.cost,
            turns: Some(self.turns),
        }));
        self.done = !matches!(step.reason.as_str(), "tool-calls" | "error" | "unknown");
        if self.done {
            on_event(AgentEvent::Result { text: self.text.clone(), failed: false });
        }
    }
}

/// It is reported once, when it has run.
fn tool(part: ToolUse, on_event: &mut dyn FnMut(AgentEvent)) {
    let ToolUse { tool, id, state } = part;
    let exit = state.metadata.and_then(|metadata| metadata.exit);
    let failed = state.status == "error" || exit.is_some_and(|code| code != 0);
    on_event(AgentEvent::ToolStarted(Tool::new(id.clone(), tool, &state.input)));
    on_event(AgentEvent::ToolEnded { id, failed, shown: text_of(&state.output) });
}
