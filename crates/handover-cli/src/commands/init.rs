//! `handover init`

use serde_json::json;

use super::{Outcome, setup};
use crate::app::App;
use crate::config::{self, own_id};
use crate::error::{CommandError, Exit};
use crate::project::Project;
use crate::store::{Purpose, StoreLocation};
use crate::trust;

/// Set up a Handover project
///
/// Creates `.handover/` with the store, a configuration file, and a `.gitignore` that tracks only the
/// configuration and the project's templates and personas. Safe to run again.
///
/// The project is created at the root of the git repository (its main checkout, if this is a worktree), or
/// in the current folder if there is no repository.
///
/// On a terminal it also learns what the project already knows, for at most ten seconds, offers the hooks of
/// the agent programs that are installed, opens the session `main`, which counts while no other one is active,
/// and shows the best of a first brief. Otherwise, and with --json, it only creates the project.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover init\n  handover init --yes\n  handover init --project ../shop"
)]
pub(crate) struct InitArgs {
    /// Set up everything without asking
    #[arg(long, short)]
    yes: bool,
}

const GITIGNORE: &str = "\
# Records and artifacts are local; the configuration, templates and personas are shared.
*
!.gitignore
!config.toml
!specializations/
!specializations/**
!personas/
!personas/**
";

pub(crate) fn run(app: &App, args: InitArgs) -> Outcome {
    let (project, store) = make(app)?;
    let answer = json!({"root": project.root, "store": store.to_string()});
    let whole = !app.ui.is_json() && (args.yes || (app.stdin.is_terminal() && app.ui.is_watched()));
    app.ui.answer("project", &answer, |ui| {
        ui.line(format_args!("Project {}", project.root.display()))?;
        if !whole {
            ui.note("Next: `handover session new NAME`");
        }
        Ok(())
    })?;
    if whole {
        setup::run(&App::new_at(app, &project.root), args.yes)?;
    }
    Ok(Exit::Done)
}

/// Creates the project unless it exists, and returns it with the location of its store.
pub(crate) fn make(app: &App) -> Result<(Project, StoreLocation), CommandError> {
    let project = app.project_to_be()?;
    let folder = project.folder();
    let is_new = !folder.is_there();
    if !is_new {
        app.trust_in(&project).check_owner()?;
    }
    folder.inside("artifacts").create_shared()?;
    folder.publish(".gitignore", GITIGNORE.as_bytes())?;
    let writes_config = !folder.has(config::FILE);
    folder.publish(config::FILE, config_text(&project).as_bytes())?;
    if writes_config {
        trust_own(app, &project, is_new)?;
    }
    // The configuration file exists now, so resolve the store as any other command would.
    let new = App::new_at(app, &project.root);
    let place = new.store_location()?;
    new.open(&place, Purpose::Command)?;
    Ok((project, place))
}

/// Creating a project trusts what `init` wrote: the id, and the folder that it is in.
fn trust_own(app: &App, project: &Project, is_new: bool) -> Result<(), CommandError> {
    let trust = app.trust_in(project);
    let mut wants = vec![own_id(&trust, &project.default_id())];
    wants.extend(trust.owner().filter(|_| is_new));
    match trust::remember(&trust.root(), &wants, app.now()) {
        // Nothing in a new project needs trust, as long as it is the user's and has its own store.
        Err(error) if error.exit == Exit::Environment && wants.len() == 1 => Ok(()),
        other => other,
    }
}

fn config_text(project: &Project) -> String {
    format!(
        "# Handover configuration of this project; `handover config show` lists every key.\n\n\
         [project]\n\
         # Errors and strategies are stored under this id; keep it the same in every checkout.\n\
         id = \"{}\"\n",
        project.default_id()
    )
}
