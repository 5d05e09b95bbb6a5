//! Transcripts of Copilot CLI: one file for a conversation and all of its agents, whose lines name them.

use handover_model::{AgentId, ToolUseId};
use serde_json::Value;

use crate::transcript::{FilePart, Origin, TranscriptFormat};

pub(super) struct CopilotTranscript;

impl TranscriptFormat for CopilotTranscript {
    fn is_shared(&self) -> bool {
        true
    }

    /// It records each hook before it calls it, and writes about once a second. A conversation that was resumed has
    /// an earlier end.
    fn is_over(&self, tail: &[u8]) -> bool {
        let lines = tail.rsplit(|byte| *byte == b'\n');
        let mut lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
        let last = lines.find_map(|line| match line["type"].as_str()? {
            "user.message" | "assistant.message" | "session.resume" => Some(false),
            "hook.start" => (line["data"]["hookType"] == "sessionEnd").then_some(true),
            _ => None,
        });
        last.unwrap_or_default()
    }

    fn agent<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.get("agentId")?.as_str()
    }

    fn starts(&self, line: &Value) -> Option<(AgentId, Origin)> {
        (line["type"] == "subagent.started").then_some(())?;
        let data = &line["data"];
        let kind = data["agentType"].as_str().or_else(|| data["agentName"].as_str());
        let origin = Origin {
            kind: kind.unwrap_or_default().to_owned(),
            tool_use: data["toolCallId"].as_str().and_then(|id| ToolUseId::new(id).ok()),
            name: None,
            chore: None,
        };
        Some((AgentId::new(self.agent(line)?).ok()?, origin))
    }

    fn results(&self, line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        let data = &line["data"];
        let result = || {
            (line["type"] == "tool.execution_complete").then_some(())?;
            let call = ToolUseId::new(data["toolCallId"].as_str()?).ok()?;
            let error = data["error"]["message"].as_str().unwrap_or("it failed");
            Some((call, (data["success"] == false).then(|| error.to_owned())))
        };
        result().into_iter().collect()
    }

    fn spawns(&self, line: &Value) -> Vec<(ToolUseId, String)> {
        let requests = line["data"]["toolRequests"].as_array().into_iter().flatten();
        let spawn = |request: &Value| {
            (request["name"] == "task").then_some(())?;
            let kind = request["arguments"]["agent_type"].as_str().unwrap_or_default().to_owned();
            Some((ToolUseId::new(request["toolCallId"].as_str()?).ok()?, kind))
        };
        requests.filter_map(spawn).collect()
    }

    /// Stop events have the last message.
    fn message<'a>(&self, _line: &'a Value) -> Option<&'a Value> {
        None
    }

    fn version_part(&self) -> FilePart {
        FilePart::Head
    }

    fn version<'a>(&self, line: &'a Value) -> Option<&'a str> {
        line.pointer("/data/copilotVersion")?.as_str()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::{calls, subagents_in};

    const EVENTS: &str = concat!(
        r#"{"type":"assistant.message","data":{"content":"","toolRequests":["#,
        r#"{"toolCallId":"t1","name":"task","arguments":{"agent_type":"explore"}},"#,
        r#"{"toolCallId":"t2","name":"task","arguments":{"agent_type":"explore"}},"#,
        r#"{"toolCallId":"t3","name":"bash","arguments":{}}]}}"#,
        "\n",
        r#"{"type":"subagent.started","data":{"toolCallId":"t1","agentType":"explore"},"agentId":"a1"}"#,
        "\n",
        r#"{"type":"assistant.message","data":{"content":"found"},"agentId":"a1"}"#,
        "\n",
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true}}"#,
        "\n",
        r#"{"type":"tool.execution_complete","data":{"toolCallId":"t2","success":false,"error":{"message":"denied"}}}"#,
        "\n",
    );

    #[test]
    fn a_conversation_tells_of_its_subagents() {
        let found = subagents_in(&CopilotTranscript, EVENTS.as_bytes());
        let [(agent, origin)] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((agent.as_str(), origin.kind.as_str()), ("a1", "explore"));
        assert_eq!(origin.tool_use.as_ref().unwrap().as_str(), "t1");
        let calls = calls(&CopilotTranscript, EVENTS.as_bytes());
        assert_eq!(calls.spawns.len(), 2);
        assert_eq!(calls.failed, [(ToolUseId::new("t2").unwrap(), "denied".to_owned())]);
    }

    #[test]
    fn is_over_when_the_hook_of_its_end_was_called() {
        let is_over = |events: &str| CopilotTranscript.is_over(events.as_bytes());
        let end = r#"{"type":"hook.start","data":{"hookType":"sessionEnd"}}"#;
        let other = r#"{"type":"hook.start","data":{"hookType":"agentStop"}}"#;
        assert!(!is_over("") && !is_over(EVENTS));
        assert!(!is_over(&format!("{EVENTS}{other}\n")));
        assert!(is_over(&format!("{EVENTS}{other}\n{end}\n")));
        assert!(!is_over(&format!("{EVENTS}{end}\n{{\"type\":\"session.resume\"}}\n{other}\n")));
        assert!(is_over(&format!("{end}\n{{\"type\":\"hook.end\",\"da")), "a line half written");
    }
}
