//! `handover data backup`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::commands::doctor::repair::back_up;
use crate::error::{CommandError, Exit};
use crate::store::StoreLocation;

/// Renew the last good copy of the store
///
/// The copy is in `backup/` beside the store and is verified before it replaces the older one; a damaged
/// store is refused. `handover doctor --fix` takes records from it that the store has lost. `handover doctor`
/// renews it, and so does, once a day, a command that writes to a small store.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover data backup\n  handover doctor --fix")]
pub(crate) struct BackupArgs {}

pub(crate) fn run(app: &App, _: BackupArgs) -> Outcome {
    app.existing_store()?;
    let StoreLocation::File(store) = app.store_location()? else {
        let message = "only a store in a file is copied";
        return Err(CommandError::invalid(message).hinted(
            "Back the database up with its own tools, or use `handover data export FILE`.",
        ));
    };
    let copy = back_up(&store)?;
    let answer = json!({"store": store, "copy": copy});
    app.ui.answer("backup", &answer, |ui| {
        ui.line(format_args!("Copied {} to {}", store.display(), copy.display()))
    })?;
    Ok(Exit::Done)
}
