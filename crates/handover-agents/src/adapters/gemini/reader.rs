//! Turns lines into events.

use super::outcome;
use super::stream::{Final, Line};
use crate::adapters::{Parsed, parse};
use crate::event::text_of;
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Tool, Usage, Used};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    /// What the agent has said since its last tool call.
    pub(super) text: String,
    pub(super) last_error: Option<String>,
    pub(super) result: Option<Final>,
    pub(super) unknown_lines: u64,
    /// How often the model has replied.
    pub(super) turns: u32,
    /// Whether what comes next belongs to the reply before.
    is_in_reply: bool,
}

/// The longest text assembled from pieces.
const TEXT: usize = 8 << 20;

impl OutputReader for Reader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        match parse(line, on_event) {
            Parsed::Blank => {}
            Parsed::Unknown => self.unknown_lines += 1,
            Parsed::Line(Line::Init { session_id, model }) => {
                self.session.clone_from(&session_id);
                self.model.clone_from(&model);
                on_event(AgentEvent::Started { session: session_id, model });
            }
            Parsed::Line(Line::Message { role, content, delta }) if role == "assistant" => {
                self.replied(on_event);
                if !delta.unwrap_or_default() {
                    self.text.clear();
                }
                if self.text.len() + content.len() <= TEXT {
                    self.text.push_str(&content);
                }
                on_event(AgentEvent::Text(content));
            }
            Parsed::Line(Line::ToolUse { tool_name, tool_id, parameters }) => {
                self.replied(on_event);
                self.text.clear();
                on_event(AgentEvent::ToolStarted(Tool::new(tool_id, tool_name, &parameters)));
            }
            Parsed::Line(Line::ToolResult { tool_id, status, output }) => {
                self.is_in_reply = false;
                let (failed, shown) = (status == "error", text_of(&output));
                on_event(AgentEvent::ToolEnded { id: tool_id, failed, shown });
            }
            Parsed::Line(Line::Error { severity, message }) => {
                if severity == "error" {
                    self.last_error = Some(message.clone());
                }
                on_event(AgentEvent::Notice(message));
            }
            Parsed::Line(Line::Result(result)) => {
                let error = outcome::error_of(&result, self.last_error.as_deref());
                on_event(self.used(outcome::usage_of(&result)));
                on_event(match error {
                    Some(error) => AgentEvent::Result { text: error.message, failed: true },
                    None => AgentEvent::Result { text: self.text.clone(), failed: false },
                });
                self.result = Some(result);
            }
            Parsed::Line(Line::Message { .. } | Line::Other) => on_event(AgentEvent::Activity),
        }
    }

    fn report(self: Box<Self>, ended: Ended, _stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(*self, ended, stderr)
    }
}

impl Reader {
    fn used(&self, usage: Usage) -> AgentEvent {
        let turns = Some(self.turns).filter(|&turns| turns > 0);
        AgentEvent::Usage(Used { usage, cost_usd: None, turns })
    }

    /// Something that the model produced has arrived. Its tokens are reported at the end only.
    fn replied(&mut self, on_event: &mut dyn FnMut(AgentEvent)) {
        if !std::mem::replace(&mut self.is_in_reply, true) {
            self.turns += 1;
            on_event(self.used(Usage::default()));
        }
    }
}
