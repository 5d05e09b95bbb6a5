//! A subagent starts: which spawn it belongs to. The host does not say yet, so the oldest spawn of its kind
//! that waits is assumed; when the subagent ends, its host's own records tell.

use handover_model::{BriefDelivery, Ticket};

use crate::event::Subagent;

/// What a subagent that starts is to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start<'a> {
    /// It was briefed before and is continued.
    Continued,
    /// Its prompt carries its brief.
    Briefed(&'a Ticket),
    /// Its brief waits for it.
    Awaited(&'a Ticket),
    /// Nobody briefed it: no event announced it, or the hook failed.
    Missing,
}

/// Finds the spawn of a subagent among the open tickets of its conversation.
pub fn recognize<'a>(agent: &Subagent, known: bool, tickets: &'a [Ticket]) -> Start<'a> {
    if known {
        return Start::Continued;
    }
    let waits = |ticket: &&Ticket| {
        // Some hosts report the name of a subagent as its kind.
        ticket.agent.is_none()
            && (ticket.agent_type == agent.kind || ticket.name.as_deref() == Some(&agent.kind))
    };
    match tickets.iter().find(waits) {
        Some(ticket) if ticket.way == BriefDelivery::Start => Start::Awaited(ticket),
        Some(ticket) => Start::Briefed(ticket),
        None => Start::Missing,
    }
}

/// The text for a subagent whose start cannot be refused.
pub fn refusal(reason: &str) -> String {
    format!(
        "Handover refuses this agent, because {reason}. It does no work and uses no tool: its only message says \
         that it was refused, and why."
    )
}

#[cfg(test)]
mod tests {
    use handover_model::AgentId;

    use super::*;
    use crate::decide::stop::tests::ticket;

    fn agent(kind: &str) -> Subagent {
        Subagent { id: AgentId::new("me").unwrap(), kind: kind.to_owned() }
    }

    #[test]
    fn the_oldest_spawn_of_the_kind_is_assumed() {
        let taken = ticket("r_1", Some("other"));
        let (first, second) = (ticket("r_2", None), ticket("r_3", None));
        let tickets = [taken, first, second];
        let kind = agent("general-purpose");
        assert_eq!(recognize(&kind, false, &tickets), Start::Briefed(&tickets[1]));
        assert_eq!(recognize(&agent("Explore"), false, &tickets), Start::Missing);
        assert_eq!(recognize(&kind, true, &tickets), Start::Continued);
        assert_eq!(recognize(&kind, false, &[]), Start::Missing);
    }

    #[test]
    fn a_name_stands_for_the_kind() {
        let named = Ticket { name: Some("alice".to_owned()), ..ticket("r_1", None) };
        let tickets = [Ticket { way: BriefDelivery::Start, ..named }];
        assert_eq!(recognize(&agent("alice"), false, &tickets), Start::Awaited(&tickets[0]));
        assert_eq!(recognize(&agent("bob"), false, &tickets), Start::Missing);
    }
}
