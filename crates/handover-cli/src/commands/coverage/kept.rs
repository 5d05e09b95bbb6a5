//! The conversations of a project with their subagents, as the agent programs keep them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use handover_hosts::transcript::{
    Calls, FilePart, HEAD_BYTES, Origin, Scan, began, calls, first_line, markers, text_hash,
};
use handover_hosts::{HookHost, Registry};
use handover_knowledge::transcripts::{self, Conversation, Role, Transcript};
use handover_knowledge::{ForeignTables, Place, SourceContext};
use handover_model::{AgentId, Host, HostSessionId, ReceiptId, Timestamp};

use crate::app::App;
use crate::commands::host::connections::Connections;
use crate::env;
use crate::error::CommandError;
use crate::host_transcripts::{Child, children, descendant, modified, read_part};
use crate::learn::Tables;

/// The most that is read of a conversation.
const MAX_BYTES: usize = 64 << 20;

/// How deep agents of agents are followed.
const DEPTH: usize = 16;

/// A conversation and what its host keeps of it.
pub(super) struct Kept {
    pub(super) host: &'static dyn HookHost,
    pub(super) id: HostSessionId,
    /// When it began, or was last written if the host does not say.
    pub(super) began: Timestamp,
    pub(super) children: Vec<KeptChild>,
    pub(super) calls: Calls,
}

/// A subagent.
pub(super) struct KeptChild {
    host: Host,
    pub(super) agent: AgentId,
    pub(super) origin: Origin,
    /// When it began, or was last written if the host does not say.
    pub(super) began: Timestamp,
    /// The receipts whose markers it has seen.
    pub(super) receipts: Vec<ReceiptId>,
    /// The hashes of what its conversation holds, or at least of its task.
    pub(super) texts: Vec<String>,
    /// Whether nothing of its conversation was kept.
    pub(super) is_empty: bool,
    /// Whether it said something.
    pub(super) has_spoken: bool,
    /// Where its conversation is.
    pub(super) place: Place,
}

/// Tools with which agents only return what they have.
const RETURNING: &[&str] = &["complete_task", "StructuredOutput"];

impl KeptChild {
    /// Whether it called a tool. Its conversation is read again for that, so only if it matters.
    pub(super) fn has_worked(&self) -> bool {
        let conversation = match &self.place {
            Place::File(path) => transcripts::read_subagent(path, self.agent.as_str()).ok(),
            Place::Row { database, .. } => read_row(self.host, database, self.agent.as_str()),
        };
        let mut tools =
            conversation.iter().flat_map(|one| &one.messages).flat_map(|one| &one.tools);
        tools.any(|tool| !RETURNING.contains(&tool.name.as_str()))
    }
}

