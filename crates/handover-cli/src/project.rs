//! Finds the project, the folder with `.handover/`, from any subfolder and any git worktree.
//!
//! The search walks up and stops at the root of a git repository, so that a clone inside another
//! project's folder never uses that project's store. A linked worktree uses the store of its main
//! checkout.

use std::path::{Path, PathBuf};

use handover_files::{Folder, read_text_bounded};
use handover_model::ProjectId;

use crate::error::{Code, CommandError, Exit};

/// The files by which git points from one checkout to another hold a path each.
const POINTER_BYTES: u64 = 64 * 1024;

/// A folder with, or about to get, a `.handover/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The folder that holds `.handover/`.
    pub(crate) root: PathBuf,
    /// The main checkout, if this is a linked worktree with a `.handover/` of its own.
    pub(crate) main: Option<PathBuf>,
}

impl Project {
    /// The project that contains a folder.
    pub(crate) fn find(from: &Path) -> Result<Self, CommandError> {
        let ancestors = Ancestors::of(from);
        match ancestors.project() {
            Some(project) => {
                project.folder().check()?;
                Ok(project)
            }
            None => Err(CommandError::new(
                Exit::Usage,
                Code::NoProject,
                format!("{} is not in a Handover project", from.display()),
            )
            .hinted("Run `handover init` in the project folder, or pass `--project DIR`.")),
        }
    }

    /// The project that contains a folder, or the one that `init` would create for it: at the root of the
    /// repository's main checkout, else in the folder itself.
    pub(crate) fn find_or_new(from: &Path) -> Self {
        let ancestors = Ancestors::of(from);
        ancestors.project().unwrap_or_else(|| match ancestors.repository {
            Some(Repository { main: Some(main), .. }) => Self::at(&main),
            Some(Repository { root, main: None }) => Self::at(&root),
            None => Self::at(from),
        })
    }

    /// A project in exactly this folder, whether or not it exists yet.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned(), main: None }
    }

    /// `.handover/`
    pub(crate) fn folder(&self) -> Folder {
        Folder::of(&self.root)
    }

    /// The roots of the repository's linked worktrees. Git keeps a folder for each, whose `gitdir` file
    /// points to the worktree's `.git`.
    pub(crate) fn worktrees(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs_err::read_dir(self.root.join(".git/worktrees")) else {
            return Vec::new();
        };
        let roots = entries.filter_map(|entry| {
            let folder = entry.ok()?.path();
            let git = pointer(&folder.join("gitdir"))?;
            // Newer git may write the path relative to that folder.
            fs_err::canonicalize(folder.join(git.trim())).ok()?.parent().map(Path::to_owned)
        });
        roots.filter(|root| root.is_dir()).collect()
    }

    /// A project id derived from the folder name.
    pub(crate) fn default_id(&self) -> ProjectId {
        let name = self.root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let slug: String = name
            .chars()
            .map(
                |c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' },
            )
            .collect();
        let slug: String = slug.trim_start_matches(['.', '_', '-']).chars().take(64).collect();
        ProjectId::new(slug).unwrap_or_else(|_| {
            #[expect(clippy::expect_used, reason = "a constant")]
            ProjectId::new("project").expect("a valid id")
        })
    }
}

/// What was found while walking up from a folder.
struct Ancestors {
    /// The nearest folder with `.handover/`, within the repository if there is one.
    nearest: Option<PathBuf>,
    repository: Option<Repository>,
}

struct Repository {
    /// The root of this checkout.
    root: PathBuf,
    /// The root of the main checkout, if this is a linked worktree of one.
    main: Option<PathBuf>,
}

impl Ancestors {
    fn of(from: &Path) -> Self {
        let mut nearest = None;
        for folder in from.ancestors() {
            if nearest.is_none() && Folder::of(folder).is_there() {
                nearest = Some(folder.to_owned());
            }
            let git = folder.join(".git");
            if git.exists() {
                let main = main_checkout(&git);
                let repository = Repository { root: folder.to_owned(), main };
                return Self { nearest, repository: Some(repository) };
            }
        }
        Self { nearest, repository: None }
    }

    fn project(&self) -> Option<Project> {
        match &self.repository {
            // A project nested inside the worktree takes precedence over the main checkout's.
            Some(Repository { root, main: Some(main) })
                if self.nearest.as_ref().is_none_or(|nearest| nearest == root) =>
            {
                if Folder::of(main).is_there() {
                    return Some(Project::at(main));
                }
                self.nearest.clone().map(|root| Project { root, main: Some(main.clone()) })
            }
            Some(_) | None => self.nearest.as_deref().map(Project::at),
        }
    }
}

/// The main checkout of a linked worktree: its `.git` is a file that points to
/// `<main>/.git/worktrees/<name>`, whose `commondir` points to `<main>/.git`. A submodule's `.git` is
/// a file too, but has no `commondir`. Git also keeps the way back to the worktree there, and a folder that
/// claims to be a worktree without git knowing about it is none: it could name the checkout of anyone.
fn main_checkout(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return None;
    }
    let text = pointer(git)?;
    let gitdir = text.trim().strip_prefix("gitdir:")?.trim();
    let gitdir = git.parent()?.join(gitdir);
    let back = pointer(&gitdir.join("gitdir"))?;
    let back = fs_err::canonicalize(gitdir.join(back.trim())).ok()?;
    if back != fs_err::canonicalize(git).ok()? {
        return None;
    }
    let common = pointer(&gitdir.join("commondir"))?;
    let common = fs_err::canonicalize(gitdir.join(common.trim())).ok()?;
    // A bare repository has worktrees but no main checkout.
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

fn pointer(path: &Path) -> Option<String> {
    read_text_bounded(path, POINTER_BYTES).ok()?
}
