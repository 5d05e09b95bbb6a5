//! `handover demo`

mod agent;
mod coder;
mod epic;
mod pace;
mod shop;
mod stage;
mod story;
mod web;

use std::path::Path;

use super::{CommandLine, Outcome};
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit, io};
use pace::Pace;
use stage::Stage;

pub(crate) use agent::{DemoAgentArgs, run as run_agent};

/// See Handover at work in a throwaway project
///
/// Two agents work on two tasks, first without Handover and then with it: about two minutes on a terminal,
/// where any key skips a pause. Every line that starts with `$` is a real command in a temporary folder, which
/// is deleted at the end; the agents are scripted and no model is called. With --epic, runs two epics end to end
/// with git, gates and reviews. With --web, adds an afternoon of work and serves the dashboard until
/// interrupted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover demo\n  handover demo --fast\n  handover demo --epic --keep\n  handover demo --web"
)]
pub(crate) struct DemoArgs {
    /// Run two small epics
    #[arg(long)]
    epic: bool,

    /// Without pauses
    #[arg(long)]
    fast: bool,

    /// Keep the project for a look around
    #[arg(long)]
    keep: bool,

    /// Show the same and more in the dashboard
    #[arg(long, conflicts_with = "epic")]
    web: bool,

    /// Port for --web; 0 picks a free one
    #[arg(long, value_name = "N", requires = "web")]
    port: Option<u16>,

    /// With --web, do not start a live run
    #[arg(long, requires = "web", hide = true)]
    still: bool,
}

/// Checks what the agents need of the system before the story begins: a container may have none of it.
fn check_system(with_git: bool) -> Result<(), CommandError> {
    let missing = |what: &str, hint: &str| {
        let message = format!("the demo starts programs, which needs {what}");
        Err(CommandError::new(Exit::Environment, "environment", message).hinted(hint))
    };
    if cfg!(unix) && !Path::new("/dev/null").exists() {
        return missing(
            "`/dev/null`",
            "Mount `/dev`; `init`, `search` and `brief` work without it.",
        );
    }
    if std::env::current_exe().is_err() {
        return missing("`/proc`", "Mount it: `mount -t proc proc /proc`.");
    }
    if env::on_path("sh").is_none() {
        return missing("a shell", "Install `sh`, or add its folder to PATH.");
    }
    if with_git && env::on_path("git").is_none() {
        return missing("git", "Install git, or see the demo without `--epic` and `--web`.");
    }
    Ok(())
}

pub(crate) fn run(app: &App, line: CommandLine, args: DemoArgs) -> Outcome {
    if app.ui.is_json() && !args.web {
        return Err(CommandError::new(Exit::Usage, "usage", "the demo has no JSON output")
            .hinted("Omit `--json`."));
    }
    if args.web && !cfg!(feature = "service") {
        let message = "this build of handover has no service (the cargo feature `service`)";
        return Err(CommandError::new(Exit::Usage, "usage", message)
            .hinted("Install the full program, or omit `--web`."));
    }
    check_system(args.epic || args.web)?;
    env::isolate();
    let folder = tempfile::Builder::new().prefix("handover-demo-").tempdir().map_err(|error| {
        io(&error).hinted("Make the folder for temporary files writable, or name another: `TMPDIR=. handover demo`.")
    })?;
    let root = folder.path().join("shop");
    fs_err::create_dir_all(root.join("docs")).map_err(|error| io(&error))?;
    // Commands run in process exactly as shown, so they must run inside the project.
    let before = app.folder()?;
    std::env::set_current_dir(&root).map_err(|error| io(&error))?;
    let stage =
        Stage { app, line, root: &root, pace: Pace::new(args.fast || args.web, folder.path()) };
    let result = if args.web {
        web::show(app, line, &root, args.port, args.still)
    } else if args.epic {
        stage.epic()
    } else {
        stage.story()
    };
    // Before the error is printed: keys belong to the shell again.
    drop(stage);
    std::env::set_current_dir(before).map_err(|error| io(&error))?;
    result?;
    if args.keep {
        let kept = folder.keep();
        app.ui.note(format_args!("The project was kept in {}", kept.join("shop").display()));
    }
    Ok(Exit::Done)
}
