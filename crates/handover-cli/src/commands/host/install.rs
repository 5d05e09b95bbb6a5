//! `handover host install`

use handover_hosts::settings::install;
use handover_model::Host;
use serde_json::json;

use super::place::{Place, Scope, all, command};
use crate::app::App;
use crate::commands::hook::Hooked;
use crate::commands::{Outcome, init};
use crate::error::Exit;

/// Let an agent program brief its subagents
///
/// Puts our hooks into the program's settings and leaves everything else as it is; a folder that is
/// no Handover project yet becomes one. Doing it twice does no harm, and `host uninstall` takes it
/// back. From the next conversation on every subagent of a known kind starts with its brief.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover host install claude\n  handover host install codex --scope user\n  handover host install claude --dry-run"
)]
pub(crate) struct InstallArgs {
    /// The agent program
    host: Hooked,

    /// For whom: everyone in this project, or this user everywhere
    #[arg(long, default_value = "project")]
    scope: Scope,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(app: &App, args: InstallArgs) -> Outcome {
    let host = Host::from(args.host);
    let project = match args.scope {
        Scope::Project if args.dry_run => Some(app.project_to_be()?),
        Scope::Project => Some(init::make(app)?.0),
        Scope::User => None,
    };
    let place = Place::of(host, args.scope, project.as_ref())?;
    let before = place.read()?;
    let after = install(host, before.as_deref().unwrap_or_default(), &command(host)?)
        .map_err(|error| place.broken(&error))?;
    let changed = before.as_deref() != Some(after.as_str());
    let diff = place.diff(before.as_deref(), Some(&after));
    if changed && !app.ui.is_json() {
        app.ui.line(diff.trim_end())?;
    }
    if changed && !args.dry_run {
        place.put(before.as_deref(), &after)?;
    }
    let others =
        all(app).into_iter().filter(|other| other.host == host && other.path != place.path);
    for other in others {
        if other.registered().is_ok_and(|events| !events.is_empty()) {
            app.ui.warn(format_args!(
                "{host} calls Handover from {} as well, so every event is answered twice; \
                 `handover host uninstall {host} --scope {}` ends that",
                other.path.display(),
                other.scope
            ));
        }
    }
    let answer = json!({
        "name": host,
        "scope": args.scope,
        "path": place.path,
        "changed": changed,
        "dry_run": args.dry_run,
    });
    app.ui.answer("host", &answer, |ui| {
        if !changed {
            ui.line(format_args!("{host} calls Handover already: {}", place.path.display()))?;
        } else if args.dry_run {
            ui.note("Nothing was changed.");
        } else {
            ui.line(format_args!("{host} calls Handover from its next conversation on."))?;
            ui.note(format_args!("`handover host uninstall {host}` takes it back."));
            if host == Host::Codex {
                ui.note("Codex asks once whether it may trust these hooks.");
            }
            if args.scope == Scope::User {
                ui.note("It does so in Handover projects; `handover init` makes one.");
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
