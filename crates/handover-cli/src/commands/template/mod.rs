//! `handover project template …`

mod list;
mod show;
mod validate;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;

/// List, show and validate specialization templates
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum TemplateCommand {
    List(list::ListArgs),
    Show(show::ShowArgs),
    Validate(validate::ValidateArgs),
}

impl TemplateCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::List(args) => list::run(app, args),
            Self::Show(args) => show::run(app, args),
            Self::Validate(args) => validate::run(app, args),
        }
    }
}
