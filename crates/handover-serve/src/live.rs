//! `/events`: changes as server-sent events.
//!
//! One task polls the store for all subscribers, and only while there are any.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::Extension;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use handover_mcp::{RequestContext, RequestError, ToolError};
use handover_model::{Change, ProjectId, SessionId, TokenScope};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, watch};
use tokio::time::Instant;

use crate::access::Access;
use crate::feeds::{Feed, Feeds, Subscription};
use crate::limits;
use crate::policy::Caller;
use crate::response::{Response, error_response};
use crate::state::ServiceState;

/// Publishes changes to all feeds until the service shuts down.
pub(crate) async fn poll(state: ServiceState) {
    let mut shutdown = state.feeds.shutdown();
    loop {
        tokio::select! {
            _ = shutdown.wait_for(|ended| *ended) => return,
            () = tokio::time::sleep(limits::POLL_INTERVAL) => {}
        }
        for (project, feed, published) in state.feeds.active() {
            let changes = state.run_unrestricted(project, move |context| {
                Ok(context.store.changes(published, limits::POLL_BATCH)?)
            });
            match changes.await {
                Ok(changes) => {
                    if let Some(last) = changes.last() {
                        tracing::debug!(count = changes.len(), last = last.id, "changes published");
                    }
                    feed.publish(changes);
                }
                // A broken store may be repaired before the next poll; `/health` reports it meanwhile.
                Err(error) => tracing::warn!(code = error.code, %error, "cannot poll the store"),
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventsQuery {
    session: Option<SessionId>,
    /// For clients that cannot set the `Last-Event-ID` header.
    last_event_id: Option<u64>,
}

/// Opens an event stream.
pub(crate) async fn events(
    State(state): State<ServiceState>,
    Extension(caller): Extension<Caller>,
    query: Result<Query<EventsQuery>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let Ok(Query(query)) = query else {
        return error_response(&RequestError {
            code: "invalid_input",
            message: "the query may contain `session` and `last_event_id` only".to_owned(),
            hint: None,
        });
    };
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let resume_from: Option<u64> = header.or(query.last_event_id);
    let session = query.session.clone();
    let feeds = Arc::clone(&state.feeds);
    let opened = state.run_with_access(caller, TokenScope::Read, move |context, access| {
        Backlog::read(&feeds, context, access, session.as_ref(), resume_from)
    });
    let backlog = match opened.await {
        Ok(backlog) => backlog,
        Err(error) => return error_response(&error),
    };
    let Some(subscription) = backlog.feed.subscribe(backlog.seen) else {
        return error_response(&RequestError {
            code: "too_many",
            message: "there are too many subscribers".to_owned(),
            hint: Some("Try again later.".to_owned()),
        });
    };
    let stream = EventStream::new(subscription, backlog, query.session);
    let heartbeat = KeepAlive::new().interval(limits::HEARTBEAT);
    Sse::new(stream.into_stream()).keep_alive(heartbeat).into_response()
}

/// Where a stream starts, and what its client missed before.
struct Backlog {
    feed: Arc<Feed>,
    receiver: broadcast::Receiver<Arc<Change>>,
    /// The only project that the caller may see.
    project: Option<ProjectId>,
    missed: Vec<Change>,
    /// The client's position is no longer in the feed: it has to reload everything.
    reset: bool,
    /// The last change that is covered by `missed`.
    seen: u64,
    /// There are more changes after `missed`. Other subscribers may be past them already, so this one has
    /// to reconnect to get them.
    incomplete: bool,
}

impl Backlog {
    fn read(
        feeds: &Feeds,
        context: &RequestContext<'_>,
        access: &Access,
        session: Option<&SessionId>,
        resume_from: Option<u64>,
    ) -> Result<Self, ToolError> {
        let feed = feeds.feed(access.other_project.clone());
        // Subscribed before the store is read, so that no change is lost in between.
        let receiver = feed.receiver();
        if let Some(session) = session {
            context.store.session(session)?;
        }
        let span = context.store.feed_span()?;
        let is_kept = |from: &u64| from.saturating_add(1) >= span.first && *from <= span.last;
        let known = resume_from.filter(is_kept);
        let missed = match known {
            Some(from) => context.store.changes(from, limits::BACKLOG as u32)?,
            None => Vec::new(),
        };
        let seen = match missed.last() {
            Some(last) if missed.len() == limits::BACKLOG => last.id,
            _ => span.last,
        };
        Ok(Self {
            feed,
            receiver,
            project: access.project.clone(),
            missed,
            reset: resume_from.is_some() && known.is_none(),
            seen: seen.max(known.unwrap_or(0)),
            incomplete: seen < span.last,
        })
    }
}

/// The events of one client.
struct EventStream {
    /// Sent before anything new.
    queued: VecDeque<Event>,
    receiver: broadcast::Receiver<Arc<Change>>,
    seen: u64,
    project: Option<ProjectId>,
    session: Option<SessionId>,
    expires: Instant,
    shutdown: watch::Receiver<bool>,
    finished: bool,
    _subscription: Subscription,
}

impl EventStream {
    fn new(subscription: Subscription, backlog: Backlog, session: Option<SessionId>) -> Self {
        let mut stream = Self {
            queued: VecDeque::new(),
            receiver: backlog.receiver,
            seen: backlog.seen,
            project: backlog.project,
            session,
            expires: Instant::now() + limits::STREAM_LIFETIME,
            shutdown: backlog.feed.shutdown(),
            finished: false,
            _subscription: subscription,
        };
        stream
            .queued
            .push_back(Event::default().retry(limits::RECONNECT_DELAY).comment("handover"));
        if backlog.reset {
            let reason = json!({"reason": "the changes after that id are no longer available"});
            stream.queued.push_back(named("reset", &reason).id(backlog.seen.to_string()));
        }
        for change in &backlog.missed {
            if stream.includes(change) {
                stream.queued.push_back(change_event(change));
            }
        }
        if backlog.incomplete {
            // Its id says where to continue, even if none of the missed changes is for this client.
            stream.queued.push_back(end("more").id(backlog.seen.to_string()));
            stream.finished = true;
        }
        stream
    }

    fn includes(&self, change: &Change) -> bool {
        self.project.as_ref().is_none_or(|project| *project == change.project)
            && (self.session.is_none() || self.session == change.session)
    }

    fn into_stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut stream| async {
            let event = stream.next().await?;
            Some((Ok(event), stream))
        })
    }

    /// The next event; the last one is `end` with a reason.
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.queued.pop_front() {
            return Some(event);
        }
        loop {
            if self.finished {
                return None;
            }
            let shutdown = async { self.shutdown.wait_for(|ended| *ended).await.map(drop) };
            let received = tokio::select! {
                received = self.receiver.recv() => received.map_err(|error| match error {
                    RecvError::Lagged(_) => "too_slow",
                    RecvError::Closed => "shutdown",
                }),
                _ = shutdown => Err("shutdown"),
                // The client's rights are checked again when it reconnects.
                () = tokio::time::sleep_until(self.expires) => Err("again"),
            };
            let reason = match received {
                Ok(change) if change.id <= self.seen => continue,
                Ok(change) => {
                    self.seen = change.id;
                    if self.includes(&change) {
                        return Some(change_event(&change));
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            self.finished = true;
            return Some(end(reason));
        }
    }
}

fn change_event(change: &Change) -> Event {
    let value = serde_json::to_value(change).unwrap_or_default();
    named(change.kind.as_str(), &value).id(change.id.to_string())
}

/// The last event of a stream.
fn end(reason: &str) -> Event {
    named("end", &json!({"reason": reason}))
}

fn named(name: &str, value: &serde_json::Value) -> Event {
    Event::default().event(name).data(value.to_string())
}

#[cfg(test)]
mod tests {
    use handover_model::{ChangeKind, Timestamp};

    use super::*;

    fn change(id: u64) -> Change {
        Change {
            id,
            kind: ChangeKind::Event,
            project: ProjectId::new("shop").unwrap(),
            session: SessionId::new("s1").ok(),
            subject: id.to_string(),
            detail: "verdict".to_owned(),
            at: Timestamp::default(),
        }
    }

    fn backlog(feed: &Arc<Feed>) -> Backlog {
        Backlog {
            feed: Arc::clone(feed),
            receiver: feed.receiver(),
            project: None,
            missed: Vec::new(),
            reset: false,
            seen: 0,
            incomplete: false,
        }
    }

    /// A stream past its opening comment.
    async fn open(backlog: Backlog, session: Option<&str>) -> EventStream {
        let session = session.map(|id| SessionId::new(id).unwrap());
        let subscription = backlog.feed.subscribe(backlog.seen).unwrap();
        let mut stream = EventStream::new(subscription, backlog, session);
        assert!(stream.next().await.is_some());
        stream
    }

    /// An event in its wire format.
    fn wire(event: Option<Event>) -> String {
        format!("{event:?}")
    }

    fn feeds() -> (watch::Sender<bool>, Feeds) {
        let (shutdown, shutting_down) = watch::channel(false);
        (shutdown, Feeds::new(shutting_down))
    }

    #[tokio::test]
    async fn ends_the_stream_of_a_subscriber_that_falls_behind() {
        let (_shutdown, feeds) = feeds();
        let feed = feeds.feed(None);
        let (mut quick, mut slow) =
            (open(backlog(&feed), None).await, open(backlog(&feed), None).await);
        for batch in 0..4 {
            feed.publish((1..=500).map(|n| change(batch * 500 + n)).collect());
            for n in 1..=500 {
                let event = wire(quick.next().await);
                assert!(event.contains(&format!("id: {}", batch * 500 + n)), "{event}");
            }
        }
        let end = wire(slow.next().await);
        assert!(end.contains("too_slow"), "{end}");
        assert!(slow.next().await.is_none());
        drop((quick, slow));
        assert!(feeds.active().is_empty(), "nothing is polled without subscribers");
    }

    #[tokio::test]
    async fn skips_other_sessions_and_what_was_seen() {
        let (_shutdown, feeds) = feeds();
        let feed = feeds.feed(None);
        let mut start = backlog(&feed);
        start.seen = 2;
        let mut stream = open(start, Some("s1")).await;
        let other = Change { session: SessionId::new("s2").ok(), ..change(3) };
        feed.publish(vec![change(1), change(2), other, change(4)]);
        assert!(wire(stream.next().await).contains("id: 4"));
    }

    #[tokio::test]
    async fn skips_other_projects() {
        let (_shutdown, feeds) = feeds();
        let feed = feeds.feed(None);
        let mut start = backlog(&feed);
        start.project = ProjectId::new("shop").ok();
        let mut stream = open(start, None).await;
        let other = Change { project: ProjectId::new("other").unwrap(), ..change(1) };
        feed.publish(vec![other, change(2)]);
        assert!(wire(stream.next().await).contains("id: 2"));
    }

    #[tokio::test]
    async fn replays_missed_changes_after_a_reset_notice() {
        let (_shutdown, feeds) = feeds();
        let feed = feeds.feed(None);
        let mut start = backlog(&feed);
        (start.missed, start.reset, start.seen) = (vec![change(8)], true, 9);
        let mut stream = open(start, None).await;
        let reset = wire(stream.next().await);
        assert!(reset.contains("event: reset") && reset.contains("id: 9"), "{reset}");
        assert!(wire(stream.next().await).contains("id: 8"));
    }

    #[tokio::test(start_paused = true)]
    async fn ends_on_shutdown_and_on_expiry() {
        let (shutdown, feeds) = feeds();
        let feed = feeds.feed(None);
        let mut expiring = open(backlog(&feed), None).await;
        assert!(wire(expiring.next().await).contains("again"));
        assert!(expiring.next().await.is_none());
        let mut stream = open(backlog(&feed), None).await;
        shutdown.send(true).unwrap();
        assert!(wire(stream.next().await).contains("shutdown"));
        assert!(stream.next().await.is_none());
    }
}