/// The conversations of the project that went on since then, oldest first.
pub(super) fn conversations(
    app: &App,
    connections: &Connections,
    only: Option<Host>,
    paths: &[PathBuf],
    since: Timestamp,
) -> Result<Vec<Kept>, CommandError> {
    let root = app.project()?.root.clone();
    let mut checkouts = vec![root.clone()];
    checkouts.extend(app.project()?.worktrees());
    checkouts.extend(connections.gone().cloned());
    let context = SourceContext {
        root: &root,
        git: None,
        checkouts: &checkouts,
        homes: &env::agent_homes(),
        paths,
        since: None,
        tables: Some(&Tables),
        stop: &|| false,
    };
    let (mut found, _) = transcripts::find(&context);
    found.retain(|transcript| only.is_none_or(|only| only == transcript.host));
    let descendants = descendants(&found);
    let mut kept = Vec::new();
    let mut databases: Vec<(&'static dyn HookHost, PathBuf)> = Vec::new();
    for transcript in found {
        let Ok(host) = Registry::built_in().find(transcript.host) else { continue };
        match &transcript.place {
            Place::File(path) => {
                let path = path.clone();
                kept.extend(in_file(host, &transcript, &path, &descendants, since));
            }
            Place::Row { database, .. } => {
                if !databases.iter().any(|(_, known)| known == database) {
                    databases.push((host, database.clone()));
                }
            }
        }
    }
    for (host, database) in databases {
        kept.extend(in_database(host, &database, &checkouts, since));
    }
    kept.sort_by(|(a, one), (b, other)| (a, &one.id).cmp(&(b, &other.id)));
    Ok(kept.into_iter().map(|(_, conversation)| conversation).collect())
}

/// The subagents whose transcripts say whose they are, by conversation.
type Descendants = HashMap<HostSessionId, Vec<Child>>;

fn descendants(found: &[Transcript]) -> Descendants {
    let mut all = Descendants::new();
    for transcript in found {
        let format = Registry::built_in().find(transcript.host).ok().and_then(HookHost::transcript);
        if let (Some(format), Place::File(path)) = (format, &transcript.place)
            && let Some((conversation, child)) = descendant(format, path)
        {
            all.entry(conversation).or_default().push(child);
        }
    }
    all
}

/// A conversation in a file, with the time when it last went on; none if it is that of a subagent.
fn in_file(
    host: &'static dyn HookHost,
    transcript: &Transcript,
    path: &Path,
    descendants: &Descendants,
    since: Timestamp,
) -> Option<(Timestamp, Kept)> {
    let format = host.transcript()?;
    let at = modified(path).filter(|at| *at >= since)?;
    let head = read_part(path, FilePart::Head, HEAD_BYTES).ok()?;
    let first = first_line(&head).unwrap_or_default();
    if format.subagent(path).is_some() || format.lineage(path, &first).is_some() {
        return None;
    }
    let id = format.conversation(&first).or_else(|| HostSessionId::new(&transcript.id).ok())?;
    let mut found = children(host, path);
    for child in descendants.get(&id).into_iter().flatten() {
        if !found.iter().any(|known| known.agent == child.agent) {
            found.push(child.clone());
        }
    }
    // Of one that was killed at once, there may only be a file about its origin.
    let origin = |child: &Child| modified(&format.origin_file(&child.transcript)?);
    found.retain(|child| {
        modified(&child.transcript).or_else(|| origin(child)).is_some_and(|at| at >= since)
    });
    let mut all = calls_in(host, path);
    for child in found.iter().filter(|child| child.transcript != path) {
        all.extend(calls_in(host, &child.transcript));
    }
    let children = found.into_iter().map(|child| {
        let Scan { receipts, texts, last_message } = child.scan(host);
        let (is_empty, has_spoken) = (texts.is_empty(), last_message.is_some());
        let last = || modified(&child.transcript).or_else(|| origin(&child)).unwrap_or(at);
        let began = child.began(host).unwrap_or_else(last);
        let Child { agent, origin, transcript } = child;
        let (host, place) = (host.name(), Place::File(transcript));
        KeptChild { host, agent, origin, began, receipts, texts, is_empty, has_spoken, place }
    });
    let began = began(&head).unwrap_or(at);
    Some((at, Kept { host, id, began, children: children.collect(), calls: all }))
}

fn calls_in(host: &dyn HookHost, path: &Path) -> Calls {
    let Some(format) = host.transcript() else { return Calls::default() };
    calls(format, &read_part(path, FilePart::Head, MAX_BYTES).unwrap_or_default())
}

/// A conversation in the table of a database.
struct Session {
    id: String,
    parent: String,
    kind: String,
    created: Timestamp,
    updated: Timestamp,
}

/// The conversations in a database whose rows name their parents, as that of opencode.
fn in_database(
    host: &'static dyn HookHost,
    database: &Path,
    checkouts: &[PathBuf],
    since: Timestamp,
) -> Vec<(Timestamp, Kept)> {
    let mut sessions: Vec<Session> = Vec::new();
    let columns = ["id", "parent_id", "agent", "directory", "time_created", "time_updated"];
    let read = Tables.rows(database, "session", &columns, None, &mut |row| {
        let [id, parent, kind, folder, created, updated] = row else { return };
        if checkouts.iter().any(|root| Path::new(folder.text()).starts_with(root)) {
            let [id, parent, kind] = [id, parent, kind].map(|value| value.text().to_owned());
            let [created, updated] = [created, updated].map(|value| {
                let millis = value.integer().unwrap_or_default();
                Timestamp::from_micros(millis.saturating_mul(1_000))
            });
            sessions.push(Session { id, parent, kind, created, updated });
        }
    });
    if read.is_err() {
        return Vec::new();
    }
    let parents: HashMap<&str, &str> =
        sessions.iter().map(|one| (one.id.as_str(), one.parent.as_str())).collect();
    let root = |id: &str| {
        let above = |id: &&str| parents.get(*id).copied().filter(|parent| !parent.is_empty());
        let line = std::iter::successors(parents.get_key_value(id).map(|(id, _)| *id), above);
        line.take(DEPTH).last().map(str::to_owned)
    };
    let leads = sessions.iter().filter(|session| session.parent.is_empty());
    let kept = leads.filter_map(|lead| {
        let below = sessions.iter().filter(|one| !one.parent.is_empty() && one.updated >= since);
        let own = below.filter(|one| root(&one.id).as_deref() == Some(lead.id.as_str()));
        let children: Vec<KeptChild> =
            own.filter_map(|session| child(host.name(), database, session)).collect();
        let id = HostSessionId::new(&lead.id).ok()?;
        let (began, calls) = (lead.created, Calls::default());
        Some((lead.updated, Kept { host, id, began, children, calls }))
    });
    kept.collect()
}

fn read_row(host: Host, database: &Path, id: &str) -> Option<Conversation> {
    let place = Place::Row { database: database.to_owned(), id: id.to_owned() };
    let transcript = Transcript { host, id: id.to_owned(), place, state: String::new() };
    transcripts::read(&transcript, Some(&Tables)).ok()
}

fn child(host: Host, database: &Path, session: &Session) -> Option<KeptChild> {
    let conversation = read_row(host, database, &session.id)?;
    let (mut receipts, mut texts): (Vec<ReceiptId>, Vec<String>) = (Vec::new(), Vec::new());
    for message in conversation.messages.iter().filter(|message| message.role == Role::Person) {
        receipts.extend(markers(message.text.as_bytes()));
        texts.push(text_hash(&message.text));
    }
    let agent = AgentId::new(&session.id).ok()?;
    let origin = Origin { kind: session.kind.clone(), ..Origin::default() };
    let is_empty = conversation.messages.is_empty();
    let has_spoken = conversation.messages.iter().any(|message| message.role == Role::Assistant);
    let began = session.created;
    let place = Place::Row { database: database.to_owned(), id: session.id.clone() };
    Some(KeptChild { host, agent, origin, began, receipts, texts, is_empty, has_spoken, place })
}
