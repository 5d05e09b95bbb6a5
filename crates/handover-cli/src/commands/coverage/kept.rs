//! The conversations of a project with their subagents, as the agent programs keep them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use handover_hosts::transcript::{
    Calls, FilePart, HEAD_BYTES, Origin, Scan, calls, first_line, markers,
};
use handover_hosts::{HookHost, Registry};
use handover_knowledge::transcripts::{self, Role, Transcript};
use handover_knowledge::{ForeignTables, Place, SourceContext};
use handover_model::{AgentId, Host, HostSessionId, ReceiptId, Timestamp};

use crate::app::App;
use crate::env;
use crate::error::CommandError;
use crate::host_transcripts::{Child, children, modified, read_part};
use crate::learn::Tables;

/// The most that is read of a conversation.
const MAX_BYTES: usize = 64 << 20;

/// How deep agents of agents are followed.
const DEPTH: usize = 16;

/// A conversation and what its host keeps of it.
pub(super) struct Kept {
    pub(super) host: &'static dyn HookHost,
    pub(super) id: HostSessionId,
    pub(super) children: Vec<KeptChild>,
    pub(super) calls: Calls,
}

/// A subagent.
pub(super) struct KeptChild {
    pub(super) agent: AgentId,
    pub(super) origin: Origin,
    /// The receipts whose markers it has seen.
    pub(super) receipts: Vec<ReceiptId>,
    /// Whether nothing of its conversation was kept.
    pub(super) is_empty: bool,
    /// Whether it said something.
    pub(super) has_spoken: bool,
}

/// The conversations of the project that went on since then, oldest first.
pub(super) fn conversations(
    app: &App,
    only: Option<Host>,
    paths: &[PathBuf],
    since: Timestamp,
) -> Result<Vec<Kept>, CommandError> {
    let root = app.project()?.root.clone();
    let mut checkouts = vec![root.clone()];
    checkouts.extend(app.project()?.worktrees());
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
    let mut kept = Vec::new();
    let mut databases: Vec<(&'static dyn HookHost, PathBuf)> = Vec::new();
    for transcript in found {
        let Ok(host) = Registry::built_in().find(transcript.host) else { continue };
        match &transcript.place {
            Place::File(path) => {
                let path = path.clone();
                let at = modified(&path).filter(|at| *at >= since);
                kept.extend(
                    at.and_then(|at| Some((at, in_file(host, &transcript, &path, since)?))),
                );
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

/// A conversation in a file; none if it is that of a subagent.
fn in_file(
    host: &'static dyn HookHost,
    transcript: &Transcript,
    path: &Path,
    since: Timestamp,
) -> Option<Kept> {
    let format = host.transcript()?;
    let first = first_line(&read_part(path, FilePart::Head, HEAD_BYTES).ok()?);
    let first = first.unwrap_or_default();
    if format.subagent(path).is_some() || format.lineage(path, &first).is_some() {
        return None;
    }
    let id = format.conversation(&first).or_else(|| HostSessionId::new(&transcript.id).ok())?;
    let mut found = children(host, path);
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
        KeptChild { agent: child.agent, origin: child.origin, receipts, is_empty, has_spoken }
    });
    Some(Kept { host, id, children: children.collect(), calls: all })
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
    let columns = ["id", "parent_id", "agent", "directory", "time_updated"];
    let read = Tables.rows(database, "session", &columns, None, &mut |row| {
        let [id, parent, kind, folder, updated] = row else { return };
        if checkouts.iter().any(|root| Path::new(folder.text()).starts_with(root)) {
            let millis = updated.integer().unwrap_or_default();
            let [id, parent, kind] = [id, parent, kind].map(|value| value.text().to_owned());
            let updated = Timestamp::from_micros(millis.saturating_mul(1_000));
            sessions.push(Session { id, parent, kind, updated });
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
        Some((lead.updated, Kept { host, id, children, calls: Calls::default() }))
    });
    kept.collect()
}

fn child(host: Host, database: &Path, session: &Session) -> Option<KeptChild> {
    let place = Place::Row { database: database.to_owned(), id: session.id.clone() };
    let transcript = Transcript { host, id: session.id.clone(), place, state: String::new() };
    let conversation = transcripts::read(&transcript, Some(&Tables)).ok()?;
    let mut receipts: Vec<ReceiptId> = Vec::new();
    for message in conversation.messages.iter().filter(|message| message.role == Role::Person) {
        receipts.extend(markers(message.text.as_bytes()));
    }
    let agent = AgentId::new(&session.id).ok()?;
    let origin = Origin { kind: session.kind.clone(), ..Origin::default() };
    let is_empty = conversation.messages.is_empty();
    let has_spoken = conversation.messages.iter().any(|message| message.role == Role::Assistant);
    Some(KeptChild { agent, origin, receipts, is_empty, has_spoken })
}
