//! Who has a connection: so many at once, and no other machine more than its share.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits;

/// The connections that there are, by address.
#[derive(Debug)]
pub(crate) struct ProjectPaths {
    room: usize,
    taken: Mutex<HashMap<IpAddr, usize>>,
}

/// A connection's place, given back when it ends.
#[derive(Debug)]
pub(crate) struct Place {
    places: Arc<ProjectPaths>,
    peer: IpAddr,
}

impl ProjectPaths {
    /// As many as may be, if the system gives this process the files for them. The usual allowance of
    /// 1,024 is less than that, and a service that has none left cannot even open its store.
    pub(crate) fn new() -> Self {
        let wanted = (limits::CONNECTIONS + limits::FILES_ASIDE) as u64;
        let allowed = getrlimit(Resource::Nofile);
        let most = allowed.maximum.unwrap_or(wanted).min(wanted);
        let mut files = allowed.current.unwrap_or(wanted);
        let more = Rlimit { current: Some(most), maximum: allowed.maximum };
        if files < most && setrlimit(Resource::Nofile, more).is_ok() {
            files = most;
        }
        Self::with_room(room(files))
    }

    fn with_room(room: usize) -> Self {
        Self { room, taken: Mutex::default() }
    }

    /// A place for one more connection, if there is one.
    pub(crate) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Place> {
        let mut taken = self.taken.lock().ok()?;
        let share = if peer.is_loopback() { self.room } else { limits::SHARE };
        let own = taken.get(&peer).copied().unwrap_or_default();
        if own >= share || taken.values().sum::<usize>() >= self.room {
            return None;
        }
        taken.insert(peer, own + 1);
        Some(Place { places: Arc::clone(self), peer })
    }
}

/// How many connections so many files are enough for.
fn room(files: u64) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    limits::CONNECTIONS.min(files - limits::FILES_ASIDE.min(files / 2))
}

impl Drop for Place {
    fn drop(&mut self) {
        let Ok(mut taken) = self.places.taken.lock() else { return };
        match taken.get_mut(&self.peer) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => _ = taken.remove(&self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_for_the_store() {
        assert_eq!(room(u64::MAX), limits::CONNECTIONS);
        assert_eq!(room(1_024), 1_024 - limits::FILES_ASIDE);
        assert_eq!(room(100), 50);
    }

    #[test]
    fn one_machine_cannot_take_all_places() {
        let places = Arc::new(ProjectPaths::with_room(limits::CONNECTIONS));
        let fill = |last: u8| -> Vec<Place> {
            std::iter::from_fn(|| places.take(IpAddr::from([10, 0, 0, last]))).collect()
        };
        let mut first = fill(1);
        assert_eq!(first.len(), limits::SHARE);
        first.pop();
        assert_eq!(fill(1).len(), 1, "a place that was given back can be taken again");
        let here: Vec<Place> =
            std::iter::from_fn(|| places.take(IpAddr::from([127, 0, 0, 1]))).collect();
        assert_eq!(here.len(), limits::CONNECTIONS - first.len());
        assert!(fill(2).is_empty(), "there are no more");
        drop((first, here));
        assert!(places.taken.lock().unwrap().is_empty(), "nobody is remembered");
    }
}
