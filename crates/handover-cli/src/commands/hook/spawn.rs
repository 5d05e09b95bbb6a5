//! A subagent is about to be spawned: it gets its brief, under a receipt.

use handover_context::brief::{self, Brief, Request, brief, compose, spool};
use handover_context::package_file::vendor_secret;
use handover_hosts::decide::spawn::{
    Facts, Outcome, Parts, Plan, decide, group_in, plan, within_limit, without_task,
};
use handover_hosts::transcript::text_hash;
use handover_hosts::{Act, Answer, Spawn};
use handover_model::models::Model;
use handover_model::{
    GroupId, KnownEvent, ReasoningLevel, ReceiptId, Role, SessionId, TicketWay, Tokenizer,
};
use handover_store::{NewTicket, ReceiptStep, StoreError};
use serde_json::json;

use super::Reply;
use super::scene::{Missing, Scene};
use crate::commands::spawn::admitted;
use crate::commands::stack::stack_of;
use crate::error::{CommandError, Exit, io};

/// Where briefs lie that are too long for a hook, below `.handover/`.
const FOLDER: &str = "briefs";

/// How many of them are kept.
const KEPT: usize = 200;

pub(super) fn react(scene: &Scene<'_>, spawn: &Spawn) -> Result<Reply, CommandError> {
    let Some(role) = scene.app.config()?.hooks.role_of(&spawn.kind) else {
        return untouched(scene, spawn);
    };
    if let Err(error) = scene.app.store() {
        return without_store(scene, spawn, role, error);
    }
    let Some(session) = scene.session(Missing::Open)? else { return Ok(Reply::default()) };
    let drops_rewrites = scene.drops_rewrites()?;
    let Plan::Brief { role, way } = plan(Facts { role: Some(role), drops_rewrites }) else {
        return Ok(Reply::default());
    };
    let request = request(scene, spawn, session, role)?;
    match made(scene, spawn, &request, way) {
        Ok(made) => hand_over(scene, spawn, way, made),
        Err(StoreError::Backend { fault, source }) => {
            let error = StoreError::Backend { fault, source }.into();
            spooled(scene, spawn, &request, &error)
        }
        Err(error) => Err(error.into()),
    }
}

