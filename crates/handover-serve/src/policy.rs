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
        let text = |name: header::HeaderName| unambiguous(headers, name);
        let host = text(header::HOST)?
            .or_else(|| uri.authority().map(|authority| authority.as_str()))
            .ok_or_else(|| forbidden("the request has no `Host` header"))?;
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
        let bearer = text(header::AUTHORIZATION)?.map(|value| {
            let token =
                value.split_once(' ').filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
            token.map(|(_, token)| token.trim().to_owned()).unwrap_or_default()
        });
        let same_origin = text(header::ORIGIN)?.map(|origin| {
            ["http://", "https://"].iter().any(|scheme| {
                origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host))
            })
        });
        if same_origin == Some(false) {
            return Err(forbidden("cross-origin request"));
        }
        let mut cookies = cookies(headers);
        let cookie = cookies.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned());
        if bearer.is_none() && !method.is_safe() {
            let site = text(header::HeaderName::from_static("sec-fetch-site"))?;
            let cross_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
            let proven = same_origin == Some(true) || site == Some("same-origin");
            if cross_site || cookie.is_some() && !proven {
                return Err(forbidden("the request does not prove that it is same-origin"));
            }
        }
        Ok(Caller { token: bearer.or(cookie), needs_token: self.needs_token(), peer })
    }
}

/// The cookies of a request. Other programs on the same host set cookies, too, and not all of them are text.
pub(crate) fn cookies(headers: &HeaderMap) -> impl Iterator<Item = (&str, &str)> {
    let values = headers.get_all(header::COOKIE).iter();
    let pairs = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b';'));
    pairs.filter_map(|pair| std::str::from_utf8(pair).ok()?.trim().split_once('='))
}

/// A header that decides about access. A repeated or unreadable header is an error; it does not count as
/// missing.
fn unambiguous(
    headers: &HeaderMap,
    name: header::HeaderName,
) -> Result<Option<&str>, RequestError> {
    let mut values = headers.get_all(&name).iter();
    match (values.next().map(|value| value.to_str()), values.next()) {
        (None, _) => Ok(None),
        (Some(Ok(value)), None) => Ok(Some(value)),
        (Some(_), _) => {
            let message = format!("the `{name}` header is repeated or not ASCII");
            Err(forbidden(&message))
        }
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
    fn unreadable_headers_do_not_count_as_missing() {
        let ask = |name: &'static str, values: &[&[u8]]| {
            let mut map = HeaderMap::new();
            map.append("host", "localhost".parse().unwrap());
            for value in values {
                map.append(name, header::HeaderValue::from_bytes(value).unwrap());
            }
            let peer = IpAddr::from([127, 0, 0, 1]);
            policy("127.0.0.1").identify(&Method::POST, &Uri::from_static("/"), &map, peer)
        };
        for name in ["host", "authorization", "origin", "sec-fetch-site"] {
            let error = ask(name, &[b"caf\xc3\xa9"]).unwrap_err();
            assert!(error.code == "forbidden" && error.message.contains(name), "{}", error.message);
            ask(name, &[b"same-origin", b"same-origin"]).unwrap_err();
        }
        // An unrelated cookie is ignored, whatever it contains.
        for cookies in [
            &[&b"theirs=\xff\xfe; handover_token=abc"[..]][..],
            &[b"handover_token=abc;x=\xe9"],
            &[b"theirs=1", b"handover_token=abc"],
            &[b";;=; handover_token=abc ;"],
        ] {
            let mut map = HeaderMap::new();
            map.append("host", "localhost".parse().unwrap());
            for cookie in cookies {
                map.append("cookie", header::HeaderValue::from_bytes(cookie).unwrap());
            }
            let peer = IpAddr::from([127, 0, 0, 1]);
            let caller =
                policy("127.0.0.1").identify(&Method::GET, &Uri::from_static("/"), &map, peer);
            assert_eq!(caller.unwrap().token.as_deref(), Some("abc"), "{cookies:?}");
        }
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
        // Any other scheme counts as an invalid token, not as none.
        assert_eq!(token(&[("authorization", "Basic abc")]).as_deref(), Some(""));
    }
}
