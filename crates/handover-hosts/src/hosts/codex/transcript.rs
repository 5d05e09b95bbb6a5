//! Transcripts of Codex: a file for each agent, whose first line has the version and the conversation that it
//! belongs to.

use std::path::Path;

use handover_model::{AgentId, HostSessionId, ToolUseId};
use serde_json::Value;

use super::is_spawn_tool;
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
            origin: Origin {
                kind,
                tool_use: None,
                name: text("agent_path").map(ToOwned::to_owned),
                chore: chore(&first["payload"]["source"]),
            },
        })
    }

    fn is_fork(&self, first: &Value) -> bool {
        first["payload"]["forked_from_id"].is_string()
    }

    fn is_copied(&self, first: &Value, line: &Value) -> bool {
        let own = first["payload"]["subagent_history_start_ordinal"].as_u64();
        own.zip(line["ordinal"].as_u64()).is_some_and(|(own, ordinal)| ordinal < own)
    }

    /// A spawn that worked returns the id of the agent, or the name in its second version; the results of other tools
    /// do not matter.
    fn results(&self, line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        let payload = &line["payload"];
        let result = || {
            (payload["type"] == "function_call_output").then_some(())?;
            let call = ToolUseId::new(payload["call_id"].as_str()?).ok()?;
            let output = payload["output"].as_str()?;
            let started = output.contains("\"agent_id\"") || output.contains("\"task_name\"");
            let error = (!started).then(|| output.to_owned());
            Some((call, error))
        };
        result().into_iter().collect()
    }

    fn spawns(&self, line: &Value) -> Vec<(ToolUseId, String)> {
        let payload = &line["payload"];
        let spawn = || {
            let name = payload["name"].as_str()?;
            (payload["type"] == "function_call" && is_spawn_tool(name)).then_some(())?;
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

/// What it started an agent for by itself: a review, a compaction. A spawned one has an object there.
fn chore(source: &Value) -> Option<String> {
    let subagent = &source["subagent"];
    subagent.as_str().or_else(|| subagent["other"].as_str()).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::transcript::{calls, scan};

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
        assert_eq!(lineage.origin.chore, None);
        for (source, chore) in [
            (json!({"subagent": "review"}), Some("review")),
            (json!({"subagent": {"other": "guardian"}}), Some("guardian")),
            (json!({"subagent": {"thread_spawn": {"depth": 1}}}), None),
            (json!("cli"), None),
        ] {
            let mut first = first("child");
            first["payload"]["source"] = source;
            assert_eq!(
                CodexTranscript.lineage(file, &first).unwrap().origin.chore.as_deref(),
                chore
            );
        }
        assert_eq!(CodexTranscript.conversation(&first("lead")).unwrap().as_str(), "lead");
    }

    #[test]
    fn what_a_fork_copied_from_its_lead_is_not_its_own() {
        let call = |id: &str, ordinal: u64| {
            json!({"ordinal": ordinal, "type": "response_item", "payload": {"type": "function_call",
                "name": "spawn_agent", "namespace": "collaboration", "call_id": id, "arguments": "{}"}})
        };
        let says = |text: &str, ordinal: u64| json!({"ordinal": ordinal, "payload": {"role": "assistant", "content": text}});
        let marker = |id: &str| format!("<!-- handover:receipt {id} -->");
        let lines = [
            json!({"ordinal": 0, "type": "session_meta", "payload": {"session_id": "lead", "id": "child",
                "forked_from_id": "lead", "agent_path": "/root/alpha", "subagent_history_start_ordinal": 4}}),
            json!({"ordinal": 1, "type": "session_meta", "payload": {"session_id": "lead", "id": "lead"}}),
            says(&marker("r_lead"), 2),
            call("c1", 3),
            says(&marker("r_own"), 4),
            call("c2", 5),
        ];
        let text = lines.map(|line| line.to_string()).join("\n");
        let found = calls(&CodexTranscript, text.as_bytes());
        let ids: Vec<&str> = found.spawns.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["c2"]);
        // The end begins in the middle of a line.
        let tail = &text.as_bytes()[text.find("handover").unwrap()..];
        let seen = scan(&CodexTranscript, text.as_bytes(), tail);
        assert_eq!(seen.receipts, [handover_model::ReceiptId::new("r_own").unwrap()]);
        assert_eq!(seen.last_message, Some(marker("r_own")));
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        let origin = CodexTranscript.lineage(Path::new("rollout"), &first).unwrap().origin;
        assert!(
            origin.is_named("alpha") && origin.is_named("/root/alpha") && !origin.is_named("root")
        );
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
        let named = "{\"task_name\":\"/root/alpha\"}";
        let text = [
            call("c1"),
            output("c1", "{\"agent_id\":\"a1\"}"),
            call("c2"),
            output("c2", "denied"),
            call("c3"),
            output("c3", named),
        ];
        let found = calls(&CodexTranscript, text.join("\n").as_bytes());
        let ids: Vec<&str> = found.spawns.iter().map(|(id, _)| id.as_str()).collect();
        assert_eq!(ids, ["c1", "c2", "c3"]);
        assert_eq!(found.failed, [(ToolUseId::new("c2").unwrap(), "denied".to_owned())]);
    }
}
