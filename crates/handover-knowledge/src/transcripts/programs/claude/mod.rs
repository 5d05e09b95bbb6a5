//! Claude Code: `projects/<folder>/<conversation>.jsonl`, where the folder's name is made of the path of the
//! project, and `<conversation>/subagents/agent-<id>.jsonl` beside it. A message may be spread over several lines.

use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Deserialize;

use super::Program;
use crate::SkipReason;
use crate::transcripts::blocks::Blocks;
use crate::transcripts::find::{self, Search};
use crate::transcripts::lines::{each_record, string_after};
use crate::transcripts::{Conversation, Message, Role, ToolUse, time};

pub(super) struct Claude;

/// Names of folders are not longer than this; a hash follows.
const MAX_NAME: usize = 200;

impl Program for Claude {
    fn host(&self) -> Host {
        Host::CLAUDE
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.claude else { return };
        let names: Vec<String> =
            search.context.checkouts.iter().map(|path| folder_name(path)).collect();
        let Ok(entries) = fs_err::read_dir(home.join("projects")) else { return };
        let mut files = Vec::new();
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_candidate = |start: &String| {
                let rest = name.to_str().and_then(|name| name.strip_prefix(start.as_str()));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
            };
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && names.iter().any(is_candidate) {
                find::walk(&entry.path(), 3, &mut files);
            }
        }
        files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
        files.sort();
        search.keep_ours(self, files);
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        head.starts_with(b"{")
            && string_after(head, "sessionId").is_some()
            && (string_after(head, "uuid").is_some() || string_after(head, "leafUuid").is_some())
    }

    /// A subagent's id is only unique with its conversation's.
    fn id_of(&self, file: &Path) -> Option<String> {
        let own = find::stem(file)?;
        let folder = file.parent()?;
        if folder.file_name()? != "subagents" {
            return Some(own);
        }
        let conversation = folder.parent()?.file_name()?.to_str()?;
        Some(format!("{conversation}/{own}"))
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        let mut conversation = Conversation {
            // Those of workflows are in folders below.
            is_subagent: file.ancestors().any(|folder| folder.ends_with("subagents")),
            ..Conversation::default()
        };
        each_record(file, &mut conversation, add)?;
        conversation.id = self.id_of(file).unwrap_or_default();
        Ok(conversation)
    }
}

/// The name of the folder of a project: its path, with a dash for everything that is not a letter or a digit.
pub(crate) fn folder_name(path: &Path) -> String {
    let path = path.to_string_lossy();
    let name: String =
        path.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    name.chars().take(MAX_NAME).collect()
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
    entrypoint: Option<String>,
    is_meta: Option<bool>,
    is_sidechain: Option<bool>,
    is_compact_summary: Option<bool>,
    is_api_error_message: Option<bool>,
    message: Option<Inner>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Inner {
    content: Blocks,
}

fn add(conversation: &mut Conversation, line: Line) {
    if conversation.folder.is_none() {
        conversation.folder = line.cwd.map(PathBuf::from);
    }
    conversation.version = line.version.or_else(|| conversation.version.take());
    if let Some(from) = &line.entrypoint {
        conversation.is_headless = from.starts_with("sdk");
    }
    let is = |flag: Option<bool>| flag == Some(true);
    let repeated = is(line.is_meta) || is(line.is_compact_summary) || is(line.is_api_error_message);
    // Old versions kept subagents in the same file.
    let aside = is(line.is_sidechain) && !conversation.is_subagent;
    let (Some(kind), Some(inner), false) = (line.kind, line.message, repeated || aside) else {
        return;
    };
    let at = time(line.timestamp.as_deref());
    let id = line.uuid.unwrap_or_default();
    match kind.as_str() {
        "user" => {
            for block in &inner.content.0 {
                if block.kind.as_deref() == Some("tool_result") {
                    let text =
                        block.content.as_ref().map(|text| text.0.clone()).unwrap_or_default();
                    let role = Role::Tool { failed: block.is_error == Some(true) };
                    let id = block.tool_use_id.clone().unwrap_or_default();
                    conversation.push(Message { id, role, time: at, text, tools: Vec::new() });
                }
            }
            let text = inner.content.text();
            if !text.trim().is_empty() {
                conversation.push(Message {
                    id,
                    role: Role::Person,
                    time: at,
                    text,
                    tools: Vec::new(),
                });
            }
        }
        "assistant" => {
            let text = inner.content.text();
            let tools: Vec<ToolUse> = inner.content.0.into_iter().filter_map(tool_use).collect();
            if !text.trim().is_empty() || !tools.is_empty() {
                conversation.push(Message { id, role: Role::Assistant, time: at, text, tools });
            }
        }
        _ => {}
    }
}

fn tool_use(block: crate::transcripts::blocks::Block) -> Option<ToolUse> {
    (block.kind.as_deref() == Some("tool_use")).then(|| ToolUse {
        id: block.id.unwrap_or_default(),
        name: block.name.unwrap_or_default(),
        input: block.input.map(|input| input.to_string()).unwrap_or_default(),
    })
}
