//! A brief for a subagent that has already started: no event announced it, or the hook that should have briefed
//! it failed. Its task is not known, so its brief is what holds for its role.

use handover_handoff::{HandoffError, HandoffRequest, Recorded, TicketRequest};
use handover_hosts::decide::{start, stop};
use handover_hosts::{Action, Subagent};
use handover_model::config::Briefing;
use handover_model::{KnownEvent, OnMissing, Role, SessionId, TicketWay};
use serde_json::json;

use super::context::{HookContext, IfMissing};
use super::exempt::{self, NoTicket};
use super::{Reply, spawn};
use crate::error::CommandError;

/// Answers for a subagent without a ticket, when it starts or when it stops.
pub(super) fn brief(
    context: &HookContext<'_>,
    agent: &Subagent,
    way: TicketWay,
) -> Result<Reply, CommandError> {
    let (role, debrief) = match context.briefing(&agent.kind)? {
        Briefing::As { role, debrief } => (role, debrief),
        Briefing::Exempt { rule, reason } => {
            exempt::note(context, &agent.kind, Some(&agent.id), rule, &reason)?;
            return Ok(Reply::default());
        }
    };
    let remembered = match way {
        TicketWay::Start | TicketWay::Rewrite => exempt::take(context, &agent.kind)?,
        TicketWay::HoldBack => None,
    };
    match remembered {
        Some(NoTicket::Exempt(reason)) => {
            exempt::note(context, &agent.kind, Some(&agent.id), "hooks.exempt_marker", &reason)?;
            return Ok(Reply::default());
        }
        // Its prompt has its brief.
        Some(NoTicket::Spooled) => return Ok(Reply::default()),
        None => {}
    }
    let Some(session) = context.session(IfMissing::Open)? else { return Ok(Reply::default()) };
    match context.app.config()?.hooks.on_missing {
        OnMissing::Allow => {
            let reason = "it was not announced";
            exempt::note(context, &agent.kind, Some(&agent.id), "hooks.on_missing", reason)?;
            Ok(Reply::default())
        }
        OnMissing::Refuse => {
            let reason = "it started without a brief, and `hooks.on_missing` is `refuse`";
            refuse(context, agent, &session, &role, way, reason)
        }
        OnMissing::BriefLate => {
            let request = request(context, agent, session, role, way)?;
            prepare(context, agent, HandoffRequest { debrief, ..request }, way)
        }
    }
}

fn request(
    context: &HookContext<'_>,
    agent: &Subagent,
    session: SessionId,
    role: Role,
    way: TicketWay,
) -> Result<HandoffRequest, CommandError> {
    let app = context.app;
    Ok(HandoffRequest {
        group: app.group()?,
        model: context.call.model.clone(),
        ticket: context.conversation().map(|conversation| TicketRequest {
            host: context.call.host,
            conversation: conversation.clone(),
            agent_type: agent.kind.clone(),
            name: None,
            tool_use: None,
            agent: Some(agent.id.clone()),
            parent: None,
            task_hash: String::new(),
            way,
        }),
        ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
    })
}

fn prepare(
    context: &HookContext<'_>,
    agent: &Subagent,
    request: HandoffRequest,
    way: TicketWay,
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
    let delivers = (prepared.handoff.recorded == Recorded::Store).then(|| id.clone());
    Ok(Reply { answer: told(way, text).into(), delivers })
}

/// A subagent that has started cannot be refused, only told to stop.
fn refuse(
    context: &HookContext<'_>,
    agent: &Subagent,
    session: &SessionId,
    role: &Role,
    way: TicketWay,
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
        TicketWay::Rewrite | TicketWay::Start => Action::Inject(start::refusal(reason)).into(),
        TicketWay::HoldBack => Reply::default(),
    })
}

fn told(way: TicketWay, text: String) -> Action {
    match way {
        TicketWay::Rewrite | TicketWay::Start => Action::Inject(text),
        TicketWay::HoldBack => Action::HoldBack(stop::late(&text)),
    }
}
