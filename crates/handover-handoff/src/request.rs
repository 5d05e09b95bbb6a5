//! What a surface asks for: one type for the command line, hooks, MCP, HTTP and runs.

use handover_context::assemble::ContextRequest;
use handover_model::{
    AgentId, BriefDelivery, GroupId, Host, HostSessionId, ReasoningLevel, ReceiptId, Role,
    SessionId, TestingMode, Timestamp, ToolUseId,
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
    /// How much reasoning is included; `None` leaves it to the role.
    pub reasoning_level: Option<ReasoningLevel>,
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
    /// Whether the agent is asked for a debrief.
    pub debrief: bool,
    /// Whether every candidate is explained instead of only the best.
    pub explain: bool,
    /// The agent program, if it is known: what it loads by itself is not repeated.
    pub host: Option<Host>,
    /// Whether the brief says which agents of the session are at work. Of an agent with a ticket, those of its
    /// conversation are named in any case.
    pub beside: bool,
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
    /// The name that its caller gave it.
    pub name: Option<String>,
    /// The tool call that spawns it. A call is briefed once, even if our hooks are registered twice.
    pub tool_use: Option<ToolUseId>,
    /// The subagent, if it has already started. It is briefed once, too.
    pub agent: Option<AgentId>,
    /// The subagent that spawns it; none if the lead does.
    pub parent: Option<AgentId>,
    /// BLAKE3 of the task as the host has it.
    pub task_hash: String,
    /// How the brief reaches the subagent.
    pub way: BriefDelivery,
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
            reasoning_level: None,
            limit: None,
            testing_mode: None,
            component: None,
            context: true,
            specialization: true,
            role_text: None,
            debrief: true,
            explain: false,
            host: None,
            beside: false,
            ticket: None,
            receipt,
            now,
        }
    }

    /// The agent program, if it is known.
    pub(crate) fn program(&self) -> Option<Host> {
        self.host.or_else(|| self.ticket.as_ref().map(|ticket| ticket.host))
    }

    /// What the request itself says about the part that assembly answers; see [`crate::Handoffs::context_request`].
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
            loaded: Vec::new(),
            claim: delivery == Delivery::Now,
            explain: self.explain,
            receipt: self.receipt.clone(),
            now: self.now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> HandoffRequest {
        let (session, role) = (SessionId::new("s1").unwrap(), Role::new("developer").unwrap());
        HandoffRequest::new(session, role, ReceiptId::new("r_1").unwrap(), Timestamp::default())
    }

    #[test]
    fn a_new_request_asks_for_everything() {
        let request = request();
        assert!(request.context && request.specialization);
        assert_eq!((request.attempt, request.current_tokens), (Attempt::Count, 0));
        assert!(request.ticket.is_none() && request.role_text.is_none() && !request.explain);
    }

    #[test]
    fn attempts_are_given_or_counted() {
        assert_eq!(Attempt::from(Some(3)), Attempt::Number(3));
        assert_eq!(Attempt::from(None), Attempt::Count);
        assert_eq!((Attempt::Number(3).given(), Attempt::Count.given()), (3, 0));
        assert_eq!(Delivery::now_if(true), Delivery::Now);
        assert_eq!(Delivery::now_if(false), Delivery::Later);
    }

    #[test]
    fn the_context_is_asked_for_with_all_that_was_given() {
        let request = HandoffRequest {
            group: Some(GroupId::new("P1").unwrap()),
            task: Some("task".to_owned()),
            model: Some("opus".to_owned()),
            current_tokens: 5,
            reasoning: Some(true),
            reasoning_level: Some(ReasoningLevel::Full),
            limit: Some(9),
            explain: true,
            now: Timestamp::from_micros(7),
            ..request()
        };
        let context = request.context_request(2, Some(100), Delivery::Now);
        assert_eq!((context.iteration, context.cap, context.claim), (2, Some(100), true));
        assert_eq!((context.group, context.task.as_deref()), (request.group.clone(), Some("task")));
        assert_eq!((context.model.as_deref(), context.current_tokens), (Some("opus"), 5));
        assert_eq!(
            (context.reasoning, context.reasoning_level),
            (Some(true), Some(ReasoningLevel::Full))
        );
        assert_eq!((context.limit, context.explain), (Some(9), true));
        assert_eq!((context.receipt, context.now), (request.receipt.clone(), request.now));
        // What decides on relevance may be shorter than the task.
        let relevance = Some("words".to_owned());
        let later =
            HandoffRequest { relevance, ..request }.context_request(0, None, Delivery::Later);
        assert_eq!((later.task.as_deref(), later.claim, later.cap), (Some("words"), false, None));
    }
}
