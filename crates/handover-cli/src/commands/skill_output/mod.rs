//! `handover skill-output …`

mod latest;
mod list;
mod save;

use clap::{Args, Subcommand};
use handover_model::{Role, SkillName};
use handover_store::SkillOutputFilter;

use super::Outcome;
use crate::app::App;
use crate::error::CommandError;

/// Save and read what skills returned
#[derive(Debug, Subcommand)]
pub(crate) enum SkillOutputCommand {
    Save(save::SaveArgs),
    Latest(latest::LatestArgs),
    List(list::ListArgs),
}

impl SkillOutputCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Save(args) => save::run(app, args),
            Self::Latest(args) => latest::run(app, args),
            Self::List(args) => list::run(app, args),
        }
    }
}

/// Which outputs are meant.
#[derive(Debug, Args)]
struct WhichArgs {
    /// The skill
    name: SkillName,

    /// Only for this role
    #[arg(long)]
    role: Option<Role>,
}

impl WhichArgs {
    fn filter(self, app: &App, limit: Option<u32>) -> Result<SkillOutputFilter, CommandError> {
        Ok(SkillOutputFilter {
            skill: Some(self.name),
            role: self.role,
            group: app.group()?,
            limit,
        })
    }
}
