//! Errors from git.

use std::path::PathBuf;

/// Errors from git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The git program is not installed.
    #[error("the program `git` was not found")]
    NoGit,
    /// The project is not in a repository.
    #[error("{} is not inside a git repository with a work tree", root.display())]
    NoRepository {
        /// The project.
        root: PathBuf,
    },
    /// The repository has no commit.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// The run's branch and the user's branch have diverged.
    #[error("branch `{branch}` and the current commit have diverged")]
    Diverged {
        /// The branch of the run.
        branch: String,
    },
    /// The branch of the run is the user's current one.
    #[error("branch `{branch}` is checked out")]
    CheckedOut {
        /// The branch.
        branch: String,
    },
    /// Another process moved a branch.
    #[error("branch `{branch}` was moved by another process")]
    Moved {
        /// The branch.
        branch: String,
    },
    /// Two commits have conflicting changes.
    #[error("`{one}` and `{other}` change the same lines")]
    Conflict {
        /// One commit.
        one: String,
        /// The other.
        other: String,
    },
    /// A command failed.
    #[error("`git {command}` failed: {message}")]
    Failed {
        /// The command.
        command: String,
        /// Its error output.
        message: String,
    },
    /// Git could not be started, or a file could not be read or written.
    #[error("failed to work with git")]
    Io(#[from] std::io::Error),
}
