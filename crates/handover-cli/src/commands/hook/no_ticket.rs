//! Subagents without a ticket in the store: what is remembered of them outside of it, for as long as their
//! conversation lasts. When one starts, its prompt is not known; when it is continued, it starts again.
//!
//! Each is a file of its own: hooks of subagents that are spawned together run at the same time.

use handover_files::{Entry, Folder, Kind, Sync};
use handover_hosts::Subagent;
use handover_model::{AgentId, ReceiptId};
use serde::{Deserialize, Serialize};

use super::context::HookContext;
use crate::error::CommandError;

/// The folder below `.handover/`; its files are deleted when the conversation ends.
const FOLDER: &str = "hooks";

/// How the name of a file ends whose subagent has yet to start.
const WAITS: &str = ".waits";

/// How it ends once the subagent has started.
const STARTED: &str = ".started";

/// The most that is read of one.
const MAX_BYTES: u64 = 16 * 1024;

/// How many are kept of all conversations: some never end.
const KEPT: usize = 1_000;

/// Why a subagent has no ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NoTicket {
    /// Its prompt exempts it, for this reason.
    Exempt(String),
    /// Its receipt waits in the spool, because the store could not be written.
    Spooled(ReceiptId),
}

/// What is known of a subagent that starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It starts for the first time.
    New(NoTicket),
    /// It is continued.
    Before(NoTicket),
}

/// A subagent in a file.
#[derive(Serialize, Deserialize)]
struct Kept {
    kind: String,
    why: NoTicket,
}

/// Remembers why the next subagent of a kind has no ticket. `key` tells its spawn from others.
pub(super) fn expect(
    context: &HookContext<'_>,
    kind: &str,
    key: &str,
    why: NoTicket,
) -> Result<(), CommandError> {
    write(context, &format!("{key}{WAITS}"), kind, why)
}

/// Remembers why a subagent that has started has no ticket.
pub(super) fn remember(
    context: &HookContext<'_>,
    agent: &Subagent,
    why: NoTicket,
) -> Result<(), CommandError> {
    write(context, &format!("{}{STARTED}", agent.id), &agent.kind, why)
}

/// What is remembered of a subagent that has started before.
pub(super) fn of(
    context: &HookContext<'_>,
    agent: &AgentId,
) -> Result<Option<NoTicket>, CommandError> {
    let Some(prefix) = prefix(context) else { return Ok(None) };
    let kept = read(&folder(context)?, &format!("{prefix}{agent}{STARTED}"));
    Ok(kept.map(|kept| kept.why))
}

/// What is remembered of a subagent that starts: its own, else what the oldest spawn of its kind left.
pub(super) fn take(
    context: &HookContext<'_>,
    agent: &Subagent,
) -> Result<Option<Known>, CommandError> {
    if let Some(why) = of(context, &agent.id)? {
        return Ok(Some(Known::Before(why)));
    }
    let (folder, Some(prefix)) = (folder(context)?, prefix(context)) else { return Ok(None) };
    let waits = |entry: &Entry| {
        entry.kind == Kind::File && entry.name.starts_with(&prefix) && entry.name.ends_with(WAITS)
    };
    let mut waiting = folder.entries()?;
    waiting.retain(waits);
    waiting.sort_by_key(|entry| entry.modified);
    for entry in waiting {
        let Some(kept) = read(&folder, &entry.name).filter(|kept| kept.kind == agent.kind) else {
            continue;
        };
        // Only one process can rename it.
        if folder.rename(&entry.name, &format!("{prefix}{}{STARTED}", agent.id)).is_ok() {
            return Ok(Some(Known::New(kept.why)));
        }
    }
    Ok(None)
}

fn write(
    context: &HookContext<'_>,
    name: &str,
    kind: &str,
    why: NoTicket,
) -> Result<(), CommandError> {
    let (folder, Some(prefix)) = (folder(context)?, prefix(context)) else { return Ok(()) };
    let kept = serde_json::to_vec(&Kept { kind: kind.to_owned(), why }).unwrap_or_default();
    folder.replace(&format!("{prefix}{name}"), &kept, Sync::No)?;
    folder.keep_newest(KEPT, |name| name.ends_with(WAITS) || name.ends_with(STARTED));
    Ok(())
}

fn read(folder: &Folder, name: &str) -> Option<Kept> {
    let bytes = folder.read(name, MAX_BYTES).ok().flatten()?;
    serde_json::from_slice(&bytes).ok()
}

fn folder(context: &HookContext<'_>) -> Result<Folder, CommandError> {
    Ok(context.app.project()?.folder().inside(FOLDER))
}

fn prefix(context: &HookContext<'_>) -> Option<String> {
    Some(format!("{}.", context.conversation()?))
}
