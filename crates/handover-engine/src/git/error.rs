//! What can go wrong with git.

use std::path::PathBuf;

/// What can go wrong with git.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program is not there.
    #[error("the program `git` was not found")]
    NoGit,
    /// The project is not in a repository.
    #[error("{} is not inside a git repository with a work tree", root.display())]
    NoRepository {
        /// The project.
        root: PathBuf,
    },
    /// There is nothing to start from.
    #[error("the repository has no commit yet")]
    NoCommit,
    /// The branch of the run and that of the user went different ways.
    #[error("branch `{branch}` and the current commit have gone different ways")]
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
    /// A branch is not where it was left.
    #[error("branch `{branch}` was moved by somebody else")]
    Moved {
        /// The branch.
        branch: String,
    },
    /// Two commits cannot be put together.
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
        /// What it said.
        message: String,
    },
    /// It could not be started or read, or a file around it not written.
    #[error("failed to work with git")]
    Io(#[from] std::io::Error),
}
