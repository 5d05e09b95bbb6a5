//! Turns lines into events.

use super::outcome;
use super::spent::Spent;
use super::stream::{Block, Final, Line, Message, RateLimit, Said, System};
use crate::adapters::{Parsed, parse};
use crate::event::text_of;
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Resets, Tool, Total, Used};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) session: Option<String>,
    pub(super) model: Option<String>,
    pub(super) last_text: String,
    pub(super) last_error: Option<String>,
    /// The answers of all results but the last.
    pub(super) earlier_answers: Vec<String>,
    pub(super) result: Option<Box<Final>>,
    pub(super) spent: Spent,
    pub(super) unknown_lines: u64,
    pub(super) resets: Option<Resets>,
    /// How often the model was asked in the main conversation.
    turns: u32,
}

impl OutputReader for Reader {
    fn resumed(&mut self, before: Total) {
        self.spent.resumed(before);
    }

    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        match parse(line, on_event) {
            Parsed::Blank => {}
            Parsed::Unknown => self.unknown_lines += 1,
            Parsed::Line(Line::System(line)) => self.system(line, on_event),
            Parsed::Line(Line::Assistant(line)) => self.assistant(line, on_event),
            Parsed::Line(Line::User(line)) => user(line, on_event),
            Parsed::Line(Line::Result(line)) => self.result(line, on_event),
            Parsed::Line(Line::RateLimitEvent { rate_limit_info }) => {
                self.limited(rate_limit_info);
                on_event(AgentEvent::Activity);
            }
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

    fn limited(&mut self, info: Option<RateLimit>) {
        let rejected = info.filter(|info| info.status == "rejected");
        self.resets = rejected.and_then(|info| info.resets_at).map(Resets::At);
    }

    /// Counts a message of the model.
    fn count(&mut self, message: &Message, is_main: bool, on_event: &mut dyn FnMut(AgentEvent)) {
        let Some(is_new) = self.spent.message(message) else { return };
        self.turns += u32::from(is_new && is_main);
        on_event(self.used());
    }

    /// What this run has used so far.
    fn used(&self) -> AgentEvent {
        let Total { usage, cost_usd } = self.spent.of_run();
        let turns = self.spent.turns().or(Some(self.turns)).filter(|&turns| turns > 0);
        AgentEvent::Usage(Used { usage, cost_usd, turns })
    }

    fn assistant(&mut self, line: Said, on_event: &mut dyn FnMut(AgentEvent)) {
        let failed = line.error.is_some();
        self.last_error = line.error.or_else(|| self.last_error.take());
        let Some(message) = line.message else { return };
        if !failed {
            self.count(&message, line.parent_tool_use_id.is_none(), on_event);
        }
        for block in message.content.unwrap_or_default() {
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
        self.spent.result(&line);
        on_event(self.used());
        let report = outcome::of_result(&line);
        on_event(match (&report.error, report.answer) {
            (Some(error), _) => AgentEvent::Result { text: error.message.clone(), failed: true },
            (None, answer) => {
                AgentEvent::Result { text: answer.unwrap_or_default(), failed: false }
            }
        });
        if let Some(earlier) = self.result.replace(line) {
            self.earlier_answers.extend(outcome::of_result(&earlier).answer);
        }
    }
}

fn user(line: Said, on_event: &mut dyn FnMut(AgentEvent)) {
    for block in line.message.and_then(|message| message.content).unwrap_or_default() {
        on_event(match block {
            Block::ToolResult { tool_use_id, is_error, content } => AgentEvent::ToolEnded {
                id: tool_use_id,
                failed: is_error.unwrap_or_default(),
                shown: text_of(&content),
            },
            Block::Text { .. } | Block::ToolUse { .. } | Block::Other => AgentEvent::Activity,
        });
    }
}
