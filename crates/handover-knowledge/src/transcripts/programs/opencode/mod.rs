//! opencode: the tables `session`, `message` and `part` of `opencode.db`. Until 1.1 each row was a file:
//! `storage/session/<project>/<session>.json`, `storage/message/<session>/…`, `storage/part/<message>/…`.

mod files;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use handover_model::Host;
use serde::Deserialize;
use serde_json::Value;

use super::Program;
use crate::transcripts::blocks::Text;
use crate::transcripts::find::{Search, is_ours};
use crate::transcripts::lines::string_after;
use crate::transcripts::{Conversation, Message, Role, ToolUse, Transcript, millis};
use crate::{ForeignTables, Homes, Place, SkipReason, Skipped};

pub(super) struct Opencode;

const HOST: Host = Host::from_static("opencode");

impl Program for Opencode {
    fn host(&self) -> Host {
        HOST
    }

    fn find(&self, search: &mut Search<'_>) {
        let Some(home) = &search.context.homes.opencode else { return };
        let first = search.found.len();
        let database = home.join("opencode.db");
        if database.is_file() {
            match search.context.tables {
                Some(tables) => in_database(tables, &database, search),
                None => search.skipped.push(unreadable()),
            }
        }
        let known: Vec<String> = search.found[first..].iter().map(|one| one.id.clone()).collect();
        for transcript in files::find(&home.join("storage"), search.context) {
            // A conversation that was moved into the database may have left its files behind.
            if !known.contains(&transcript.id) {
                search.found.push(transcript);
            }
        }
    }

    fn recognizes(&self, head: &[u8]) -> bool {
        string_after(head, "directory").is_some()
            && string_after(head, "projectID").is_some()
            && string_after(head, "id").is_some_and(|id| id.starts_with("ses_"))
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason> {
        files::read(file)
    }

    fn by_id(&self, homes: &Homes, id: &str) -> Option<Transcript> {
        let database = homes.opencode.as_ref()?.join("opencode.db");
        let place = Place::Row { database, id: id.to_owned() };
        Some(Transcript { host: HOST, id: id.to_owned(), place, state: String::new() })
    }

    fn read_row(
        &self,
        tables: &dyn ForeignTables,
        database: &Path,
        id: &str,
    ) -> Result<Conversation, SkipReason> {
        let unreadable = |_| SkipReason::Unreadable;
        let mut reading = Reading::default();
        tables
            .rows(
                database,
                "session",
                &["id", "directory", "parent_id", "version"],
                Some(("id", id)),
                &mut |row| {
                    if let [_, folder, parent, version] = row {
                        reading.conversation.folder = Some(PathBuf::from(folder.text()));
                        reading.conversation.is_subagent = !parent.text().is_empty();
                        reading.conversation.version = Some(version.text().to_owned());
                    }
                },
            )
            .map_err(unreadable)?;
        let of_session = Some(("session_id", id));
        tables
            .rows(database, "message", &["id", "data"], of_session, &mut |row| {
                if let [id, data] = row {
                    reading.message(id.text(), data.text());
                }
            })
            .map_err(unreadable)?;
        tables
            .rows(database, "part", &["id", "message_id", "data"], of_session, &mut |row| {
                if let [_, message, data] = row {
                    reading.part(message.text(), data.text());
                }
            })
            .map_err(unreadable)?;
        Ok(reading.done(id))
    }
}

fn unreadable() -> Skipped {
    Skipped { what: format!("{HOST}:opencode.db"), reason: SkipReason::Unreadable }
}

fn in_database(tables: &dyn ForeignTables, database: &Path, search: &mut Search<'_>) {
    let columns = ["id", "directory", "time_updated"];
    let read = tables.rows(database, "session", &columns, None, &mut |row| {
        let [id, folder, updated] = row else { return };
        if !id.text().is_empty() && is_ours(Path::new(folder.text()), search.context) {
            let id = id.text().to_owned();
            let state = updated.integer().unwrap_or_default().to_string();
            let place = Place::Row { database: database.to_owned(), id: id.clone() };
            search.found.push(Transcript { host: HOST, id, place, state });
        }
    });
    if read.is_err() {
        search.skipped.push(unreadable());
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct MessageData {
    role: Option<String>,
    time: Times,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Times {
    created: Option<i64>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Part {
    #[serde(rename = "type")]
    kind: Option<String>,
    text: Option<String>,
    synthetic: Option<bool>,
    ignored: Option<bool>,
    tool: Option<String>,
    #[serde(rename = "callID")]
    call_id: Option<String>,
    state: Option<State>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct State {
    status: Option<String>,
    input: Option<Value>,
    output: Option<Text>,
    error: Option<Text>,
}

/// A conversation that is being put together. Ids sort by time.
#[derive(Default)]
struct Reading {
    conversation: Conversation,
    messages: BTreeMap<String, (MessageData, Vec<Part>)>,
}

impl Reading {
    fn message(&mut self, id: &str, data: &str) {
        match serde_json::from_str(data) {
            Ok(data) => {
                self.messages.insert(id.to_owned(), (data, Vec::new()));
            }
            Err(_) => self.conversation.damaged += 1,
        }
    }

    fn part(&mut self, message: &str, data: &str) {
        let Some((_, parts)) = self.messages.get_mut(message) else { return };
        match serde_json::from_str(data) {
            Ok(part) => parts.push(part),
            Err(_) => self.conversation.damaged += 1,
        }
    }

    fn done(mut self, id: &str) -> Conversation {
        id.clone_into(&mut self.conversation.id);
        for (id, (data, parts)) in self.messages {
            push(&mut self.conversation, id, &data, parts);
        }
        self.conversation
    }
}

fn push(conversation: &mut Conversation, id: String, data: &MessageData, parts: Vec<Part>) {
    let role = match data.role.as_deref() {
        Some("user") => Role::Person,
        Some("assistant") => Role::Assistant,
        _ => return,
    };
    let at = data.time.created.map(millis);
    let (mut texts, mut tools, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for part in parts {
        let hidden = part.synthetic == Some(true) || part.ignored == Some(true);
        match part.kind.as_deref() {
            Some("text") if !hidden => texts.extend(part.text),
            Some("tool") => {
                let state = part.state.unwrap_or_default();
                let id = part.call_id.unwrap_or_default();
                let failed = state.status.as_deref() == Some("error");
                let text = state.error.or(state.output).unwrap_or_default().0;
                let role = Role::Tool { failed };
                results.push(Message { id: id.clone(), role, time: at, text, tools: Vec::new() });
                let input = state.input.map(|input| input.to_string()).unwrap_or_default();
                tools.push(ToolUse { id, name: part.tool.unwrap_or_default(), input });
            }
            _ => {}
        }
    }
    let text = texts.join("\n\n");
    if !text.trim().is_empty() || !tools.is_empty() {
        conversation.push(Message { id, role, time: at, text, tools });
    }
    for result in results {
        conversation.push(result);
    }
}
