//! Change feeds: one bounded broadcast channel per store, shared by all of its subscribers.
//!
//! The poller in `live` fills them, and only while there are subscribers. A subscriber that falls too far
//! behind loses its stream and can resume from the last change it saw.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};

use handover_model::{Change, ProjectId};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};

use crate::limits;

/// The feeds of all stores.
pub(crate) struct Feeds {
    /// By project; `None` is the service's own store. A feed lives as long as it has subscribers.
    by_project: Mutex<HashMap<Option<ProjectId>, Weak<Feed>>>,
    /// Limits the subscribers of all stores together.
    capacity: Arc<Semaphore>,
    /// Becomes true when the service shuts down.
    shutdown: watch::Receiver<bool>,
}

impl Feeds {
    pub(crate) fn new(shutdown: watch::Receiver<bool>) -> Self {
        let capacity = Arc::new(Semaphore::new(limits::SUBSCRIBERS));
        Self { by_project: Mutex::default(), capacity, shutdown }
    }

    pub(crate) fn shutdown(&self) -> watch::Receiver<bool> {
        self.shutdown.clone()
    }

    /// The feed of a project's store, created on first use.
    pub(crate) fn feed(&self, project: Option<ProjectId>) -> Arc<Feed> {
        let new = || Arc::new(Feed::new(Arc::clone(&self.capacity), self.shutdown.clone()));
        let Ok(mut feeds) = self.by_project.lock() else { return new() };
        feeds.retain(|_, feed| feed.strong_count() > 0);
        if let Some(feed) = feeds.get(&project).and_then(Weak::upgrade) {
            return feed;
        }
        let feed = new();
        feeds.insert(project, Arc::downgrade(&feed));
        feed
    }

    /// Feeds with subscribers, and the last change that each has published.
    pub(crate) fn active(&self) -> Vec<(Option<ProjectId>, Arc<Feed>, u64)> {
        let Ok(feeds) = self.by_project.lock() else { return Vec::new() };
        let active = feeds.iter().filter_map(|(project, feed)| {
            let feed = feed.upgrade()?;
            let published = feed.published()?;
            Some((project.clone(), feed, published))
        });
        active.collect()
    }
}

/// The change feed of one store.
pub(crate) struct Feed {
    sender: broadcast::Sender<Arc<Change>>,
    progress: Mutex<Progress>,
    capacity: Arc<Semaphore>,
    shutdown: watch::Receiver<bool>,
}

#[derive(Default)]
struct Progress {
    subscribers: usize,
    /// The id of the last published change.
    published: u64,
}

impl Feed {
    fn new(capacity: Arc<Semaphore>, shutdown: watch::Receiver<bool>) -> Self {
        let (sender, _) = broadcast::channel(limits::BACKLOG);
        Self { sender, progress: Mutex::default(), capacity, shutdown }
    }

    pub(crate) fn receiver(&self) -> broadcast::Receiver<Arc<Change>> {
        self.sender.subscribe()
    }

    pub(crate) fn shutdown(&self) -> watch::Receiver<bool> {
        self.shutdown.clone()
    }

    /// Adds a subscriber that has seen everything up to a change; the first one decides where polling
    /// starts. `None` at capacity.
    pub(crate) fn subscribe(self: &Arc<Self>, seen: u64) -> Option<Subscription> {
        let permit = Arc::clone(&self.capacity).try_acquire_owned().ok()?;
        let mut progress = self.progress.lock().ok()?;
        if progress.subscribers == 0 {
            progress.published = seen;
        }
        progress.subscribers += 1;
        Some(Subscription { feed: Arc::clone(self), _permit: permit })
    }

    /// The last published change; `None` without subscribers.
    fn published(&self) -> Option<u64> {
        let progress = self.progress.lock().ok()?;
        (progress.subscribers > 0).then_some(progress.published)
    }

    pub(crate) fn publish(&self, changes: Vec<Change>) {
        let Some(last) = changes.last().map(|change| change.id) else { return };
        for change in changes {
            // Fails only if the last subscriber has just left.
            let _ = self.sender.send(Arc::new(change));
        }
        if let Ok(mut progress) = self.progress.lock() {
            progress.published = progress.published.max(last);
        }
    }
}

/// One subscriber; unsubscribes when dropped.
pub(crate) struct Subscription {
    feed: Arc<Feed>,
    _permit: OwnedSemaphorePermit,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Ok(mut progress) = self.feed.progress.lock() {
            progress.subscribers -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn limits_subscribers_of_all_projects_together() {
        let (_shutdown, shutting_down) = watch::channel(false);
        let feeds = Feeds::new(shutting_down);
        let (own, other) = (feeds.feed(None), feeds.feed(ProjectId::new("shop").ok()));
        let _first = other.subscribe(3).unwrap();
        let subscriptions: Vec<_> = std::iter::from_fn(|| own.subscribe(7)).collect();
        assert_eq!(subscriptions.len(), limits::SUBSCRIBERS - 1);
        assert!(other.subscribe(3).is_none());
        assert_eq!(own.published(), Some(7));
        assert_eq!(feeds.active().len(), 2);
    }

    #[tokio::test]
    async fn forgets_projects_without_subscribers() {
        let (_shutdown, shutting_down) = watch::channel(false);
        let feeds = Feeds::new(shutting_down);
        for n in 0..100 {
            drop(feeds.feed(ProjectId::new(format!("p{n}")).ok()).subscribe(0));
        }
        let feed = feeds.feed(None);
        assert!(Arc::ptr_eq(&feed, &feeds.feed(None)));
        assert_eq!(feeds.by_project.lock().unwrap().len(), 1);
        assert!(feeds.active().is_empty(), "a feed without subscribers is not polled");
    }

    #[tokio::test]
    async fn the_first_subscriber_decides_where_polling_starts() {
        let (_shutdown, shutting_down) = watch::channel(false);
        let feed = Feeds::new(shutting_down).feed(None);
        let first = feed.subscribe(10).unwrap();
        let second = feed.subscribe(3).unwrap();
        assert_eq!(feed.published(), Some(10));
        drop((first, second));
        assert_eq!(feed.published(), None);
        let _third = feed.subscribe(5).unwrap();
        assert_eq!(feed.published(), Some(5));
    }
}
