//! Transcripts of Qwen Code: `chats/<conversation>.jsonl`, and of each subagent
//! `subagents/<conversation>/agent-<id>.jsonl` with a file about its origin. Each line has the version.

use std::path::{Path, PathBuf};

use handover_model::{AgentId, HostSessionId, ToolUseId};
use serde_json::Value;

use crate::transcript::{FilePart, Origin, TranscriptFormat, agent_file, described_origin};

pub(super) struct QwenTranscript;

impl TranscriptFormat for QwenTranscript {
    fn of_subagent(&self, conversation: &Path, agent: &AgentId) -> Option<PathBuf> {
        let usual = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
        let name: String = agent.as_str().chars().map(usual).collect();
        Some(self.of_subagents(conversation)?.join(format!("agent-{name}.jsonl")))
    }

    fn of_subagents(&self, conversation: &Path) -> Option<PathBuf> {
        let project = conversation.parent()?.parent()?;
        Some(project.join("subagents").join(conversation.file_stem()?))
    }

    fn sibling(&self, conversation: &Path, other: &HostSessionId) -> Option<PathBuf> {
        Some(conversation.with_file_name(format!("{other}.jsonl")))
    }

    fn subagent(&self, file: &Path) -> Option<(AgentId, PathBuf)> {
        agent_file(file)
    }

    fn origin_file(&self, transcript: &Path) -> Option<PathBuf> {
        Some(transcript.with_extension("meta.json"))
    }

    /// Hooks get another id of the call than its transcript has, so it says nothing to them.
    fn origin(&self, text: &str) -> Option<Origin> {
        Some(Origin { tool_use: None, ..described_origin(text)? })
    }

    fn results(&self, line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        let result = |part: &Value| {
            let result = part.get("functionResponse")?;
            let error = result["response"].get("error");
            let error =
                error.map(|error| error.as_str().map_or_else(|| error.to_string(), str::to_owned));
            Some((ToolUseId::new(result["id"].as_str()?).ok()?, error))
        };
        parts(line).filter_map(result).collect()
    }

    fn spawns(&self, line: &Value) -> Vec<(ToolUseId, String)> {
        let spawn = |part: &Value| {
            let call = part.get("functionCall").filter(|call| call["name"] == "agent")?;
            let kind = call["args"]["subagent_type"].as_str().unwrap_or("general-purpose");
            Some((ToolUseId::new(call["id"].as_str()?).ok()?, kind.to_owned()))
        };
        parts(line).filter_map(spawn).collect()
    }

    /// Stop events have the last message.
    fn message<'a>(&self, _line: &'a Value) -> Option<&'a Value> {
        None
    }

    fn version_part(&self) -> FilePart {
        FilePart::Tail
    }

    fn version<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.get("version")?.as_str()
    }
}

/// The parts of the message in a line.
fn parts(line: &Value) -> impl Iterator<Item = &Value> {
    line["message"]["parts"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::calls;

    #[test]
    fn subagents_have_files_in_a_folder_named_after_their_conversation() {
        let lead = Path::new("/q/projects/p/chats/s1.jsonl");
        let agent = AgentId::new("general-purpose-call_3_0").unwrap();
        let own = QwenTranscript.of_subagent(lead, &agent).unwrap();
        let folder = Path::new("/q/projects/p/subagents/s1");
        assert_eq!(own, folder.join("agent-general-purpose-call_3_0.jsonl"));
        assert_eq!(QwenTranscript.of_subagents(lead).unwrap(), folder);
        assert_eq!(QwenTranscript.subagent(&own).unwrap(), (agent, own.clone()));
        let meta = r#"{"agentType": "Explore", "toolUseId": "call_3"}"#;
        let kind = "Explore".to_owned();
        assert_eq!(QwenTranscript.origin(meta), Some(Origin { kind, ..Origin::default() }));
    }

    #[test]
    fn reads_the_spawns_of_a_conversation_and_which_calls_failed() {
        let lines = concat!(
            r#"{"type": "assistant", "message": {"role": "model", "parts": [{"text": "Now."},"#,
            r#" {"functionCall": {"id": "c1", "name": "agent", "args": {"subagent_type": "Explore"}}},"#,
            r#" {"functionCall": {"id": "c2", "name": "read_file", "args": {}}}]}}"#,
            "\n",
            r#"{"type": "tool_result", "message": {"role": "user", "parts": [{"functionResponse":"#,
            r#" {"id": "c1", "response": {"error": "denied"}}}]}}"#,
            "\n",
        );
        let found = calls(&QwenTranscript, lines.as_bytes());
        let call = ToolUseId::new("c1").unwrap();
        assert_eq!(found.spawns, [(call.clone(), "Explore".to_owned())]);
        assert_eq!(found.failed, [(call, "denied".to_owned())]);
    }
}
