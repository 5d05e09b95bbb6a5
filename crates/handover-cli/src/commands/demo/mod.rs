//! `handover demo`

mod agent;
mod epic;
mod session;
mod stage;
mod web;

use super::{CommandLine, Outcome};
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use stage::Stage;

pub(crate) use agent::{DemoAgentArgs, run as run_agent};

/// See Handover at work in a throwaway project
///
/// Every line that starts with `$` is a real command on a real store in a temporary folder, which is deleted
/// at the end. With --epic, runs two epics end to end with git, gates and reviews; the agents are scripted
/// and no model is called. With --web, fills a project with an afternoon of work and serves the dashboard
/// until interrupted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover demo\n  handover demo --epic --keep\n  handover demo --web"
)]
pub(crate) struct DemoArgs {
    /// Run two small epics
    #[arg(long)]
    epic: bool,

    /// Keep the project for a look around
    #[arg(long)]
    keep: bool,

    /// Show a larger project in the dashboard
    #[arg(long, conflicts_with = "epic")]
    web: bool,

    /// Port for --web; 0 picks a free one
    #[arg(long, value_name = "N", requires = "web")]
    port: Option<u16>,

    /// With --web, do not start a live run
    #[arg(long, requires = "web", hide = true)]
    still: bool,
}

pub(crate) fn run(app: &App, line: CommandLine, args: DemoArgs) -> Outcome {
    if app.ui.is_json() && !args.web {
        return Err(CommandError::new(Exit::Usage, "usage", "the demo has no JSON output")
            .hinted("Omit `--json`."));
    }
    env::isolate();
    let folder =
        tempfile::Builder::new().prefix("handover-demo-").tempdir().map_err(|error| io(&error))?;
    let root = folder.path().join("shop");
    fs_err::create_dir_all(root.join("docs")).map_err(|error| io(&error))?;
    // Commands run in process exactly as shown, so they must run inside the project.
    let before = app.folder()?;
    std::env::set_current_dir(&root).map_err(|error| io(&error))?;
    let stage = Stage { app, line, root: &root };
    let result = if args.web {
        web::show(app, line, &root, args.port, args.still)
    } else if args.epic {
        stage.epic()
    } else {
        stage.session()
    };
    std::env::set_current_dir(before).map_err(|error| io(&error))?;
    result?;
    if args.keep {
        let kept = folder.keep();
        app.ui.note(format_args!("The project was kept in {}", kept.join("shop").display()));
    }
    Ok(Exit::Done)
}
