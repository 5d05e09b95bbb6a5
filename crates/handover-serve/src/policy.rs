//! Who may reach the service: accepted hosts and origins, and the credentials of a request.
//!
//! - `Host` must name this service, or any website could reach it by DNS rebinding.
//! - A cross-site request identifies itself through `Origin` or `Sec-Fetch-Site` and is rejected. A write
//!   that is authorized by a cookie must prove that it is same-origin; a bearer token needs no such
//!   proof because a browser never attaches one on its own.

use std::net::IpAddr;

use axum::http::{HeaderMap, Method, Uri, header};
use handover_mcp::RequestError;

/// The cookie that holds a browser's token.
pub(crate) const COOKIE: &str = "handover_token";

/// Which clients may reach the service, and under which host names.
#[derive(Debug, Clone)]
pub struct AccessPolicy {
    /// The address that the service listens on.
    pub bind: IpAddr,
    /// Additional host names that clients may use.
    pub hosts: Vec<String>,
    /// Require a token even on a loopback address.
    pub token_required: bool,
}

/// The credentials of a request, not yet verified.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// From the `Authorization` header or the cookie.
    pub(crate) token: Option<String>,
    /// Whether anonymous access is denied.
    pub(crate) needs_token: bool,
    pub(crate) peer: IpAddr,
}

impl AccessPolicy {
    fn needs_token(&self) -> bool {
        self.token_required || !self.bind.is_loopback()
    }

    /// Whether a host name means this service. A literal IP address cannot be rebound.
    fn accepts_host(&self, name: &str) -> bool {
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        if self.hosts.iter().any(|host| host.eq_ignore_ascii_case(name)) {
            return true;
        }
        match bare.parse::<IpAddr>() {
            Ok(address) if self.bind.is_loopback() => address.is_loopback(),
            Ok(_) => true,
            Err(_) => bare.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Reads the credentials of a request, unless its host or origin is not acceptable.
    pub(crate) fn identify(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        peer: IpAddr,
    ) -> Result<Caller, RequestError> {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let host = text(header::HOST)
            .or_else(|| uri.authority().map(|authority| authority.as_str()))
            .filter(|_| headers.get_all(header::HOST).iter().count() <= 1)
            .ok_or_else(|| forbidden("the request has no unambiguous `Host` header"))?;
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
            Some(_) | None => host,
        };
        if !self.accepts_host(name) {
            return Err(RequestError {
                hint: Some(
                    "If that name is right, start the service with `--host NAME`.".to_owned(),
                ),
                ..forbidden("the `Host` header does not name this service")
            });
        }
        let bearer = text(header::AUTHORIZATION).map(|value| {
            let token =
                value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            token.map(|(_, token)| token.trim().to_owned()).unwrap_or_default()
        });
        let same_origin = text(header::ORIGIN).map(|origin| {
            ["http://", "https://"].iter().any(|scheme| {
                origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host))
            })
        });
        if same_origin == Some(false) {
            return Err(forbidden("cross-origin request"));
        }
        let cookie = text(header::COOKIE).and_then(|cookies| {
            let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
            pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned()).next()
        });
        if bearer.is_none() && !method.is_safe() {
            let site = text(header::HeaderName::from_static("sec-fetch-site"));
            let cross_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
            let proven = same_origin == Some(true) || site == Some("same-origin");
            if cross_site || cookie.is_some() && !proven {
                return Err(forbidden("the request does not prove that it is same-origin"));
            }
        }
        Ok(Caller { token: bearer.or(cookie), needs_token: self.needs_token(), peer })
    }
}

fn forbidden(message: &str) -> RequestError {
    RequestError { code: "forbidden", message: message.to_owned(), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(bind: &str) -> AccessPolicy {
        AccessPolicy { bind: bind.parse().unwrap(), hosts: Vec::new(), token_required: false }
    }

    fn identify(
        bind: &str,
        method: Method,
        headers: &[(&str, &str)],
    ) -> Result<Caller, RequestError> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: header::HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        let peer = IpAddr::from([127, 0, 0, 1]);
        policy(bind).identify(&method, &Uri::from_static("/"), &map, peer)
    }

    #[test]
    fn rejects_hosts_that_are_not_this_service() {
        for good in ["127.0.0.1:4747", "localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.2"] {
            assert!(identify("127.0.0.1", Method::GET, &[("host", good)]).is_ok(), "{good}");
        }
        for bad in ["evil.example", "evil.example:4747", "10.0.0.1", "localhost.evil.example", ""] {
            assert!(identify("127.0.0.1", Method::GET, &[("host", bad)]).is_err(), "{bad}");
        }
        assert!(identify("127.0.0.1", Method::GET, &[]).is_err());
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert!(identify("127.0.0.1", Method::GET, &twice).is_err());
        assert!(identify("10.0.0.1", Method::GET, &[("host", "10.0.0.1:4747")]).is_ok());
        assert!(identify("10.0.0.1", Method::GET, &[("host", "evil.example")]).is_err());
        let named = AccessPolicy { hosts: vec!["team.example".to_owned()], ..policy("10.0.0.1") };
        assert!(named.accepts_host("Team.example") && !named.accepts_host("other.example"));
    }

    #[test]
    fn rejects_cross_origin_requests() {
        let ask = |method: Method, headers: &[(&str, &str)]| {
            let mut all = vec![("host", "localhost:4747")];
            all.extend_from_slice(headers);
            identify("127.0.0.1", method, &all).is_ok()
        };
        assert!(ask(Method::GET, &[]) && ask(Method::POST, &[]));
        assert!(ask(Method::POST, &[("origin", "http://localhost:4747")]));
        for origin in
            ["http://evil.example", "null", "http://localhost:1", "http://localhost:47470"]
        {
            assert!(!ask(Method::POST, &[("origin", origin)]), "{origin}");
            assert!(!ask(Method::GET, &[("origin", origin)]), "{origin}");
            let bearer = [("origin", origin), ("authorization", "Bearer x")];
            assert!(!ask(Method::POST, &bearer), "{origin}");
        }
        assert!(!ask(Method::POST, &[("sec-fetch-site", "cross-site")]));
        assert!(!ask(Method::POST, &[("cookie", "a=b; handover_token=t")]));
        let own = [("cookie", "handover_token=t"), ("sec-fetch-site", "same-origin")];
        assert!(ask(Method::POST, &own));
    }

    #[test]
    fn reads_the_token_from_header_or_cookie() {
        let token = |headers: &[(&str, &str)]| {
            let mut all = vec![("host", "localhost")];
            all.extend_from_slice(headers);
            identify("127.0.0.1", Method::GET, &all).unwrap().token
        };
        assert_eq!(token(&[]), None);
        assert_eq!(token(&[("authorization", "bearer  abc")]).as_deref(), Some("abc"));
        assert_eq!(token(&[("cookie", "x=1; handover_token=abc")]).as_deref(), Some("abc"));
        // Any other scheme counts as a wrong token, not as none.
        assert_eq!(token(&[("authorization", "Basic abc")]).as_deref(), Some(""));
    }
}
