//! The prompt of a spawn: made or given, recorded, and let through by the guard.

use std::path::Path;

use handover_context::brief::{
    Admitted, Refusal, Request, Setting, admit, brief, compose, marker_of, spool,
};
use handover_model::{KnownEvent, Receipt, SessionStatus};
use handover_store::{EventKey, NewEvent, StoreError};
use serde_json::json;

use super::{SpawnArgs, never_started};
use crate::app::App;
use crate::commands::brief::warn_about;
use crate::commands::stack::stack_of;
use crate::config::Source;
use crate::error::{CommandError, Exit, io};
use crate::input;

/// A prompt that may go out.
pub(crate) struct Ready {
    pub(super) admitted: Admitted,
    /// Whether its receipt is in the store, or waits in the spool.
    pub(super) in_store: bool,
}

/// What decides whether an agent may start without something.
const DECISIVE: [&str; 5] = [
    "guard.mode",
    "assembly.enabled",
    "assembly.roles_disabled",
    "specialization.enabled",
    "specialization.roles_disabled",
];

/// A spawn without context is a decision of the project, written down in its configuration, and not
/// of whoever types the command.
pub(super) fn refuse_shortcuts(app: &App) -> Result<(), CommandError> {
    for key in DECISIVE {
        let source = app.loaded_config()?.source(key);
        if matches!(source, Source::Flag | Source::Environment(_)) {
            return Err(CommandError::invalid(format!(
                "`{key}` is set by {source}, which may not decide what agents start without"
            ))
            .hinted("Set it in `.handover/config.toml`."));
        }
    }
    Ok(())
}

/// Makes a new brief.
pub(super) fn fresh(
    app: &App,
    args: &SpawnArgs,
    task: Option<String>,
) -> Result<Ready, CommandError> {
    let (stack, templates) = (stack_of(app)?, app.templates());
    let (redactor, config) = (app.redactor()?, app.config()?);
    // A store that is out of order leaves the session that was named.
    let (session, broken) = match app.session() {
        Ok(session) => (session, None),
        Err(error) if error.exit == Exit::Environment => match app.named_session()? {
            Some(session) => (session, Some(error.message)),
            None => return Err(error),
        },
        Err(error) => return Err(error),
    };
    let broken = broken.or_else(|| app.store().err().map(|error| error.message));
    let mut spawn = args.request.request(app, session, app.group()?, task)?;
    spawn.deliver = true;
    let request = |spawn| args.parts.with(spawn);
    let places = Some(app.places()?);
    let setting =
        |store| Setting { store, redactor, config, stack: &stack, templates: &templates, places };
    if broken.is_none() {
        let store = app.store()?;
        import_spool(app)?;
        let session = store.session(&spawn.session)?;
        if session.status != SessionStatus::Active {
            return Err(CommandError::invalid(format!(
                "session `{}` is {}",
                session.id, session.status
            ))
            .hinted(format!("`handover session reopen {}` goes on with it.", session.id)));
        }
        let mut request = request(spawn);
        request.count_attempt = args.request.iteration.is_none();
        match brief(setting(Ok(store)), &request) {
            Ok(made) => {
                warn_about(app, &made);
                let receipt = store.receipt(&made.receipt.id)?;
                return admitted(app, made.text, receipt, true);
            }
            Err(StoreError::Backend { fault, source }) => {
                let error = CommandError::from(StoreError::Backend { fault, source });
                return spooled(app, setting(Err(&error.message)), &request);
            }
            Err(error) => return Err(error.into()),
        }
    }
    let reason = broken.unwrap_or_default();
    spooled(app, setting(Err(&reason)), &request(spawn))
}

/// The store is out of order: the receipt goes to a file, and is imported later.
fn spooled(app: &App, setting: Setting<'_>, request: &Request) -> Result<Ready, CommandError> {
    let made = compose(setting, request);
    warn_about(app, &made);
    let folder = app.project()?.folder().join(spool::FOLDER);
    let receipt = spool::write(&folder, &made.receipt).map_err(|error| {
        CommandError { code: "no_receipt", ..io(&error) }
            .hinted("Neither the store nor the spool can be written, so no agent is started.")
    })?;
    app.ui.warn(format_args!(
        "the store cannot be written; receipt {} waits in {}",
        receipt.id,
        folder.display()
    ));
    admitted(app, made.text, receipt, false)
}

