//! Transcripts of Codex: a file for each agent, whose first line has the version and the conversation that it
//! belongs to.

use std::path::Path;

use handover_model::{AgentId, HostSessionId, ToolUseId};
use serde_json::Value;

use crate::transcript::{FilePart, Lineage, Origin, TranscriptFormat};

pub(super) struct CodexTranscript;

impl TranscriptFormat for CodexTranscript {
    fn conversation(&self, first: &Value) -> Option<HostSessionId> {
        HostSessionId::new(first.pointer("/payload/id")?.as_str()?).ok()
    }

    /// A subagent has an id of its own, and the session of its lead, however deep it is nested.
    fn lineage(&self, _file: &Path, first: &Value) -> Option<Lineage> {
        let text = |name: &str| first["payload"][name].as_str();
        let (own, session) = (text("id")?, text("session_id")?);
        let kind = text("agent_role").unwrap_or_default().to_owned();
        (own != session).then_some(())?;
        Some(Lineage {
            conversation: HostSessionId::new(session).ok()?,
            agent: AgentId::new(own).ok()?,
            origin: Origin { kind, tool_use: None },
        })
    }

    /// A spawn that worked returns the id of the agent; the results of other tools do not matter.
    fn results(&self, line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        let payload = &line["payload"];
        let result = || {
            (payload["type"] == "function_call_output").then_some(())?;
            let call = ToolUseId::new(payload["call_id"].as_str()?).ok()?;
            let output = payload["output"].as_str()?;
            let error = (!output.contains("\"agent_id\"")).then(|| output.to_owned());
            Some((call, error))
        };
        result().into_iter().collect()
    }

    fn spawns(&self, line: &Value) -> Vec<(ToolUseId, String)> {
        let payload = &line["payload"];
        let spawn = || {
            let name = payload["name"].as_str()?;
            (payload["type"] == "function_call" && name.ends_with("spawn_agent")).then_some(())?;
            let input: Value = serde_json::from_str(payload["arguments"].as_str()?).ok()?;
            let kind = input["agent_type"].as_str().unwrap_or("default").to_owned();
            Some((ToolUseId::new(payload["call_id"].as_str()?).ok()?, kind))
        };
        spawn().into_iter().collect()
    }

    fn message<'a>(&self, line: &'a Value) -> Option<&'a Value> {
        line.get("payload")
    }

    fn version_part(&self) -> FilePart {
        FilePart::Head
    }

    fn version<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.pointer("/payload/cli_version")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transcript::calls;

    #[test]
    fn the_first_line_says_whose_subagent_it_is() {
        let first = |own: &str| {
            json!({"type": "session_meta", "payload": {
                "session_id": "lead", "id": own, "parent_thread_id": "middle", "agent_role": "worker"}})
        };
        let file = Path::new("rollout.jsonl");
        assert_eq!(CodexTranscript.lineage(file, &first("lead")), None);
        assert_eq!(CodexTranscript.lineage(file, &json!({})), None);
        let lineage = CodexTranscript.lineage(file, &first("child")).unwrap();
        let shown =
            (lineage.conversation.as_str(), lineage.agent.as_str(), lineage.origin.kind.as_str());
        assert_eq!(shown, ("lead", "child", "worker"));
        assert_eq!(CodexTranscript.conversation(&first("lead")).unwrap().as_str(), "lead");
    }

    #[test]
    fn a_spawn_that_returns_no_agent_has_failed() {
        let line =
            |payload: Value| json!({"type": "response_item", "payload": payload}).to_string();
        let call = |id: &str| {
            line(json!({"type": "function_call", "name": "spawn_agent", "call_id": id,
                "arguments": "{\"agent_type\": \"worker\"}"}))
        };
        let output = |id: &str, output: &str| {
            line(json!({"type": "function_call_output", "call_id": id, "output": output}))
        };
        let text =
            [call("c1"), output("c1", "{\"agent_id\":\"a1\"}"), call("c2"), output("c2", "denied")];
        let found = calls(&CodexTranscript, text.join("\n").as_bytes());
        let ids: Vec<&str> = found.spawns.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["c1", "c2"]);
        assert_eq!(found.failed, [(ToolUseId::new("c2").unwrap(), "denied".to_owned())]);
    }
}
