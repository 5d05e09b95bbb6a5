//! Rate limiting: a token bucket per peer address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use crate::limits;

/// Loopback addresses are not limited.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl RateLimiter {
    /// Takes one request from the bucket; false if it is empty.
    pub(crate) fn allows(&self, peer: IpAddr) -> bool {
        peer.is_loopback() || self.take(peer, 1.0)
    }

    /// Charges for an invalid token, which costs as much as many requests.
    pub(crate) fn penalize(&self, peer: IpAddr) {
        if !peer.is_loopback() {
            self.take(peer, limits::WRONG_TOKEN_COST);
        }
    }

    fn take(&self, peer: IpAddr, cost: f64) -> bool {
        let Ok(mut buckets) = self.buckets.lock() else { return true };
        let now = Instant::now();
        if buckets.len() >= limits::TRACKED_PEERS {
            // A full bucket carries no information.
            buckets.retain(|_, bucket| refilled(bucket, now) < limits::REQUEST_BURST);
            if buckets.len() >= limits::TRACKED_PEERS && !buckets.contains_key(&peer) {
                return false;
            }
        }
        let bucket = buckets.entry(peer).or_insert(Bucket { left: limits::REQUEST_BURST, at: now });
        bucket.left = refilled(bucket, now);
        bucket.at = now;
        let enough = bucket.left >= cost;
        bucket.left = (bucket.left - cost).max(0.0);
        enough
    }
}

fn refilled(bucket: &Bucket, now: Instant) -> f64 {
    let elapsed = now.saturating_duration_since(bucket.at).as_secs_f64();
    (bucket.left + elapsed * limits::REQUESTS_PER_SECOND).min(limits::REQUEST_BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allows_a_burst_and_stops_a_flood() {
        let limiter = RateLimiter::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let allowed = (0..10_000).filter(|_| limiter.allows(one)).count();
        assert!((limits::REQUEST_BURST as usize..9_000).contains(&allowed), "{allowed}");
        assert!(limiter.allows(other));
        limiter.penalize(other);
        limiter.penalize(other);
        assert!((0..10_000).filter(|_| limiter.allows(other)).count() < allowed);
        let local = IpAddr::from([127, 0, 0, 1]);
        assert!((0..10_000).all(|_| limiter.allows(local)));
    }

    #[test]
    fn tracks_a_bounded_number_of_peers() {
        let limiter = RateLimiter::default();
        for n in 0..limits::TRACKED_PEERS as u32 * 2 {
            limiter.allows(IpAddr::from(n.to_be_bytes()));
        }
        assert!(limiter.buckets.lock().unwrap().len() <= limits::TRACKED_PEERS);
    }
}
