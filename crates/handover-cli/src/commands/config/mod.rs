//! `handover config …`

mod edit;
mod get;
mod set;
mod show;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;
use crate::config::ConfigFile;
use crate::env;
use crate::error::{CommandError, Exit};

/// Show and change the configuration
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ConfigCommand {
    #[command(alias = "list")]
    Show(show::ShowArgs),
    Get(get::GetArgs),
    Set(set::SetArgs),
    Edit(edit::EditArgs),
}

impl ConfigCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Show(args) => show::run(app, args),
            Self::Get(args) => get::run(app, args),
            Self::Set(args) => set::run(app, args),
            Self::Edit(args) => edit::run(app, args),
        }
    }
}

/// Which file is changed.
#[derive(Debug, clap::Args)]
struct FileArgs {
    /// Your own configuration, for all projects, instead of this project's
    #[arg(long)]
    user: bool,
}

impl FileArgs {
    fn file(&self, app: &App) -> Result<ConfigFile, CommandError> {
        if !self.user {
            return Ok(ConfigFile::Project(app.project()?.clone()));
        }
        // What the user's file says needs no trust, so an agent must not be able to say it.
        if env::is_agent() {
            let message = "an agent cannot change the configuration of its user";
            return Err(CommandError::new(Exit::Blocked, "agent", message)
                .hinted("Ask the person you work for, or change the project's configuration."));
        }
        ConfigFile::of_user()
    }
}

/// Says that a change of the project's file has no effect yet.
fn say_if_untrusted(app: &App, file: &ConfigFile, key: Option<&str>) {
    let ConfigFile::Project(project) = file else { return };
    let fresh = App::new_at(app, &project.root);
    fresh.keep_trust_to_itself();
    let Ok(report) = fresh.trust_report() else { return };
    let wants: Vec<&str> = report
        .ignored()
        .map(|want| want.key.as_str())
        .filter(|want| key.is_none_or(|key| key == *want))
        .collect();
    if !wants.is_empty() {
        app.ui
            .warn(format_args!("{} takes effect once you run `handover trust`", wants.join(", ")));
    }
}
