//! How often an address may ask.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::Instant;

use crate::limits;

/// A bucket per address, refilled with time; this machine has none.
#[derive(Debug, Default)]
pub(crate) struct Rate {
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Rate {
    /// Whether one more request is fine.
    pub(crate) fn allows(&self, peer: IpAddr) -> bool {
        peer.is_loopback() || self.take(peer, 1.0)
    }

    /// A wrong token costs as much as many requests.
    pub(crate) fn punish(&self, peer: IpAddr) {
        if !peer.is_loopback() {
            self.take(peer, limits::WRONG_TOKEN);
        }
    }

    fn take(&self, peer: IpAddr, cost: f64) -> bool {
        let Ok(mut buckets) = self.buckets.lock() else { return true };
        let now = Instant::now();
        if buckets.len() >= limits::ADDRESSES {
            // Those who were quiet long enough to have a full bucket need none.
            buckets.retain(|_, bucket| refilled(bucket, now) < limits::BURST);
            if buckets.len() >= limits::ADDRESSES && !buckets.contains_key(&peer) {
                return false;
            }
        }
        let bucket = buckets.entry(peer).or_insert(Bucket { left: limits::BURST, at: now });
        bucket.left = refilled(bucket, now);
        bucket.at = now;
        let enough = bucket.left >= cost;
        bucket.left = (bucket.left - cost).max(0.0);
        enough
    }
}

fn refilled(bucket: &Bucket, now: Instant) -> f64 {
    let passed = now.saturating_duration_since(bucket.at).as_secs_f64();
    (bucket.left + passed * limits::RATE).min(limits::BURST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_fine_and_a_flood_is_not() {
        let rate = Rate::default();
        let (one, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let heard = (0..10_000).filter(|_| rate.allows(one)).count();
        assert!((limits::BURST as usize..9_000).contains(&heard), "{heard}");
        assert!(rate.allows(other));
        rate.punish(other);
        rate.punish(other);
        assert!((0..10_000).filter(|_| rate.allows(other)).count() < heard);
        let here = IpAddr::from([127, 0, 0, 1]);
        assert!((0..10_000).all(|_| rate.allows(here)));
    }

    #[test]
    fn addresses_are_not_kept_without_end() {
        let rate = Rate::default();
        for n in 0..limits::ADDRESSES as u32 * 2 {
            rate.allows(IpAddr::from(n.to_be_bytes()));
        }
        assert!(rate.buckets.lock().unwrap().len() <= limits::ADDRESSES);
    }
}
