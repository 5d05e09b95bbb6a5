//! `handover store copy`

use handover_context::archive::copy;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::store::StorePlace;

/// Copy a whole project from one store into another
///
/// Each is a file or a `postgres://` URL; in a database, the project is the one that `project.id` names.
/// Everything goes over, numbers and times included, or nothing does: every record is read back and its
/// hash compared before it counts. The store that is copied from stays as it is. The other one must be
/// empty or hold the same records already; two projects are not mixed.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover store copy .handover/store.db postgres://ann@db.example.com/work\n  handover store copy \"$HANDOVER_STORE\" backup.db"
)]
pub(crate) struct CopyArgs {
    /// The store to copy from
    #[arg(value_name = "FROM")]
    from: String,

    /// The store to copy to; a file is made if there is none
    #[arg(value_name = "TO")]
    to: String,
}

pub(crate) fn run(app: &App, args: CopyArgs) -> Outcome {
    let from = place(app, &args.from)?;
    let to = place(app, &args.to)?;
    if from.to_string() == to.to_string() {
        return Err(CommandError::invalid(format!("{from} cannot be copied onto itself"))
            .hinted("Name two different stores."));
    }
    if !from.may_exist() {
        return Err(CommandError::invalid(format!("there is no store at {from}"))
            .hinted("`handover doctor` shows where the project's store is."));
    }
    let open = |place: &StorePlace| app.open(place, None);
    let (source, target) = (open(&from)?, open(&to)?);
    let copied = copy(&*source, &*target)?;
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
            "Copied {} records from {from} to {to}; {} were there already",
            copied.added, copied.present
        ))?;
        ui.note("Every record was read back and has the same hash.");
        if to.is_shared() {
            ui.note(format_args!("Set HANDOVER_STORE or `store` to {to} to use it from now on."));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// A store that was named on the command line; a path is relative to the current folder.
fn place(app: &App, text: &str) -> Result<StorePlace, CommandError> {
    Ok(match StorePlace::parse(text)? {
        StorePlace::File(path) => StorePlace::File(app.folder()?.join(path)),
        shared @ StorePlace::Shared(_) => shared,
        StorePlace::Service(url) => {
            let message = format!("a project does not move through the service at {url}");
            return Err(CommandError::invalid(message)
                .hinted("Name the file or the database that the service itself uses."));
        }
    })
}
