//! `handover group show`

use handover_model::GroupId;

use super::print;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show a group
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover group show P1 --json")]
pub(crate) struct ShowArgs {
    /// Group id
    id: GroupId,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let group = app.store()?.group(&app.session()?, &args.id)?;
    app.ui.answer("group", &group, |ui| print(ui, &group))?;
    Ok(Exit::Done)
}