/// Receipts that had to wait come into the store first: they count as attempts.
fn import_spool(app: &App) -> Result<(), CommandError> {
    let folder = app.project()?.folder().join(spool::FOLDER);
    let imported = spool::import(&folder, app.store()?, app.redactor()?);
    for (path, reason) in imported.waiting {
        app.ui.warn(format_args!("{} still waits: {reason}", path.display()));
    }
    Ok(())
}

/// A prompt that was briefed earlier.
pub(super) fn given(app: &App, args: &SpawnArgs, file: &Path) -> Result<Ready, CommandError> {
    let prompt = input::file(file, &app.stdin, "the prompt")?;
    let Some(id) = marker_of(&prompt) else {
        let reasons = vec!["the prompt does not carry the marker of a receipt".to_owned()];
        return Err(Refusal { reasons }.into());
    };
    let store = app.store()?;
    let receipt = store.receipt(&id)?;
    let session = app.named_session()?;
    let is_other = |what: &str, asked: &str, is: &str| {
        CommandError::invalid(format!(
            "the prompt is for {what} `{is}`, and `{asked}` is asked for"
        ))
        .hinted("Make a brief for the one that you mean.")
    };
    if receipt.role != args.request.role {
        return Err(is_other("role", args.request.role.as_str(), receipt.role.as_str()));
    }
    if let Some(session) = session.filter(|session| *session != receipt.session) {
        return Err(is_other("session", session.as_str(), receipt.session.as_str()));
    }
    let ready = admitted(app, prompt, receipt, true)?;
    // One agent alone: whoever comes second is told so. A guard that is not strict may let a prompt
    // go out again.
    match store.claim_receipt(&id, app.now()) {
        Err(StoreError::WrongState { .. }) if !ready.admitted.warnings().is_empty() => Ok(ready),
        Err(error) => Err(CommandError { exit: Exit::Blocked, ..error.into() }),
        Ok(()) => Ok(ready),
    }
}

pub(crate) fn admitted(
    app: &App,
    prompt: String,
    receipt: Receipt,
    in_store: bool,
) -> Result<Ready, CommandError> {
    let mode = app.config()?.guard.mode;
    let kept = receipt.clone();
    let decision = admit(mode, prompt, receipt);
    let (allowed, reasons) = match &decision {
        Ok(admitted) => (true, admitted.warnings().to_vec()),
        Err(refusal) => (false, refusal.reasons.clone()),
    };
    if in_store {
        let redactor = app.redactor()?;
        let payload = json!({
            "receipt": kept.id, "role": kept.role, "mode": mode, "allowed": allowed,
            "reasons": reasons,
        });
        app.store()?.log_event(&NewEvent {
            session: kept.session.clone(),
            group: kept.group.clone(),
            kind: KnownEvent::Guard.into(),
            payload: redactor.clean_json(payload),
            key: allowed.then(|| EventKey::new(kept.id.as_str(), redactor)),
            now: app.now(),
        })?;
    }
    match decision {
        Ok(admitted) => {
            for warning in admitted.warnings() {
                app.ui.warn(format_args!("guard: {warning}"));
            }
            Ok(Ready { admitted, in_store })
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The agent never started: its receipt says so, and its packages are free again.
pub(super) fn give_back(app: &App, ready: &Ready, reason: &str) {
    let receipt = ready.admitted.receipt();
    if !ready.in_store {
        if let Ok(project) = app.project() {
            spool::forget(&project.folder().join(spool::FOLDER), receipt);
        }
        return;
    }
    // The failure itself is what the user is told.
    let _ = never_started(app, reason)
        .and_then(|step| Ok(app.store()?.advance_receipt(&receipt.id, &step, app.now())?));
}
