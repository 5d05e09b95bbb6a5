//! What an agent of a run said and did, from the log of its program: a conversation for people.

use handover_agents::{AgentEvent, Registry, Tool};
use handover_model::Host;

/// One line of a conversation, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The agent's words.
    Text(String),
    /// It used a tool.
    Tool {
        /// The tool's name.
        name: String,
        /// A short description: a command, a path, a pattern.
        about: String,
        /// What it was called with.
        input: String,
        /// What it showed the agent.
        shown: String,
        /// Whether it failed; none while it has not ended.
        failed: Option<bool>,
    },
    /// A warning of the program, or a request to the model that was repeated.
    Notice(String),
    /// A line that is no event of the program.
    Line(String),
    /// The final answer or error, if it differs from what was said last.
    Result {
        /// The answer.
        text: String,
        /// Whether the program calls it an error.
        failed: bool,
    },
}

/// Reads the log of an agent program. A host that nobody knows any more has only lines.
pub fn conversation(host: Host, log: &str) -> Vec<Said> {
    let mut said = Conversation::default();
    match Registry::built_in().find(host) {
        Ok(program) => {
            let mut reader = program.reader();
            for line in log.lines() {
                reader.line(line, &mut |event| said.add(event));
            }
        }
        Err(_) => log.lines().for_each(|line| said.add(AgentEvent::Raw(line.to_owned()))),
    }
    said.lines
}

#[derive(Default)]
struct Conversation {
    lines: Vec<Said>,
    /// The ids of the tool calls, and where they are.
    calls: Vec<(String, usize)>,
}

impl Conversation {
    fn add(&mut self, event: AgentEvent) {
        match event {
            AgentEvent::Text(text) => self.text(text),
            AgentEvent::ToolStarted(Tool { id, name, about, input }) => {
                self.calls.push((id, self.lines.len()));
                let shown = String::new();
                self.lines.push(Said::Tool { name, about, input, shown, failed: None });
            }
            AgentEvent::ToolEnded { id, failed, shown } => self.ended(&id, failed, shown),
            AgentEvent::Retry { attempt, reason } => {
                self.lines.push(Said::Notice(format!("request {attempt} failed: {reason}")));
            }
            AgentEvent::Notice(text) => self.lines.push(Said::Notice(text)),
            AgentEvent::Result { text, failed } => self.result(text, failed),
            AgentEvent::Raw(text) | AgentEvent::Stderr(text) => self.line(text),
            AgentEvent::Spawned(_)
            | AgentEvent::Started { .. }
            | AgentEvent::Usage(_)
            | AgentEvent::Activity => {}
        }
    }

    fn text(&mut self, text: String) {
        if !text.trim().is_empty() {
            self.lines.push(Said::Text(text));
        }
    }

    /// Plain lines that follow each other are one.
    fn line(&mut self, text: String) {
        if let Some(Said::Line(last)) = self.lines.last_mut() {
            last.push('\n');
            last.push_str(&text);
        } else if !text.trim().is_empty() {
            self.lines.push(Said::Line(text));
        }
    }

    fn ended(&mut self, id: &str, has_failed: bool, output: String) {
        let Some(at) = self.calls.iter().rposition(|(call, _)| call == id) else { return };
        let (_, line) = self.calls.remove(at);
        if let Some(Said::Tool { failed, shown, .. }) = self.lines.get_mut(line) {
            (*failed, *shown) = (Some(has_failed), output);
        }
    }

    /// Most programs repeat their last words as the result.
    fn result(&mut self, text: String, failed: bool) {
        let repeated = self.lines.iter().rev().find_map(|said| match said {
            Said::Text(last) => Some(last.trim() == text.trim()),
            Said::Tool { .. } | Said::Notice(_) | Said::Line(_) | Said::Result { .. } => None,
        });
        if (failed || repeated != Some(true)) && !text.trim().is_empty() {
            self.lines.push(Said::Result { text, failed });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_becomes_a_conversation() {
        let log = concat!(
            r#"{"type":"system","subtype":"init","session_id":"c1","model":"m"}"#,
            "\n",
            r#"{"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"I look first."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
            "\n",
            r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.rs","is_error":false}]}}"#,
            "\n",
            r#"{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"Done."}]}}"#,
            "\n",
            r#"{"type":"result","subtype":"success","is_error":false,"result":"Done."}"#,
        );
        let said = conversation(Host::CLAUDE, log);
        let [Said::Text(first), Said::Tool { name, about, shown, failed, .. }, Said::Text(last)] =
            said.as_slice()
        else {
            panic!("{said:?}");
        };
        assert_eq!((first.as_str(), last.as_str()), ("I look first.", "Done."));
        assert_eq!((name.as_str(), about.as_str(), shown.as_str()), ("Bash", "ls", "a.rs"));
        assert_eq!(*failed, Some(false));
    }

    #[test]
    fn plain_output_stays_as_it_is() {
        let mut said = Conversation::default();
        for line in ["one", "two"] {
            said.add(AgentEvent::Raw(line.to_owned()));
        }
        said.add(AgentEvent::Notice("slow".to_owned()));
        said.add(AgentEvent::Result { text: "out of money".to_owned(), failed: true });
        assert_eq!(
            said.lines,
            [
                Said::Line("one\ntwo".to_owned()),
                Said::Notice("slow".to_owned()),
                Said::Result { text: "out of money".to_owned(), failed: true },
            ]
        );
    }
}
