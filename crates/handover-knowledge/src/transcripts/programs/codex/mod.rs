//! Codex: `sessions/<year>/<month>/<day>/rollout-<time>-<conversation>.jsonl`, and `archived_sessions/`. The first
//! line describes the conversation; what goes to the model and comes from it are `response_item`s.

use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Deserialize;
use serde_json::Value;

use super::Program;
use crate::transcripts::blocks::{Blocks, Text};
use crate::transcripts::find::{self, Search};
use crate::transcripts::lines::{each_record, string_after};
use crate::transcripts::{Conversation, Message, Place, Role, ToolUse, Transcript, time};
use crate::{Homes, SkipReason};

pub(super) struct Codex;

impl Program for Codex {
    fn host(&self) -> Host {
        Host::CODEX
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.codex else { return };
        let mut files = Vec::new();
        for folder in ["sessions", "archived_sessions"] {
            find::walk(&home.join(folder), 3, &mut files);
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        search.keep_ours(self, files);
    }

    fn by_id(&self, homes: &Homes, id: &str) -> Option<Transcript> {
        let mut files = Vec::new();
        find::walk(&homes.codex.as_ref()?.join("sessions"), 3, &mut files);
        let file = files.into_iter().rfind(|file| self.id_of(file).as_deref() == Some(id))?;
        Some(Transcript {
            host: self.host(),
            id: id.to_owned(),
            place: Place::File(file),
            state: String::new(),
        })
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        string_after(line, "type").as_deref() == Some("session_meta")
    }

    /// The part after the time: `rollout-2026-11-17T18-29-42-<id>`.
    fn id_of(&self, file: &Path) -> Option<String> {
        const TIME: usize = "2026-11-17T18-29-42-".len();
        let stem = find::stem(file)?;
        let rest = stem.strip_prefix("rollout-").and_then(|rest| rest.get(TIME..));
        Some(rest.map_or_else(|| stem.clone(), ToOwned::to_owned))
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        let mut conversation = Conversation::default();
        let mut own_from = 0;
        each_record(file, &mut conversation, |conversation, line: Line| {
            let (begins, ordinal) = (conversation.folder.is_none(), line.ordinal);
            if let Some(payload) = line.payload.as_ref().filter(|_| begins) {
                own_from = payload.subagent_history_start_ordinal.unwrap_or_default();
            }
            // A subagent may begin with a copy of what its lead said.
            if begins || ordinal.is_none_or(|ordinal| ordinal >= own_from) {
                add(conversation, line);
            }
        })?;
        conversation.id = self.id_of(file).unwrap_or_default();
        Ok(conversation)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    timestamp: Option<String>,
    ordinal: Option<u64>,
    payload: Option<Payload>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Option<String>,
    // Of the description.
    cwd: Option<String>,
    cli_version: Option<String>,
    source: Option<Value>,
    thread_source: Option<String>,
    subagent_history_start_ordinal: Option<u64>,
    // Of messages.
    id: Option<String>,
    role: Option<String>,
    content: Option<Blocks>,
    // Of tools.
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<Value>,
    input: Option<Value>,
    action: Option<Value>,
    output: Option<Text>,
}

fn add(conversation: &mut Conversation, line: Line) {
    let (Some(kind), Some(payload)) = (line.kind, line.payload) else { return };
    let at = time(line.timestamp.as_deref());
    match (kind.as_str(), payload.kind.as_deref()) {
        // A resumed conversation repeats the description of what it continues.
        ("session_meta", _) if conversation.folder.is_none() => describe(conversation, payload),
        ("response_item", Some("message")) => {
            let role = match payload.role.as_deref() {
                Some("user") => Role::Person,
                Some("assistant") => Role::Assistant,
                _ => return,
            };
            let text = payload.content.unwrap_or_default().text();
            let id = payload.id.unwrap_or_default();
            if !text.trim().is_empty() {
                conversation.push(Message { id, role, time: at, text, tools: Vec::new() });
            }
        }
        ("response_item", Some("function_call" | "custom_tool_call" | "local_shell_call")) => {
            let input = payload.arguments.or(payload.input).or(payload.action);
            let input = match input {
                Some(Value::String(text)) => text,
                Some(other) => other.to_string(),
                None => String::new(),
            };
            let name = payload.name.unwrap_or_else(|| "local_shell".to_owned());
            let tool = ToolUse { id: payload.call_id.unwrap_or_default(), name, input };
            let id = payload.id.unwrap_or_default();
            let text = String::new();
            conversation.push(Message {
                id,
                role: Role::Assistant,
                time: at,
                text,
                tools: vec![tool],
            });
        }
        ("response_item", Some("function_call_output" | "custom_tool_call_output")) => {
            let text = payload.output.unwrap_or_default().0;
            let role = Role::Tool { failed: has_failed(&text) };
            let id = payload.call_id.unwrap_or_default();
            conversation.push(Message { id, role, time: at, text, tools: Vec::new() });
        }
        _ => {}
    }
}

fn describe(conversation: &mut Conversation, payload: Payload) {
    conversation.folder = payload.cwd.map(PathBuf::from);
    conversation.version = payload.cli_version;
    let source = payload.source.unwrap_or_default();
    conversation.is_subagent = source.get("subagent").is_some()
        || payload.thread_source.is_some_and(|source| source.contains("agent"));
    conversation.is_headless = source == "exec";
}

/// Whether a command ended with another code than 0: the result says it in words or as JSON.
fn has_failed(output: &str) -> bool {
    let code = |mark: &str| {
        let (_, rest) = output.split_once(mark)?;
        rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
    };
    ["exited with code", "Exit code:", "\"exit_code\":"]
        .into_iter()
        .find_map(code)
        .is_some_and(|code| code != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_subagent_copied_from_its_lead_is_not_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("rollout-2026-11-17T18-29-42-child.jsonl");
        let says = |ordinal: u64, text: &str| {
            format!(
                r#"{{"ordinal": {ordinal}, "type": "response_item", "payload": {{"type": "message",
                "role": "assistant", "content": [{{"type": "output_text", "text": "{text}"}}]}}}}"#
            )
            .replace('\n', "")
        };
        let meta = r#"{"ordinal": 0, "type": "session_meta", "payload": {"cwd": "/project", "source": {"subagent": {}}, "subagent_history_start_ordinal": 3}}"#;
        let copied = r#"{"ordinal": 1, "type": "session_meta", "payload": {"cwd": "/project"}}"#;
        let lines = [meta.to_owned(), copied.to_owned(), says(2, "the lead"), says(3, "its own")];
        fs_err::write(&file, lines.join("\n")).unwrap();
        let conversation = Codex.read(&file).unwrap();
        let texts: Vec<&str> = conversation.messages.iter().map(|one| one.text.as_str()).collect();
        assert_eq!((texts, conversation.is_subagent), (vec!["its own"], true));
    }
}
