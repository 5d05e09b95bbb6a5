//! `handover init`

use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io};
use crate::project::Project;
use crate::store::StorePlace;

/// Make a folder a Handover project
///
/// Creates `.handover/` with the store, a configuration file and a `.gitignore` that keeps only the
/// configuration and the project's templates and personas in git. Doing it twice does no harm.
///
/// The folder is the root of the git repository (of its main checkout), else the current one.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover init\n  handover init --project ../shop")]
pub(crate) struct InitArgs {}

const GITIGNORE: &str = "\
# Records and artifacts belong to this checkout; the configuration, the templates and the
# personas to everyone.
*
!.gitignore
!config.toml
!specializations/
!specializations/**
!personas/
!personas/**
";

pub(crate) fn run(app: &App, _args: InitArgs) -> Outcome {
    let (project, store) = make(app)?;
    let answer = json!({"root": project.root, "store": store.to_string()});
    app.ui.answer("project", &answer, |ui| {
        ui.line(format_args!("Project {}", project.root.display()))?;
        ui.note("Next: `handover session new NAME`");
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Makes the project, unless it is one, and says where its store is.
pub(crate) fn make(app: &App) -> Result<(Project, StorePlace), CommandError> {
    let project = app.project_to_be()?;
    let folder = project.folder();
    fs_err::create_dir_all(folder.join("artifacts")).map_err(|error| io(&error))?;
    write_new(&folder.join(".gitignore"), GITIGNORE)?;
    write_new(&folder.join("config.toml"), &config_text(&project))?;
    // From here on it is a project like any other.
    let new = App::new_at(app, &project.root);
    let place = new.store_place()?;
    new.open(&place, None)?;
    Ok((project, place))
}

/// Writes a file unless it is there; whole or not at all, also when sixteen processes try.
pub(crate) fn write_new(path: &std::path::Path, text: &str) -> Result<(), CommandError> {
    if path.exists() {
        return Ok(());
    }
    let write = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            file.as_file().set_permissions(std::fs::Permissions::from_mode(0o644))?;
        }
        match file.persist_noclobber(path) {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error.error),
        }
    };
    write().map_err(|error| io(&error))
}

fn config_text(project: &Project) -> String {
    format!(
        "# Configuration of Handover for this project; `handover config show` lists every key.\n\n\
         [project]\n\
         # Owner of what is learned; the same for every checkout.\n\
         id = \"{}\"\n",
        project.default_id()
    )
}
