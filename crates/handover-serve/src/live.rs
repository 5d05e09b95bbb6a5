//! `/events`: what changes, as it changes (server-sent events).
//!
//! One task looks for changes for all listeners, and only while there are any. All listeners of a store
//! hear from one bounded channel: whoever falls too far behind is told so and let go, and can come back with the
//! number of the last change that they saw.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::sync::{Arc, Mutex, Weak};

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::HeaderMap;
use axum::response::IntoResponse;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::stream::{self, Stream};
use handover_mcp::Refusal;
use handover_model::{Change, ProjectId, SessionId, TokenScope};
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio::time::Instant;

use crate::admit::Caller;
use crate::answer::{Answer, refused};
use crate::limits;
use crate::office::Office;

/// Where the changes of each store are heard.
pub(crate) struct Feeds {
    /// By project; none is the service's own store. They are there as long as somebody listens.
    all: Mutex<HashMap<Option<ProjectId>, Weak<Live>>>,
    /// For so many listeners.
    room: Arc<Semaphore>,
    /// Becomes true when the service ends.
    ended: watch::Receiver<bool>,
}

impl Feeds {
    pub(crate) fn new(ended: watch::Receiver<bool>) -> Self {
        Self { all: Mutex::default(), room: Arc::new(Semaphore::new(limits::LISTENERS)), ended }
    }

    fn of(&self, project: Option<ProjectId>) -> Arc<Live> {
        let new = || Arc::new(Live::new(Arc::clone(&self.room), self.ended.clone()));
        let Ok(mut all) = self.all.lock() else { return new() };
        all.retain(|_, live| live.strong_count() > 0);
        if let Some(live) = all.get(&project).and_then(Weak::upgrade) {
            return live;
        }
        let live = new();
        all.insert(project, Arc::downgrade(&live));
        live
    }

    /// Those that somebody listens to, and the last change that was told.
    fn heard(&self) -> Vec<(Option<ProjectId>, Arc<Live>, u64)> {
        let Ok(all) = self.all.lock() else { return Vec::new() };
        let heard = all.iter().filter_map(|(project, live)| {
            let live = live.upgrade()?;
            let after = live.after()?;
            Some((project.clone(), live, after))
        });
        heard.collect()
    }
}

/// Where the changes of one store are heard.
struct Live {
    sender: broadcast::Sender<Arc<Change>>,
    watch: Mutex<Watch>,
    /// For so many listeners, of all stores together.
    room: Arc<Semaphore>,
    /// Becomes true when the service ends.
    ended: watch::Receiver<bool>,
}

/// What the one who looks knows.
#[derive(Default)]
struct Watch {
    listeners: usize,
    /// The last change that was told.
    after: u64,
}

impl Live {
    fn new(room: Arc<Semaphore>, ended: watch::Receiver<bool>) -> Self {
        let (sender, _) = broadcast::channel(limits::BACKLOG);
        Self { sender, watch: Mutex::default(), room, ended }
    }

    /// One more listener, who has seen everything up to a change. The first one says where to begin.
    fn join(self: &Arc<Self>, seen: u64) -> Option<Joined> {
        let place = Arc::clone(&self.room).try_acquire_owned().ok()?;
        let mut watch = self.watch.lock().ok()?;
        if watch.listeners == 0 {
            watch.after = seen;
        }
        watch.listeners += 1;
        Some(Joined { live: Arc::clone(self), _place: place })
    }

    fn after(&self) -> Option<u64> {
        self.watch.lock().ok().filter(|watch| watch.listeners > 0).map(|watch| watch.after)
    }

    fn tell(&self, changes: Vec<Change>) {
        let Some(last) = changes.last().map(|change| change.id) else { return };
        for change in changes {
            // Nobody listening any more is no failure.
            let _ = self.sender.send(Arc::new(change));
        }
        if let Ok(mut watch) = self.watch.lock() {
            watch.after = watch.after.max(last);
        }
    }
}

/// A listener's place, given back when they leave.
struct Joined {
    live: Arc<Live>,
    _place: OwnedSemaphorePermit,
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Ok(mut watch) = self.live.watch.lock() {
            watch.listeners -= 1;
        }
    }
}

