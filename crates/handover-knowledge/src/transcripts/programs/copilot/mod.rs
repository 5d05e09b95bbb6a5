//! Copilot CLI: `session-state/<conversation>/events.jsonl`. The first event describes the conversation; what a
//! subagent says names the call that started it.

use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Deserialize;
use serde_json::Value;

use super::Program;
use crate::transcripts::blocks::Text;
use crate::transcripts::find::Search;
use crate::transcripts::lines::{each_record, string_after};
use crate::transcripts::{Conversation, Message, Place, Role, ToolUse, Transcript, time};
use crate::{Homes, SkipReason};

pub(super) struct Copilot;

const HOST: Host = Host::from_static("copilot");

impl Program for Copilot {
    fn host(&self) -> Host {
        HOST
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.copilot else { return };
        let Ok(entries) = fs_err::read_dir(home.join("session-state")) else { return };
        let events = entries.flatten().map(|entry| entry.path().join("events.jsonl"));
        let mut files: Vec<PathBuf> = events.filter(|file| file.is_file()).collect();
        files.sort();
        search.keep_ours(self, files);
    }

    fn by_id(&self, homes: &Homes, id: &str) -> Option<Transcript> {
        let file = homes.copilot.as_ref()?.join("session-state").join(id).join("events.jsonl");
        let (id, place) = (id.to_owned(), Place::File(file));
        Some(Transcript { host: HOST, id, place, state: String::new() })
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
        string_after(line, "type").as_deref() == Some("session.start")
    }

    fn id_of(&self, file: &Path) -> Option<String> {
        file.parent()?.file_name()?.to_str().map(ToOwned::to_owned)
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        let mut conversation = Conversation::default();
        each_record(file, &mut conversation, |conversation, event: Event| {
            // A subagent speaks to the agent, not to the person.
            if event.data.parent_tool_call_id.is_none() {
                add(conversation, event);
            }
        })?;
        Ok(conversation)
    }

    fn read_subagent(&self, file: &Path, agent: &str) -> Result<Conversation, SkipReason> {
        let mut conversation = Conversation { is_subagent: true, ..Conversation::default() };
        each_record(file, &mut conversation, |conversation, mut event: Event| {
            if event.agent_id.as_deref() == Some(agent) {
                // What it is asked comes from the agent that spawned it.
                event.data.source = None;
                add(conversation, event);
            }
        })?;
        Ok(conversation)
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    id: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "agentId")]
    agent_id: Option<String>,
    data: Data,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Data {
    content: Option<Text>,
    source: Option<String>,
    copilot_version: Option<String>,
    context: Option<Context>,
    tool_requests: Vec<Request>,
    tool_call_id: Option<String>,
    parent_tool_call_id: Option<String>,
    success: Option<bool>,
    result: Option<Text>,
    error: Option<Text>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    cwd: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Request {
    tool_call_id: Option<String>,
    name: Option<String>,
    arguments: Option<Value>,
}

fn add(conversation: &mut Conversation, event: Event) {
    let (at, data) = (time(event.timestamp.as_deref()), event.data);
    let id = event.id.unwrap_or_default();
    match event.kind.as_deref().unwrap_or_default() {
        "session.start" => {
            conversation.folder = data.context.and_then(|context| context.cwd).map(PathBuf::from);
            conversation.version = data.copilot_version;
        }
        // What skills and the program itself put into the conversation has another source.
        "user.message" if data.source.is_none_or(|source| source == "user") => {
            let text = data.content.unwrap_or_default().0;
            conversation.push(Message {
                id,
                role: Role::Person,
                time: at,
                text,
                tools: Vec::new(),
            });
        }
        "assistant.message" => {
            let text = data.content.unwrap_or_default().0;
            let tools: Vec<ToolUse> = data.tool_requests.into_iter().map(tool_use).collect();
            if !text.trim().is_empty() || !tools.is_empty() {
                conversation.push(Message { id, role: Role::Assistant, time: at, text, tools });
            }
        }
        "tool.execution_complete" => {
            let text = data.result.or(data.error).unwrap_or_default().0;
            let failed = data.success == Some(false) || has_failed(&text);
            let id = data.tool_call_id.unwrap_or_default();
            conversation.push(Message {
                id,
                role: Role::Tool { failed },
                time: at,
                text,
                tools: Vec::new(),
            });
        }
        _ => {}
    }
}

fn tool_use(request: Request) -> ToolUse {
    ToolUse {
        id: request.tool_call_id.unwrap_or_default(),
        name: request.name.unwrap_or_default(),
        input: request.arguments.map(|arguments| arguments.to_string()).unwrap_or_default(),
    }
}

/// Whether a command ended with another code than 0, which stands at the end of its output.
fn has_failed(output: &str) -> bool {
    output
        .rsplit_once("completed with exit code ")
        .is_some_and(|(_, code)| !code.trim_start().starts_with('0'))
}
