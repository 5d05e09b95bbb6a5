//! When somebody was here last. A cookie has the time of the last request; after a longer pause, another one keeps
//! when the pause began.

use handover_model::Timestamp;

use crate::request::{Method, PageRequest};
use crate::response::PageResponse;

/// The last request, and the end of the visit before this one.
const SEEN: &str = "handover_seen";
const BEFORE: &str = "handover_before";
/// A pause after which a new visit begins, and how exactly the last request is known, in microseconds.
const PAUSE: i64 = 30 * 60 * 1_000_000;
const EXACT: i64 = 60 * 1_000_000;
/// Visits that are longer ago are forgotten, in seconds.
const KEPT: u32 = 30 * 86_400;

fn cookie(request: &PageRequest, name: &str) -> Option<Timestamp> {
    let found = request.cookies.iter().find(|(key, _)| key == name);
    found.and_then(|(_, time)| time.parse().ok())
}

fn since(now: Timestamp, time: Timestamp) -> i64 {
    now.as_micros().saturating_sub(time.as_micros())
}

/// When the visit before this one ended; none for somebody who comes for the first time.
pub(crate) fn before(request: &PageRequest, now: Timestamp) -> Option<Timestamp> {
    let seen = cookie(request, SEEN).filter(|seen| *seen <= now)?;
    if since(now, seen) > PAUSE { Some(seen) } else { cookie(request, BEFORE) }
}

/// Has the browser remember when it asked for a page that exists.
pub fn remember(request: &PageRequest, now: Timestamp, response: &mut PageResponse) {
    if request.method != Method::Get || response.status != 200 {
        return;
    }
    let seen = cookie(request, SEEN).filter(|seen| *seen <= now);
    let mut keep = |name: &str, time: Timestamp| {
        let cookie = format!("{name}={time}; Path=/; Max-Age={KEPT}; SameSite=Strict; HttpOnly");
        response.headers.push(("set-cookie", cookie));
    };
    match seen {
        Some(seen) if since(now, seen) <= EXACT => {}
        Some(seen) if since(now, seen) > PAUSE => {
            keep(BEFORE, seen);
            keep(SEEN, now);
        }
        Some(_) | None => keep(SEEN, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_micros(1_800_000_000_000_000 + minutes * 60_000_000)
    }

    /// A browser that keeps its cookies.
    #[derive(Default)]
    struct Reader {
        cookies: Vec<(String, String)>,
    }

    impl Reader {
        fn visit(&mut self, minutes: i64) -> Option<Timestamp> {
            let mut request = PageRequest::get("/");
            request.cookies.clone_from(&self.cookies);
            let mut response = PageResponse::html("");
            remember(&request, at(minutes), &mut response);
            for (_, cookie) in response.headers {
                let (name, value) = cookie.split(';').next().unwrap().split_once('=').unwrap();
                self.cookies.retain(|(key, _)| key != name);
                self.cookies.push((name.to_owned(), value.to_owned()));
            }
            before(&request, at(minutes))
        }
    }

    #[test]
    fn a_pause_ends_a_visit() {
        let mut reader = Reader::default();
        assert_eq!(reader.visit(0), None, "the first time");
        assert_eq!(reader.visit(10), None);
        assert_eq!(reader.visit(20), None);
        assert_eq!(reader.visit(300), Some(at(20)), "back after a pause");
        assert_eq!(reader.visit(301), Some(at(20)), "still the same visit");
        assert_eq!(reader.visit(325), Some(at(20)));
        assert_eq!(reader.visit(2_000), Some(at(325)));
    }

    #[test]
    fn nonsense_is_nobody() {
        for value in ["", "soon", "<script>", "2999-01-01T00:00:00Z"] {
            let mut reader = Reader::default();
            reader.cookies.push((SEEN.to_owned(), value.to_owned()));
            assert_eq!(reader.visit(0), None, "{value}");
        }
    }
}
