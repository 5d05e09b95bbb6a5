//! Turns lines into events.

use super::outcome;
use super::stream::{ErrorInfo, Event, Final, Line};
use crate::adapters::{Parsed, parse};
use crate::event::text_of;
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Tool, Used};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) model: Option<String>,
    /// What the agent said last; what its subagents say is not counted.
    pub(super) text: String,
    pub(super) turns: u32,
    pub(super) denials: u32,
    pub(super) last_error: Option<ErrorInfo>,
    pub(super) result: Option<Final>,
    pub(super) unknown_lines: u64,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        let Line { event, agent } = match parse(line, on_event) {
            Parsed::Blank => return,
            Parsed::Unknown => {
                self.unknown_lines += 1;
                return;
            }
            Parsed::Line(line) => line,
        };
        match event {
            Event::Message { data } if agent.is_none() => {
                if self.turns == 0 {
                    self.model.clone_from(&data.model);
                    on_event(AgentEvent::Started { session: None, model: data.model });
                }
                self.turns += 1;
                on_event(AgentEvent::Usage(Used { turns: Some(self.turns), ..Used::default() }));
                // An error that a retry overcame does not count.
                self.last_error = None;
                if data.content.is_empty() {
                    on_event(AgentEvent::Activity);
                } else {
                    self.text.clone_from(&data.content);
                    on_event(AgentEvent::Text(data.content));
                }
            }
            Event::ToolStarted { data } => {
                on_event(AgentEvent::ToolStarted(Tool::new(
                    data.tool_call_id,
                    data.tool_name,
                    &data.arguments,
                )));
            }
            Event::ToolEnded { data } => {
                let denied = data.error.is_some_and(|error| error.code == "denied");
                self.denials += u32::from(denied);
                let failed = data.success == Some(false)
                    || data.shell_execution.is_some_and(|shell| shell.exit_code != 0);
                let shown = text_of(&data.result);
                on_event(AgentEvent::ToolEnded { id: data.tool_call_id, failed, shown });
            }
            Event::Error { data } => {
                on_event(AgentEvent::Notice(data.message.clone()));
                self.last_error = Some(data);
            }
            Event::Result(result) => {
                let error = outcome::error_of(&result, self.last_error.as_ref());
                on_event(match error {
                    Some(error) => AgentEvent::Result { text: error.message, failed: true },
                    None => AgentEvent::Result { text: self.text.clone(), failed: false },
                });
                self.result = Some(result);
            }
            Event::Message { .. } | Event::Other => on_event(AgentEvent::Activity),
        }
    }

    fn report(self: Box<Self>, ended: Ended, _stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(*self, ended, stderr)
    }
}
