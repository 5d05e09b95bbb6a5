//! What a surface asks for: one type for the command line, hooks, MCP, HTTP and runs.

use handover_context::assemble::ContextRequest;
use handover_model::{
    GroupId, Host, HostSessionId, ReasoningLevel, ReceiptId, Role, SessionId, TestingMode,
    TicketWay, Timestamp,
};

/// A request for one handoff. [`HandoffRequest::new`] has the defaults of a fresh agent; a surface
/// sets what it knows better.
#[derive(Debug, Clone)]
pub struct HandoffRequest {
    /// The session whose records are handed over and which keeps the receipt.
    pub session: SessionId,
    /// The role of the agent.
    pub role: Role,
    /// The group that the agent works in.
    pub group: Option<GroupId>,
    /// The task as the agent will read it.
    pub task: Option<String>,
    /// Text to rank by, where the task carries instructions besides its subject.
    pub relevance: Option<String>,
    /// The model, by any of its names; decides window, tier and tokenizer.
    pub model: Option<String>,
    /// Which attempt this is.
    pub attempt: Attempt,
    /// Tokens that the agent's window holds already.
    pub current_tokens: u64,
    /// Whether other agents' reasoning is included; `None` leaves it to the role.
    pub reasoning: Option<bool>,
    /// How much reasoning is included.
    pub reasoning_level: ReasoningLevel,
    /// The most packages; `None` leaves it to the role.
    pub limit: Option<usize>,
    /// How much testing the workflow does; `None` leaves it to the configuration.
    pub testing_mode: Option<TestingMode>,
    /// The component that the agent works in; `None` leaves it to the group.
    pub component: Option<String>,
    /// Whether the brief has context.
    pub context: bool,
    /// Whether the brief has a specialization.
    pub specialization: bool,
    /// Replaces the built-in section about the role, and its form of an ending.
    pub role_text: Option<String>,
    /// Whether every candidate is explained instead of only the best.
    pub explain: bool,
    /// The spawn of a host that the receipt is bound to.
    pub ticket: Option<TicketRequest>,
    /// The id of the receipt to write.
    pub receipt: ReceiptId,
    /// The time of the request.
    pub now: Timestamp,
}

/// Which attempt of its role an agent is. Every attempt gets everything again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attempt {
    /// As many as were delivered to this role of the group before.
    Count,
    /// A number that the caller gave, from 0.
    Number(u32),
}

impl Attempt {
    /// The given number, else the first attempt.
    pub(crate) fn given(self) -> u32 {
        match self {
            Self::Count => 0,
            Self::Number(number) => number,
        }
    }
}

impl From<Option<u32>> for Attempt {
    fn from(given: Option<u32>) -> Self {
        given.map_or(Self::Count, Self::Number)
    }
}

/// Whether a text is about to go to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// Its packages are claimed, so that no other agent takes them meanwhile.
    Now,
    /// Nothing counts as consumed.
    Later,
}

impl Delivery {
    /// [`Delivery::Now`] if `deliver` is set.
    pub fn now_if(deliver: bool) -> Self {
        if deliver { Self::Now } else { Self::Later }
    }
}

/// A subagent that a host is about to spawn.
#[derive(Debug, Clone)]
pub struct TicketRequest {
    /// The agent program.
    pub host: Host,
    /// The conversation that spawns the subagent.
    pub conversation: HostSessionId,
    /// What the host calls this kind of subagent.
    pub agent_type: String,
    /// BLAKE3 of the task as the host has it.
    pub task_hash: String,
    /// How the brief reaches the subagent.
    pub way: TicketWay,
}

impl HandoffRequest {
    /// A request for a fresh agent, about to start, with everything left to role and configuration.
    pub fn new(session: SessionId, role: Role, receipt: ReceiptId, now: Timestamp) -> Self {
        Self {
            session,
            role,
            group: None,
            task: None,
            relevance: None,
            model: None,
            attempt: Attempt::Count,
            current_tokens: 0,
            reasoning: None,
            reasoning_level: ReasoningLevel::default(),
            limit: None,
            testing_mode: None,
            component: None,
            context: true,
            specialization: true,
            role_text: None,
            explain: false,
            ticket: None,
            receipt,
            now,
        }
    }

    /// The part of the request that assembly answers.
    pub(crate) fn context_request(
        &self,
        iteration: u32,
        cap: Option<u64>,
        delivery: Delivery,
    ) -> ContextRequest {
        ContextRequest {
            session: self.session.clone(),
            role: self.role.clone(),
            group: self.group.clone(),
            task: self.relevance.clone().or_else(|| self.task.clone()),
            model: self.model.clone(),
            current_tokens: self.current_tokens,
            iteration,
            reasoning: self.reasoning,
            reasoning_level: self.reasoning_level,
            limit: self.limit,
            cap,
            claim: delivery == Delivery::Now,
            explain: self.explain,
            receipt: self.receipt.clone(),
            now: self.now,
        }
    }
}