/// A kind of subagent that has no role is left as it is, and that is noted where there is a session.
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
) -> Result<Request, CommandError> {
    Ok(Request {
        spawn: handover_context::assemble::Request {
            session,
            role,
            group: group(scene, spawn)?,
            task: Some(spawn.prompt.clone()),
            model: spawn.model.clone().or_else(|| scene.call.model.clone()),
            current_tokens: 0,
            iteration: 0,
            reasoning: None,
            reasoning_level: ReasoningLevel::Medium,
            limit: None,
            cap: None,
            deliver: true,
            explain: false,
            receipt: ReceiptId::new(format!("r_{}", uuid::Uuid::now_v7().simple()))?,
            now: scene.app.now(),
        },
        testing_mode: None,
        component: None,
        context: true,
        specialization: true,
        about: None,
        role_text: None,
        count_attempt: true,
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

/// Makes the brief and opens its ticket: choosing, counting the attempt and claiming are one step.
fn made(
    scene: &Scene<'_>,
    spawn: &Spawn,
    request: &Request,
    way: TicketWay,
) -> Result<Brief, StoreError> {
    let refused = |error: CommandError| StoreError::Backend {
        fault: handover_store::Fault::Unavailable,
        source: error.message.into(),
    };
    let app = scene.app;
    let (redactor, config) = (app.redactor().map_err(refused)?, app.config().map_err(refused)?);
    let (stack, templates) = (stack_of(app).map_err(refused)?, app.templates());
    let places = app.places().map_err(refused)?;
    app.store().map_err(refused)?.writing(|store| {
        let setting = brief::Setting {
            store: Ok(store),
            redactor,
            config,
            stack: &stack,
            templates: &templates,
            places: Some(places),
        };
        let made = brief(setting, request)?;
        if let Some(conversation) = scene.conversation() {
            store.open_ticket(&NewTicket {
                receipt: made.receipt.id.clone(),
                host: scene.call.host,
                host_session: conversation.clone(),
                agent_type: redactor.clean(&spawn.kind),
                task_hash: text_hash(&spawn.prompt),
                way,
                now: request.spawn.now,
            })?;
        }
        Ok(made)
    })
}

/// Asks the guard, and puts the brief into the form that the host takes.
fn hand_over(
    scene: &Scene<'_>,
    spawn: &Spawn,
    way: TicketWay,
    made: Brief,
) -> Result<Reply, CommandError> {
    let (app, id) = (scene.app, made.receipt.id.clone());
    let store = app.store()?;
    let given = without_task(&made.text, &spawn.prompt).to_owned();
    match admitted(app, made.text, store.receipt(&id)?, true) {
        Ok(_) => {}
        Err(error) if error.code == "refused" => {
            let reason = app.redactor()?.clean(&error.message);
            store.advance_receipt(&id, &ReceiptStep::Failed { reason }, app.now())?;
            store.close_ticket(&id, app.now())?;
            let hint = error.hint.unwrap_or_default();
            let outcome = Outcome::Refused(format!("{}. {hint}", error.message));
            return Ok(decide(spawn, way, outcome).into());
        }
        Err(error) => return Err(error),
    }
    let given = match way {
        TicketWay::Rewrite => form(scene, &given, &id)?,
        // Its form is made when the subagent starts.
        TicketWay::Start => given,
    };
    let answer = decide(spawn, way, Outcome::Made(given)).into();
    Ok(Reply { answer, delivers: (way == TicketWay::Rewrite).then_some(id) })
}

/// What is added, within the limit of the host; the rest lies in a file.
pub(super) fn form(
    scene: &Scene<'_>,
    given: &str,
    receipt: &ReceiptId,
) -> Result<String, CommandError> {
    let folder = scene.app.project()?.folder().join(FOLDER);
    let path = folder.join(format!("{receipt}.md"));
    let Parts { sent, file } = within_limit(
        scene.call.host,
        tokenizer(scene),
        given,
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

/// The store cannot be used. With a session that was named there can still be a receipt.
fn without_store(
    scene: &Scene<'_>,
    spawn: &Spawn,
    role: Role,
    error: CommandError,
) -> Result<Reply, CommandError> {
    match scene.app.named_session()? {
        Some(session) if error.exit == Exit::Environment => {
            spooled(scene, spawn, &request(scene, spawn, session, role)?, &error)
        }
        Some(_) | None => Err(error),
    }
}

/// The receipt goes to a file and is imported later; the subagent gets what can be had.
fn spooled(
    scene: &Scene<'_>,
    spawn: &Spawn,
    request: &Request,
    error: &CommandError,
) -> Result<Reply, CommandError> {
    let app = scene.app;
    let (stack, templates) = (stack_of(app)?, app.templates());
    let setting = brief::Setting {
        store: Err(&error.message),
        redactor: app.redactor()?,
        config: app.config()?,
        stack: &stack,
        templates: &templates,
        places: Some(app.places()?),
    };
    let made = compose(setting, request);
    let given = without_task(&made.text, &spawn.prompt).to_owned();
    let folder = app.project()?.folder();
    let receipt = spool::write(&folder.join(spool::FOLDER), &made.receipt)
        .map_err(|spool| failed_twice(error, &spool))?;
    super::log::note(&folder, app.now(), scene.call.host, &scene.call.event, &error.message);
    let sent = form(scene, &given, &receipt.id)?;
    let act = match admitted(app, made.text, receipt, false) {
        Ok(_) => decide(spawn, TicketWay::Rewrite, Outcome::Made(sent)),
        Err(refused) => Act::Refuse(refused.message),
    };
    let notice = format!("handover: {}; this subagent starts with less context", error.message);
    Ok(Reply { answer: Answer { act, notice: Some(notice) }, delivers: None })
}

fn failed_twice(error: &CommandError, spool: &std::io::Error) -> CommandError {
    let message = format!("{}, and the spool cannot be written: {spool}", error.message);
    CommandError::new(Exit::Environment, "no_receipt", message)
}
