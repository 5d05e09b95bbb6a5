//! `handover data copy`

use handover_context::archive::{copy, copy_to_shared};
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::store::{Purpose, StoreLocation};

/// Copy a project from one store to another
///
/// A store is a file or a `postgres://` URL; in a database, `project.id` selects the project. All records are
/// copied with their ids and times, or none are: every record is read back and its hash verified before the
/// copy is committed. The source is not changed. The target must be empty or already hold the same records;
/// projects are never merged.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover data copy .handover/store.db postgres://ann@db.example.com/work\n  handover data copy \"$HANDOVER_STORE\" backup.db"
)]
pub(crate) struct CopyArgs {
    /// Store to copy from
    #[arg(value_name = "FROM")]
    from: String,

    /// Store to copy to; a file is created if needed
    #[arg(value_name = "TO")]
    to: String,
}

pub(crate) fn run(app: &App, args: CopyArgs) -> Outcome {
    let from = place(app, &args.from)?;
    let to = place(app, &args.to)?;
    if from.to_string() == to.to_string() {
        return Err(CommandError::invalid(format!("cannot copy {from} onto itself"))
            .hinted("Pass two different stores."));
    }
    if !from.may_exist() {
        return Err(CommandError::invalid(format!("no store at {from}"))
            .hinted("Run `handover doctor` to see where the project's store is."));
    }
    let open = |place: &StoreLocation| app.open(place, Purpose::Command);
    let (source, target) = (open(&from)?, open(&to)?);
    let apart = to.is_shared() && !app.config()?.learn.share;
    let copied = if apart {
        copy_to_shared(&*source, &*target, &*app.open_private()?)?
    } else {
        copy(&*source, &*target)?
    };
    let kinds: serde_json::Map<_, _> = copied
        .digest
        .kinds
        .iter()
        .map(|(kind, count, hash)| ((*kind).to_owned(), json!({"records": count, "hash": hash})))
        .collect();
    let answer = json!({
        "from": from.to_string(),
        "to": to.to_string(),
        "added": copied.added,
        "present": copied.present,
        "kinds": kinds,
    });
    app.ui.answer("copy", &answer, |ui| {
        ui.line(format_args!(
            "Copied {} records from {from} to {to} ({} already present)",
            copied.added, copied.present
        ))?;
        ui.note("Every record was read back and verified by its hash.");
        if apart {
            ui.note("Notes of conversations and memories stay on this machine (`learn.share`).");
        }
        if to.is_shared() {
            ui.note(format_args!(
                "To switch to it, set HANDOVER_STORE or `store` in the configuration to {to}."
            ));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Parses a store argument; a path is relative to the current folder.
fn place(app: &App, text: &str) -> Result<StoreLocation, CommandError> {
    Ok(match StoreLocation::parse(text)? {
        StoreLocation::File(path) => StoreLocation::File(app.folder()?.join(path)),
        shared @ StoreLocation::Shared(_) => shared,
        StoreLocation::Service(url) => {
            let message = format!("cannot copy through the service at {url}");
            return Err(CommandError::invalid(message)
                .hinted("Pass the file or database that the service itself uses."));
        }
    })
}
