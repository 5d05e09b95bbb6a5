//! A subagent is about to stop: whether its brief arrived, and whether it is held back.

use handover_handoff::request_for_debrief;
use handover_model::{AgentId, ReceiptId, Ticket};

use crate::event::{Action, SubagentStop};
use crate::transcript::{Origin, Scan};

/// What is known about the spawn of a subagent that stops.
#[derive(Debug, Clone, Copy)]
pub struct Identity<'a> {
    /// Its id.
    pub agent: &'a AgentId,
    /// How it came to be, where its host keeps that.
    pub origin: Option<&'a Origin>,
}

/// What a subagent's transcript reveals about its brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival<'a> {
    /// Its marker is there.
    Arrived(&'a Ticket),
    /// The conversation began without the brief.
    Lost(&'a Ticket),
    /// The ticket is known, but the conversation is not there yet.
    Unseen(&'a Ticket),
    /// No ticket is for this subagent.
    Missing,
    /// Nothing is conclusive.
    Unknown,
}

/// Looks for the brief of a subagent among the tickets of its conversation.
///
/// The call that spawned it decides where the host keeps that, whatever its prompt became; then the markers in
/// its conversation, then what was assumed when it started, and last its task.
pub fn arrival<'a>(
    scan: &Scan,
    named: Option<&ReceiptId>,
    tickets: &'a [Ticket],
    identity: Identity<'_>,
) -> Arrival<'a> {
    let Identity { agent, origin } = identity;
    let call = origin.and_then(|origin| origin.tool_use.as_ref());
    let of_call = call.and_then(|call| tickets.iter().find(|t| t.tool_use.as_ref() == Some(call)));
    let held = tickets.iter().find(|ticket| ticket.agent.as_ref() == Some(agent));
    // An agent that names its receipt has seen it.
    let seen = |ticket: &&Ticket| {
        scan.receipts.contains(&ticket.receipt) || named == Some(&ticket.receipt)
    };
    if let Some(ticket) = of_call.into_iter().chain(held).find(seen) {
        return Arrival::Arrived(ticket);
    }
    // Later markers may belong to subagents that it spawned itself.
    let with = |id: &ReceiptId| tickets.iter().find(|ticket| ticket.receipt == *id);
    if let Some(ticket) = scan.receipts.iter().chain(named).find_map(with)
        && of_call.is_none()
    {
        return Arrival::Arrived(ticket);
    }
    let disproved = |ticket: &Ticket| {
        call.is_some() && ticket.tool_use.is_some() && ticket.tool_use.as_ref() != call
    };
    let guess = held.filter(|ticket| !disproved(ticket));
    let by_task = |ticket: &&Ticket| {
        let free = ticket.agent.is_none() || ticket.agent.as_ref() == Some(agent);
        free && call.is_none() && scan.texts.contains(&ticket.task_hash)
    };
    match of_call.or(guess).or_else(|| tickets.iter().find(by_task)) {
        Some(ticket) if scan.texts.is_empty() => Arrival::Unseen(ticket),
        Some(ticket) => Arrival::Lost(ticket),
        // Its host knows how it came to be, and none of our tickets is for that; nor does its conversation hold a
        // brief whose receipt waits in the spool.
        None if origin.is_some() && !scan.texts.is_empty() && scan.receipts.is_empty() => {
            Arrival::Missing
        }
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

/// A brief for a subagent that is held back because it worked without one.
pub fn late(brief: &str) -> String {
    format!(
        "The context that belongs to this task did not arrive together with it. It follows; where it changes \
         what was done, that is still to be done. If it asks for a block, the last message ends with it.\n\n\
         {brief}"
    )
}

/// Whether the subagent may stop. It is held back at most once, whatever the reason.
pub fn decide(stop: &SubagentStop, facts: &Facts<'_>) -> Action {
    if !facts.can_hold_back || facts.asked || stop.held_before {
        return Action::Proceed;
    }
    match facts.lost {
        Some(brief) => Action::HoldBack(late(brief)),
        None if facts.required && !facts.debriefed => {
            Action::HoldBack(request_for_debrief(facts.receipt))
        }
        None => Action::Proceed,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use handover_model::{BriefDelivery, Host, HostSessionId, Timestamp, ToolUseId};

    use super::*;

    pub(crate) fn ticket(id: &str, agent: Option<&str>) -> Ticket {
        Ticket {
            receipt: ReceiptId::new(id).unwrap(),
            host: Host::CLAUDE,
            host_session: HostSessionId::new("c").unwrap(),
            agent_type: "general-purpose".to_owned(),
            name: None,
            tool_use: ToolUseId::new(format!("call_{id}")).ok(),
            task_hash: format!("task of {id}"),
            task: None,
            way: BriefDelivery::Rewrite,
            agent: agent.map(|id| AgentId::new(id).unwrap()),
            asked: false,
            ending: None,
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

    fn found(scan: &Scan, origin: Option<&str>, tickets: &[Ticket]) -> String {
        let me = AgentId::new("me").unwrap();
        let origin = origin.map(|call| Origin {
            kind: "general-purpose".to_owned(),
            tool_use: ToolUseId::new(call).ok(),
            ..Origin::default()
        });
        let identity = Identity { agent: &me, origin: origin.as_ref() };
        match arrival(scan, None, tickets, identity) {
            Arrival::Arrived(ticket) => format!("arrived {}", ticket.receipt),
            Arrival::Lost(ticket) => format!("lost {}", ticket.receipt),
            Arrival::Unseen(ticket) => format!("unseen {}", ticket.receipt),
            Arrival::Missing => "missing".to_owned(),
            Arrival::Unknown => "unknown".to_owned(),
        }
    }

    #[test]
    fn without_a_call_markers_and_tasks_decide() {
        let tickets = [ticket("r_1", None), ticket("r_2", None), ticket("r_3", Some("other"))];
        let found = |scan: &Scan| found(scan, None, &tickets);
        assert_eq!(found(&scan(&["r_9", "r_2"], &[])), "arrived r_2");
        assert_eq!(found(&scan(&["r_2", "r_1"], &["task of r_1"])), "arrived r_2");
        assert_eq!(found(&scan(&[], &["x", "task of r_2"])), "lost r_2");
        // What was assumed when they started is corrected by the marker.
        assert_eq!(found(&scan(&["r_3"], &[])), "arrived r_3");
        assert_eq!(found(&scan(&[], &["task of r_3"])), "unknown");
        assert_eq!(found(&scan(&[], &[])), "unknown");
        let (me, named) = (AgentId::new("me").unwrap(), ReceiptId::new("r_1").unwrap());
        let identity = Identity { agent: &me, origin: None };
        let arrived = arrival(&scan(&[], &[]), Some(&named), &tickets, identity);
        assert_eq!(arrived, Arrival::Arrived(&tickets[0]));
    }

    #[test]
    fn the_call_decides_whatever_became_of_the_prompt() {
        let tickets = [ticket("r_1", Some("me")), ticket("r_2", Some("other"))];
        let of = |scan: &Scan, call: &str| found(scan, Some(call), &tickets);
        assert_eq!(of(&scan(&["r_2"], &["x"]), "call_r_2"), "arrived r_2");
        assert_eq!(of(&scan(&[], &["another prompt"]), "call_r_2"), "lost r_2");
        // The marker of a subagent that it spawned itself is not its own.
        assert_eq!(of(&scan(&["r_2"], &["another prompt"]), "call_r_1"), "lost r_1");
        assert_eq!(of(&scan(&[], &[]), "call_r_2"), "unseen r_2");
        // Briefs that are injected at the start may reach a twin.
        assert_eq!(of(&scan(&["r_1"], &["x"]), "call_r_2"), "arrived r_1");
    }

    #[test]
    fn a_subagent_that_nobody_announced_is_missing() {
        let tickets = [ticket("r_1", None)];
        assert_eq!(found(&scan(&[], &["x"]), Some("call_none"), &tickets), "missing");
        assert_eq!(found(&scan(&[], &["x"]), Some(""), &[]), "missing");
        assert_eq!(found(&scan(&[], &[]), Some(""), &[]), "unknown", "not written yet");
        assert_eq!(
            found(&scan(&["r_9"], &["x"]), Some(""), &[]),
            "unknown",
            "its receipt is spooled"
        );
        // One that was briefed when it started has a ticket without a call.
        let late = [ticket("r_1", None), Ticket { tool_use: None, ..ticket("r_2", Some("me")) }];
        assert_eq!(found(&scan(&["r_2"], &["x"]), Some(""), &late), "arrived r_2");
        assert_eq!(found(&scan(&[], &["x"]), Some(""), &late), "lost r_2");
        assert_eq!(found(&scan(&[], &["x"]), Some("call_none"), &late), "lost r_2");
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
