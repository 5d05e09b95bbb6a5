//! What agents do with tools: packages that they read, commands that fail and later do not.
//!
//! A command that failed waits in a small file of its conversation, together with what was done
//! since. Without that file there is nothing to learn, and the store is not even opened.

use std::path::{Path, PathBuf};

use handover_context::learning::Binding;
use handover_hosts::{Call, Event};
use handover_store::{CleanSignature, ErrorSighting, PackageFilter, StoreError};
use handover_text::cut::cut;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::child::transcript;
use super::scene::{Missing, Scene};
use crate::env;
use crate::error::{CommandError, io};
use handover_model::{PackageId, ReceiptId};

/// Where failed commands wait, below `.handover/`.
const FOLDER: &str = "hooks";

/// How many conversations are remembered.
const CONVERSATIONS: usize = 50;
/// How many failed commands of one.
const FAILURES: usize = 10;
/// How many steps after one.
const STEPS: usize = 12;
/// How much is kept of a command, a step, or an error.
const CHARS: usize = 300;

/// A command that failed, and what was done since.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Failure {
    command: String,
    error: String,
    steps: Vec<String>,
}

/// Whether an event is certainly about nothing: most of them are.
pub(super) fn is_idle(folder: &Path, call: &Call) -> bool {
    match &call.event {
        // Only whoever has a receipt can have read a package of it.
        Event::FileRead(_) => call.agent.is_none() && env::var(env::SPAWN).is_none(),
        Event::CommandPassed(_) | Event::FileChanged(_) => {
            waiting(folder, call).is_none_or(|file| !file.exists())
        }
        Event::Opened(_)
        | Event::Spawn(_)
        | Event::ChildStarts
        | Event::ChildStops(_)
        | Event::CommandFailed { .. }
        | Event::Checkpoint { .. }
        | Event::Other => false,
    }
}

/// The file in which the failed commands of an agent wait.
fn waiting(folder: &Path, call: &Call) -> Option<PathBuf> {
    let conversation = call.conversation.as_ref()?;
    let agent = call.agent.as_ref().map_or("lead", |agent| agent.id.as_str());
    Some(folder.join(FOLDER).join(format!("{conversation}.{agent}.json")))
}

pub(super) fn command_failed(
    scene: &Scene<'_>,
    command: &str,
    error: &str,
) -> Result<Reply, CommandError> {
    let Some(error) = essence(error) else { return Ok(Reply::default()) };
    let redactor = scene.app.redactor()?;
    let failure = Failure {
        command: redactor.clean(command.trim()).cut(CHARS).to_string(),
        error: redactor.clean(&error).cut(CHARS).to_string(),
        steps: Vec::new(),
    };
    change(scene, |failures| {
        failures.retain(|other| other.command != failure.command);
        failures.push(failure);
        let excess = failures.len().saturating_sub(FAILURES);
        failures.drain(..excess);
    })
}

pub(super) fn file_changed(scene: &Scene<'_>, path: &Path) -> Result<Reply, CommandError> {
    let root = &scene.app.project()?.root;
    let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
    step(scene, &format!("changed `{path}`"))
}

fn step(scene: &Scene<'_>, step: &str) -> Result<Reply, CommandError> {
    let step = scene.app.redactor()?.clean(step).cut(CHARS).to_string();
    change(scene, |failures| {
        for failure in failures {
            if failure.steps.len() < STEPS && !failure.steps.contains(&step) {
                failure.steps.push(step.clone());
            }
        }
    })
}

/// A command that failed and now passes teaches what was done in between.
pub(super) fn command_passed(scene: &Scene<'_>, command: &str) -> Result<Reply, CommandError> {
    let clean = scene.app.redactor()?.clean(command.trim()).cut(CHARS).to_string();
    let mut solved = None;
    change(scene, |failures| {
        let at = failures.iter().position(|failure| failure.command == clean);
        solved = at.map(|at| failures.remove(at));
    })?;
    let Some(Failure { command, error, steps }) = solved else {
        if only_looks(&clean) {
            return Ok(Reply::default());
        }
        return step(scene, &format!("ran `{clean}`"));
    };
    // Nothing was done: it was chance, or somebody else.
    if steps.is_empty() {
        return Ok(Reply::default());
    }
    let app = scene.app;
    let (session, redactor) = (scene.session(Missing::Leave)?, app.redactor()?);
    let project = match &session {
        Some(session) => app.store()?.session(session)?.project,
        None => app.project_id()?,
    };
    let binding = app.stack().map(|stack| Binding::of(&stack, None)).unwrap_or_default();
    let hooks = &app.config()?.hooks;
    let sighting = ErrorSighting {
        project,
        signature: CleanSignature::new(None, &error, &[], redactor),
        language: binding.language.as_deref().map(|name| redactor.clean(name)),
        ttl_days: app.config()?.learning.ttl_days,
        session,
        group: app.group()?,
        role: scene.call.agent.as_ref().and_then(|agent| hooks.role_of(&agent.kind)),
        command: Some(redactor.clean(&command)),
        now: app.now(),
    };
    let solution = redactor.clean(&format!("`{command}` passed after: {}", steps.join(", ")));
    app.store()?.resolve_error(&sighting, &solution.cut(2 * CHARS))?;
    Ok(Reply::default())
}

/// Whether a command certainly changes nothing, so that it solves nothing either.
fn only_looks(command: &str) -> bool {
    const LOOKING: &[&str] = &[
        "cat", "cd", "echo", "find", "grep", "head", "ls", "pwd", "rg", "tail", "tree", "wc",
        "which",
    ];
    let mut words = command.split_whitespace();
    let simple = !command.contains(['>', ';', '&', '|', '\n']);
    match words.next() {
        Some("git") => matches!(words.next(), Some("status" | "diff" | "log" | "show")) && simple,
        Some(program) => LOOKING.contains(&program) && simple,
        None => true,
    }
}

