//! What is known of agent programs whose hooks call us.

use serde::{Deserialize, Serialize};

use crate::{AgentId, Host, HostSessionId, ReceiptId, TicketWay, Timestamp};

/// A subagent that a host was given a brief for: from its spawn until it has left its debrief.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ticket {
    /// The receipt of its brief.
    pub receipt: ReceiptId,
    /// Its program.
    pub host: Host,
    /// The conversation of the host that spawned it.
    pub host_session: HostSessionId,
    /// What kind of subagent the host calls it.
    pub agent_type: String,
    /// BLAKE3 of the task as the host had it.
    pub task_hash: String,
    /// How the brief goes to it.
    pub way: TicketWay,
    /// Which subagent it is, once known.
    pub agent: Option<AgentId>,
    /// Whether it was held back once already.
    pub asked: bool,
    /// When it was spawned.
    pub created_at: Timestamp,
    /// When it left its debrief, or none for good.
    pub closed_at: Option<Timestamp>,
}

/// What a version of a host does with a prompt that a hook has rewritten.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostVersion {
    /// The program.
    pub host: Host,
    /// Its version, as it calls itself.
    pub version: String,
    /// Whether the rewritten prompt gets lost.
    pub drops_rewrites: bool,
    /// When that was seen.
    pub seen_at: Timestamp,
}
