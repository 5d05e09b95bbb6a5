//! `handover strategy retire` and `restore`

use handover_model::RecordState;

use crate::app::{App, short_id};
use crate::commands::Outcome;
use crate::error::Exit;

/// Take a strategy out of use; `restore` brings it back
///
/// It never goes into a brief again, even if the same insight is found once more.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover strategy retire 91c07b --reason \"too general\"")]
pub(crate) struct RetireArgs {
    /// Strategy id, or at least four characters of its beginning or end
    id: String,

    /// Why it no longer counts
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Use a retired strategy again
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover strategy restore 91c07b")]
pub(crate) struct RestoreArgs {
    /// Strategy id, or at least four characters of its beginning or end
    id: String,
}

pub(crate) fn retire(app: &App, args: RetireArgs) -> Outcome {
    set(app, &args.id, RecordState::Retired, args.reason.as_deref())
}

pub(crate) fn restore(app: &App, args: RestoreArgs) -> Outcome {
    set(app, &args.id, RecordState::Live, None)
}

fn set(app: &App, id: &str, state: RecordState, reason: Option<&str>) -> Outcome {
    let (_, project) = app.learning()?;
    let id = app.find_strategy(&project, id)?;
    let strategy = app.by_hand(&project)?.set_strategy(&id, state, reason)?;
    app.ui.answer("strategy", &strategy, |ui| {
        let word = match strategy.state {
            RecordState::Retired => "Retired",
            RecordState::Live => "Restored",
        };
        let insight = ui.last_cell(&strategy.insight, 90);
        ui.line(format_args!("{word} strategy {}: {insight}", short_id(&strategy.id)))
    })?;
    Ok(Exit::Done)
}
