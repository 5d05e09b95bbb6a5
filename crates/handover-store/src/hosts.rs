//! Hook hosts: which conversation belongs to which session, which subagents were briefed, and which host
//! versions drop a rewritten prompt.

use handover_model::{
    AgentId, BriefDelivery, Host, HostSessionId, HostVersion, ReceiptId, SessionId, Ticket,
    Timestamp, ToolUseId,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// Input of [`Hosts::open_ticket`]: a subagent that is about to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewTicket {
    /// The receipt of its brief, which must be in the store.
    pub receipt: ReceiptId,
    /// The agent program that starts it.
    pub host: Host,
    /// The conversation that spawns it.
    pub host_session: HostSessionId,
    /// The host's name for this type of subagent.
    pub agent_type: Clean,
    /// The name that its caller gave it.
    pub name: Option<Clean>,
    /// The tool call that spawns it.
    pub tool_use: Option<ToolUseId>,
    /// BLAKE3 of the task as the host passed it.
    pub task_hash: String,
    /// What it is asked for, on one line.
    #[serde(default)]
    pub task: Option<Clean>,
    /// How the brief is delivered.
    pub way: BriefDelivery,
    /// The subagent, if it has already started.
    pub agent: Option<AgentId>,
    /// The current time; stores have no clock.
    pub now: Timestamp,
}

/// Hook hosts.
pub trait Hosts {
    /// Binds a conversation of a host to a session; the last call wins.
    fn bind_host(
        &self,
        host: Host,
        conversation: &HostSessionId,
        session: &SessionId,
        now: Timestamp,
    ) -> Result<()>;

    /// The session that a conversation is bound to.
    fn bound_session(&self, host: Host, conversation: &HostSessionId) -> Result<Option<SessionId>>;

    /// Records that a subagent is about to start.
    fn open_ticket(&self, new: &NewTicket) -> Result<()>;

    /// The tickets of a conversation that are not closed, oldest first.
    fn open_tickets(&self, host: Host, conversation: &HostSessionId) -> Result<Vec<Ticket>>;

    /// Every ticket of a conversation, oldest first.
    fn tickets(&self, host: Host, conversation: &HostSessionId) -> Result<Vec<Ticket>>;

    /// The last tickets of a conversation, newest first.
    fn latest_tickets(
        &self,
        host: Host,
        conversation: &HostSessionId,
        limit: u32,
    ) -> Result<Vec<Ticket>>;

    /// The tickets of a host, in all conversations, that were opened before a time and are not closed,
    /// oldest first.
    fn unsettled_tickets(&self, host: Host, before: Timestamp) -> Result<Vec<Ticket>>;

    /// The ticket of a tool call.
    fn ticket_of_call(
        &self,
        host: Host,
        conversation: &HostSessionId,
        call: &ToolUseId,
    ) -> Result<Option<Ticket>>;

    /// The last ticket of a subagent.
    fn ticket_of(&self, host: Host, agent: &AgentId) -> Result<Option<Ticket>>;

    /// Assigns a ticket to a subagent that starts. False if the ticket already belongs to another
    /// subagent, or the subagent has another ticket.
    fn take_ticket(&self, receipt: &ReceiptId, agent: &AgentId) -> Result<bool>;

    /// Assigns a ticket to the subagent that is known to have it, whatever was assumed before: a subagent
    /// that held the ticket gets the one that `agent` held. False if there is no such ticket.
    fn bind_ticket(&self, receipt: &ReceiptId, agent: &AgentId) -> Result<bool>;

    /// Records that the subagent is held back; true only the first time.
    fn ask_ticket(&self, receipt: &ReceiptId) -> Result<bool>;

    /// Records the message that ended a turn of the subagent, by its hash, and closes its ticket. False if
    /// it is the message that was recorded last.
    fn end_ticket(&self, receipt: &ReceiptId, ending: &str, now: Timestamp) -> Result<bool>;

    /// Closes a ticket; true only the first time.
    fn close_ticket(&self, receipt: &ReceiptId, now: Timestamp) -> Result<bool>;

    /// Records whether a host version drops rewritten prompts; the last call wins.
    fn note_host_version(
        &self,
        host: Host,
        version: &Clean,
        drops_rewrites: bool,
        now: Timestamp,
    ) -> Result<()>;

    /// The recorded host versions, by host and version.
    fn host_versions(&self) -> Result<Vec<HostVersion>>;
}
