//! `handover host install`

use handover_hosts::settings::Scope;
use handover_model::Host;
use serde_json::json;

use super::connections;
use super::own_program::command;
use super::settings_file::{ScopeArg, SettingsFile, all, hook_host};
use crate::app::App;
use crate::commands::{Outcome, hook, init};
use crate::error::{CommandError, Exit};
use crate::project::Project;
use crate::ui::count;

/// Let an agent program brief its subagents
///
/// Adds our hooks to the program's settings and leaves everything else as it is; a folder that is not
/// yet a Handover project becomes one. Running it twice is safe, and `host uninstall` reverts it.
/// From the next conversation on, every subagent of a known kind starts with its brief.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover host install claude\n  handover host install codex --scope user\n  handover host install claude --diff"
)]
pub(crate) struct InstallArgs {
    /// The agent program
    #[arg(value_parser = hook::hook_host())]
    host: Host,

    /// Whose settings: everyone's in this project, or this user's everywhere
    #[arg(long, default_value = "project")]
    scope: ScopeArg,

    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,

    /// Show every line that changes
    #[arg(long)]
    diff: bool,

    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

/// Installs the hooks of a program in this project.
pub(super) fn in_project(app: &App, host: Host) -> Outcome {
    let scope = ScopeArg::Project;
    run(app, InstallArgs { host, scope, dry_run: false, diff: false, yes: true })
}

pub(crate) fn run(app: &App, args: InstallArgs) -> Outcome {
    let (name, host, scope) = (args.host, hook_host(args.host)?, Scope::from(args.scope));
    let project = match scope {
        Scope::Project => Some(app.project_to_be()?),
        Scope::User => None,
    };
    let new_project = project.as_ref().filter(|project| !project.folder().is_there());
    let file = SettingsFile::find(host, scope, project.as_ref())?;
    let before = file.read()?;
    let after = host
        .settings()
        .install(before.as_deref().unwrap_or_default(), &command(name)?)
        .map_err(|error| file.invalid(&error))?;
    let changed = before.as_deref() != Some(after.as_str());
    let diff = file.diff(before.as_deref(), Some(&after));
    if changed && !app.ui.is_json() {
        if args.diff || args.dry_run {
            app.ui.line(diff.trim_end())?;
        }
        summarize(app, &file, &after, new_project)?;
        let asks = !args.yes && !args.dry_run && app.stdin.is_terminal();
        if asks && !app.ui.confirm(&format!("Change {}?", file.path.display())) {
            app.ui.note("Nothing was changed. `--diff` shows every line; `--yes` does not ask.");
            return Ok(Exit::Failed);
        }
    }
    if !args.dry_run {
        if scope == Scope::Project {
            init::make(app)?;
        }
        if changed {
            file.put(before.as_deref(), &after)?;
        }
        if let Some(project) = connected_project(app, project.as_ref()) {
            connections::begin(project, name, app.now())?;
        }
    }
    let others =
        all(app).into_iter().filter(|other| other.host.name() == name && other.path != file.path);
    for other in others {
        if other.registered().is_ok_and(|events| !events.is_empty()) {
            app.ui.warn(format_args!(
                "{name} also calls Handover from {}, so every event is answered twice; \
                 `handover host uninstall {name} --scope {}` removes that",
                other.path.display(),
                other.scope
            ));
        }
    }
    let answer = json!({
        "name": name,
        "scope": scope,
        "path": file.path,
        "changed": changed,
        "dry_run": args.dry_run,
        "new_project": new_project.is_some(),
    });
    app.ui.answer("host", &answer, |ui| {
        if !changed {
            ui.line(format_args!("{name} already calls Handover: {}", file.path.display()))?;
        } else if args.dry_run {
            ui.note("Nothing was changed.");
        } else {
            ui.line(format_args!("{name} calls Handover from its next conversation on."))?;
            ui.note(format_args!("`handover host uninstall {name}` reverts this."));
            if let Some(note) = host.settings().install_note() {
                ui.note(note);
            }
            if scope == Scope::User {
                ui.note("This applies to Handover projects; `handover init` creates one.");
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The project that the program is connected to from now on; other ones learn it from their first hook.
pub(super) fn connected_project<'a>(
    app: &'a App,
    project: Option<&'a Project>,
) -> Option<&'a Project> {
    project.or_else(|| app.project().ok()).filter(|project| project.folder().is_there())
}

/// Says in two lines what is about to change.
fn summarize(
    app: &App,
    file: &SettingsFile,
    after: &str,
    new_project: Option<&Project>,
) -> Result<(), CommandError> {
    let events = file.host.settings().registered(after).map_err(|error| file.invalid(&error))?;
    app.ui.line(format_args!(
        "{}: {} call Handover ({})",
        file.path.display(),
        count(events.len(), "hook"),
        events.join(", ")
    ))?;
    if let Some(project) = new_project {
        app.ui.line(format_args!("{} becomes a Handover project", project.root.display()))?;
    }
    Ok(())
}
