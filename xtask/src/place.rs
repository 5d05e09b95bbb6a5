//! Which store a chore measures: a file of its own, or a project of its own in a database.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use handover_model::ProjectId;
use handover_postgres::{Location, PostgresStore};
use handover_sqlite::SqliteStore;
use handover_store::Store;

/// A store that ends with the chore.
pub enum Place {
    /// A file.
    File(std::path::PathBuf),
    /// A project in a PostgreSQL database.
    Shared {
        /// The URL as it was given.
        url: String,
        /// The database.
        location: Box<Location>,
        /// The project.
        project: ProjectId,
    },
}

impl Place {
    /// A file at the path, or a new project in the database if a URL is given.
    pub fn new(path: &Path, url: Option<&str>) -> Result<Self> {
        let Some(url) = url else { return Ok(Self::File(path.to_owned())) };
        let unique = blake3::hash(format!("{} {}", std::process::id(), path.display()).as_bytes());
        Ok(Self::Shared {
            url: url.to_owned(),
            location: Box::new(url.parse()?),
            project: ProjectId::new(format!("xtask-{}", &unique.to_hex()[..16]))?,
        })
    }

    pub fn open(&self) -> Result<Box<dyn Store>> {
        Ok(match self {
            Self::File(path) => Box::new(SqliteStore::open(path)?),
            Self::Shared { location, project, .. } => {
                Box::new(PostgresStore::open(location, project)?)
            }
        })
    }

    /// Lets a process of `handover` use it.
    pub fn tell<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        match self {
            Self::File(_) => command.env_remove("HANDOVER_STORE"),
            Self::Shared { url, project, .. } => {
                command.env("HANDOVER_STORE", url).env("HANDOVER_PROJECT_ID", project.as_str())
            }
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Self::Shared { location, project, .. } = self {
            let _ = PostgresStore::destroy(location, project);
        }
    }
}
