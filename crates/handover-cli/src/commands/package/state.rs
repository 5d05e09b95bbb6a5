//! `handover package retire` and `restore`

use handover_model::RecordState;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Take a package out of use; `restore` brings it back
///
/// It never goes into a brief again, and no search finds it. Receipts that show it stay as they are, and
/// `handover assemble --explain` names the reason. New content at its path becomes a version that is used.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover package retire 3 --reason \"we moved to Kafka\"")]
pub(crate) struct RetireArgs {
    /// Package: its number, the path of its file, or `latest`
    id: String,

    /// Why it no longer counts
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Use a retired package again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover package restore 3")]
pub(crate) struct RestoreArgs {
    /// Package: its number, the path of its file, or `latest`
    id: String,
}

pub(crate) fn retire(app: &App, args: RetireArgs) -> Outcome {
    set(app, &args.id, RecordState::Retired, args.reason.as_deref())
}

pub(crate) fn restore(app: &App, args: RestoreArgs) -> Outcome {
    set(app, &args.id, RecordState::Live, None)
}

fn set(app: &App, name: &str, state: RecordState, reason: Option<&str>) -> Outcome {
    let id = app.find_package(name)?;
    let project = app.project_of(&app.package(id)?.session)?;
    let package = app.by_hand(&project)?.set_package(id, state, reason)?;
    app.ui.answer("package", &package, |ui| {
        let word = match package.state {
            RecordState::Retired => "Retired",
            RecordState::Live => "Restored",
        };
        ui.line(format_args!("{word} package {}: {}", package.id, package.path))
    })?;
    Ok(Exit::Done)
}
