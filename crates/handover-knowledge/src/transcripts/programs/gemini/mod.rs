//! Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl`, of subagents in a folder named after the
//! conversation; `tmp/<project>/.project_root` has the path of the project. A line is a message, which replaces an
//! earlier one with its id, or a change: `$set`, `$rewindTo`. Until 0.2x a conversation was one JSON object.

use std::path::{Path, PathBuf};

use handover_files::read_text_bounded;
use handover_model::Host;
use serde::Deserialize;
use serde_json::Value;

use super::Program;
use crate::transcripts::blocks::{Blocks, Text};
use crate::transcripts::find::{self, Search, is_ours};
use crate::transcripts::lines::{each_line, head, parse, string_after, whole};
use crate::transcripts::{Conversation, Message, Place, Role, ToolUse, Transcript, time};
use crate::{Homes, SkipReason};

pub(super) struct Gemini;

/// The largest conversation in the old form.
const MAX_OBJECT: u64 = 64 << 20;

const MAX_PATH: u64 = 16 << 10;

/// How much of an id is in the name of a file.
const SHORT_ID: usize = 8;

/// How much of a file is read to find its id.
const HEAD: u64 = 4 << 10;

impl Program for Gemini {
    fn host(&self) -> Host {
        Host::GEMINI
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.gemini else { return };
        let Ok(projects) = fs_err::read_dir(home.join("tmp")) else { return };
        let mut projects: Vec<PathBuf> = projects.flatten().map(|entry| entry.path()).collect();
        projects.sort();
        for project in projects {
            let root = read_text_bounded(&project.join(".project_root"), MAX_PATH).ok().flatten();
            if root.is_some_and(|root| is_ours(Path::new(root.trim()), search.context)) {
                let mut files = Vec::new();
                find::walk(&project.join("chats"), 1, &mut files);
                search.found.extend(
                    files.into_iter().filter_map(|file| {
                        Transcript::in_file(self.host(), self.id_of(&file)?, file)
                    }),
                );
            }
        }
    }

    /// The name of a file ends with the beginning of the id.
    fn by_id(&self, homes: &Homes, id: &str) -> Option<Transcript> {
        let (tmp, short) = (homes.gemini.as_ref()?.join("tmp"), id.get(..SHORT_ID)?);
        let mut files = Vec::new();
        for project in fs_err::read_dir(tmp).ok()?.flatten() {
            find::walk(&project.path().join("chats"), 0, &mut files);
        }
        let is_it = |file: &PathBuf| {
            let named = find::stem(file)
                .is_some_and(|stem| stem.starts_with("session-") && stem.ends_with(short));
            let own = || string_after(&head(file, HEAD).ok()?, "sessionId");
            named && own().as_deref() == Some(id)
        };
        let file = files.into_iter().find(is_it)?;
        Some(Transcript {
            host: self.host(),
            id: id.to_owned(),
            place: Place::File(file),
            state: String::new(),
        })
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        string_after(head, "projectHash").is_some() && string_after(head, "sessionId").is_some()
    }

    /// A subagent's id is only unique with its conversation's.
    fn id_of(&self, file: &Path) -> Option<String> {
        let own = find::stem(file)?;
        let folder = file.parent()?.file_name()?.to_str()?;
        Some(if own.starts_with("session-") { own } else { format!("{folder}/{own}") })
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        let mut reading = Reading::default();
        if file.extension().is_some_and(|extension| extension == "json") {
            let bytes = whole(file, MAX_OBJECT)?;
            let mut spare = Vec::new();
            let line = parse::<Line>(&bytes, &mut spare).ok_or(SkipReason::Foreign)?;
            reading.take(line);
        } else {
            let too_long = each_line(file, &mut |line| {
                let mut spare = Vec::new();
                match parse::<Line>(line, &mut spare) {
                    Some(line) => reading.take(line),
                    None => reading.damaged += 1,
                }
            })?;
            reading.damaged += too_long;
        }
        Ok(reading.done())
    }
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Line {
    session_id: Option<String>,
    kind: Option<String>,
    messages: Vec<Record>,
    #[serde(rename = "$set")]
    set: Option<Set>,
    #[serde(rename = "$rewindTo")]
    rewind_to: Option<String>,
    #[serde(flatten)]
    record: Record,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Set {
    messages: Vec<Record>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Record {
    id: Option<String>,
    timestamp: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    content: Blocks,
    tool_calls: Vec<Call>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Call {
    id: Option<String>,
    name: Option<String>,
    args: Option<Value>,
    status: Option<String>,
    result: Option<Value>,
}

/// A conversation that is being read.
#[derive(Default)]
struct Reading {
    id: Option<String>,
    is_subagent: bool,
    records: Vec<Record>,
    damaged: usize,
}

impl Reading {
    fn take(&mut self, line: Line) {
        self.id = self.id.take().or(line.session_id);
        self.is_subagent |= line.kind.as_deref() == Some("subagent");
        if let Some(to) = line.rewind_to {
            let end = self.records.iter().position(|known| known.id.as_ref() == Some(&to));
            self.records.truncate(end.unwrap_or(0));
        }
        let set = line.set.map(|set| set.messages).unwrap_or_default();
        for record in line.messages.into_iter().chain(set).chain([line.record]) {
            self.add(record);
        }
    }

    fn add(&mut self, record: Record) {
        if record.id.is_none() || record.kind.is_none() {
            return;
        }
        // A message is written again when it gets longer, soon after the first time.
        match self.records.iter_mut().rev().find(|known| known.id == record.id) {
            Some(known) => *known = record,
            None => self.records.push(record),
        }
    }

    fn done(self) -> Conversation {
        let mut conversation = Conversation {
            id: String::new(),
            is_subagent: self.is_subagent,
            damaged: self.damaged,
            ..Conversation::default()
        };
        for record in self.records {
            push(&mut conversation, record);
        }
        conversation
    }
}

fn push(conversation: &mut Conversation, record: Record) {
    let role = match record.kind.as_deref() {
        Some("user") => Role::Person,
        Some("gemini") => Role::Assistant,
        _ => return,
    };
    let (at, text) = (time(record.timestamp.as_deref()), record.content.text());
    let (mut tools, mut results) = (Vec::new(), Vec::new());
    for call in record.tool_calls {
        let id = call.id.unwrap_or_default();
        let failed = call.status.as_deref().is_some_and(|status| status == "error");
        let result = call.result.unwrap_or_default();
        let text = all_text(&result);
        results.push(Message {
            id: id.clone(),
            role: Role::Tool { failed },
            time: at,
            text,
            tools: Vec::new(),
        });
        let input = call.args.map(|args| args.to_string()).unwrap_or_default();
        tools.push(ToolUse { id, name: call.name.unwrap_or_default(), input });
    }
    if !text.trim().is_empty() || !tools.is_empty() {
        conversation.push(Message {
            id: record.id.unwrap_or_default(),
            role,
            time: at,
            text,
            tools,
        });
    }
    for result in results {
        conversation.push(result);
    }
}

/// The texts of `[{"functionResponse":{"response":{"output":…}}}]`.
fn all_text(result: &Value) -> String {
    let responses = result.as_array().into_iter().flatten();
    let texts = responses.filter_map(|part| {
        let response = part.pointer("/functionResponse/response").unwrap_or(part);
        serde_json::from_value::<Text>(response.clone()).ok()
    });
    texts.map(|text| text.0).collect::<Vec<_>>().join("\n")
}
