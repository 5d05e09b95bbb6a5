//! Qwen Code: `projects/<folder>/chats/<conversation>.jsonl`, and of subagents
//! `projects/<folder>/subagents/<conversation>/agent-<id>.jsonl`. Messages have parts, as in Gemini's API.

use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Deserialize;
use serde_json::Value;

use super::Program;
use crate::SkipReason;
use crate::transcripts::blocks::Text;
use crate::transcripts::find::{self, Search};
use crate::transcripts::lines::{each_record, parse};
use crate::transcripts::{Conversation, Message, Role, ToolUse, time};

pub(super) struct Qwen;

const HOST: Host = Host::from_static("qwen");

impl Program for Qwen {
    fn host(&self) -> Host {
        HOST
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.qwen else { return };
        let Ok(projects) = fs_err::read_dir(home.join("projects")) else { return };
        let mut files = Vec::new();
        for project in projects.flatten() {
            find::walk(&project.path().join("chats"), 0, &mut files);
            find::walk(&project.path().join("subagents"), 1, &mut files);
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        search.keep_ours(self, files);
    }

    /// Claude Code's lines look alike, but its messages have a content.
    fn recognizes(&self, head: &[u8]) -> bool {
        let mut spare = Vec::new();
        let mut lines = head.split(|byte| *byte == b'\n');
        lines.any(|line| {
            spare.clear();
            parse::<Line>(line, &mut spare).is_some_and(|line| {
                line.uuid.is_some() && line.message.is_some_and(|m| m.parts.is_some())
            })
        })
    }

    /// A subagent's id is only unique with its conversation's.
    fn id_of(&self, file: &Path) -> Option<String> {
        let own = find::stem(file)?;
        if !own.starts_with("agent-") {
            return Some(own);
        }
        let conversation = file.parent()?.file_name()?.to_str()?;
        Some(format!("{conversation}/{own}"))
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        let mut conversation = Conversation::default();
        each_record(file, &mut conversation, add)?;
        conversation.id = self.id_of(file).unwrap_or_default();
        Ok(conversation)
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    uuid: Option<String>,
    timestamp: Option<String>,
    cwd: Option<String>,
    version: Option<String>,
    is_sidechain: Option<bool>,
    message: Option<Inner>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Inner {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    thought: Option<bool>,
    function_call: Option<Call>,
    function_response: Option<Response>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Response {
    id: Option<String>,
    response: Option<Value>,
}

fn add(conversation: &mut Conversation, line: Line) {
    if conversation.folder.is_none() {
        conversation.folder = line.cwd.map(PathBuf::from);
    }
    conversation.version = line.version.or_else(|| conversation.version.take());
    conversation.is_subagent |= line.is_sidechain == Some(true);
    let role = match line.kind.as_deref() {
        Some("user") => Role::Person,
        Some("assistant") => Role::Assistant,
        Some("tool_result") => Role::Tool { failed: false },
        _ => return,
    };
    let at = time(line.timestamp.as_deref());
    let (mut texts, mut tools) = (Vec::new(), Vec::new());
    for part in line.message.and_then(|message| message.parts).unwrap_or_default() {
        if part.thought != Some(true) {
            texts.extend(part.text);
        }
        tools.extend(part.function_call.map(|call| ToolUse {
            id: call.id.unwrap_or_default(),
            name: call.name.unwrap_or_default(),
            input: call.args.map(|args| args.to_string()).unwrap_or_default(),
        }));
        if let Some(result) = part.function_response {
            conversation.push(shown(result, at));
        }
    }
    let text = texts.join("\n");
    let is_said = !text.trim().is_empty() || !tools.is_empty();
    if is_said && !matches!(role, Role::Tool { .. }) {
        let id = line.uuid.unwrap_or_default();
        conversation.push(Message { id, role, time: at, text, tools });
    }
}

fn shown(result: Response, time: Option<handover_model::Timestamp>) -> Message {
    let response = result.response.unwrap_or_default();
    let failed = response.get("error").is_some();
    let text =
        response.get("error").or_else(|| response.get("output")).cloned().unwrap_or_default();
    let text = serde_json::from_value::<Text>(text).map(|text| text.0).unwrap_or_default();
    let (id, role) = (result.id.unwrap_or_default(), Role::Tool { failed });
    Message { id, role, time, text, tools: Vec::new() }
}
