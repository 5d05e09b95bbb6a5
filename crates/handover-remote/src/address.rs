//! Where a service is, and whether a token may be sent there.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ureq::http::Uri;

/// The address of a service: `https://team.example/handover` or `http://127.0.0.1:4747`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    url: String,
    host: String,
}

/// Why a text is not the address of a service. Messages omit the text, because it may contain a password.
#[derive(Debug, thiserror::Error)]
pub enum AddressError {
    /// Not a URL.
    #[error("the address of the service is not a URL with a host")]
    Url,
    /// It contains a user name.
    #[error("the address of the service contains a user name; a service accepts tokens only")]
    User,
    /// It has a query or a fragment.
    #[error("the address of the service has a query or a fragment (`?` or `#`)")]
    Query,
}

impl Address {
    /// Whether a text looks like one.
    pub fn is_one(text: &str) -> bool {
        text.starts_with("http://") || text.starts_with("https://")
    }

    /// The host name or IP address.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether traffic is private: encrypted, or never leaving this machine.
    pub fn is_private(&self) -> bool {
        let address = self.host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        self.url.starts_with("https://")
            || self.host.eq_ignore_ascii_case("localhost")
            || address.is_ok_and(|address| address.to_canonical().is_loopback())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.url
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let uri: Uri = text.parse().map_err(|_| AddressError::Url)?;
        let authority = uri.authority().ok_or(AddressError::Url)?;
        if authority.as_str().contains('@') {
            return Err(AddressError::User);
        }
        if text.contains(['?', '#']) {
            return Err(AddressError::Query);
        }
        if !Self::is_one(text) || authority.host().is_empty() {
            return Err(AddressError::Url);
        }
        let host = authority.host().to_owned();
        Ok(Self { url: text.trim_end_matches('/').to_owned(), host })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_https_are_private() {
        let private = |text: &str| text.parse::<Address>().unwrap().is_private();
        for yes in [
            "https://team.example",
            "https://10.0.0.7:4747/handover/",
            "http://localhost:4747",
            "http://LOCALHOST",
            "http://127.0.0.1:4747/",
            "http://127.8.0.1",
            "http://[::1]:4747",
        ] {
            assert!(private(yes), "{yes}");
        }
        for no in [
            "http://team.example:4747",
            "http://10.0.0.7",
            "http://0.0.0.0:4747",
            "http://localhost.example",
            "http://127.0.0.1.example",
            "http://[fe80::1]",
        ] {
            assert!(!private(no), "{no}");
        }
    }

    #[test]
    fn rejects_other_texts_without_repeating_them() {
        for wrong in [
            "http://",
            "https:///x",
            "http://ann:hunter2@team.example",
            "http://team.example/?token=hunter2",
            "http://team.example#hunter2",
            "http://team example",
            "ftp://team.example",
            "http://:4747",
        ] {
            let error = wrong.parse::<Address>().unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }
}
