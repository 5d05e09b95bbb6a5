//! The rest of `handover init`: learns what is there, offers the hooks of agent programs, opens a session, and
//! shows the best of a first brief.

use std::time::{Duration, Instant};

use handover_handoff::{Brief, HandoffRequest};
use handover_hosts::Registry;
use handover_knowledge::Git;
use handover_model::{Host, NoteKind, Role, SessionId, SessionStatus};
use handover_store::NewSession;
use handover_text::cut::{cut, one_line};
use serde_json::json;

use super::host::own_program::RunCache;
use super::{host, learn as command};
use crate::app::{App, DEFAULT_SESSION};
use crate::env;
use crate::error::{Code, CommandError};
use crate::learn::{self, Lesson};
use crate::ui::count;

/// How long the first lesson may take; hooks and `handover learn` do the rest.
const LESSON: Duration = Duration::from_secs(10);

/// How much of a first brief is shown: notes and places, and characters of each.
const SHOWN: usize = 4;
const NOTE_CHARS: usize = 240;
const TASK_CHARS: usize = 100;

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
        Err(error) if error.code == Code::Git => {
            app.ui.warn(format_args!(
                "{}: nothing was learned. Run `handover learn` once git is installed",
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
    if let Some(cache) = RunCache::of_this() {
        app.ui.note(format_args!(
            "Hooks need a program that stays, and {} keeps this one in a cache. Install it: `{}`; then `handover host install NAME` \
             connects an agent program.",
            cache.launcher(),
            cache.install()
        ));
        return Ok(());
    }
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

/// What an agent would get now, for a task like the newest commit: the best of it. Nothing is recorded.
fn show_brief(app: &App) -> Result<(), CommandError> {
    let root = &app.project()?.root;
    let git = Git::open(root, app.environment()?).ok().flatten();
    let subject = git.and_then(|git| git.text(&["log", "-1", "--format=%s"]).ok());
    let subject = subject.map(|subject| subject.trim().to_owned());
    if let Some(task) = subject.filter(|subject| !subject.is_empty())
        && let Some(session) = app.session_if_any().ok().flatten()
    {
        let role = Role::new("developer")?;
        let request = HandoffRequest {
            task: Some(task.clone()),
            ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
        };
        let brief = app.handoffs()?.preview(&request);
        show_best(app, &task, &brief)?;
    }
    app.ui.note(format_args!("Next: {}", next(app)));
    Ok(())
}

fn show_best(app: &App, task: &str, brief: &Brief) -> Result<(), CommandError> {
    let Some(context) = &brief.context else { return Ok(()) };
    let task = app.redactor()?.clean(task);
    let (task, tokens) = (cut(&one_line(task.as_str()), TASK_CHARS), count(brief.tokens, "token"));
    app.ui.line("")?;
    app.ui.wrapped(
        0,
        format_args!("A developer whose task is “{task}” would get a brief of {tokens}."),
    )?;
    if context.notes.is_empty() && context.places.is_empty() {
        return app.ui.line("Nothing that is known so far is about that.");
    }
    for (nth, note) in context.notes.iter().take(SHOWN).enumerate() {
        if nth == 0 {
            app.ui.line("From what is known:")?;
        }
        app.ui.wrapped(2, format_args!("  {}", cut(&one_line(&note.text), NOTE_CHARS)))?;
        app.ui.wrapped(4, format_args!("    ({})", note.origin))?;
    }
    for (nth, place) in context.places.iter().take(SHOWN).enumerate() {
        if nth == 0 {
            app.ui.line("Where to look:")?;
        }
        app.ui.wrapped(4, format_args!("  {}: {}", place.path, place.why))?;
    }
    Ok(())
}

/// The next command: starts an agent, if a program for it is installed.
fn next(app: &App) -> String {
    let hosts = handover_agents::Registry::built_in().hosts();
    let started = |host: &Host| *host != Host::COMMAND && env::on_path(host.as_str()).is_some();
    let found = hosts.into_iter().find(started);
    let session = match app.session_if_any() {
        Ok(_) => "",
        Err(_) => " --session ID",
    };
    match found {
        Some(host) => {
            format!("`handover spawn --host {host} --role developer --task TEXT{session}`")
        }
        None => format!("`handover brief --role developer --task TEXT{session}`"),
    }
}
