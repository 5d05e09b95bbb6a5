//! Subagents without a ticket in the store: what is remembered of them outside of it, for as long as their
//! conversation lasts. When one starts, its prompt is not known; when it is continued, it starts again.
//!
//! Each is a file of its own: hooks of subagents that are spawned together run at the same time.

use handover_files::{Entry, Folder, Kind, Sync};
use handover_hosts::transcript::text_hash;
use handover_hosts::{Subagent, SubagentSpawn};
use handover_model::{AgentId, ReceiptId, ToolUseId};
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
    /// It is exempt.
    Exempt {
        /// The key of the rule.
        rule: String,
        /// What made the rule apply.
        reason: String,
    },
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

/// What the host keeps of a subagent that stops.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The call that spawned it.
    pub(super) call: Option<ToolUseId>,
    /// The hashes of what its conversation holds.
    pub(super) texts: Vec<String>,
}

/// A subagent in a file.
#[derive(Serialize, Deserialize)]
struct Kept {
    kind: String,
    /// The name that its caller gave it, which a host may report instead of the kind.
    name: Option<String>,
    /// The tool call that spawns it.
    call: Option<ToolUseId>,
    /// The hash of its task; empty if that is not known.
    task: String,
    why: NoTicket,
}

impl Kept {
    fn is_called(&self, kind: &str) -> bool {
        self.kind == kind || self.name.as_deref() == Some(kind)
    }
}

/// Remembers why the subagent that is about to start has no ticket. `key` tells its spawn from others.
pub(super) fn expect(
    context: &HookContext<'_>,
    spawn: &SubagentSpawn,
    key: &str,
    why: NoTicket,
) -> Result<(), CommandError> {
    let kept = Kept {
        kind: spawn.kind.clone(),
        name: spawn.name().map(ToOwned::to_owned),
        call: context.call.tool_use.clone(),
        task: text_hash(&spawn.prompt),
        why,
    };
    write(context, &format!("{key}{WAITS}"), &kept)
}

/// Remembers why a subagent that has started has no ticket.
pub(super) fn remember(
    context: &HookContext<'_>,
    agent: &Subagent,
    why: NoTicket,
) -> Result<(), CommandError> {
    let kept = Kept { kind: agent.kind.clone(), name: None, call: None, task: String::new(), why };
    write(context, &format!("{}{STARTED}", agent.id), &kept)
}

/// What is remembered of a subagent that has started before.
fn of(context: &HookContext<'_>, agent: &AgentId) -> Result<Option<NoTicket>, CommandError> {
    let Some(prefix) = prefix(context) else { return Ok(None) };
    let kept = read(&folder(context)?, &format!("{prefix}{agent}{STARTED}"));
    Ok(kept.map(|kept| kept.why))
}

/// What is remembered of a subagent that stops: by its call or its task, else by what was assumed when it started. Some
/// hosts do not report the start; what waited for one is its own from then on.
pub(super) fn of_stopped(
    context: &HookContext<'_>,
    agent: &AgentId,
    seen: &Seen,
) -> Result<Option<Known>, CommandError> {
    let (folder, Some(prefix)) = (folder(context)?, prefix(context)) else { return Ok(None) };
    let own = format!("{prefix}{agent}{STARTED}");
    let ours = |name: &str| {
        name.starts_with(&prefix) && (name.ends_with(WAITS) || name.ends_with(STARTED))
    };
    let mut entries = folder.entries()?;
    entries.retain(|entry| ours(&entry.name));
    entries.sort_by_key(|entry| entry.modified);
    let mut spooled = None;
    for Entry { name, .. } in entries {
        let Some(kept) = read(&folder, &name) else { continue };
        let is_own = name == own;
        let is_mine = match (&kept.call, &seen.call) {
            (Some(kept), Some(call)) => kept == call,
            _ => is_own || seen.texts.contains(&kept.task),
        };
        match (is_mine, kept.why) {
            (true, why @ NoTicket::Exempt { .. }) => return Ok(Some(Known::Before(why))),
            (true, why @ NoTicket::Spooled(_)) if is_own => spooled = Some(Known::Before(why)),
            // Only one process can rename it.
            (true, why @ NoTicket::Spooled(_))
                if spooled.is_none()
                    && name.ends_with(WAITS)
                    && folder.rename(&name, &own).is_ok() =>
            {
                spooled = Some(Known::New(why));
            }
            (true | false, _) => {}
        }
    }
    Ok(spooled)
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
        let Some(kept) = read(&folder, &entry.name).filter(|kept| kept.is_called(&agent.kind))
        else {
            continue;
        };
        // Only one process can rename it.
        if folder.rename(&entry.name, &format!("{prefix}{}{STARTED}", agent.id)).is_ok() {
            return Ok(Some(Known::New(kept.why)));
        }
    }
    Ok(None)
}

fn write(context: &HookContext<'_>, name: &str, kept: &Kept) -> Result<(), CommandError> {
    let (folder, Some(prefix)) = (folder(context)?, prefix(context)) else { return Ok(()) };
    let kept = serde_json::to_vec(kept).unwrap_or_default();
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
