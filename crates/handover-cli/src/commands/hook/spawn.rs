//! A subagent is about to be spawned: it gets its brief, under a receipt.

use handover_context::package_file::vendor_secret;
use handover_handoff::{HandoffError, HandoffRequest, Prepared, Recorded, TicketRequest};
use handover_hosts::decide::spawn::{
    Facts, Outcome, Parts, Plan, decide, group_in, plan, within_limit,
};
use handover_hosts::transcript::text_hash;
use handover_hosts::{Answer, Spawn};
use handover_model::models::Model;
use handover_model::{GroupId, KnownEvent, ReceiptId, Role, SessionId, TicketWay, Tokenizer};
use serde_json::json;

use super::Reply;
use super::scene::{Missing, Scene};
use crate::error::{CommandError, Exit, io};

/// Where briefs lie that are too long for a hook, below `.handover/`.
const FOLDER: &str = "briefs";

/// How many of them are kept.
const KEPT: usize = 200;

pub(super) fn react(scene: &Scene<'_>, spawn: &Spawn) -> Result<Reply, CommandError> {
    let Some(role) = scene.app.config()?.hooks.role_of(&spawn.kind) else {
        return untouched(scene, spawn);
    };
    let (session, drops_rewrites) = match scene.app.store() {
        Ok(_) => match scene.session(Missing::Open)? {
            Some(session) => (session, scene.drops_rewrites()?),
            None => return Ok(Reply::default()),
        },
        // Without a store, a session that was named can still have a receipt, in the spool.
        Err(error) => match scene.app.named_session()? {
            Some(session) if error.exit == Exit::Environment => (session, false),
            Some(_) | None => return Err(error),
        },
    };
    let Plan::Brief { role, way } = plan(Facts { role: Some(role), drops_rewrites }) else {
        return Ok(Reply::default());
    };
    let request = request(scene, spawn, session, role, way)?;
    match scene.app.handoffs()?.prepare(&request) {
        Ok(prepared) => hand_over(scene, spawn, way, prepared),
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
        | HandoffError::Taken { .. }
        | HandoffError::NoReceipt { .. }
        | HandoffError::Store(_) => false,
    }
}

/// A kind of subagent that has no role is left alone; the session notes that.
fn untouched(scene: &Scene<'_>, spawn: &Spawn) -> Result<Reply, CommandError> {
    if let Some(session) = scene.session(Missing::Leave)? {
        let payload = json!({"host": scene.call.host, "agent_type": spawn.kind});
        scene.log(&session, None, KnownEvent::Untouched, payload)?;
    }
    Ok(Reply::default())
}

fn request(
    scene: &Scene<'_>,
    spawn: &Spawn,
    session: SessionId,
    role: Role,
    way: TicketWay,
) -> Result<HandoffRequest, CommandError> {
    let app = scene.app;
    Ok(HandoffRequest {
        group: group(scene, spawn)?,
        task: Some(spawn.prompt.clone()),
        model: spawn.model.clone().or_else(|| scene.call.model.clone()),
        ticket: scene.conversation().map(|conversation| TicketRequest {
            host: scene.call.host,
            conversation: conversation.clone(),
            agent_type: spawn.kind.clone(),
            task_hash: text_hash(&spawn.prompt),
            way,
        }),
        ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
    })
}

/// The group that the prompt names, else that of the environment.
fn group(scene: &Scene<'_>, spawn: &Spawn) -> Result<Option<GroupId>, CommandError> {
    let redactor = scene.app.redactor()?;
    match group_in(&spawn.prompt) {
        Some(group) if vendor_secret(redactor, group.as_str()).is_none() => Ok(Some(group)),
        Some(_) | None => scene.app.group(),
    }
}

/// Puts the brief into the form that the host takes.
fn hand_over(
    scene: &Scene<'_>,
    spawn: &Spawn,
    way: TicketWay,
    prepared: Prepared,
) -> Result<Reply, CommandError> {
    let Prepared { brief, handoff, .. } = prepared;
    let id = brief.receipt.id.clone();
    let preface = match way {
        TicketWay::Rewrite => form(scene, brief.preface(), &id)?,
        // The form is made when the subagent starts.
        TicketWay::Start => brief.preface().to_owned(),
    };
    let act = decide(spawn, way, Outcome::Made(preface));
    if let Recorded::Spool { reason, .. } = &handoff.recorded {
        let folder = scene.app.project()?.folder();
        super::log::note(&folder, scene.app.now(), scene.call.host, &scene.call.event, reason);
        let notice = format!("handover: {reason}; this subagent starts with less context");
        return Ok(Reply { answer: Answer { act, notice: Some(notice) }, delivers: None });
    }
    Ok(Reply { answer: act.into(), delivers: (way == TicketWay::Rewrite).then_some(id) })
}

/// The added text within the host's limit; a longer one goes into a file.
pub(super) fn form(
    scene: &Scene<'_>,
    preface: &str,
    receipt: &ReceiptId,
) -> Result<String, CommandError> {
    let folder = scene.app.project()?.folder().join(FOLDER);
    let path = folder.join(format!("{receipt}.md"));
    let Parts { sent, file } = within_limit(
        scene.call.host,
        tokenizer(scene),
        preface,
        receipt,
        &path.display().to_string(),
    );
    if let Some(whole) = file {
        fs_err::create_dir_all(&folder)
            .and_then(|()| fs_err::write(&path, whole))
            .map_err(|error| io(&error))?;
        super::tool::keep_newest(&folder, KEPT);
    }
    Ok(sent)
}

/// How the model of the conversation counts.
pub(super) fn tokenizer(scene: &Scene<'_>) -> Tokenizer {
    Model::named(scene.call.model.as_deref()).tokenizer
}
