//! The location of a store, parsed from a URL. Its text forms never contain the password.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tokio_postgres::config::{Host, SslMode};

/// The location of a PostgreSQL store.
#[derive(Clone)]
pub struct Location {
    pub(crate) config: tokio_postgres::Config,
    pub(crate) tls: Tls,
}

/// Whether the connection is encrypted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tls {
    /// No: a socket, this machine, or `sslmode=disable`.
    Off,
    /// Yes, and the server's certificate is verified, using the system's authorities or those in a file.
    Verified {
        /// The file of authorities.
        authorities: Option<PathBuf>,
    },
}

/// Why a URL is not a location. Messages omit the URL, because it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidLocation {
    /// Not a URL of PostgreSQL.
    #[error("the store's URL does not begin with `postgres://` or `postgresql://`")]
    Scheme,
    /// Not a valid URL.
    #[error("the store's URL is not valid: {0}")]
    Syntax(String),
    /// It has no host.
    #[error("the store's URL has no host")]
    NoHost,
    /// It has no database.
    #[error("the store's URL has no database")]
    NoDatabase,
    /// A mode that may fall back to an unencrypted connection.
    #[error("`sslmode={0}` is not supported; use `verify-full` (the default) or `disable`")]
    Mode(String),
}

impl Location {
    /// Whether a text looks like a URL of PostgreSQL.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("postgres://") || text.starts_with("postgresql://")
    }
}

impl FromStr for Location {
    type Err = InvalidLocation;

    fn from_str(url: &str) -> Result<Self, InvalidLocation> {
        if !Self::is_one(url) {
            return Err(InvalidLocation::Scheme);
        }
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        // The driver does not support these two.
        let (mut mode, mut authorities, mut rest) = (None, None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value),
                Some(("sslrootcert", value)) => authorities = Some(PathBuf::from(decoded(value))),
                _ => rest.push(pair),
            }
        }
        let plain =
            if rest.is_empty() { url.to_owned() } else { format!("{url}?{}", rest.join("&")) };
        let mut config: tokio_postgres::Config = plain.parse().map_err(syntax)?;
        if config.get_hosts().is_empty() {
            return Err(InvalidLocation::NoHost);
        }
        if config.get_dbname().is_none_or(str::is_empty) {
            return Err(InvalidLocation::NoDatabase);
        }
        let tls = match mode {
            Some("disable") => Tls::Off,
            None if config.get_hosts().iter().all(is_here) => Tls::Off,
            None | Some("require" | "verify-ca" | "verify-full") => Tls::Verified { authorities },
            Some(other) => return Err(InvalidLocation::Mode(other.to_owned())),
        };
        config.ssl_mode(if tls == Tls::Off { SslMode::Disable } else { SslMode::Require });
        Ok(Self { config, tls })
    }
}

/// Whether traffic to a host stays on this machine.
fn is_here(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => {
            name == "localhost"
                || name.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
        }
        Host::Unix(_) => true,
    }
}

/// The driver's message, which does not repeat the input.
fn syntax(error: tokio_postgres::Error) -> InvalidLocation {
    let cause = std::error::Error::source(&error);
    InvalidLocation::Syntax(cause.map_or_else(|| error.to_string(), ToString::to_string))
}

fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let hex = after
            .get(..2)
            .filter(|_| *first == b'%')
            .and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        match hex {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        for (n, host) in self.config.get_hosts().iter().enumerate() {
            f.write_str(if n == 0 { "" } else { "," })?;
            match host {
                Host::Tcp(name) if name.contains(':') => write!(f, "[{name}]")?,
                Host::Tcp(name) => f.write_str(name)?,
                Host::Unix(path) => write!(f, "{}", path.display())?,
            }
            let ports = self.config.get_ports();
            if let Some(port) = ports.get(n).or_else(|| ports.first()) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn location(url: &str) -> Location {
        url.parse().unwrap()
    }

    #[test]
    fn no_password_is_shown() {
        for url in [
            "postgres://ann:hunter2secret@db.example.com:5433/work",
            "postgres://ann@db.example.com:5433/work?password=hunter2secret",
            "postgresql://ann:hunter2secret@db.example.com:5433/work?sslmode=disable",
        ] {
            let location = location(url);
            assert_eq!(location.to_string(), "postgres://ann@db.example.com:5433/work");
            assert!(!format!("{location:?}").contains("hunter2"));
        }
        for url in
            ["postgres://ann:hunter2secret@db:x/work", "postgres://a:hunter2secret@db/w?no=1"]
        {
            let error = url.parse::<Location>().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn traffic_to_other_machines_is_encrypted() {
        let verified = |authorities| Tls::Verified { authorities };
        assert_eq!(location("postgres://db.example.com/work").tls, verified(None));
        assert_eq!(location("postgres://db/work?sslmode=require").tls, verified(None));
        assert_eq!(
            location("postgres://db/work?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem").tls,
            verified(Some("/etc/ca.pem".into()))
        );
        assert_eq!(location("postgres://db/work?sslmode=disable").tls, Tls::Off);
        for here in ["postgres://localhost/w", "postgres://127.0.0.1/w", "postgres://%2Frun%2Fpg/w"]
        {
            assert_eq!(location(here).tls, Tls::Off, "{here}");
        }
        let prefer = "postgres://db/work?sslmode=prefer".parse::<Location>().unwrap_err();
        assert_eq!(prefer, InvalidLocation::Mode("prefer".to_owned()));
    }

    #[test]
    fn a_host_and_a_database_are_required() {
        let error = |url: &str| url.parse::<Location>().unwrap_err();
        assert_eq!(error("mysql://db/work"), InvalidLocation::Scheme);
        assert_eq!(error("postgres:///work"), InvalidLocation::NoHost);
        assert_eq!(error("postgres://db"), InvalidLocation::NoDatabase);
    }
}
