//! A brief for a subagent that has already started: no event announced it, or the hook that should have briefed
//! it failed. Its task is not known, so its brief is what holds for its role.

use handover_handoff::spool::{self, HeldBack};
use handover_handoff::{HandoffError, HandoffRequest};
use handover_hosts::decide::{start, stop};
use handover_hosts::{Action, Subagent};
use handover_model::config::Briefing;
use handover_model::{
    AgentId, BriefDelivery, KnownEvent, OnMissing, Receipt, ReceiptId, Role, SessionId,
};
use serde_json::json;

use super::context::{HookContext, IfMissing, SESSION_DISABLED};
use super::no_ticket::{self, Known, NoTicket, Seen};
use super::request::Recipient;
use super::{Reply, exempt, spawn};
use crate::error::CommandError;

/// Answers for a subagent without a ticket, when it starts or when it stops.
pub(super) fn brief(
    context: &HookContext<'_>,
    reported: &Subagent,
    way: BriefDelivery,
    seen: &Seen,
) -> Result<Reply, CommandError> {
    // Some hosts report the name of a subagent as its kind, and keep the kind.
    let kept = context.kind_of(&reported.id)?;
    let agent =
        &Subagent { kind: kept.unwrap_or_else(|| reported.kind.clone()), ..reported.clone() };
    let (role, debrief) = match context.briefing(&agent.kind)? {
        Briefing::As { role, debrief } => (role, debrief),
        Briefing::Exempt { rule, reason } => {
            exempt::started(context, &agent.kind, &agent.id, rule, &reason)?;
            return Ok(Reply::default());
        }
    };
    let remembered = match way {
        BriefDelivery::Start | BriefDelivery::Rewrite => no_ticket::take(context, reported)?,
        BriefDelivery::HoldBack => no_ticket::of_stopped(context, &reported.id, seen)?,
    };
    match remembered {
        Some(
            Known::New(NoTicket::Exempt { rule, reason })
            | Known::Before(NoTicket::Exempt { rule, reason }),
        ) => {
            exempt::started(context, &agent.kind, &agent.id, &rule, &reason)?;
            return Ok(Reply::default());
        }
        // It was seen without the brief of that receipt.
        Some(
            Known::New(NoTicket::Spooled(receipt)) | Known::Before(NoTicket::Spooled(receipt)),
        ) if way == BriefDelivery::HoldBack => {
            if let Some(reply) = hold_back_spooled(context, &receipt, &agent.id)? {
                return Ok(reply);
            }
        }
        // Its prompt has its brief.
        Some(Known::Before(NoTicket::Spooled(_))) => return Ok(Reply::default()),
        Some(Known::New(NoTicket::Spooled(receipt))) => {
            if let Some((receipt, way)) = bind_spooled(context, &receipt, &agent.id)? {
                return waiting(context, &receipt, way);
            }
        }
        None => {}
    }
    let Some(session) = context.session(IfMissing::Open)? else {
        let (rule, reason) = SESSION_DISABLED;
        exempt::started(context, &agent.kind, &agent.id, rule, reason)?;
        return Ok(Reply::default());
    };
    match context.app.config()?.hooks.on_missing {
        OnMissing::Allow => {
            let reason = "it was not announced";
            exempt::started(context, &agent.kind, &agent.id, "hooks.on_missing", reason)?;
            Ok(Reply::default())
        }
        OnMissing::Refuse => {
            let reason = "it started without a brief, and `hooks.on_missing` is `refuse`";
            refuse(context, agent, &session, &role, way, reason)
        }
        OnMissing::BriefLate => {
            let recipient = Recipient::Started(agent);
            let request = context.request(recipient, session, (role, debrief), way)?;
            prepare(context, agent, request, way)
        }
    }
}