/// The line of an output that says what is wrong; none if it says nothing.
fn essence(error: &str) -> Option<String> {
    const SIGNS: &[&str] = &[
        "error",
        "fail",
        "cannot",
        "can't",
        "not found",
        "no such",
        "exception",
        "panic",
        "denied",
    ];
    let lines = || {
        let lines = error.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with("Exit code "))
    };
    let telling = |line: &&str| {
        let lower = line.to_lowercase();
        SIGNS.iter().any(|sign| lower.contains(sign))
    };
    let line = lines().find(telling).or_else(|| lines().next_back())?;
    Some(cut(line, CHARS))
}

/// Changes what waits in this conversation.
fn change(
    scene: &Scene<'_>,
    change: impl FnOnce(&mut Vec<Failure>),
) -> Result<Reply, CommandError> {
    let folder = scene.app.project()?.folder();
    let Some(path) = waiting(&folder, scene.call) else { return Ok(Reply::default()) };
    let mut failures: Vec<Failure> = match fs_err::read(&path) {
        // What cannot be read is not worth keeping.
        Ok(bytes) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => Vec::new(),
    };
    change(&mut failures);
    if failures.is_empty() {
        let _ = fs_err::remove_file(&path);
    } else {
        write(&path, &failures).map_err(|error| io(&error))?;
    }
    Ok(Reply::default())
}

fn write(path: &Path, failures: &[Failure]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs_err::create_dir_all(folder)?;
    keep_newest(folder, CONVERSATIONS);
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    serde_json::to_writer(&mut file, failures)?;
    file.persist(path)?;
    Ok(())
}

/// The conversation is over: nothing of it waits any more.
pub(super) fn forget(scene: &Scene<'_>) -> Result<(), CommandError> {
    let Some(conversation) = scene.conversation() else { return Ok(()) };
    let Ok(entries) = fs_err::read_dir(scene.app.project()?.folder().join(FOLDER)) else {
        return Ok(());
    };
    let prefix = format!("{conversation}.");
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)) {
            let _ = fs_err::remove_file(entry.path());
        }
    }
    Ok(())
}

/// Removes the oldest files of a folder of ours.
pub(super) fn keep_newest(folder: &Path, count: usize) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            let data = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            Some((data.modified().ok()?, entry.path()))
        })
        .collect();
    if files.len() <= count {
        return;
    }
    files.sort();
    for (_, path) in &files[..files.len() - count] {
        let _ = fs_err::remove_file(path);
    }
}

/// Somebody with a receipt read a file: if it is a package of that receipt, it was read.
pub(super) fn file_read(scene: &Scene<'_>, path: &Path) -> Result<Reply, CommandError> {
    let app = scene.app;
    let places = app.places()?;
    // A file that is not inside the project, or gone already, is no package.
    let Ok(located) = places.locate(places.root(), path) else { return Ok(Reply::default()) };
    let Some(id) = receipt_of_reader(scene)? else { return Ok(Reply::default()) };
    let store = app.store()?;
    let session = match store.receipt(&id) {
        Ok(receipt) => receipt.session,
        Err(StoreError::NotFound { .. }) => return Ok(Reply::default()),
        Err(error) => return Err(error.into()),
    };
    let filter = PackageFilter { path: Some(located.stored), ..Default::default() };
    let packages: Vec<PackageId> =
        store.packages(&session, &filter)?.iter().map(|package| package.id).collect();
    for package in packages {
        match store.mark_read(&id, package, app.now()) {
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Reply::default())
}

/// The receipt of whoever reads: a subagent's, or that of the whole process.
fn receipt_of_reader(scene: &Scene<'_>) -> Result<Option<ReceiptId>, CommandError> {
    let Some(agent) = &scene.call.agent else {
        return Ok(env::var(env::SPAWN).and_then(|id| ReceiptId::new(id).ok()));
    };
    let (store, host) = (scene.app.store()?, scene.call.host);
    if let Some(ticket) = store.ticket_of(host, &agent.id)? {
        return Ok(Some(ticket.receipt));
    }
    // The first sign of life from inside: its conversation says which brief it got.
    let (Some(lead), Some(conversation)) = (&scene.call.transcript, scene.conversation()) else {
        return Ok(None);
    };
    let own = lead.with_extension("").join(format!("subagents/agent-{}.jsonl", agent.id));
    let seen = transcript(&own);
    for ticket in store.open_tickets(host, conversation)? {
        if seen.receipts.first() == Some(&ticket.receipt)
            && store.take_ticket(&ticket.receipt, &agent.id)?
        {
            let handoffs = scene.app.handoffs()?;
            handoffs.confirmed(&ticket.receipt, Some(scene.call.host), scene.app.now())?;
            return Ok(Some(ticket.receipt));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_what_is_wrong() {
        let output = "Exit code 1\nrunning 3 tests\nerror[E0308]: mismatched types\n  --> a.rs:1";
        assert_eq!(essence(output).as_deref(), Some("error[E0308]: mismatched types"));
        assert_eq!(essence("Exit code 2\nodd\nvery odd\n").as_deref(), Some("very odd"));
        assert_eq!(essence("Exit code 1\n"), None);
        for (command, looks) in [
            ("ls -la", true),
            ("git status", true),
            ("git checkout x", false),
            ("echo x > a", false),
            ("npm ci", false),
        ] {
            assert_eq!(only_looks(command), looks, "{command}");
        }
    }
}
