//! What a checkout brought below `.handover/`, where only this machine writes: git tracks it, here or in a submodule.
//! Somebody else made it, so it is no store, no receipt and no report of ours.

use std::path::Path;

use handover_agents::Environment;
use handover_engine::git::Repo;
use handover_files::Folder;
use handover_model::Host;

use crate::env;
use crate::error::{CommandError, Exit};
use crate::project::Project;

/// Whether the checkout brought a file, or a file in a folder. Without git, or outside of a repository, nothing is.
pub(crate) fn is_brought(project: &Project, path: &Path) -> bool {
    let ours = project.folder().path();
    let mut within = path.ancestors().take_while(|folder| folder.starts_with(&ours));
    // A submodule knows its own files.
    let asked = within.find(|folder| folder.join(".git").exists()).unwrap_or(&project.root);
    let environment = Environment::scrubbed(env::all(), Host::COMMAND, &[]);
    let Ok(repo) = Repo::open(asked, environment) else { return false };
    let path = match path.strip_prefix(&repo.root) {
        Ok(below) if below.as_os_str().is_empty() => Path::new("."),
        Ok(below) => below,
        Err(_) => path,
    };
    repo.is_tracked(path).unwrap_or(false)
}

/// A folder below `.handover/` with files that wait for a store or a collector, by their names; an error if the
/// checkout brought some of the folder's files. Git is asked only if any wait.
pub(crate) fn waiting_in(
    project: &Project,
    name: &str,
    is_waiting: impl Fn(&str) -> bool,
) -> Result<Folder, CommandError> {
    let folder = project.folder().inside(name);
    // What cannot be listed is reported by its reader.
    let entries = folder.entries().unwrap_or_default();
    if !entries.iter().any(|entry| is_waiting(&entry.name)) || !is_brought(project, &folder.path())
    {
        return Ok(folder);
    }
    let path = folder.path();
    let path = path.display();
    let message = format!("git tracks files in {path}, so this checkout brought them");
    Err(CommandError::new(Exit::Environment, "files_tracked", message).hinted(format!(
        "They are not used, and neither is anything else there. `git rm -r {path}`, or `git rm -r --cached {path}` if \
         they are yours, and commit."
    )))
}
