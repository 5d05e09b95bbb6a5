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

/// Save and read the outputs of skills
#[derive(Debug, Subcommand)]
#[command(defer = true)]
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

/// Selects outputs.
#[derive(Debug, Args)]
struct WhichArgs {
    /// Skill name
    name: SkillName,

    /// Only outputs for this role
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