/// Records who has a brief whose receipt could not be stored. None if another subagent has it: its receipt was
/// imported before it started.
fn bind_spooled(
    context: &HookContext<'_>,
    receipt: &ReceiptId,
    agent: &AgentId,
) -> Result<Option<(Receipt, BriefDelivery)>, CommandError> {
    let (folder, store) =
        (context.app.project()?.folder().inside(spool::FOLDER), context.app.store()?);
    if let Some(bound) = spool::bind(&folder, receipt, agent, context.app.now())? {
        return Ok(Some(bound));
    }
    if !store.take_ticket(receipt, agent)? {
        return Ok(None);
    }
    let way = store.ticket_of(context.call.host, agent)?.map(|ticket| ticket.way);
    Ok(Some((store.receipt(receipt)?, way.unwrap_or(BriefDelivery::Rewrite))))
}

/// Holds a subagent back with the brief of a receipt that waits in the spool, unless it has that. None if the receipt
/// is another's: it was imported meanwhile, and its subagent is known.
fn hold_back_spooled(
    context: &HookContext<'_>,
    receipt: &ReceiptId,
    agent: &AgentId,
) -> Result<Option<Reply>, CommandError> {
    let (folder, store) =
        (context.app.project()?.folder().inside(spool::FOLDER), context.app.store()?);
    let given = match spool::hold_back(&folder, receipt, agent, context.app.now())? {
        Some(HeldBack::Before) => return Ok(Some(Reply::default())),
        Some(HeldBack::Now(receipt)) => *receipt,
        None if store.take_ticket(receipt, agent)? => store.receipt(receipt)?,
        None => return Ok(None),
    };
    let text = spawn::fit(context, given.text.as_deref().unwrap_or_default(), &given.id)?;
    Ok(Some(Action::HoldBack(stop::late(&text)).into()))
}

/// Gives a subagent the brief that waited for its start; another one came with its prompt.
fn waiting(
    context: &HookContext<'_>,
    receipt: &Receipt,
    way: BriefDelivery,
) -> Result<Reply, CommandError> {
    if way != BriefDelivery::Start {
        return Ok(Reply::default());
    }
    let text = receipt.text.as_deref().unwrap_or_default();
    Ok(Action::Inject(spawn::fit(context, text, &receipt.id)?).into())
}

fn prepare(
    context: &HookContext<'_>,
    agent: &Subagent,
    request: HandoffRequest,
    way: BriefDelivery,
) -> Result<Reply, CommandError> {
    let prepared = match context.app.handoffs()?.prepare(&request) {
        Ok(prepared) => prepared,
        // Our hooks are registered twice, and the other one has answered.
        Err(HandoffError::Briefed { .. }) => return Ok(Reply::default()),
        Err(HandoffError::Refused(refusal)) => {
            let (session, role) = (&request.session, &request.role);
            return refuse(context, agent, session, role, way, &refusal.to_string());
        }
        Err(error) => return Err(error.into()),
    };
    let id = &prepared.brief.receipt.id;
    let text = spawn::fit(context, prepared.brief.preface(), id)?;
    if !prepared.handoff.in_store() {
        // Without it, the subagent would be briefed again when it is continued.
        let _ = no_ticket::remember(context, agent, NoTicket::Spooled(id.clone()));
    }
    let delivers = prepared.handoff.in_store().then(|| id.clone());
    Ok(Reply { answer: given(way, text).into(), delivers })
}

/// A subagent that has started cannot be refused, only asked to stop.
fn refuse(
    context: &HookContext<'_>,
    agent: &Subagent,
    session: &SessionId,
    role: &Role,
    way: BriefDelivery,
    reason: &str,
) -> Result<Reply, CommandError> {
    let payload = json!({
        "role": role, "allowed": false, "reasons": [reason], "host": context.call.host,
        "conversation": context.conversation(), "agent": agent.id, "agent_type": agent.kind,
    });
    let key = format!("refused-{}", agent.id);
    context.log_once(session, None, KnownEvent::Guard, payload, Some(&key))?;
    // When it stops, its work is done.
    Ok(match way {
        BriefDelivery::Rewrite | BriefDelivery::Start => {
            Action::Inject(start::refusal(reason)).into()
        }
        BriefDelivery::HoldBack => Reply::default(),
    })
}

fn given(way: BriefDelivery, text: String) -> Action {
    match way {
        BriefDelivery::Rewrite | BriefDelivery::Start => Action::Inject(text),
        BriefDelivery::HoldBack => Action::HoldBack(stop::late(&text)),
    }
}
