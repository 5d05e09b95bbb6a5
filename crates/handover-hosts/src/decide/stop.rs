//! A subagent wants to stop: whether its brief arrived, and whether it may go.

use handover_handoff::request_for_debrief;
use handover_model::{AgentId, ReceiptId, Ticket};

use crate::call::{Act, ChildStop};
use crate::transcript::Seen;

/// What the subagent's conversation says about its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// It is in there.
    Arrived(&'a Ticket),
    /// The task is in there as the host had it, and the brief is not.
    Lost(&'a Ticket),
    /// It cannot be known.
    Unknown,
}

/// Looks for the brief of a subagent among the tickets of its conversation that are open.
pub fn arrival<'a>(
    seen: &Seen,
    named: Option<&ReceiptId>,
    tickets: &'a [Ticket],
    agent: &AgentId,
) -> Arrival<'a> {
    let mine = |ticket: &&Ticket| ticket.agent.is_none() || ticket.agent.as_ref() == Some(agent);
    let with = |id: &ReceiptId| tickets.iter().find(|ticket| ticket.receipt == *id).filter(mine);
    // Whoever names its receipt has seen it.
    if let Some(ticket) = seen.receipts.iter().chain(named).find_map(with) {
        return Arrival::Arrived(ticket);
    }
    let lost = |ticket: &&Ticket| seen.texts.contains(&ticket.task_hash);
    match tickets.iter().filter(mine).find(lost) {
        Some(ticket) => Arrival::Lost(ticket),
        None => Arrival::Unknown,
    }
}

/// What is known about a subagent that wants to stop.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// Its receipt.
    pub receipt: &'a ReceiptId,
    /// Its brief in the form that the host takes, if it did not arrive.
    pub lost: Option<&'a str>,
    /// Whether we held it back before.
    pub asked: bool,
    /// Whether it left a debrief.
    pub debriefed: bool,
    /// Whether it has to.
    pub required: bool,
}

/// Whether the subagent may go. It is held back once and never again, whatever for.
pub fn decide(stop: &ChildStop, facts: &Facts<'_>) -> Act {
    if facts.asked || stop.held_before {
        return Act::Nothing;
    }
    match facts.lost {
        Some(brief) => Act::Hold(format!(
            "The context that belongs to this task did not arrive together with it. It follows; where it changes \
             what was done, that is still to be done, and the last message ends with the block that it asks for.\n\n\
             {brief}"
        )),
        None if facts.required && !facts.debriefed => Act::Hold(request_for_debrief(facts.receipt)),
        None => Act::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{Host, HostSessionId, TicketWay, Timestamp};

    use super::*;

    fn ticket(id: &str, agent: Option<&str>) -> Ticket {
        Ticket {
            receipt: ReceiptId::new(id).unwrap(),
            host: Host::Claude,
            host_session: HostSessionId::new("c").unwrap(),
            agent_type: "general-purpose".to_owned(),
            task_hash: format!("task of {id}"),
            way: TicketWay::Rewrite,
            agent: agent.map(|id| AgentId::new(id).unwrap()),
            asked: false,
            created_at: Timestamp::from_micros(0),
            closed_at: None,
        }
    }

    fn seen(receipts: &[&str], texts: &[&str]) -> Seen {
        Seen {
            receipts: receipts.iter().map(|id| ReceiptId::new(*id).unwrap()).collect(),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            ..Seen::default()
        }
    }

    #[test]
    fn the_marker_or_the_bare_task_tells() {
        let tickets = [ticket("r_1", None), ticket("r_2", None), ticket("r_3", Some("other"))];
        let me = AgentId::new("me").unwrap();
        let found = |seen: &Seen| match arrival(seen, None, &tickets, &me) {
            Arrival::Arrived(ticket) => format!("arrived {}", ticket.receipt),
            Arrival::Lost(ticket) => format!("lost {}", ticket.receipt),
            Arrival::Unknown => "unknown".to_owned(),
        };
        assert_eq!(found(&seen(&["r_9", "r_2"], &[])), "arrived r_2");
        assert_eq!(found(&seen(&["r_2", "r_1"], &["task of r_1"])), "arrived r_2");
        assert_eq!(found(&seen(&[], &["x", "task of r_2"])), "lost r_2");
        // Another one's marker proves nothing.
        assert_eq!(found(&seen(&["r_3"], &[])), "unknown");
        assert_eq!(found(&seen(&[], &[])), "unknown");
        let named = ReceiptId::new("r_1").unwrap();
        let arrived = arrival(&seen(&[], &[]), Some(&named), &tickets, &me);
        assert_eq!(arrived, Arrival::Arrived(&tickets[0]));
    }

    #[test]
    fn held_back_once() {
        let receipt = ReceiptId::new("r_1").unwrap();
        let facts =
            Facts { receipt: &receipt, lost: None, asked: false, debriefed: false, required: true };
        let stop = ChildStop { transcript: None, last_message: None, held_before: false };
        let held = |stop: &ChildStop, facts: &Facts<'_>| {
            let Act::Hold(reason) = decide(stop, facts) else { panic!("it may go") };
            reason
        };
        assert!(held(&stop, &facts).contains("receipt: r_1"));
        let lost = Facts { lost: Some("THE BRIEF"), debriefed: true, ..facts.clone() };
        assert!(held(&stop, &lost).ends_with("THE BRIEF"));
        let again = ChildStop { held_before: true, ..stop.clone() };
        for (stop, facts) in [
            (&again, facts.clone()),
            (&again, lost.clone()),
            (&stop, Facts { asked: true, ..facts.clone() }),
            (&stop, Facts { asked: true, ..lost }),
            (&stop, Facts { debriefed: true, ..facts.clone() }),
            (&stop, Facts { required: false, ..facts }),
        ] {
            assert_eq!(decide(stop, &facts), Act::Nothing, "{stop:?} {facts:?}");
        }
    }
}
