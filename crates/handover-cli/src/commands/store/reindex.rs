//! `handover data reindex`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;
use crate::ui::count;

/// Rebuild the text index from the packages
///
/// Search and assembly read the index. Rebuild it when `handover doctor` finds that it differs from the
/// packages, or when a command cannot read it. Rebuilding an index that is in order changes no result. It
/// covers all sessions unless `--session` names one.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover data reindex\n  handover data reindex --session checkout\n  handover doctor"
)]
pub(crate) struct ReindexArgs {}

pub(crate) fn run(app: &App, _: ReindexArgs) -> Outcome {
    // Only the flag narrows: a variable for other commands must not leave sessions out.
    let rebuilt = app.existing_store()?.reindex(app.common.session.as_ref())?;
    let answer = json!({"sessions": rebuilt.sessions, "packages": rebuilt.packages});
    app.ui.answer("reindexed", &answer, |ui| {
        ui.line(format_args!(
            "Rebuilt the index of {} in {}",
            count(rebuilt.packages, "package"),
            count(rebuilt.sessions, "session")
        ))
    })?;
    Ok(Exit::Done)
}
