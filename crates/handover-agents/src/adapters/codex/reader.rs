//! Turns lines into events.

use super::outcome;
use super::stream::{Item, Line};
use crate::adapters::{Parsed, parse};
use crate::event::{kept, shortened, text_of};
use crate::{AgentEvent, Captured, Ended, OutputReader, Report, Tool, Total, Usage, Used};

/// What has been read so far.
#[derive(Debug, Default)]
pub(super) struct Reader {
    pub(super) thread: Option<String>,
    pub(super) last_text: String,
    pub(super) last_error: Option<String>,
    /// How often the model was asked; the program itself calls a whole conversation a turn.
    pub(super) turns: u32,
    /// Whether what comes next is a reply of the model.
    awaits_reply: bool,
    pub(super) completed: bool,
    pub(super) failed: bool,
    /// The sum of the conversation when it was last left.
    pub(super) before: Usage,
    /// The sum of the conversation so far.
    pub(super) sum: Usage,
    pub(super) denials: u32,
    pub(super) unknown_lines: u64,
}

impl OutputReader for Reader {
    fn resumed(&mut self, before: Total) {
        (self.before, self.sum) = (before.usage, before.usage);
    }

    fn line(&mut self, line: &str, on_event: &mut dyn FnMut(AgentEvent)) {
        match parse(line, on_event) {
            Parsed::Blank => {}
            Parsed::Unknown => self.unknown_lines += 1,
            Parsed::Line(Line::ThreadStarted { thread_id }) => {
                self.thread.clone_from(&thread_id);
                on_event(AgentEvent::Started { session: thread_id, model: None });
            }
            Parsed::Line(Line::TurnStarted) => {
                self.awaits_reply = true;
                self.completed = false;
                on_event(AgentEvent::Activity);
            }
            Parsed::Line(Line::TurnCompleted { usage }) => {
                self.completed = true;
                self.replied(on_event);
                if let Some(usage) = usage {
                    // Each turn reports the total so far, since the beginning of the conversation.
                    self.sum = Usage {
                        input: usage.input_tokens,
                        cached_input: usage.cached_input_tokens,
                        output: usage.output_tokens,
                    };
                }
                on_event(self.so_far());
                on_event(AgentEvent::Result { text: self.last_text.clone(), failed: false });
            }
            Parsed::Line(Line::TurnFailed { error }) => {
                self.failed = true;
                self.last_error =
                    error.map(|error| error.message).or_else(|| self.last_error.take());
                let text = self.last_error.clone().unwrap_or_default();
                on_event(AgentEvent::Result { text, failed: true });
            }
            Parsed::Line(Line::ItemStarted { item }) => {
                self.replied(on_event);
                on_event(started(item));
            }
            Parsed::Line(Line::ItemCompleted { item }) => {
                if is_tool(&item) {
                    self.awaits_reply = true;
                } else {
                    self.replied(on_event);
                }
                on_event(self.completed(item));
            }
            Parsed::Line(Line::Error(error)) => {
                self.last_error = Some(error.message.clone());
                on_event(AgentEvent::Notice(error.message));
            }
            Parsed::Line(Line::Other) => on_event(AgentEvent::Activity),
        }
    }

    fn report(self: Box<Self>, ended: Ended, _stdout: &Captured, stderr: &Captured) -> Report {
        outcome::report(*self, ended, stderr)
    }
}

impl Reader {
    /// What this run used.
    pub(super) fn used(&self) -> Usage {
        self.sum - self.before
    }

    fn so_far(&self) -> AgentEvent {
        let turns = Some(self.turns).filter(|&turns| turns > 0);
        AgentEvent::Usage(Used { usage: self.used(), cost_usd: None, turns })
    }

    /// Something that the model produced has arrived.
    fn replied(&mut self, on_event: &mut dyn FnMut(AgentEvent)) {
        if std::mem::take(&mut self.awaits_reply) {
            self.turns += 1;
            on_event(self.so_far());
        }
    }

    fn completed(&mut self, item: Item) -> AgentEvent {
        match item.kind.as_str() {
            "agent_message" => {
                self.last_text = item.text.unwrap_or_default();
                AgentEvent::Text(self.last_text.clone())
            }
            "error" => AgentEvent::Notice(item.message.unwrap_or_default()),
            _ if is_tool(&item) => {
                let status = item.status.as_deref().unwrap_or_default();
                self.denials += u32::from(status == "declined");
                let failed = matches!(status, "failed" | "declined")
                    || item.exit_code.is_some_and(|code| code != 0);
                let shown = text_of(&item.aggregated_output);
                AgentEvent::ToolEnded { id: item.id, failed, shown }
            }
            _ => AgentEvent::Activity,
        }
    }
}

fn is_tool(item: &Item) -> bool {
    matches!(
        item.kind.as_str(),
        "command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call" | "web_search"
    )
}

fn started(item: Item) -> AgentEvent {
    let (name, about) = match item.kind.as_str() {
        "command_execution" => ("shell".to_owned(), item.command),
        "file_change" => {
            let paths = item.changes.unwrap_or_default().into_iter().map(|change| change.path);
            ("file_change".to_owned(), Some(paths.collect::<Vec<_>>().join(" ")))
        }
        "mcp_tool_call" => {
            let (server, tool) = (item.server.unwrap_or_default(), item.tool.unwrap_or_default());
            return AgentEvent::ToolStarted(Tool::new(
                item.id,
                format!("{server}.{tool}"),
                &item.arguments,
            ));
        }
        "collab_tool_call" => (item.tool.unwrap_or_default(), None),
        "web_search" => ("web_search".to_owned(), item.query),
        _ => return AgentEvent::Activity,
    };
    let input = kept(about.unwrap_or_default());
    AgentEvent::ToolStarted(Tool { id: item.id, name, about: shortened(&input), input })
}
