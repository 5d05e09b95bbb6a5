//! Tool use: packages that agents read, commands that fail and later pass.
//!
//! A failed command is kept in a small file per conversation, together with the steps taken since.
//! Without that file there is nothing to learn, and the store is not even opened. An agent that runs into an
//! error with a known solution gets it at once, and only once.

use std::path::Path;

use handover_context::learning::{self, Binding};
use handover_files::{Folder, Kind, Sync};
use handover_hosts::{Action, HookCall, HookEvent};
use handover_store::{CleanSignature, ErrorSighting, PackageFilter, StoreError};
use handover_text::cut::cut;
use handover_text::quote::quote_inline;
use handover_text::screen::screen;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::Reply;
use super::context::{HookContext, IfMissing};
use crate::env;
use crate::error::CommandError;
use handover_model::{KNOWN_FIX, PackageId, ReceiptId, Trust, reads_outside};

/// The folder below `.handover/` for failed commands.
const FOLDER: &str = "hooks";

/// How the names of its files end.
const SUFFIX: &str = ".json";

/// The most that is read of one.
const MAX_BYTES: u64 = 1024 * 1024;

/// How many conversations are kept.
const MAX_CONVERSATIONS: usize = 50;
/// How many failed commands are kept per conversation.
const MAX_FAILURES: usize = 10;
/// How many lines of an output are looked up.
const MAX_LINES: usize = 10;
/// How many steps are kept per failed command.
const MAX_STEPS: usize = 12;
/// How much is kept of a command, a step, or an error.
const MAX_CHARS: usize = 300;

/// A failed command and the steps taken since.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Failure {
    command: String,
    error: String,
    steps: Vec<String>,
}

/// Whether an event certainly needs no work: most do not.
pub(super) fn is_idle(folder: &Folder, call: &HookCall) -> bool {
    match &call.event {
        // Only an agent with a receipt can have read a package of it.
        HookEvent::FileRead(_) => call.agent.is_none() && env::var(env::SPAWN).is_none(),
        HookEvent::CommandPassed(_) | HookEvent::FileChanged(_) => {
            failures_file(call).is_none_or(|file| !folder.inside(FOLDER).has(&file))
        }
        HookEvent::SessionStarted(_)
        | HookEvent::SubagentSpawn(_)
        | HookEvent::SubagentSpawned { .. }
        | HookEvent::SpawnFailed(_)
        | HookEvent::SubagentStarted
        | HookEvent::SubagentPrompted { .. }
        | HookEvent::SubagentEnding { .. }
        | HookEvent::SubagentFinished(_)
        | HookEvent::SubagentStopping(_)
        | HookEvent::CommandFailed { .. }
        | HookEvent::Checkpoint { .. }
        | HookEvent::Other => false,
    }
}

/// The file for the failed commands of an agent.
fn failures_file(call: &HookCall) -> Option<String> {
    agent_file(call, "")
}

/// A file about an agent of this conversation.
fn agent_file(call: &HookCall, about: &str) -> Option<String> {
    let conversation = call.conversation.as_ref()?;
    let agent = call.agent.as_ref().map_or("lead", |agent| agent.id.as_str());
    Some(format!("{conversation}.{agent}{about}{SUFFIX}"))
}

/// A list that was kept; a damaged file is not worth keeping.
fn read<T: DeserializeOwned>(folder: &Folder, name: &str) -> Vec<T> {
    let parse = |bytes: Vec<u8>| serde_json::from_slice(&bytes).ok();
    folder.read(name, MAX_BYTES).ok().flatten().and_then(parse).unwrap_or_default()
}

pub(super) fn command_failed(
    context: &HookContext<'_>,
    command: &str,
    error: &str,
) -> Result<Reply, CommandError> {
    let lines = error_lines(error);
    let Some(error) = lines.first() else { return Ok(Reply::default()) };
    let redactor = context.app.redactor()?;
    let failure = Failure {
        command: redactor.clean(command.trim()).cut(MAX_CHARS).to_string(),
        error: redactor.clean(error).cut(MAX_CHARS).to_string(),
        steps: Vec::new(),
    };
    change(context, |failures| {
        failures.retain(|other| other.command != failure.command);
        failures.push(failure);
        let excess = failures.len().saturating_sub(MAX_FAILURES);
        failures.drain(..excess);
    })?;
    known_fix(context, &lines)
}

