//! `handover host uninstall`

use handover_hosts::settings::Scope;
use handover_model::Host;
use serde_json::json;

use super::install::connected_project;
use super::settings_file::{ScopeArg, SettingsFile, hook_host};
use super::{Connection, connection, connections};
use crate::app::App;
use crate::commands::{Outcome, hook};
use crate::error::Exit;

/// Remove our hooks from an agent program's settings
///
/// Restores the settings as they were before `host install`. Records in `.handover/` stay.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover host uninstall claude\n  handover host uninstall codex --scope user --dry-run"
)]
pub(crate) struct UninstallArgs {
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
}

pub(crate) fn run(app: &App, args: &UninstallArgs) -> Outcome {
    let (name, scope) = (args.host, Scope::from(args.scope));
    let project = match scope {
        Scope::Project => Some(app.project()?),
        Scope::User => None,
    };
    let file = SettingsFile::find(hook_host(name)?, scope, project)?;
    let now = file.read()?;
    let after = match &now {
        Some(now) => file.without_hooks(now)?,
        None => None,
    };
    let changed = now != after;
    if changed && (args.diff || args.dry_run) && !app.ui.is_json() {
        app.ui.line(file.diff(now.as_deref(), after.as_deref()).trim_end())?;
    }
    if let (true, false, Some(now)) = (changed, args.dry_run, &now) {
        file.remove(now, after.as_deref())?;
        let left = connection(app, file.host);
        if let (Connection::None, Some(project)) = (left, connected_project(app, project)) {
            connections::end(project, name, app.now())?;
        }
    }
    let answer = json!({
        "name": name,
        "scope": scope,
        "path": file.path,
        "changed": changed,
        "dry_run": args.dry_run,
    });
    app.ui.answer("host", &answer, |ui| {
        if !changed {
            ui.line(format_args!("{name} does not call Handover: {}", file.path.display()))
        } else if args.dry_run {
            ui.note("Nothing was changed.");
            Ok(())
        } else {
            ui.line(format_args!("{name} no longer calls Handover."))
        }
    })?;
    Ok(Exit::Done)
}
