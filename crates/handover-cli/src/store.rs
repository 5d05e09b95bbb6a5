//! Picks the backend of the store: a local file, a shared database, or a service.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::ProjectId;
use handover_postgres::{Location, PostgresStore};
use handover_remote::{Address, RemoteStore};
use handover_sqlite::{Patience, SqliteStore};
use handover_store::Store;

use crate::env;
use crate::error::{CommandError, Exit};

/// Where a store is. Its `Display` form never contains a password.
#[derive(Debug, Clone)]
pub(crate) enum StorePlace {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Shared(Box<Location>),
    /// A Handover service.
    Service(Address),
}

/// The default timeout for a request to a service.
const PATIENCE: Duration = Duration::from_secs(30);

impl StorePlace {
    /// Parses a path or URL from the configuration, the environment or the command line.
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
                    "Write it as `https://HOST:PORT`; the token goes into {}.",
                    env::TOKEN
                ))
            })?;
            return Ok(Self::Service(address));
        }
        // Any other URL would become an odd file name, possibly with a password in it.
        match text.split_once("://") {
            Some((scheme, _)) if scheme.chars().all(|c| c.is_ascii_alphanumeric() || c == '+') => {
                let message = format!("`{scheme}://` URLs are not supported as a store");
                Err(CommandError::new(Exit::Usage, "store_unsupported", message).hinted(
                    "Use a file path, a `postgres://…` URL, or the `https://…` URL of a service.",
                ))
            }
            Some(_) | None => Ok(Self::File(PathBuf::from(text))),
        }
    }

    /// Whether other machines can use it too.
    pub(crate) fn is_shared(&self) -> bool {
        matches!(self, Self::Shared(_) | Self::Service(_))
    }

    /// Whether the store may exist, as far as that is known without opening it.
    pub(crate) fn may_exist(&self) -> bool {
        match self {
            Self::File(path) => path.exists(),
            Self::Shared(_) | Self::Service(_) => true,
        }
    }

    /// Opens the store; `patience` limits how long to wait for it. The network drivers are initialized here
    /// and not before.
    pub(crate) fn open(
        &self,
        project: impl FnOnce() -> Result<ProjectId, CommandError>,
        patience: Option<Patience>,
        token: Option<String>,
    ) -> Result<Box<dyn Store + Send>, CommandError> {
        Ok(match (self, patience) {
            (Self::File(path), None) => Box::new(SqliteStore::open(path)?),
            (Self::File(path), Some(time)) => Box::new(SqliteStore::open_within(path, time)?),
            (Self::Shared(place), None) => Box::new(PostgresStore::open(place, &project()?)?),
            (Self::Shared(place), Some(time)) => {
                Box::new(PostgresStore::open_within(place, &project()?, time.total)?)
            }
            (Self::Service(address), time) => {
                Box::new(RemoteStore::new(address, token, time.map_or(PATIENCE, |time| time.total)))
            }
        })
    }

    /// What to do when a check finds the store damaged.
    pub(crate) fn repair_hint(&self) -> &'static str {
        match self {
            Self::File(_) => {
                "Run `handover doctor --fix`: it keeps the damaged file and restores every record that can be read."
            }
            Self::Shared(_) | Self::Service(_) => {
                "Save the data with `handover export FILE`, then restore a backup of the database."
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
