//! A subagent starts: which spawn it belongs to. If its host keeps the name that its caller gave it, that says so. Else
//! the oldest spawn of its kind that waits is assumed; when the subagent ends, its host's own records tell.

use handover_model::{BriefDelivery, Ticket};

use crate::event::Subagent;
use crate::transcript::Origin;

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
pub fn recognize<'a>(
    agent: &Subagent,
    origin: Option<&Origin>,
    known: bool,
    tickets: &'a [Ticket],
) -> Start<'a> {
    if known {
        return Start::Continued;
    }
    let named = origin.filter(|origin| origin.name.is_some());
    let waits = |ticket: &&Ticket| {
        // Some hosts report the name of a subagent as its kind.
        ticket.agent.is_none()
            && (ticket.agent_type == agent.kind || ticket.name.as_deref() == Some(&agent.kind))
            && (named.is_none() || ticket.name.is_none())
    };
    let of_name = |ticket: &&Ticket| {
        let name = ticket.name.as_deref().filter(|_| ticket.agent.is_none());
        name.zip(named).is_some_and(|(name, origin)| origin.is_named(name))
    };
    // An older one of that name never started: names of agents at work are not given again.
    match tickets.iter().rfind(of_name).or_else(|| tickets.iter().find(waits)) {
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
        assert_eq!(recognize(&kind, None, false, &tickets), Start::Briefed(&tickets[1]));
        assert_eq!(recognize(&agent("Explore"), None, false, &tickets), Start::Missing);
        assert_eq!(recognize(&kind, None, true, &tickets), Start::Continued);
        assert_eq!(recognize(&kind, None, false, &[]), Start::Missing);
    }

    #[test]
    fn a_name_stands_for_the_kind() {
        let named = Ticket { name: Some("alice".to_owned()), ..ticket("r_1", None) };
        let tickets = [Ticket { way: BriefDelivery::Start, ..named }];
        assert_eq!(recognize(&agent("alice"), None, false, &tickets), Start::Awaited(&tickets[0]));
        assert_eq!(recognize(&agent("bob"), None, false, &tickets), Start::Missing);
    }

    #[test]
    fn the_name_in_its_transcript_decides() {
        let named =
            |id: &str, name: &str| Ticket { name: Some(name.to_owned()), ..ticket(id, None) };
        let tickets = [named("r_1", "alpha"), named("r_2", "beta"), named("r_3", "alpha")];
        let found = |name: &str, tickets: &'static [Ticket]| {
            let origin = Origin { name: Some(name.to_owned()), ..Origin::default() };
            match recognize(&agent("general-purpose"), Some(&origin), false, tickets) {
                Start::Briefed(ticket) => ticket.receipt.to_string(),
                other @ (Start::Continued | Start::Awaited(_) | Start::Missing) => {
                    format!("{other:?}")
                }
            }
        };
        let tickets: &'static [Ticket] = Box::leak(Box::new(tickets));
        assert_eq!(found("/root/beta", tickets), "r_2");
        assert_eq!(found("/root/alpha", tickets), "r_3");
        assert_eq!(found("/root/gamma", tickets), "Missing");
        let unnamed: &'static [Ticket] = Box::leak(Box::new([ticket("r_4", None)]));
        assert_eq!(found("/root/gamma", unnamed), "r_4");
    }
}
