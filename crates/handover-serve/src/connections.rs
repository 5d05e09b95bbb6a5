//! Connection limits: in total, and per peer address.
//!
//! A connection is idle until a complete request has arrived, and again once it is answered. At capacity,
//! the connection that has been idle longest is evicted for a new one: a client that opens connections and
//! sends nothing, or half a request, cannot lock others out.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::Notify;

use crate::limits;

/// Counts open connections by address, and tracks which are idle.
#[derive(Debug)]
pub(crate) struct ConnectionLimiter {
    capacity: usize,
    open: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    by_peer: HashMap<IpAddr, usize>,
    /// The idle connections, in the order in which they became idle.
    waiting: BTreeMap<u64, Arc<Notify>>,
    /// The number of the next connection to become idle.
    next: u64,
}

/// One open connection; released when dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    limiter: Arc<ConnectionLimiter>,
    peer: IpAddr,
    closed: Arc<Notify>,
    /// Its number while it is idle.
    idle_number: Mutex<Option<u64>>,
}

impl ConnectionLimiter {
    /// Raises the soft limit of open files as far as necessary and allowed. The usual 1,024 is too low for our
    /// connections, and a service without a free descriptor cannot even open its store.
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

    /// `None` if the peer is at capacity, or the service is and no connection is idle.
    pub(crate) fn acquire(self: &Arc<Self>, peer: IpAddr) -> Option<ConnectionPermit> {
        let mut open = self.open.lock().ok()?;
        let own = open.by_peer.get(&peer).copied().unwrap_or_default();
        // All programs on this machine have the same address.
        if !peer.is_loopback() && own >= limits::CONNECTIONS_PER_PEER {
            return None;
        }
        if open.by_peer.values().sum::<usize>() >= self.capacity {
            let (_, longest) = open.waiting.pop_first()?;
            longest.notify_one();
        }
        open.by_peer.insert(peer, own + 1);
        let closed = Arc::new(Notify::new());
        let number = open.enqueue_idle(&closed);
        let idle_number = Mutex::new(Some(number));
        Some(ConnectionPermit { limiter: Arc::clone(self), peer, closed, idle_number })
    }
}

impl OpenConnections {
    fn enqueue_idle(&mut self, closed: &Arc<Notify>) -> u64 {
        let number = self.next;
        self.next += 1;
        self.waiting.insert(number, Arc::clone(closed));
        number
    }
}

impl ConnectionPermit {
    /// Completes when the connection is evicted for another one.
    pub(crate) async fn evicted(&self) {
        self.closed.notified().await;
    }

    /// Marks the connection as busy: a complete request has arrived.
    pub(crate) fn mark_busy(&self) {
        let (Ok(mut open), Ok(mut idle_number)) =
            (self.limiter.open.lock(), self.idle_number.lock())
        else {
            return;
        };
        if let Some(number) = idle_number.take() {
            open.waiting.remove(&number);
        }
    }

    /// Marks the connection as idle: the request is answered.
    pub(crate) fn mark_idle(&self) {
        let (Ok(mut open), Ok(mut idle_number)) =
            (self.limiter.open.lock(), self.idle_number.lock())
        else {
            return;
        };
        if idle_number.is_none() {
            *idle_number = Some(open.enqueue_idle(&self.closed));
        }
    }
}

/// How many connections fit into a limit of open files.
fn capacity(files: u64) -> usize {
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    limits::CONNECTIONS.min(files - limits::RESERVED_FILES.min(files / 2))
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.mark_busy();
        let Ok(mut open) = self.limiter.open.lock() else { return };
        match open.by_peer.get_mut(&self.peer) {
            Some(own) if *own > 1 => *own -= 1,
            Some(_) | None => _ = open.by_peer.remove(&self.peer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn local() -> IpAddr {
        IpAddr::from([127, 0, 0, 1])
    }

    fn is_evicted(permit: &ConnectionPermit) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(pin!(permit.evicted()).poll(&mut context), Poll::Ready(()))
    }

    #[test]
    fn reserves_files_for_the_store() {
        assert_eq!(capacity(u64::MAX), limits::CONNECTIONS);
        assert_eq!(capacity(1_024), 1_024 - limits::RESERVED_FILES);
        assert_eq!(capacity(100), 50);
    }

    #[test]
    fn one_peer_cannot_exhaust_all_connections() {
        let limiter = Arc::new(ConnectionLimiter::with_capacity(limits::CONNECTIONS));
        let busy = |peer: IpAddr| limiter.acquire(peer).inspect(ConnectionPermit::mark_busy);
        let fill = |last: u8| -> Vec<ConnectionPermit> {
            std::iter::from_fn(|| busy(IpAddr::from([10, 0, 0, last]))).collect()
        };
        let mut first = fill(1);
        assert_eq!(first.len(), limits::CONNECTIONS_PER_PEER);
        first.pop();
        assert_eq!(fill(1).len(), 1, "a released connection can be acquired again");
        let here: Vec<ConnectionPermit> = std::iter::from_fn(|| busy(local())).collect();
        assert_eq!(here.len(), limits::CONNECTIONS - first.len());
        assert!(fill(2).is_empty(), "the service is at capacity");
        drop((first, here));
        let open = limiter.open.lock().unwrap();
        assert!(open.by_peer.is_empty() && open.waiting.is_empty(), "nothing is remembered");
    }

    #[test]
    fn evicts_the_connection_that_is_idle_longest() {
        let limiter = Arc::new(ConnectionLimiter::with_capacity(3));
        let [first, second, third] = [(); 3].map(|()| limiter.acquire(local()).unwrap());
        first.mark_busy();
        let fourth = limiter.acquire(local()).unwrap();
        assert_eq!([&first, &second, &third, &fourth].map(is_evicted), [false, true, false, false]);
        drop(second);
        // Once answered, it is idle again, behind the others.
        first.mark_idle();
        let fifth = limiter.acquire(local()).unwrap();
        assert_eq!([&first, &third, &fourth, &fifth].map(is_evicted), [false, true, false, false]);
        for busy in [&first, &fourth, &fifth] {
            busy.mark_busy();
        }
        drop(third);
        assert!(limiter.acquire(local()).is_none(), "all of them work");
    }
}
