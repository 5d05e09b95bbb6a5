//! The rest of `handover init`: learns what is there, offers the hooks of agent programs, opens a session, and
//! shows a first brief.

use std::time::{Duration, Instant};

use handover_handoff::HandoffRequest;
use handover_hosts::Registry;
use handover_knowledge::Git;
use handover_model::{NoteKind, Role, SessionId, SessionStatus};
use handover_store::NewSession;
use serde_json::json;

use super::{host, learn as command};
use crate::app::{App, DEFAULT_SESSION};
use crate::env;
use crate::error::CommandError;
use crate::learn::{self, Lesson};

/// How long the first lesson may take; hooks and `handover learn` do the rest.
const LESSON: Duration = Duration::from_secs(10);

/// Sets up everything. `yes` accepts what would be asked.
pub(super) fn run(app: &App, yes: bool) -> Result<(), CommandError> {
    learn_for_a_while(app)?;
    offer_hooks(app, yes)?;
    open_session(app)?;
    show_brief(app)
}

fn learn_for_a_while(app: &App) -> Result<(), CommandError> {
    let started = Instant::now();
    let bar = command::Bar::new(app);
    let lesson = Lesson {
        sources: learn::allowed(app)?,
        paths: Vec::new(),
        since: None,
        preview: false,
        stop: &|| started.elapsed() > LESSON,
        progress: &|source, done, all| bar.draw(source, done, all),
    };
    let learned = learn::learn(app, &lesson);
    bar.clear();
    let tallies = match learned {
        // A project can begin without it.
        Err(error) if error.code == "git" => {
            app.ui.warn(format_args!(
                "{}: nothing was learned; once git works, `handover learn` does that",
                error.message
            ));
            Vec::new()
        }
        learned => learned?,
    };
    let (_, project) = app.learning()?;
    let mut known = Vec::new();
    for kind in NoteKind::ALL {
        match app.store()?.note_numbers(&project, *kind)?.len() {
            0 => {}
            1 => known.push(format!("1 {kind} note")),
            count => known.push(format!("{count} {kind} notes")),
        }
    }
    if known.is_empty() {
        app.ui.line("Knows nothing of this project yet.")?;
    } else {
        app.ui.line(format_args!("Knows {}", known.join(", ")))?;
    }
    let left: usize = tallies.iter().map(|tally| tally.left).sum();
    if left > 0 {
        app.ui.note(format_args!("{left} more are left for `handover learn`."));
    }
    Ok(())
}

fn offer_hooks(app: &App, yes: bool) -> Result<(), CommandError> {
    for program in Registry::built_in().iter() {
        let name = program.name();
        if env::on_path(name.as_str()).is_none() {
            continue;
        }
        let question = format!(
            "Let {name} brief its subagents? It adds hooks to {name}'s settings of this project."
        );
        if yes || app.ui.confirm(&question) {
            host::install_in_project(app, name)?;
        }
    }
    Ok(())
}

/// A session that counts while there is no other.
fn open_session(app: &App) -> Result<(), CommandError> {
    let store = app.store()?;
    if !store.sessions(Some(SessionStatus::Active))?.is_empty() {
        return Ok(());
    }
    let metadata = app.redactor()?.clean_json(json!({"default": true}));
    let id = SessionId::new(DEFAULT_SESSION)?;
    let new = NewSession { id: id.clone(), project: app.project_id()?, metadata, now: app.now() };
    store.open_session(&new)?;
    app.places()?.make_context_folder(&id)?;
    app.ui.line(format_args!("Session {id} is open."))
}

/// What an agent would get now, for a task like the newest commit.
fn show_brief(app: &App) -> Result<(), CommandError> {
    let root = &app.project()?.root;
    let git = Git::open(root, app.environment()?).ok().flatten();
    let subject = git.and_then(|git| git.text(&["log", "-1", "--format=%s"]).ok());
    let Some(task) = subject.filter(|subject| !subject.is_empty()) else {
        app.ui.note("Next: `handover brief --role developer --task \"…\"`");
        return Ok(());
    };
    let Some(session) = app.session_if_any().ok().flatten() else { return Ok(()) };
    let role = Role::new("developer")?;
    let request = HandoffRequest {
        task: Some(task),
        ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
    };
    let brief = app.handoffs()?.preview(&request);
    app.ui.line("\nA first brief, for a task like the newest commit:\n")?;
    app.ui.bytes(brief.text.as_bytes())?;
    app.ui.note("Next: `handover spawn --host claude --role developer --task \"…\"`");
    Ok(())
}
