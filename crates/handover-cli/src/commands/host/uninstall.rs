//! `handover host uninstall`

use handover_hosts::settings::uninstall;
use handover_model::Host;
use serde_json::json;

use super::place::{Place, Scope};
use crate::app::App;
use crate::commands::Outcome;
use crate::commands::hook::Hooked;
use crate::error::Exit;

/// Take our hooks out of an agent program's settings
///
/// The settings are then what they were before `host install`. Records in `.handover/` stay.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover host uninstall claude\n  handover host uninstall codex --scope user --dry-run"
)]
pub(crate) struct UninstallArgs {
    /// The agent program
    host: Hooked,

    /// Where from: the settings of this project, or those of this user
    #[arg(long, default_value = "project")]
    scope: Scope,

    /// Show what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(app: &App, args: &UninstallArgs) -> Outcome {
    let host = Host::from(args.host);
    let project = match args.scope {
        Scope::Project => Some(app.project()?),
        Scope::User => None,
    };
    let place = Place::of(host, args.scope, project)?;
    let now = place.read()?;
    let after = match &now {
        Some(now) => place.without(now, |text| uninstall(host, text))?,
        None => None,
    };
    let changed = now != after;
    if changed && !app.ui.is_json() {
        app.ui.line(place.diff(now.as_deref(), after.as_deref()).trim_end())?;
    }
    if let (true, false, Some(now)) = (changed, args.dry_run, &now) {
        place.take_out(now, after.as_deref())?;
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
            ui.line(format_args!("{host} does not call Handover: {}", place.path.display()))
        } else if args.dry_run {
            ui.note("Nothing was changed.");
            Ok(())
        } else {
            ui.line(format_args!("{host} calls Handover no longer."))
        }
    })?;
    Ok(Exit::Done)
}
