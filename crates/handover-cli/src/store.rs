//! Which store: a file on this machine, a database that machines share, or a service. The one place
//! that picks a backend.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::ProjectId;
use handover_postgres::{Location, PostgresStore};
use handover_remote::{Address, RemoteStore};
use handover_sqlite::SqliteStore;
use handover_store::Store;

use crate::env;
use crate::error::{CommandError, Exit};

/// Where a store is. What is shown of it has no password.
#[derive(Debug, Clone)]
pub(crate) enum StorePlace {
    /// A file.
    File(PathBuf),
    /// A PostgreSQL database.
    Shared(Box<Location>),
    /// A service.
    Service(Address),
}

/// How long a request to a service may take, unless the caller has less time.
const PATIENCE: Duration = Duration::from_secs(30);

impl StorePlace {
    /// A path or a URL, as the configuration, the environment or a person names it.
    pub(crate) fn parse(text: &str) -> Result<Self, CommandError> {
        if Location::is_one(text) {
            let location = text.parse().map_err(|error| {
                CommandError::new(Exit::Usage, "invalid_config", error)
                    .hinted("Write it as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`.")
            })?;
            return Ok(Self::Shared(Box::new(location)));
        }
        if Address::is_one(text) {
            let address = text.parse().map_err(|error| {
                CommandError::new(Exit::Usage, "invalid_config", error).hinted(format!(
                    "Write it as `https://HOST:PORT`; the token belongs into {}.",
                    env::TOKEN
                ))
            })?;
            return Ok(Self::Service(address));
        }
        // Other URLs would become odd file names, password and all.
        match text.split_once("://") {
            Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+') => {
                let message = format!("there is no store for `{scheme}://` URLs");
                Err(CommandError::new(Exit::Usage, "store_unsupported", message)
                    .hinted("Name a file, a PostgreSQL database as `postgres://…` or a service as `https://…`."))
            }
            Some(_) | None => Ok(Self::File(PathBuf::from(text))),
        }
    }

    /// Whether other machines may use it too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_) | Self::Service(_))
    }

    /// Whether it is there, as far as can be said without opening it.
    pub(crate) fn may_exist(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Shared(_) | Self::Service(_) => true,
        }
    }

    /// Opens it, for somebody who has this much time. The driver of a shared one is touched here and
    /// nowhere before.
    pub(crate) fn open(
        &self,
        project: impl FnOnce() -> Result<ProjectId, CommandError>,
        patience: Option<Duration>,
        token: Option<String>,
    ) -> Result<Box<dyn Store + Send>, CommandError> {
        Ok(match (self, patience) {
            (Self::File(path), None) => Box::new(SqliteStore::open(path)?),
            (Self::File(path), Some(time)) => Box::new(SqliteStore::open_within(path, time)?),
            (Self::Shared(place), None) => Box::new(PostgresStore::open(place, &project()?)?),
            (Self::Shared(place), Some(time)) => {
                Box::new(PostgresStore::open_within(place, &project()?, time)?)
            }
            (Self::Service(address), time) => {
                Box::new(RemoteStore::new(address, token, time.unwrap_or(PATIENCE)))
            }
        })
    }

    /// What to do when a check finds it damaged.
    pub(crate) fn mend(&self) -> &'static str {
        match self {
            Self::File(_) => {
                "Keep a copy of the file, then move it away; `handover session new ID` registers the files of a session anew."
            }
            Self::Shared(_) | Self::Service(_) => {
                "Save what is there with `handover export FILE`, then restore a backup of the database."
            }
        }
    }
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Shared(location) => write!(f, "{location}"),
            Self::Service(address) => write!(f, "{address}"),
        }
    }
}
