//! Picks the backend of the store: a local file, a shared database, or a service.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use handover_model::ProjectId;
#[cfg(feature = "postgres")]
use handover_postgres::{Location, PostgresStore};
use handover_remote::{Address, RemoteStore};
use handover_sqlite::{Opening, Patience, SqliteStore};
use handover_store::{OlderFormat, Store, Upgraded};

#[cfg(not(feature = "postgres"))]
use self::without_postgres::Location;
use crate::env;
use crate::error::{CommandError, Exit};

/// Stands in for the database's location in a build without PostgreSQL: there is none.
#[cfg(not(feature = "postgres"))]
mod without_postgres {
    use std::fmt;
    use std::str::FromStr;

    #[derive(Debug, Clone)]
    pub(crate) enum Location {}

    impl Location {
        pub(crate) fn is_one(text: &str) -> bool {
            text.starts_with("postgres://") || text.starts_with("postgresql://")
        }
    }

    impl FromStr for Location {
        type Err = &'static str;

        fn from_str(_: &str) -> Result<Self, Self::Err> {
            Err("this build of handover has no PostgreSQL (the cargo feature `postgres`)")
        }
    }

    impl fmt::Display for Location {
        fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
            match *self {}
        }
    }
}

/// Where a store is. Its `Display` form never contains a password.
#[derive(Debug, Clone)]
pub(crate) enum StoreLocation {
    /// A SQLite file.
    File(PathBuf),
    /// A PostgreSQL database.
    Shared(Box<Location>),
    /// A Handover service.
    Service(Address),
}

/// The default timeout for a request to a service.
const PATIENCE: Patience = Patience::new(Duration::from_secs(30));

/// How long to wait for the store's lock while a request is waiting for us.
const REQUEST: Patience = Patience::new(Duration::from_secs(5));

/// The same if everything that has to be written can wait in the spool. Others that make progress are
/// waited for, because two agents should not get the same package.
const SPOOLING: Patience =
    Patience { total: Duration::from_secs(5), stalled: Duration::from_millis(500) };

/// What a store is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// A command, which can wait.
    Command,
    /// Requests: somebody is waiting for each answer.
    Request,
    /// One prompt: an agent is waiting for it, and it needs no lock.
    Prompt,
}

impl Purpose {
    /// How long to wait for the store.
    fn patience(self) -> Patience {
        match self {
            Self::Command => PATIENCE,
            Self::Request => REQUEST,
            Self::Prompt => SPOOLING,
        }
    }
}

impl StoreLocation {
    /// Parses a path or URL from the configuration, the environment or the command line.
    pub(crate) fn parse(text: &str) -> Result<Self, CommandError> {
        if Location::is_one(text) {
            let location = text.parse().map_err(|error| {
                CommandError::new(Exit::Usage, "invalid_config", error).hinted(
                    if cfg!(feature = "postgres") {
                        "Write it as `postgres://USER:PASSWORD@HOST:PORT/DATABASE`."
                    } else {
                        "Use a file or the `https://…` URL of a service, or install the full program."
                    },
                )
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

    /// Opens the store. The network drivers are initialized here and not before. A shared one in an older format is
    /// never upgraded here, because others may still use it.
    pub(crate) fn open(
        &self,
        project: impl FnOnce() -> Result<ProjectId, CommandError>,
        purpose: Purpose,
        older: OlderFormat,
        token: Option<String>,
        on_upgrade: &dyn Fn(&Upgraded),
    ) -> Result<Box<dyn Store + Send>, CommandError> {
        let patience = purpose.patience();
        Ok(match (self, purpose) {
            (Self::File(path), _) => {
                let briefly = purpose == Purpose::Prompt;
                let store = SqliteStore::open_for(path, Opening { patience, older, briefly })?;
                if let Some(upgraded) = store.upgraded() {
                    on_upgrade(upgraded);
                }
                Box::new(store)
            }
            #[cfg(not(feature = "postgres"))]
            (Self::Shared(place), _) => {
                let _ = project;
                match **place {}
            }
            #[cfg(feature = "postgres")]
            (Self::Shared(place), Purpose::Command) => {
                Box::new(PostgresStore::open(place, &project()?)?)
            }
            #[cfg(feature = "postgres")]
            (Self::Shared(place), Purpose::Request | Purpose::Prompt) => {
                Box::new(PostgresStore::open_within(place, &project()?, patience.total)?)
            }
            (Self::Service(address), _) => {
                Box::new(RemoteStore::new(address, token, patience.total))
            }
        })
    }

    /// Brings the store to the current format, and returns that. None if it had it.
    pub(crate) fn upgrade(
        &self,
        project: impl FnOnce() -> Result<ProjectId, CommandError>,
    ) -> Result<(Option<Upgraded>, i64), CommandError> {
        match self {
            Self::File(path) => {
                let store = SqliteStore::open(path)?;
                Ok((store.upgraded().cloned(), SqliteStore::format()))
            }
            #[cfg(not(feature = "postgres"))]
            Self::Shared(place) => {
                let _ = project;
                match **place {}
            }
            #[cfg(feature = "postgres")]
            Self::Shared(place) => {
                let store = PostgresStore::upgrade(place, &project()?)?;
                Ok((store.upgraded(), PostgresStore::format()))
            }
            Self::Service(_) => {
                let message = "a service upgrades its stores itself";
                Err(CommandError::new(Exit::Usage, "not_here", message).hinted(
                    "Install the newer version where it runs, and restart it; clients are upgraded together with it.",
                ))
            }
        }
    }

    /// What to do when a check finds the store damaged.
    pub(crate) fn repair_hint(&self) -> &'static str {
        match self {
            Self::File(_) => {
                "Run `handover doctor --fix`: it keeps the damaged file and restores every record that can be read."
            }
            Self::Shared(_) | Self::Service(_) => {
                "Save the data with `handover data export FILE`, then restore a backup of the database."
            }
        }
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Shared(location) => write!(f, "{location}"),
            Self::Service(address) => write!(f, "{address}"),
        }
    }
}