/// The solution of an error that is known, unless this agent got it before.
fn known_fix(context: &HookContext<'_>, lines: &[String]) -> Result<Reply, CommandError> {
    let app = context.app;
    let project = app.learning()?.1;
    let found = learning::known_fix(app.store()?, &project, lines, app.now())?;
    let Some(pattern) = found else { return Ok(Reply::default()) };
    let folder = app.project()?.folder().inside(FOLDER);
    let Some(name) = agent_file(context.call, ".shown") else { return Ok(Reply::default()) };
    let mut shown: Vec<String> = read(&folder, &name);
    if shown.contains(&pattern.hash) {
        return Ok(Reply::default());
    }
    shown.push(pattern.hash.clone());
    folder.replace(&name, &serde_json::to_vec(&shown).unwrap_or_default(), Sync::No)?;
    let solution = app.redactor()?.clean(pattern.solution.as_deref().unwrap_or_default());
    // What comes from outside and speaks to the agent is not injected.
    if pattern.trust == Trust::Outside && !screen(solution.as_str()).is_clean() {
        return Ok(Reply::default());
    }
    let class =
        if pattern.trust.is_shown() { format!(", {}", pattern.trust) } else { String::new() };
    let times = if pattern.occurrences == 1 { "once" } else { "several times" };
    let text = format!(
        "{KNOWN_FIX}: it was seen {times} in this project, and this solved it (confidence {}{class}):\n> {}",
        pattern.confidence,
        quote_inline(solution.one_line().cut(2 * MAX_CHARS).as_str()),
    );
    Ok(Action::Inject(text).into())
}

pub(super) fn file_changed(context: &HookContext<'_>, path: &Path) -> Result<Reply, CommandError> {
    let root = &context.app.project()?.root;
    let path = path.strip_prefix(root).unwrap_or(path).display().to_string();
    step(context, &format!("changed `{path}`"))
}

fn step(context: &HookContext<'_>, step: &str) -> Result<Reply, CommandError> {
    let step = context.app.redactor()?.clean(step).cut(MAX_CHARS).to_string();
    change(context, |failures| {
        for failure in failures {
            if failure.steps.len() < MAX_STEPS && !failure.steps.contains(&step) {
                failure.steps.push(step.clone());
            }
        }
    })
}

/// A command that failed and now passes: the steps in between are the solution of its error.
pub(super) fn command_passed(
    context: &HookContext<'_>,
    command: &str,
) -> Result<Reply, CommandError> {
    let clean = context.app.redactor()?.clean(command.trim()).cut(MAX_CHARS).to_string();
    let mut solved = None;
    change(context, |failures| {
        let at = failures.iter().position(|failure| failure.command == clean);
        solved = at.map(|at| failures.remove(at));
    })?;
    let Some(Failure { command, error, steps }) = solved else {
        if is_read_only(&clean) {
            return Ok(Reply::default());
        }
        return step(context, &format!("ran `{clean}`"));
    };
    // Without a step it was chance, or somebody else.
    if steps.is_empty() {
        return Ok(Reply::default());
    }
    let app = context.app;
    let (session, redactor) = (context.session(IfMissing::Skip)?, app.redactor()?);
    let project = match &session {
        Some(session) => app.store()?.session(session)?.project,
        None => app.project_id()?,
    };
    let binding = app.stack().map(|stack| Binding::of(&stack, None)).unwrap_or_default();
    let role = match &context.call.agent {
        Some(agent) => context.role_of(&agent.kind)?,
        None => None,
    };
    let sighting = ErrorSighting {
        project,
        signature: CleanSignature::new(None, &error, &[], redactor),
        language: binding.language.as_deref().map(|name| redactor.clean(name)),
        ttl_days: app.config()?.learning.ttl_days,
        session,
        group: app.group()?,
        role,
        trust: of_command(&command, &steps),
        command: Some(redactor.clean(&command)),
        now: app.now(),
    };
    let solution = redactor.clean(&format!("`{command}` passed after: {}", steps.join(", ")));
    app.store()?.resolve_error(&sighting, &solution.cut(2 * MAX_CHARS))?;
    Ok(Reply::default())
}

/// The trust class of what an agent's commands printed and did.
fn of_command(command: &str, steps: &[String]) -> Trust {
    let fetches = |text: &str| reads_outside("", text);
    let outside = fetches(command) || steps.iter().any(|step| fetches(step));
    if outside { Trust::Outside } else { Trust::Agent }
}

/// Whether a command certainly changes nothing, so that it cannot solve anything.
fn is_read_only(command: &str) -> bool {
    const READ_ONLY: &[&str] = &[
        "cat", "cd", "echo", "find", "grep", "head", "ls", "pwd", "rg", "tail", "tree", "wc",
        "which",
    ];
    let mut words = command.split_whitespace();
    let simple = !command.contains(['>', ';', '&', '|', '\n']);
    match words.next() {
        Some("git") => matches!(words.next(), Some("status" | "diff" | "log" | "show")) && simple,
        Some(program) => READ_ONLY.contains(&program) && simple,
        None => true,
    }
}

