//! Finds the project, the folder with `.handover/`, from any subfolder and any git worktree.
//!
//! The search walks up and stops at the root of a git repository, so that a clone inside another
//! project's folder never uses that project's store. A linked worktree uses the store of its main
//! checkout.

use std::path::{Path, PathBuf};

use handover_model::ProjectId;

use crate::error::{CommandError, Exit, io};

/// The folder that marks a project.
pub(crate) const FOLDER: &str = ".handover";

/// A folder with, or about to get, a `.handover/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Project {
    /// The folder that holds `.handover/`.
    pub(crate) root: PathBuf,
}

impl Project {
    /// The project that contains a folder.
    pub(crate) fn find(from: &Path) -> Result<Self, CommandError> {
        let ancestors = Ancestors::of(from);
        match ancestors.project() {
            Some(project) => Ok(project),
            None => Err(CommandError::new(
                Exit::Usage,
                "no_project",
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
            Some(Repository { main: Some(main), .. }) => Self { root: main },
            Some(Repository { root, main: None }) => Self { root },
            None => Self { root: from.to_owned() },
        })
    }

    /// A project in exactly this folder, whether or not it exists yet.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// `.handover/`
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// The roots of the repository's linked worktrees. Git keeps a folder for each, whose `gitdir` file
    /// points to the worktree's `.git`.
    pub(crate) fn worktrees(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs_err::read_dir(self.root.join(".git/worktrees")) else {
            return Vec::new();
        };
        let roots = entries.filter_map(|entry| {
            let folder = entry.ok()?.path();
            let git = fs_err::read_to_string(folder.join("gitdir")).ok()?;
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
            if nearest.is_none() && folder.join(FOLDER).is_dir() {
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
        if let Some(Repository { root, main: Some(main) }) = &self.repository {
            // A project nested inside the worktree takes precedence over the main checkout's.
            let own = self.nearest.as_ref().filter(|nearest| *nearest != root);
            if own.is_none() && main.join(FOLDER).is_dir() {
                return Some(Project { root: main.clone() });
            }
        }
        self.nearest.clone().map(|root| Project { root })
    }
}

/// The main checkout of a linked worktree: its `.git` is a file that points to
/// `<main>/.git/worktrees/<name>`, whose `commondir` points back to `<main>/.git`. A submodule's `.git` is
/// a file too, but has no `commondir`.
fn main_checkout(git: &Path) -> Option<PathBuf> {
    if git.is_dir() {
        return None;
    }
    let text = fs_err::read_to_string(git).ok()?;
    let gitdir = text.trim().strip_prefix("gitdir:")?.trim();
    let gitdir = git.parent()?.join(gitdir);
    let common = fs_err::read_to_string(gitdir.join("commondir")).ok()?;
    let common = fs_err::canonicalize(gitdir.join(common.trim())).ok()?;
    // A bare repository has worktrees but no main checkout.
    (common.file_name()? == ".git").then(|| common.parent().map(Path::to_owned))?
}

/// Writes a file atomically unless it exists, even if several processes race.
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
