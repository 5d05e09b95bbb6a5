//! The temporary store of a task: an SQLite file, or a new project in a PostgreSQL database.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use handover_model::ProjectId;
use handover_postgres::{Location, PostgresStore};
use handover_sqlite::SqliteStore;
use handover_store::Store;

/// A temporary store; a project in a database is destroyed on drop.
pub enum ScratchStore {
    File(std::path::PathBuf),
    Postgres {
        /// As given on the command line, for `handover` processes.
        url: String,
        location: Box<Location>,
        project: ProjectId,
    },
}

impl ScratchStore {
    /// The file at `path`, or a new project in the database at `url`.
    pub fn new(path: &Path, url: Option<&str>) -> Result<Self> {
        let Some(url) = url else { return Ok(Self::File(path.to_owned())) };
        let unique = blake3::hash(format!("{} {}", std::process::id(), path.display()).as_bytes());
        Ok(Self::Postgres {
            url: url.to_owned(),
            location: Box::new(url.parse()?),
            project: ProjectId::new(format!("xtask-{}", &unique.to_hex()[..16]))?,
        })
    }

    pub fn open(&self) -> Result<Box<dyn Store>> {
        Ok(match self {
            Self::File(path) => Box::new(SqliteStore::open(path)?),
            Self::Postgres { location, project, .. } => {
                Box::new(PostgresStore::open(location, project)?)
            }
        })
    }

    /// Points a `handover` process at it.
    pub fn configure<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self {
            Self::File(_) => command.env_remove("HANDOVER_STORE"),
            Self::Postgres { url, project, .. } => {
                command.env("HANDOVER_STORE", url).env("HANDOVER_PROJECT_ID", project.as_str())
            }
        }
    }
}

impl Drop for ScratchStore {
    fn drop(&mut self) {
        if let Self::Postgres { location, project, .. } = self {
            let _ = PostgresStore::destroy(location, project);
        }
    }
}
