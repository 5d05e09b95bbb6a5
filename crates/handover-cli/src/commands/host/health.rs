//! Whether the hooks of agent programs are registered and work, for `handover doctor`.

use handover_hosts::settings::{commands, entries};

use super::place::{Place, all};
use crate::app::App;
use crate::commands::doctor::Check;
use crate::commands::hook::{LOG_FILE, last_lines};
use crate::env;
use crate::error::CommandError;

/// Everything about hooks.
pub(crate) fn checks(app: &App) -> Vec<Check> {
    let mut checks = Vec::new();
    for place in all(app) {
        let name = format!("hooks of {} ({})", place.host, place.scope);
        match registered(&place, &name) {
            Ok(check) => checks.extend(check),
            Err(error) => checks.push(Check::failed(&name, error)),
        }
    }
    if checks.is_empty() {
        let detail = "no agent program calls Handover; `handover host install claude` lets it";
        checks.push(Check::fine("hooks", detail));
    }
    checks.extend(versions(app));
    checks.extend(log(app));
    checks
}

/// Nothing to say about settings that do not mention us.
fn registered(place: &Place, name: &str) -> Result<Option<Check>, CommandError> {
    let events = place.registered()?;
    if events.is_empty() {
        return Ok(None);
    }
    let fix = format!("`handover host install {} --scope {}`", place.host, place.scope);
    let wanted = entries(place.host);
    let missing: Vec<&str> =
        wanted.iter().map(|entry| entry.event).filter(|event| !events.contains(event)).collect();
    if !missing.is_empty() {
        let detail = format!("{} lacks {}", place.path.display(), missing.join(", "));
        return Ok(Some(Check::wrong(name, detail, format!("{fix} adds them."))));
    }
    let text = place.read()?.unwrap_or_default();
    for command in commands(place.host, &text).map_err(|error| place.broken(&error))? {
        let program = shell_words::split(&command).ok().and_then(|words| words.into_iter().next());
        if program.is_none_or(|program| env::on_path(&program).is_none()) {
            let detail = format!("`{command}` would not be found");
            return Ok(Some(Check::wrong(name, detail, format!("{fix} names this program."))));
        }
    }
    let detail = format!("{} events in {}", events.len(), place.path.display());
    Ok(Some(Check::fine(name, detail)))
}

/// What versions of hosts did with rewritten prompts.
fn versions(app: &App) -> Option<Check> {
    let known = app.store().ok()?.host_versions().ok()?;
    let words: Vec<String> = known
        .iter()
        .map(|known| {
            let does = if known.drops_rewrites {
                "loses rewritten prompts, so subagents are told when they start"
            } else {
                "takes rewritten prompts"
            };
            format!("{} {} {does}", known.host, known.version)
        })
        .collect();
    (!words.is_empty()).then(|| Check::fine("versions of hosts", words.join("; ")))
}

/// What went wrong in hooks.
fn log(app: &App) -> Option<Check> {
    let folder = app.project().ok()?.folder();
    let last = last_lines(&folder, 1).pop()?;
    let path = folder.join(LOG_FILE);
    Some(Check::wrong(
        "hook log",
        format!("hooks gave up, the last time: {last}"),
        format!("Mend the cause, then remove {}.", path.display()),
    ))
}