/// Looks for changes until the service ends.
pub(crate) async fn look(office: Office) {
    let mut ended = office.feeds.ended.clone();
    loop {
        tokio::select! {
            _ = ended.wait_for(|ended| *ended) => return,
            () = tokio::time::sleep(limits::LOOK_EVERY) => {}
        }
        for (project, live, after) in office.feeds.heard() {
            let found = office
                .unguarded(project, move |seat| Ok(seat.store.changes(after, limits::BATCH)?));
            // A store that is broken now may be mended for the next look; `/health` says so meanwhile.
            if let Ok(changes) = found.await {
                live.tell(changes);
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wanted {
    session: Option<SessionId>,
    /// For clients that cannot set the header.
    last_event_id: Option<u64>,
}

/// Listens.
pub(crate) async fn events(
    State(office): State<Office>,
    Extension(caller): Extension<Caller>,
    wanted: Result<Query<Wanted>, axum::extract::rejection::QueryRejection>,
    headers: HeaderMap,
) -> Answer {
    let Ok(Query(wanted)) = wanted else {
        return refused(&Refusal {
            code: "invalid_input",
            message: "there are only the fields `session` and `last_event_id`".to_owned(),
            hint: None,
        });
    };
    let header = headers.get("last-event-id").and_then(|value| value.to_str().ok()?.parse().ok());
    let from: Option<u64> = header.or(wanted.last_event_id);
    let session = wanted.session.clone();
    let feeds = Arc::clone(&office.feeds);
    let begun = office.work_as(caller, TokenScope::Read, move |seat, access| {
        let live = feeds.of(access.elsewhere.clone());
        // Heard from here on, so that nothing falls between what is read now and what is told later.
        let heard = live.sender.subscribe();
        if let Some(session) = &session {
            seat.store.session(session)?;
        }
        let span = seat.store.feed_span()?;
        // Whoever was away for too long, or comes from another store, looks at everything anew.
        let known = from.filter(|from| *from + 1 >= span.first && *from <= span.last);
        let missed = match known {
            Some(from) => seat.store.changes(from, limits::BACKLOG as u32)?,
            None => Vec::new(),
        };
        let reset = from.is_some() && known.is_none();
        let seen = match missed.len() < limits::BACKLOG {
            true => span.last,
            false => missed.last().map_or(span.last, |change| change.id),
        };
        let seen = seen.max(known.unwrap_or(0));
        Ok((live, heard, access.project.clone(), missed, reset, seen))
    });
    let (live, heard, project, missed, reset, seen) = match begun.await {
        Ok(begun) => begun,
        Err(refusal) => return refused(&refusal),
    };
    let Some(joined) = live.join(seen) else {
        return refused(&Refusal {
            code: "too_many",
            message: "there are too many listeners".to_owned(),
            hint: Some("Try again later.".to_owned()),
        });
    };
    let mut listener =
        Listener { project, session: wanted.session, ..Listener::new(joined, heard, seen) };
    listener.first.push_back(Event::default().retry(limits::COME_BACK).comment("handover"));
    if reset {
        let reason = json!({"reason": "what came after that change is not known any more"});
        listener.first.push_back(named("reset", &reason).id(seen.to_string()));
    }
    for change in missed {
        if listener.wants(&change) {
            listener.first.push_back(told(&change));
        }
    }
    let beat = KeepAlive::new().interval(limits::HEARTBEAT);
    Sse::new(listener.stream()).keep_alive(beat).into_response()
}

/// One who listens.
struct Listener {
    /// What is said before anything new.
    first: VecDeque<Event>,
    heard: broadcast::Receiver<Arc<Change>>,
    seen: u64,
    project: Option<ProjectId>,
    session: Option<SessionId>,
    until: Instant,
    ended: watch::Receiver<bool>,
    finished: bool,
    _joined: Joined,
}

impl Listener {
    fn new(joined: Joined, heard: broadcast::Receiver<Arc<Change>>, seen: u64) -> Self {
        Self {
            first: VecDeque::new(),
            heard,
            seen,
            project: None,
            session: None,
            until: Instant::now() + limits::LISTEN_TIME,
            ended: joined.live.ended.clone(),
            finished: false,
            _joined: joined,
        }
    }

    fn wants(&self, change: &Change) -> bool {
        self.project.as_ref().is_none_or(|project| *project == change.project)
            && (self.session.is_none() || self.session == change.session)
    }

    fn stream(self) -> impl Stream<Item = Result<Event, Infallible>> {
        stream::unfold(self, |mut listener| async {
            let event = listener.next().await?;
            Some((Ok(event), listener))
        })
    }

    /// The next event; the last one says why it is the last.
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.first.pop_front() {
            return Some(event);
        }
        loop {
            if self.finished {
                return None;
            }
            let ended = async { self.ended.wait_for(|ended| *ended).await.map(drop) };
            let heard = tokio::select! {
                heard = self.heard.recv() => heard.map_err(|error| match error {
                    broadcast::error::RecvError::Lagged(_) => "too_slow",
                    broadcast::error::RecvError::Closed => "shutdown",
                }),
                _ = ended => Err("shutdown"),
                // Rights are looked at again when a client comes back.
                () = tokio::time::sleep_until(self.until) => Err("again"),
            };
            let reason = match heard {
                Ok(change) if change.id <= self.seen => continue,
                Ok(change) => {
                    self.seen = change.id;
                    if self.wants(&change) {
                        return Some(told(&change));
                    }
                    continue;
                }
                Err(reason) => reason,
            };
            self.finished = true;
            return Some(named("end", &json!({"reason": reason})));
        }
    }
}

fn told(change: &Change) -> Event {
    let value = serde_json::to_value(change).unwrap_or_default();
    named(change.kind.as_str(), &value).id(change.id.to_string())
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

    fn listen(live: &Arc<Live>) -> Listener {
        let heard = live.sender.subscribe();
        Listener::new(live.join(0).unwrap(), heard, 0)
    }

    /// What an event says on the wire.
    fn shown(event: Option<Event>) -> String {
        format!("{event:?}")
    }

    #[tokio::test]
    async fn whoever_falls_behind_is_told_so_and_let_go() {
        let (_end, ended) = watch::channel(false);
        let live = Feeds::new(ended).of(None);
        let (mut quick, mut slow) = (listen(&live), listen(&live));
        for batch in 0..4 {
            live.tell((1..=500).map(|n| change(batch * 500 + n)).collect());
            for n in 1..=500 {
                let heard = shown(quick.next().await);
                assert!(heard.contains(&format!("id: {}", batch * 500 + n)), "{heard}");
            }
        }
        let end = shown(slow.next().await);
        assert!(end.contains("too_slow"), "{end}");
        assert!(slow.next().await.is_none());
        drop((quick, slow));
        assert_eq!(live.after(), None, "nobody looks when nobody listens");
    }

    #[tokio::test]
    async fn there_is_room_for_so_many_and_no_more() {
        let (_end, ended) = watch::channel(false);
        let feeds = Feeds::new(ended);
        let (live, other) = (feeds.of(None), feeds.of(ProjectId::new("shop").ok()));
        let _first = other.join(3).unwrap();
        let joined: Vec<_> = std::iter::from_fn(|| live.join(7)).collect();
        assert_eq!(joined.len(), limits::LISTENERS - 1, "places are for all projects together");
        assert!(other.join(3).is_none());
        assert_eq!(live.after(), Some(7));
        assert_eq!(feeds.heard().len(), 2);
    }

    #[tokio::test]
    async fn nothing_is_kept_of_projects_that_nobody_listens_to() {
        let (_end, ended) = watch::channel(false);
        let feeds = Feeds::new(ended);
        for n in 0..100 {
            drop(feeds.of(ProjectId::new(format!("p{n}")).ok()).join(0));
        }
        let live = feeds.of(None);
        assert!(Arc::ptr_eq(&live, &feeds.of(None)));
        assert_eq!(feeds.all.lock().unwrap().len(), 1);
    }
}
