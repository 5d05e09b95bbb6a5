//! Subagents that work without a brief by a rule that the user can see. Each leaves an event with the rule and
//! the reason.

use handover_files::{Folder, Sync};
use handover_model::{AgentId, KnownEvent};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::context::{HookContext, IfMissing};
use crate::error::CommandError;

/// The folder below `.handover/` for what is remembered until a subagent starts.
const FOLDER: &str = "hooks";

/// The most that is read of a file there.
const MAX_BYTES: u64 = 64 * 1024;

/// Records that a subagent is exempt: one that is about to be spawned, or that starts.
pub(super) fn note(
    context: &HookContext<'_>,
    kind: &str,
    agent: Option<&AgentId>,
    rule: &str,
    reason: &str,
) -> Result<(), CommandError> {
    let Some(session) = context.session(IfMissing::Skip)? else { return Ok(()) };
    let call = context.call.tool_use.as_ref();
    let payload = json!({
        "host": context.call.host, "conversation": context.conversation(), "agent_type": kind,
        "agent": agent, "tool_use": call, "rule": rule, "reason": reason,
    });
    let key = agent.map(ToString::to_string).or_else(|| call.map(ToString::to_string));
    let key = key.map(|key| format!("exempt-{key}"));
    context.log_once(&session, None, KnownEvent::Untouched, payload, key.as_deref())
}

/// Why a subagent that starts has no ticket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum NoTicket {
    /// Its prompt exempts it, for this reason.
    Exempt(String),
    /// Its receipt waits in the spool, because the store could not be written.
    Spooled,
}

/// Remembers why the next subagent of a kind has no ticket: when it starts, its prompt is not known.
pub(super) fn expect(
    context: &HookContext<'_>,
    kind: &str,
    why: NoTicket,
) -> Result<(), CommandError> {
    let (folder, Some(name)) = (folder(context)?, file(context)) else { return Ok(()) };
    let mut waiting = read(&folder, &name);
    waiting.push((kind.to_owned(), why));
    let text = serde_json::to_vec(&waiting).unwrap_or_default();
    folder.replace(&name, &text, Sync::No)?;
    Ok(())
}

/// Why a subagent that starts has no ticket, if that was remembered.
pub(super) fn take(
    context: &HookContext<'_>,
    kind: &str,
) -> Result<Option<NoTicket>, CommandError> {
    let (folder, Some(name)) = (folder(context)?, file(context)) else { return Ok(None) };
    let mut waiting = read(&folder, &name);
    let Some(at) = waiting.iter().position(|(waits, _)| waits == kind) else { return Ok(None) };
    let (_, why) = waiting.remove(at);
    match waiting.is_empty() {
        true => folder.remove(&name)?,
        false => {
            let text = serde_json::to_vec(&waiting).unwrap_or_default();
            folder.replace(&name, &text, Sync::No)?;
        }
    }
    Ok(Some(why))
}

fn folder(context: &HookContext<'_>) -> Result<Folder, CommandError> {
    Ok(context.app.project()?.folder().inside(FOLDER))
}

/// The file of a conversation; it is deleted with the others when the conversation ends.
fn file(context: &HookContext<'_>) -> Option<String> {
    Some(format!("{}.exempt.json", context.conversation()?))
}

fn read(folder: &Folder, name: &str) -> Vec<(String, NoTicket)> {
    let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
    folder.read(name, MAX_BYTES).ok().flatten().and_then(parse).unwrap_or_default()
}
