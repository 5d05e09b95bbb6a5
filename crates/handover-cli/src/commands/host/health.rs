//! Checks of hooks for `handover doctor`: registered, runnable, and what went wrong.

use super::own_program::{Called, VERSION, Versions};
use super::programs;
use super::settings_file::{SettingsFile, all};
use crate::app::App;
use crate::commands::coverage;
use crate::commands::doctor::Check;
use crate::commands::hook::{LOG_FILE, last_lines};
use crate::error::CommandError;

/// Every check about hooks.
pub(crate) fn checks(app: &App) -> Vec<Check> {
    let (mut checks, mut connected) = (Vec::new(), Vec::new());
    let versions = Versions::new(app);
    for file in all(app) {
        let name = format!("hooks of {} ({})", file.host.name(), file.scope);
        match registered(&file, &name, &versions) {
            Ok(check) => checks.extend(check),
            Err(error) => checks.push(Check::failed(&name, error)),
        }
        checks.extend(plugin(&file, &versions));
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
    checks.extend(versions_of_hosts(app));
    match coverage::check(app) {
        Ok(check) => checks.extend(check),
        Err(error) => checks.push(Check::failed("coverage", error)),
    }
    checks.extend(log(app));
    checks
}

/// None for settings without our hooks.
fn registered(
    file: &SettingsFile,
    name: &str,
    versions: &Versions<'_>,
) -> Result<Option<Check>, CommandError> {
    let events = file.registered()?;
    if events.is_empty() {
        return Ok(None);
    }
    let fix = format!("`handover host install {} --scope {}`", file.host.name(), file.scope);
    let path = file.path.display();
    let mut missing = file.host.settings().events();
    missing.retain(|event| !events.contains(event));
    if !missing.is_empty() {
        let detail = format!("{path} lacks {}", missing.join(", "));
        return Ok(Some(Check::wrong(name, detail, format!("{fix} adds them."))));
    }
    let text = file.read()?.unwrap_or_default();
    let commands = file.host.settings().commands(&text).map_err(|error| file.invalid(&error))?;
    for command in &commands {
        let (detail, fix) = match versions.of_command(command, file.scope) {
            Called::Current => continue,
            Called::Missing => {
                (format!("`{command}` would not be found"), format!("{fix} names this program."))
            }
            Called::Version(other) => (
                format!("`{command}` is version {other}, and this is {VERSION}"),
                match is_older(&other) {
                    true => format!("{fix} names this program."),
                    false => "Upgrade this program: it is the older one.".to_owned(),
                },
            ),
            Called::Silent(program) => (
                format!("{} does not say its version", program.display()),
                format!("{fix} names this program."),
            ),
            Called::Unasked(program) => (
                format!(
                    "{path} calls {}, which is neither this program nor on the search path",
                    program.display()
                ),
                format!("{fix} names this program."),
            ),
        };
        return Ok(Some(Check::wrong(name, detail, fix)));
    }
    if let Some(command) = commands.first()
        && file.host.settings().install(&text, command).is_ok_and(|current| current != text)
    {
        let detail = match commands.as_slice() {
            [_] => format!("{path} has hooks of another version"),
            several => format!("{path} calls several programs: {}", several.join(", ")),
        };
        return Ok(Some(Check::wrong(name, detail, format!("{fix} renews them."))));
    }
    let detail = format!("{} events in {path}", events.len());
    Ok(Some(Check::fine(name, detail)))
}

/// Whether a version is older than this one. Of a pre-release and its release, the former is.
fn is_older(other: &str) -> bool {
    let parts = |version: &str| {
        let (numbers, pre) = version.split_once('-').unwrap_or((version, ""));
        let numbers: Vec<u64> = numbers.split('.').map(|part| part.parse().unwrap_or(0)).collect();
        (numbers, pre.is_empty())
    };
    parts(other) < parts(VERSION)
}

/// None for settings that do not enable our plugin.
fn plugin(file: &SettingsFile, versions: &Versions<'_>) -> Option<Check> {
    let path = file.plugin()?;
    let name = format!("plugin of {} ({})", file.host.name(), file.scope);
    let path = path.display();
    let twice = file.registered().is_ok_and(|events| !events.is_empty());
    let detail = match twice {
        true => format!("enabled in {path}, beside the hooks: only one of them answers"),
        false => format!("enabled in {path}"),
    };
    Some(match versions.of_plugin() {
        Called::Current => Check::fine(&name, detail),
        Called::Missing => Check::wrong(
            &name,
            format!("{detail}, but `handover` is not on the search path"),
            "Add the folder of `handover` to PATH.",
        ),
        Called::Version(other) => Check::wrong(
            &name,
            format!(
                "{detail}; `handover` on the search path is version {other}, and this is {VERSION}"
            ),
            "Upgrade the older one: the plugin calls the one on the search path.",
        ),
        Called::Silent(program) | Called::Unasked(program) => Check::wrong(
            &name,
            format!("{detail}, but {} does not say its version", program.display()),
            "Put the folder of this program first in PATH: the plugin calls the one that it finds there.",
        ),
    })
}

/// What each seen version of a host does with rewritten prompts.
fn versions_of_hosts(app: &App) -> Option<Check> {
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
