//! `handover demo`

mod agent;
mod epic;
mod session;
mod stage;
mod web;

use super::Outcome;
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use stage::Stage;

pub(crate) use agent::{DemoAgentArgs, run as run_agent};

/// Play a small story in a throw-away project
///
/// Every line that starts with `$` is a real command on a real store in a temporary folder, which is
/// removed at the end. With `--epic` two epics are run from their stories to what they leave behind, with
/// git, gates and reviews; the agents are played by this program, and no model is asked. With `--web` the
/// folder holds the records of a whole afternoon, and the dashboard shows them until it is interrupted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover demo\n  handover demo --epic --keep\n  handover demo --web"
)]
pub(crate) struct DemoArgs {
    /// Run two small epics, one after the other
    #[arg(long)]
    epic: bool,

    /// Leave the project there to look around in
    #[arg(long)]
    keep: bool,

    /// Show a longer story in the dashboard
    #[arg(long, conflicts_with = "epic")]
    web: bool,

    /// With --web: the port; 0 takes any free one
    #[arg(long, value_name = "N", requires = "web")]
    port: Option<u16>,

    /// With --web: let no run go on before the eyes of the visitor
    #[arg(long, requires = "web", hide = true)]
    still: bool,
}

pub(crate) fn run(app: &App, args: DemoArgs) -> Outcome {
    if app.ui.is_json() && !args.web {
        return Err(CommandError::new(Exit::Usage, "usage", "the demo is a story for people")
            .hinted("Leave `--json` out."));
    }
    env::leave_alone();
    let folder =
        tempfile::Builder::new().prefix("handover-demo-").tempdir().map_err(|error| io(&error))?;
    let root = folder.path().join("shop");
    fs_err::create_dir_all(root.join("docs")).map_err(|error| io(&error))?;
    // The commands are played as they are shown, so they run inside the project.
    let before = app.folder()?;
    std::env::set_current_dir(&root).map_err(|error| io(&error))?;
    let stage = Stage { app, root: &root };
    let told = if args.web {
        web::show(app, &root, args.port, args.still)
    } else if args.epic {
        stage.epic()
    } else {
        stage.session()
    };
    std::env::set_current_dir(before).map_err(|error| io(&error))?;
    told?;
    if args.keep {
        let kept = folder.keep();
        app.ui.note(format_args!("The project is in {}", kept.join("shop").display()));
    }
    Ok(Exit::Done)
}
