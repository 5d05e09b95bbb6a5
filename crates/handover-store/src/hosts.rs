//! Agent programs whose hooks call us: which of their conversations is which session, which
//! subagents were given a brief, and which versions lose one.

use handover_model::{
    AgentId, Host, HostSessionId, HostVersion, ReceiptId, SessionId, Ticket, TicketWay, Timestamp,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// A subagent that is about to start.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewTicket {
    /// The receipt of its brief, which must be in the store.
    pub receipt: ReceiptId,
    /// Its program.
    pub host: Host,
    /// The conversation that spawns it.
    pub host_session: HostSessionId,
    /// What kind of subagent the host calls it.
    pub agent_type: Clean,
    /// BLAKE3 of the task as the host has it.
    pub task_hash: String,
    /// How the brief goes to it.
    pub way: TicketWay,
    /// Now.
    pub now: Timestamp,
}

/// Agent programs whose hooks call us.
pub trait Hosts {
    /// Says which session a conversation of a host belongs to; the last word counts.
    fn bind_host(
        &self,
        host: Host,
        conversation: &HostSessionId,
        session: &SessionId,
        now: Timestamp,
    ) -> Result<()>;

    /// The session of a conversation, if it was said.
    fn bound_session(&self, host: Host, conversation: &HostSessionId) -> Result<Option<SessionId>>;

    /// Notes that a subagent is about to start.
    fn open_ticket(&self, new: &NewTicket) -> Result<()>;

    /// The tickets of a conversation that are not closed, oldest first.
    fn open_tickets(&self, host: Host, conversation: &HostSessionId) -> Result<Vec<Ticket>>;

    /// The last ticket of a subagent.
    fn ticket_of(&self, host: Host, agent: &AgentId) -> Result<Option<Ticket>>;

    /// Says which subagent a ticket is for. False if it is another one's.
    fn take_ticket(&self, receipt: &ReceiptId, agent: &AgentId) -> Result<bool>;

    /// Notes that the subagent is held back; true for the first time alone.
    fn ask_ticket(&self, receipt: &ReceiptId) -> Result<bool>;

    /// Closes a ticket; true for the first time alone.
    fn close_ticket(&self, receipt: &ReceiptId, now: Timestamp) -> Result<bool>;

    /// Notes what a version of a host did with a rewritten prompt; the last word counts.
    fn note_host_version(
        &self,
        host: Host,
        version: &Clean,
        drops_rewrites: bool,
        now: Timestamp,
    ) -> Result<()>;

    /// What is known of versions, by host and version.
    fn host_versions(&self) -> Result<Vec<HostVersion>>;
}
