//! Connection limits: in total, and per peer address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::limits;

/// Counts open connections by address.
#[derive(Debug)]
pub(crate) struct ConnectionLimiter {
    capacity: usize,
    open: Mutex<HashMap<IpAddr, usize>>,
}

/// One open connection; released when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    peer: IpAddr,
}

impl ConnectionLimiter {
    /// Raises the soft limit of open files as far as necessary and allowed. Its usual value of 1,024 is too low
    /// for our connections, and a service without a free descriptor cannot even open its store.
    pub(crate) fn new() -> Self {
        let wanted = (limits::CONNECTIONS + limits::RESERVED_FILES) as u64;
        let allowed = getrlimit(Resource::Nofile);
        let target = allowed.maximum.unwrap_or(wanted).min(wanted);
        let mut files = allowed.current.unwrap_or(wanted);
        let raised = Rlimit { current: Some(target), maximum: allowed.maximum };
        if files < target && setrlimit(Resource::Nofile, raised).is_ok() {
            files = target;
        }
        Self::with_capacity(capacity(files))
    }

    fn with_capacity(capacity: usize) -> Self {
        Self { capacity, open: Mutex::default() }
    }

    /// `None` if the service or the peer is at capacity.
    pub(crate) fn acquire(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let mut open = self.open.lock().ok()?;
        let share = if peer.is_loopback() { self.capacity } else { limits::CONNECTIONS_PER_PEER };
        let own = open.get(&peer).copied().unwrap_or_default();
        if own >= share || open.values().sum::<usize>() >= self.capacity {
            return None;
        }
        open.insert(peer, own + 1);
        Some(ConnectionPermit { limiter: Arc::clone(self), peer })
    }
}

/// How many connections fit into a limit of open files.
fn capacity(files: u64) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    limits::CONNECTIONS.min(files - limits::RESERVED_FILES.min(files / 2))
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        let Ok(mut open) = self.limiter.open.lock() else { return };
        match open.get_mut(&self.peer) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => _ = open.remove(&self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserves_files_for_the_store() {
        assert_eq!(capacity(u64::MAX), limits::CONNECTIONS);
        assert_eq!(capacity(1_024), 1_024 - limits::RESERVED_FILES);
        assert_eq!(capacity(100), 50);
    }

    #[test]
    fn one_peer_cannot_exhaust_all_connections() {
        let limiter = Arc::new(ConnectionLimiter::with_capacity(limits::CONNECTIONS));
        let fill = |last: u8| -> Vec<ConnectionPermit> {
            std::iter::from_fn(|| limiter.acquire(IpAddr::from([10, 0, 0, last]))).collect()
        };
        let mut first = fill(1);
        assert_eq!(first.len(), limits::CONNECTIONS_PER_PEER);
        first.pop();
        assert_eq!(fill(1).len(), 1, "a released connection can be acquired again");
        let local: Vec<ConnectionPermit> =
            std::iter::from_fn(|| limiter.acquire(IpAddr::from([127, 0, 0, 1]))).collect();
        assert_eq!(local.len(), limits::CONNECTIONS - first.len());
        assert!(fill(2).is_empty(), "the service is at capacity");
        drop((first, local));
        assert!(limiter.open.lock().unwrap().is_empty(), "no address is remembered");
    }
}
