//! What is known about agent programs whose hooks call us.

use serde::{Deserialize, Serialize};

use crate::{AgentId, BriefDelivery, Host, HostSessionId, ReceiptId, Timestamp, ToolUseId};

/// A briefed subagent, from its spawn to the end of its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The receipt of its brief.
    pub receipt: ReceiptId,
    /// The agent program that runs it.
    pub host: Host,
    /// The conversation that spawned it.
    pub host_session: HostSessionId,
    /// The host's name for its type.
    pub agent_type: String,
    /// The name that its caller gave it; some hosts report it instead of the type.
    pub name: Option<String>,
    /// The tool call that spawns it, where the host says so.
    pub tool_use: Option<ToolUseId>,
    /// BLAKE3 of the task as passed to the host.
    pub task_hash: String,
    /// What it was asked for, on one line; others that work at the same time see it.
    #[serde(default)]
    pub task: Option<String>,
    /// How the brief is delivered.
    pub way: BriefDelivery,
    /// The host's id of the subagent. From its start until the host says which call spawned it, this is a
    /// guess among the spawns that wait.
    pub agent: Option<AgentId>,
    /// Whether it was already asked for a debrief once.
    pub asked: bool,
    /// The hash of the last message that was kept: a subagent that is continued ends again.
    pub ending: Option<String>,
    /// When it was spawned.
    pub created_at: Timestamp,
    /// When it first ended, or was found to have never started.
    pub closed_at: Option<Timestamp>,
}

/// How a version of a host treats prompts rewritten by a hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostVersion {
    /// The agent program.
    pub host: Host,
    /// The version it reports.
    pub version: String,
    /// Whether it discards rewritten prompts.
    pub drops_rewrites: bool,
    /// When this was observed.
    pub seen_at: Timestamp,
}
