//! The index of the checkout's files, brought up to date before it is used.

use std::time::{Duration, Instant};

use handover_knowledge::places::{Checkout, Index, IndexSource, PlacesError, Watch};
use handover_knowledge::{Git, GitError};

use super::App;
use crate::env;
use crate::error::{Code, CommandError, Exit, INSTALL_GIT};

/// How long an agent's request waits for an update. What is left undone is done by the next.
const REQUEST: Duration = Duration::from_secs(2);

impl App {
    /// The index of the checkout we are in, updated for at most so long; none outside a repository.
    pub(crate) fn file_index(&self, patience: Duration) -> Result<Option<Index>, CommandError> {
        let started = Instant::now();
        self.updated_file_index(&|| started.elapsed() > patience)
    }

    /// The index of the checkout we are in, updated until a stop.
    pub(crate) fn updated_file_index(
        &self,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Index>, CommandError> {
        if self.hosts() {
            return Ok(None);
        }
        let folder = self.project()?.folder();
        let Some(root) = self.scan_roots()?.pop() else { return Ok(None) };
        let Some(git) = Git::open(&root, env::all()).map_err(PlacesError::from).map_err(failed)?
        else {
            return Ok(None);
        };
        let checkout = Checkout { root: &root, git: &git, redactor: self.redactor()? };
        Index::update(&folder, checkout, Watch { stop, seen: &|_, _| {} }).map_err(failed)?;
        Ok(Index::open(&folder, &root))
    }
}

impl IndexSource for App {
    fn index(&self) -> Option<Index> {
        self.file_index(REQUEST).ok().flatten()
    }
}

fn failed(error: PlacesError) -> CommandError {
    match error {
        PlacesError::Files(error) => error.into(),
        PlacesError::Git(GitError::Start(_)) => {
            CommandError::chain(Exit::Environment, Code::Git, &error).hinted(INSTALL_GIT)
        }
        PlacesError::Git(_) | PlacesError::Root(_) | PlacesError::Damaged => {
            CommandError::chain(Exit::Environment, Code::Git, &error)
        }
    }
}
