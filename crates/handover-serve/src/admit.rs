//! The door: which requests are heard at all, and what a caller shows of themselves.
//!
//! - `Host` must name this service, or a page elsewhere could reach it under a name of its own (DNS
//!   rebinding).
//! - A request that a page elsewhere made says so in `Origin` or `Sec-Fetch-Site` and is refused. What
//!   writes, and is let in by a cookie or by being on this machine, must say that it does not come from
//!   elsewhere; a token in a header needs no such proof, because no page can send one unasked.
//! - Where a token is needed, nothing is read of a body before the token was found to be good.
//! - From other machines nobody may ask more often than `limits.rs` says.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::Next;
use handover_mcp::Refusal;
use hyper::body::Body as _;

use crate::answer::{Answer, refused};
use crate::office::Office;
use crate::router::LOGIN;

/// The cookie that holds a browser's token.
pub(crate) const COOKIE: &str = "handover_token";

/// Who may reach the service, and under which names.
#[derive(Debug, Clone)]
pub struct Rules {
    /// The address that it listens on.
    pub bind: IpAddr,
    /// Further names that clients may use for it.
    pub hosts: Vec<String>,
    /// Whether everybody needs a token, also on this machine.
    pub token_required: bool,
}

impl Rules {
    /// Whether a caller from an address needs a token.
    fn needs_token(&self) -> bool {
        self.token_required || !self.bind.is_loopback()
    }

    /// Whether a name means this service. An address in figures cannot be rebound.
    fn knows(&self, name: &str) -> bool {
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
}

/// What a caller shows of themselves.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    /// The token that they show, if any.
    pub(crate) token: Option<String>,
    /// Whether they get nothing without one.
    pub(crate) needs_token: bool,
    /// Where they are.
    pub(crate) peer: IpAddr,
}

/// Lets a request in, with its [`Caller`], or says why not.
pub(crate) async fn admit(
    State(office): State<Office>,
    mut request: Request,
    next: Next,
) -> Answer {
    let peer = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |info| info.0.ip());
    match look(&office.rules, request.method(), request.uri(), request.headers(), peer) {
        Ok(_) if !office.rate.allows(peer) => refused(&Refusal {
            code: "too_many",
            message: "that was too often".to_owned(),
            hint: Some("Wait a second.".to_owned()),
        }),
        Ok(caller) => {
            // Before anything that they send is kept: it may be much, and they may be anybody.
            let sends = !request.body().is_end_stream() && request.uri().path() != LOGIN;
            if sends
                && caller.needs_token
                && let Err(refusal) = office.hear(&caller).await
            {
                return refused(&refusal);
            }
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(refusal) => refused(&refusal),
    }
}

fn look(
    rules: &Rules,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    peer: IpAddr,
) -> Result<Caller, Refusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST)
        .or_else(|| uri.authority().map(|authority| authority.as_str()))
        .filter(|_| headers.get_all(header::HOST).iter().count() <= 1)
        .ok_or_else(|| forbidden("the request does not say which host it is for"))?;
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        Some(_) | None => host,
    };
    if !rules.knows(name) {
        return Err(Refusal {
            hint: Some("Start the service with `--host NAME` if that name is right.".to_owned()),
            ..forbidden("the host of the request is not this service")
        });
    }
    let bearer = text(header::AUTHORIZATION).map(|value| {
        let token = value.split_once(' ').filter(|(word, _)| word.eq_ignore_ascii_case("bearer"));
        token.map(|(_, token)| token.trim().to_owned()).unwrap_or_default()
    });
    let same_origin = text(header::ORIGIN).map(|origin| {
        ["http://", "https://"].iter().any(|scheme| {
            origin.strip_prefix(scheme).is_some_and(|rest| rest.eq_ignore_ascii_case(host))
        })
    });
    if same_origin == Some(false) {
        return Err(forbidden("the request comes from a page of another origin"));
    }
    let cookie = text(header::COOKIE).and_then(|cookies| {
        let pairs = cookies.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value.to_owned()).next()
    });
    if bearer.is_none() && !method.is_safe() {
        let fetched = text(header::HeaderName::from_static("sec-fetch-site"));
        let elsewhere = fetched.is_some_and(|site| !matches!(site, "same-origin" | "none"));
        let proven = same_origin == Some(true) || fetched == Some("same-origin");
        if elsewhere || cookie.is_some() && !proven {
            return Err(forbidden("the request does not say that it comes from our own page"));
        }
    }
    Ok(Caller { token: bearer.or(cookie), needs_token: rules.needs_token(), peer })
}

fn forbidden(message: &str) -> Refusal {
    Refusal { code: "forbidden", message: message.to_owned(), hint: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(bind: &str) -> Rules {
        Rules { bind: bind.parse().unwrap(), hosts: Vec::new(), token_required: false }
    }

    /// What becomes of a request with these headers.
    fn seen(bind: &str, method: Method, headers: &[(&str, &str)]) -> Result<Caller, Refusal> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let name: header::HeaderName = name.parse().unwrap();
            map.append(name, value.parse().unwrap());
        }
        look(&rules(bind), &method, &Uri::from_static("/"), &map, IpAddr::from([127, 0, 0, 1]))
    }

    #[test]
    fn only_our_own_names_are_answered() {
        for good in ["127.0.0.1:4747", "localhost", "LOCALHOST:1", "[::1]:80", "127.0.0.2"] {
            assert!(seen("127.0.0.1", Method::GET, &[("host", good)]).is_ok(), "{good}");
        }
        for bad in ["evil.example", "evil.example:4747", "10.0.0.1", "localhost.evil.example", ""] {
            assert!(seen("127.0.0.1", Method::GET, &[("host", bad)]).is_err(), "{bad}");
        }
        assert!(seen("127.0.0.1", Method::GET, &[]).is_err());
        let twice = [("host", "localhost"), ("host", "localhost")];
        assert!(seen("127.0.0.1", Method::GET, &twice).is_err());
        assert!(seen("10.0.0.1", Method::GET, &[("host", "10.0.0.1:4747")]).is_ok());
        assert!(seen("10.0.0.1", Method::GET, &[("host", "evil.example")]).is_err());
        let named = Rules { hosts: vec!["team.example".to_owned()], ..rules("10.0.0.1") };
        assert!(named.knows("Team.example") && !named.knows("other.example"));
    }

    #[test]
    fn pages_of_others_are_refused() {
        let ask = |method: Method, headers: &[(&str, &str)]| {
            let mut all = vec![("host", "localhost:4747")];
            all.extend_from_slice(headers);
            seen("127.0.0.1", method, &all).is_ok()
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
    fn a_token_is_found_in_a_header_or_a_cookie() {
        let token = |headers: &[(&str, &str)]| {
            let mut all = vec![("host", "localhost")];
            all.extend_from_slice(headers);
            seen("127.0.0.1", Method::GET, &all).unwrap().token
        };
        assert_eq!(token(&[]), None);
        assert_eq!(token(&[("authorization", "bearer  abc")]).as_deref(), Some("abc"));
        assert_eq!(token(&[("cookie", "x=1; handover_token=abc")]).as_deref(), Some("abc"));
        // Anything else in that header is a wrong token, not none.
        assert_eq!(token(&[("authorization", "Basic abc")]).as_deref(), Some(""));
    }
}
