//! A subagent is about to stop: whether its brief arrived, and whether it is held back.

use handover_handoff::request_for_debrief;
use handover_model::{AgentId, ReceiptId, Ticket};

use crate::event::{Action, SubagentStop};
use crate::transcript::Scan;

/// What a subagent's transcript reveals about its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// Its marker is there.
    Arrived(&'a Ticket),
    /// The task is there as the caller wrote it, without the brief.
    Lost(&'a Ticket),
    /// The transcript is inconclusive.
    Unknown,
}

/// Looks for the brief of a subagent among the open tickets of its conversation.
pub fn arrival<'a>(
    scan: &Scan,
    named: Option<&ReceiptId>,
    tickets: &'a [Ticket],
    agent: &AgentId,
) -> Arrival<'a> {
    let mine = |ticket: &&Ticket| ticket.agent.is_none() || ticket.agent.as_ref() == Some(agent);
    let with = |id: &ReceiptId| tickets.iter().find(|ticket| ticket.receipt == *id).filter(mine);
    // An agent that names its receipt has seen it.
    if let Some(ticket) = scan.receipts.iter().chain(named).find_map(with) {
        return Arrival::Arrived(ticket);
    }
    let lost = |ticket: &&Ticket| scan.texts.contains(&ticket.task_hash);
    match tickets.iter().filter(mine).find(lost) {
        Some(ticket) => Arrival::Lost(ticket),
        None => Arrival::Unknown,
    }
}

/// What is known about a subagent that is about to stop.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// The receipt of its brief.
    pub receipt: &'a ReceiptId,
    /// The brief, within the limit of the host, if it did not arrive.
    pub lost: Option<&'a str>,
    /// Whether we have already held it back.
    pub asked: bool,
    /// Whether it left a debrief.
    pub debriefed: bool,
    /// Whether a debrief is required.
    pub required: bool,
    /// Whether the host lets a hook hold a subagent back.
    pub can_hold_back: bool,
}

/// Whether the subagent may stop. It is held back at most once, whatever the reason.
pub fn decide(stop: &SubagentStop, facts: &Facts<'_>) -> Action {
    if !facts.can_hold_back || facts.asked || stop.held_before {
        return Action::Proceed;
    }
    match facts.lost {
        Some(brief) => Action::HoldBack(format!(
            "The context that belongs to this task did not arrive together with it. It follows; where it changes \
             what was done, that is still to be done, and the last message ends with the block that it asks for.\n\n\
             {brief}"
        )),
        None if facts.required && !facts.debriefed => {
            Action::HoldBack(request_for_debrief(facts.receipt))
        }
        None => Action::Proceed,
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{Host, HostSessionId, TicketWay, Timestamp};

    use super::*;

    fn ticket(id: &str, agent: Option<&str>) -> Ticket {
        Ticket {
            receipt: ReceiptId::new(id).unwrap(),
            host: Host::CLAUDE,
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

    fn scan(receipts: &[&str], texts: &[&str]) -> Scan {
        Scan {
            receipts: receipts.iter().map(|id| ReceiptId::new(*id).unwrap()).collect(),
            texts: texts.iter().map(|&text| text.to_owned()).collect(),
            ..Scan::default()
        }
    }

    #[test]
    fn detects_delivery_by_marker_and_loss_by_bare_task() {
        let tickets = [ticket("r_1", None), ticket("r_2", None), ticket("r_3", Some("other"))];
        let me = AgentId::new("me").unwrap();
        let found = |scan: &Scan| match arrival(scan, None, &tickets, &me) {
            Arrival::Arrived(ticket) => format!("arrived {}", ticket.receipt),
            Arrival::Lost(ticket) => format!("lost {}", ticket.receipt),
            Arrival::Unknown => "unknown".to_owned(),
        };
        assert_eq!(found(&scan(&["r_9", "r_2"], &[])), "arrived r_2");
        assert_eq!(found(&scan(&["r_2", "r_1"], &["task of r_1"])), "arrived r_2");
        assert_eq!(found(&scan(&[], &["x", "task of r_2"])), "lost r_2");
        // Another subagent's marker proves nothing.
        assert_eq!(found(&scan(&["r_3"], &[])), "unknown");
        assert_eq!(found(&scan(&[], &[])), "unknown");
        let named = ReceiptId::new("r_1").unwrap();
        let arrived = arrival(&scan(&[], &[]), Some(&named), &tickets, &me);
        assert_eq!(arrived, Arrival::Arrived(&tickets[0]));
    }

    #[test]
    fn holds_back_once() {
        let receipt = ReceiptId::new("r_1").unwrap();
        let facts = Facts {
            receipt: &receipt,
            lost: None,
            asked: false,
            debriefed: false,
            required: true,
            can_hold_back: true,
        };
        let stop = SubagentStop { transcript: None, last_message: None, held_before: false };
        let held = |stop: &SubagentStop, facts: &Facts<'_>| {
            let Action::HoldBack(reason) = decide(stop, facts) else { panic!("it may go") };
            reason
        };
        assert!(held(&stop, &facts).contains("receipt: r_1"));
        let lost = Facts { lost: Some("THE BRIEF"), debriefed: true, ..facts.clone() };
        assert!(held(&stop, &lost).ends_with("THE BRIEF"));
        let again = SubagentStop { held_before: true, ..stop.clone() };
        for (stop, facts) in [
            (&again, facts.clone()),
            (&again, lost.clone()),
            (&stop, Facts { asked: true, ..facts.clone() }),
            (&stop, Facts { asked: true, ..lost }),
            (&stop, Facts { debriefed: true, ..facts.clone() }),
            (&stop, Facts { can_hold_back: false, ..facts.clone() }),
            (&stop, Facts { required: false, ..facts }),
        ] {
            assert_eq!(decide(stop, &facts), Action::Proceed, "{stop:?} {facts:?}");
        }
    }
}
