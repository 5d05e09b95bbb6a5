//! A subagent is about to be spawned: it gets its brief, under a receipt.

use handover_files::Sync;
use handover_handoff::{HandoffError, Prepared, Recorded};
use handover_hosts::decide::spawn::{Outcome, Parts, decide, delivery, exempt_in, within_limit};
use handover_hosts::{Answer, SubagentSpawn};
use handover_model::config::Briefing;
use handover_model::models::Model;
use handover_model::{BriefDelivery, Provision, ReceiptId, Tokenizer};

use super::Reply;
use super::context::{HookContext, IfMissing, SESSION_DISABLED};
use super::exempt;
use super::no_ticket::{self, NoTicket};
use super::request::Recipient;
use crate::error::{CommandError, Exit};

/// The folder below `.handover/` for briefs that are too long for a hook.
const FOLDER: &str = "briefs";

/// How many of them are kept; older ones are deleted.
const KEPT: usize = 200;

pub(super) fn react(
    context: &HookContext<'_>,
    spawn: &SubagentSpawn,
) -> Result<Reply, CommandError> {
    let (role, debrief) = match context.briefing(&spawn.kind)? {
        Briefing::As { role, debrief } => (role, debrief),
        // Its host may report the name instead of the kind that the rule is about.
        Briefing::Exempt { rule, reason } if spawn.name().is_some() => {
            exempt::expected(context, spawn, rule, &reason)?;
            return Ok(Reply::default());
        }
        Briefing::Exempt { rule, reason } => {
            exempt::announced(context, spawn, rule, &reason)?;
            return Ok(Reply::default());
        }
    };
    if context.app.config()?.hooks.exempt_marker
        && let Some(reason) = exempt_in(&spawn.prompt)
    {
        exempt::expected(context, spawn, "hooks.exempt_marker", reason)?;
        return Ok(Reply::default());
    }
    let handoffs = context.app.handoffs()?;
    let (session, drops_rewrites) = match handoffs.store {
        Ok(_) => match context.session(IfMissing::Open)? {
            Some(session) => (session, context.drops_rewrites()?),
            None => {
                let (rule, reason) = SESSION_DISABLED;
                exempt::announced(context, spawn, rule, reason)?;
                return Ok(Reply::default());
            }
        },
        // Without a store, a session that was named can still have a receipt, in the spool.
        Err(reason) => match context.app.named_session()? {
            Some(session) => (session, false),
            None => return Err(CommandError::new(Exit::Environment, "store", reason)),
        },
    };
    let keeps_prompt = drops_rewrites || spawn.sealed;
    let Some(way) = delivery(context.host.capabilities(), keeps_prompt) else {
        return Ok(Reply::default());
    };
    let recipient = Recipient::Announced(spawn);
    let request = context.request(recipient, session, (role, debrief), way)?;
    match handoffs.prepare(&request) {
        Ok(prepared) => deliver(context, spawn, way, prepared),
        // Our hooks are registered twice, and the other one has answered.
        Err(HandoffError::Briefed { .. }) => Ok(Reply::default()),
        Err(error) if is_refusal(&error) => {
            let CommandError { message, hint, .. } = error.into();
            let outcome = Outcome::Refused(format!("{message}. {}", hint.unwrap_or_default()));
            Ok(decide(spawn, way, outcome).into())
        }
        Err(error) => Err(error.into()),
    }
}

/// Whether the subagent must not start, instead of starting without a brief.
fn is_refusal(error: &HandoffError) -> bool {
    match error {
        HandoffError::Refused(_)
        | HandoffError::Overridden { .. }
        | HandoffError::SessionClosed { .. } => true,
        HandoffError::OtherRole { .. }
        | HandoffError::OtherSession { .. }
        | HandoffError::NoAgent
        | HandoffError::Taken { .. }
        | HandoffError::Briefed { .. }
        | HandoffError::NoReceipt { .. }
        | HandoffError::Store(_) => false,
    }
}

/// Fits the brief to the limit of the host.
fn deliver(
    context: &HookContext<'_>,
    spawn: &SubagentSpawn,
    way: BriefDelivery,
    prepared: Prepared,
) -> Result<Reply, CommandError> {
    let Prepared { brief, handoff, .. } = prepared;
    let id = brief.receipt.id.clone();
    let preface = match way {
        BriefDelivery::Rewrite => fit(context, brief.preface(), &id)?,
        // It is fitted when the subagent starts or stops.
        BriefDelivery::Start | BriefDelivery::HoldBack => brief.preface().to_owned(),
    };
    let action = decide(spawn, way, Outcome::Made(preface));
    if let Recorded::Spool { reason, .. } = &handoff.recorded {
        // Without it, the subagent would be briefed again when it starts or stops; that is better than no brief.
        let spooled = NoTicket::Spooled(id.clone());
        let _ = no_ticket::expect(context, spawn, id.as_str(), spooled);
        let folder = context.app.project()?.folder();
        super::log::note(
            &folder,
            context.app.now(),
            context.call.host,
            &context.call.event,
            reason,
        );
        let effect = match (&brief.receipt.provided.context, way) {
            (Provision::Degraded { .. }, _) => "this subagent starts with less context",
            (
                Provision::Present | Provision::Disabled { .. } | Provision::Missing,
                BriefDelivery::HoldBack,
            ) => "this subagent gets its brief when it stops, its receipt is stored later",
            (
                Provision::Present | Provision::Disabled { .. } | Provision::Missing,
                BriefDelivery::Rewrite | BriefDelivery::Start,
            ) => "this subagent has its brief, its receipt is stored later",
        };
        let notice = format!("handover: {reason}; {effect}");
        return Ok(Reply { answer: Answer { action, notice: Some(notice) }, delivers: None });
    }
    // Delivered is what a subagent started with; only a host that does not report that is taken at its word.
    let can = context.host.capabilities();
    let unreported = !can.injects_at_start && !can.shows_prompt;
    let delivers = (way == BriefDelivery::Rewrite && unreported).then_some(id);
    Ok(Reply { answer: action.into(), delivers })
}

/// The added text within the host's limit; a longer one goes into a file.
pub(super) fn fit(
    context: &HookContext<'_>,
    preface: &str,
    receipt: &ReceiptId,
) -> Result<String, CommandError> {
    let folder = context.app.project()?.folder().inside(FOLDER);
    let name = format!("{receipt}.md");
    let Parts { sent, file } = within_limit(
        context.host.capabilities().text_limit,
        tokenizer(context),
        preface,
        receipt,
        &folder.path().join(&name).display().to_string(),
    );
    if let Some(whole) = file {
        folder.replace(&name, whole.as_bytes(), Sync::No)?;
        folder.keep_newest(KEPT, |name| name.starts_with("r_") && name.ends_with(".md"));
    }
    Ok(sent)
}

/// The tokenizer of the model of the conversation.
pub(super) fn tokenizer(context: &HookContext<'_>) -> Tokenizer {
    Model::named(context.call.model.as_deref()).tokenizer
}