/// The lines of an output that name an error, or else its last line.
fn error_lines(error: &str) -> Vec<String> {
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
    let names_error = |line: &&str| {
        let lower = line.to_lowercase();
        SIGNS.iter().any(|sign| lower.contains(sign))
    };
    let mut named: Vec<String> =
        lines().filter(names_error).take(MAX_LINES).map(|line| cut(line, MAX_CHARS)).collect();
    if named.is_empty() {
        named.extend(lines().next_back().map(|line| cut(line, MAX_CHARS)));
    }
    named
}

/// Updates the failed commands of this conversation.
fn change(
    context: &HookContext<'_>,
    change: impl FnOnce(&mut Vec<Failure>),
) -> Result<Reply, CommandError> {
    let folder = context.app.project()?.folder().inside(FOLDER);
    let Some(name) = failures_file(context.call) else { return Ok(Reply::default()) };
    let mut failures: Vec<Failure> = read(&folder, &name);
    change(&mut failures);
    if failures.is_empty() {
        let _ = folder.remove(&name);
    } else {
        let text = serde_json::to_vec(&failures).unwrap_or_default();
        folder.keep_newest(MAX_CONVERSATIONS, |name| name.ends_with(SUFFIX));
        folder.replace(&name, &text, Sync::No)?;
    }
    Ok(Reply::default())
}

/// Deletes what is remembered of a conversation that is over.
pub(super) fn forget(context: &HookContext<'_>) -> Result<(), CommandError> {
    let Some(conversation) = context.conversation() else { return Ok(()) };
    let folder = context.app.project()?.folder().inside(FOLDER);
    let prefix = format!("{conversation}.");
    for entry in folder.entries().unwrap_or_default() {
        if entry.name.starts_with(&prefix) && entry.kind == Kind::File {
            let _ = folder.remove(&entry.name);
        }
    }
    Ok(())
}

/// Marks a package of the reader's receipt as read, if the file is one.
pub(super) fn file_read(context: &HookContext<'_>, path: &Path) -> Result<Reply, CommandError> {
    let app = context.app;
    let places = app.places()?;
    // A file outside the project, or one that is gone, is no package.
    let Ok(located) = places.locate(places.root(), path) else { return Ok(Reply::default()) };
    let Some(id) = receipt_of_reader(context)? else { return Ok(Reply::default()) };
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

/// The receipt of the reader: the subagent's, or that of the whole process.
fn receipt_of_reader(context: &HookContext<'_>) -> Result<Option<ReceiptId>, CommandError> {
    let Some(agent) = &context.call.agent else {
        return Ok(env::var(env::SPAWN).and_then(|id| ReceiptId::new(id).ok()));
    };
    let (store, host) = (context.app.store()?, context.call.host);
    if let Some(ticket) = context.ticket_of(&agent.id)? {
        return Ok(Some(ticket.receipt));
    }
    // The first event from inside the subagent: its transcript says which brief it got.
    let (Some(lead), Some(conversation)) = (&context.call.transcript, context.conversation())
    else {
        return Ok(None);
    };
    let Some(own) =
        context.host.transcript().and_then(|format| format.of_subagent(lead, &agent.id))
    else {
        return Ok(None);
    };
    let scan = context.scan(&own, context.call.agent.as_ref().map(|agent| &agent.id));
    for ticket in store.open_tickets(host, conversation)? {
        if scan.receipts.first() == Some(&ticket.receipt)
            && store.bind_ticket(&ticket.receipt, &agent.id)?
        {
            let handoffs = context.app.handoffs()?;
            handoffs.confirmed(&ticket.receipt, Some(context.call.host), context.app.now())?;
            return Ok(Some(ticket.receipt));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_error_line_and_read_only_commands() {
        let output = "Exit code 1\nrunning 3 tests\nerror[E0308]: mismatched types\n  --> a.rs:1";
        assert_eq!(error_lines(output), ["error[E0308]: mismatched types"]);
        assert_eq!(error_lines("Exit code 2\nodd\nvery odd\n"), ["very odd"]);
        assert_eq!(error_lines("Exit code 1\n"), [""; 0]);
        assert_eq!(error_lines("1 test failed\nfine\nError: x"), ["1 test failed", "Error: x"]);
        assert_eq!(error_lines(&"error\n".repeat(50)).len(), MAX_LINES);
        for (command, read_only) in [
            ("ls -la", true),
            ("git status", true),
            ("git checkout x", false),
            ("echo x > a", false),
            ("npm ci", false),
        ] {
            assert_eq!(is_read_only(command), read_only, "{command}");
        }
    }
}
