//! `handover data upgrade`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{Code, CommandError, Exit};
use crate::store::StoreLocation;
use crate::store_file;

/// Bring the store to the format of this version
///
/// Versions that know only the older format cannot open it afterwards, so all who use the store need this
/// version first. A store in a file is copied beside itself before that, and any command does it; one in a
/// database is upgraded by this command only, and is not copied: save it with `handover data export FILE` and
/// the version that wrote it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover data upgrade\n  handover data export before.jsonl")]
pub(crate) struct UpgradeArgs {}

pub(crate) fn run(app: &App, _: UpgradeArgs) -> Outcome {
    let place = app.store_location()?;
    if !place.may_exist() {
        let message = format!("no store at {place}");
        return Err(CommandError::new(Exit::Environment, Code::NoStore, message)
            .hinted("Run `handover init` to create the project's store."));
    }
    if let StoreLocation::File(path) = &place {
        store_file::check(app.project()?, path)?;
    }
    let (upgraded, format) = place.upgrade(|| app.shared_project())?;
    if let Some(upgraded) = &upgraded {
        app.warn_of_upgrade(upgraded);
    }
    let answer = json!({
        "store": place.to_string(),
        "from": upgraded.as_ref().map_or(format, |upgraded| upgraded.from),
        "to": format,
        "copy": upgraded.as_ref().and_then(|upgraded| upgraded.copy.as_ref()),
    });
    app.ui.answer("upgrade", &answer, |ui| match &upgraded {
        Some(upgraded) => ui.line(format_args!(
            "Upgraded {place} from format {} to format {format}",
            upgraded.from
        )),
        None => ui.line(format_args!("{place} has format {format}, that of this version")),
    })?;
    Ok(Exit::Done)
}
