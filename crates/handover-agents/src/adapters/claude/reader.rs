//! Turns lines into events.

use super::outcome;
use super::stream::{Block, Final, Line, Said, System};
use crate::adapters::{Parsed, parse};
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Tool};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) last_text: String,
    pub(super) last_error: Option<String>,
    pub(super) result: Option<Box<Final>>,
    pub(super) unknown_lines: u64,
}

impl OutputReader for Reader {
    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        match parse(line, on_event) {
            Parsed::Blank => {}
            Parsed::Unknown => self.unknown_lines += 1,
            Parsed::Line(Line::System(line)) => self.system(line, on_event),
            Parsed::Line(Line::Assistant(line)) => self.assistant(line, on_event),
            Parsed::Line(Line::User(line)) => user(line, on_event),
            Parsed::Line(Line::Result(line)) => self.result(line, on_event),
            Parsed::Line(Line::Other) => on_event(AgentEvent::Activity),
        }
    }

    fn report(self: Box<Self>, ended: Ended, _stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(*self, ended, stderr)
    }
}

impl Reader {
    fn system(&mut self, line: System, on_event: &mut dyn FnMut(AgentEvent)) {
        match line.subtype.as_str() {
            "init" => {
                self.session = line.session_id;
                self.model = line.model;
                on_event(AgentEvent::Started {
                    session: self.session.clone(),
                    model: self.model.clone(),
                });
            }
            "api_retry" => on_event(AgentEvent::Retry {
                attempt: line.attempt.unwrap_or_default(),
                reason: line.error.unwrap_or_default(),
            }),
            _ => on_event(AgentEvent::Activity),
        }
    }

    fn assistant(&mut self, line: Said, on_event: &mut dyn FnMut(AgentEvent)) {
        let failed = line.error.is_some();
        self.last_error = line.error.or_else(|| self.last_error.take());
        for block in line.message.and_then(|message| message.content).unwrap_or_default() {
            on_event(match block {
                // An error of the program, phrased as a message of the agent; the result repeats it.
                Block::Text { text } if failed => AgentEvent::Notice(text),
                Block::Text { text } => {
                    if line.parent_tool_use_id.is_none() {
                        self.last_text.clone_from(&text);
                    }
                    AgentEvent::Text(text)
                }
                Block::ToolUse { id, name, input } => {
                    AgentEvent::ToolStarted(Tool::new(id, name, &input))
                }
                Block::ToolResult { .. } | Block::Other => AgentEvent::Activity,
            });
        }
    }

    fn result(&mut self, line: Box<Final>, on_event: &mut dyn FnMut(AgentEvent)) {
        let report = outcome::of_result(&line);
        on_event(AgentEvent::Usage(report.usage));
        on_event(match (&report.error, report.answer) {
            (Some(error), _) => AgentEvent::Result { text: error.message.clone(), failed: true },
            (None, answer) => {
                AgentEvent::Result { text: answer.unwrap_or_default(), failed: false }
            }
        });
        self.result = Some(line);
    }
}

fn user(line: Said, on_event: &mut dyn FnMut(AgentEvent)) {
    for block in line.message.and_then(|message| message.content).unwrap_or_default() {
        on_event(match block {
            Block::ToolResult { tool_use_id, is_error } => {
                AgentEvent::ToolEnded { id: tool_use_id, failed: is_error.unwrap_or_default() }
            }
            Block::Text { .. } | Block::ToolUse { .. } | Block::Other => AgentEvent::Activity,
        });
    }
}
