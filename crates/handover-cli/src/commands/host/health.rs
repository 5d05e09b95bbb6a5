//! Checks of hooks for `handover doctor`: registered, runnable, and what went wrong.

use super::programs;
use super::settings_file::{SettingsFile, all};
use crate::app::App;
use crate::commands::coverage;
use crate::commands::doctor::Check;
use crate::commands::hook::{LOG_FILE, last_lines};
use crate::env;
use crate::error::CommandError;

/// Every check about hooks.
pub(crate) fn checks(app: &App) -> Vec<Check> {
    let (mut checks, mut connected) = (Vec::new(), Vec::new());
    for file in all(app) {
        let name = format!("hooks of {} ({})", file.host.name(), file.scope);
        match registered(&file, &name) {
            Ok(check) => checks.extend(check),
            Err(error) => checks.push(Check::failed(&name, error)),
        }
        checks.extend(plugin(&file));
        if file.registered().is_ok_and(|events| !events.is_empty()) || file.plugin().is_some() {
            checks.extend(programs::trust(app, &file));
            if !connected.contains(&file.host.name()) {
                connected.push(file.host.name());
                checks.extend(programs::version(app, file.host));
            }
        }
    }
    if checks.is_empty() {
        let detail = "no agent program calls Handover; `handover host install claude` connects one";
        checks.push(Check::fine("hooks", detail));
    }
    checks.extend(versions(app));
    match coverage::check(app) {
        Ok(check) => checks.extend(check),
        Err(error) => checks.push(Check::failed("coverage", error)),
    }
    checks.extend(log(app));
    checks
}

/// None for settings without our hooks.
fn registered(file: &SettingsFile, name: &str) -> Result<Option<Check>, CommandError> {
    let events = file.registered()?;
    if events.is_empty() {
        return Ok(None);
    }
    let fix = format!("`handover host install {} --scope {}`", file.host.name(), file.scope);
    let mut missing = file.host.settings().events();
    missing.retain(|event| !events.contains(event));
    if !missing.is_empty() {
        let detail = format!("{} lacks {}", file.path.display(), missing.join(", "));
        return Ok(Some(Check::wrong(name, detail, format!("{fix} adds them."))));
    }
    let text = file.read()?.unwrap_or_default();
    let commands = file.host.settings().commands(&text).map_err(|error| file.invalid(&error))?;
    for command in &commands {
        let program = shell_words::split(command).ok().and_then(|words| words.into_iter().next());
        if program.is_none_or(|program| env::on_path(&program).is_none()) {
            let detail = format!("`{command}` would not be found");
            return Ok(Some(Check::wrong(name, detail, format!("{fix} names this program."))));
        }
    }
    if let Some(command) = commands.first()
        && file.host.settings().install(&text, command).is_ok_and(|current| current != text)
    {
        let detail = format!("{} has hooks of another version", file.path.display());
        return Ok(Some(Check::wrong(name, detail, format!("{fix} renews them."))));
    }
    let detail = format!("{} events in {}", events.len(), file.path.display());
    Ok(Some(Check::fine(name, detail)))
}

/// None for settings that do not enable our plugin.
fn plugin(file: &SettingsFile) -> Option<Check> {
    let path = file.plugin()?;
    let name = format!("plugin of {} ({})", file.host.name(), file.scope);
    let path = path.display();
    let twice = file.registered().is_ok_and(|events| !events.is_empty());
    let detail = match twice {
        true => format!("enabled in {path}, beside the hooks: only one of them answers"),
        false => format!("enabled in {path}"),
    };
    Some(match env::on_path("handover") {
        Some(_) => Check::fine(&name, detail),
        None => Check::wrong(
            &name,
            format!("{detail}, but `handover` is not on the search path"),
            "Add the folder of `handover` to PATH.",
        ),
    })
}

/// What each seen version of a host does with rewritten prompts.
fn versions(app: &App) -> Option<Check> {
    let known = app.store().ok()?.host_versions().ok()?;
    let words: Vec<String> = known
        .iter()
        .map(|known| {
            let does = if known.drops_rewrites {
                "ignores rewritten prompts, so subagents get their brief when they start"
            } else {
                "accepts rewritten prompts"
            };
            format!("{} {} {does}", known.host, known.version)
        })
        .collect();
    (!words.is_empty()).then(|| Check::fine("versions of hosts", words.join("; ")))
}

/// The last failure in the log of hooks.
fn log(app: &App) -> Option<Check> {
    let folder = app.project().ok()?.folder();
    let last = last_lines(&folder, 1).pop()?;
    let path = folder.path().join(LOG_FILE);
    Some(Check::wrong(
        "hook log",
        format!("hooks failed, most recently: {last}"),
        format!("Fix the cause, then delete {}.", path.display()),
    ))
}
