//! The best of many keys, without keeping all of them.

use std::cmp::Ordering;

use handover_store::Candidate;

/// A candidate with its sort key; greater is better.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Key {
    /// Takes precedence over the score.
    pub(crate) tier: u8,
    pub(crate) score: f64,
    /// The part of the score that depends on the task.
    pub(crate) relevance: f64,
    pub(crate) candidate: Candidate,
}

impl Ord for Key {
    /// Ties: newer first, then by id.
    fn cmp(&self, other: &Self) -> Ordering {
        self.tier
            .cmp(&other.tier)
            .then(self.score.total_cmp(&other.score))
            .then(self.candidate.created_at.cmp(&other.candidate.created_at))
            .then(self.candidate.id.cmp(&other.candidate.id))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Key {}

/// Collects the greatest keys.
pub(crate) struct Best {
    room: usize,
    /// At most twice as many as requested.
    kept: Vec<Key>,
    /// Smaller keys cannot be among the greatest.
    least: Option<Key>,
}

impl Best {
    pub(crate) fn new(room: usize) -> Self {
        Self { room, kept: Vec::new(), least: None }
    }

    /// Whether a key without precedence that has at most this score may be among the greatest.
    #[inline]
    pub(crate) fn has_room_for(&self, score: f64) -> bool {
        self.least.as_ref().is_none_or(|least| least.tier == 0 && least.score <= score)
    }

    pub(crate) fn push(&mut self, key: &Key) {
        if self.least.as_ref().is_some_and(|least| key < least) {
            return;
        }
        self.kept.push(*key);
        // Rarely, so that the cost of a push does not depend on the capacity.
        if self.kept.len() > self.room.saturating_mul(2) {
            self.drop_others();
        }
    }

    fn drop_others(&mut self) {
        if self.kept.len() > self.room {
            self.kept.select_nth_unstable_by(self.room, |a, b| b.cmp(a));
            self.kept.truncate(self.room);
            self.least = self.kept.iter().min().copied();
        }
    }

    pub(crate) fn ascending(mut self) -> Vec<Key> {
        self.drop_others();
        self.kept.sort_unstable();
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use handover_model::{PackageId, Priority, Timestamp};
    use handover_store::COLUMNS;

    use super::*;

    fn candidate(id: i64) -> Candidate {
        Candidate {
            id: PackageId(id),
            version: 1,
            priority: Priority::Medium,
            same_group: false,
            global: true,
            addressed: false,
            restricted: false,
            created_at: Timestamp::default(),
            terms: [0; COLUMNS],
        }
    }

    #[test]
    fn keeps_the_greatest_keys() {
        let scores = (0..997_u32).map(|n| f64::from(n * 7_919 % 101));
        let keys: Vec<Key> = (0..)
            .zip(scores)
            .map(|(id, score)| Key { tier: 0, score, relevance: 0.0, candidate: candidate(id) })
            .collect();
        let mut sorted = keys.clone();
        sorted.sort();
        for room in [0, 1, 2, 53, 996, 997, 998, usize::MAX] {
            let mut best = Best::new(room);
            keys.iter().for_each(|key| best.push(key));
            assert_eq!(best.ascending(), sorted[997 - room.min(997)..], "{room}");
        }
    }

    /// Keys that are passed over by a bound of their score change nothing.
    #[test]
    fn what_has_no_room_would_not_be_kept() {
        let keys: Vec<Key> = (0..997)
            .map(|n| key(u8::from(n % 50 == 0), f64::from(n * 7_919 % 101), 0, n.into()))
            .collect();
        for room in [0, 1, 5, 30, 500] {
            let (mut all, mut some, mut passed) = (Best::new(room), Best::new(room), 0);
            for key in &keys {
                all.push(key);
                if key.tier > 0 || some.has_room_for(key.score + 1.0) {
                    some.push(key);
                } else {
                    passed += 1;
                }
            }
            assert_eq!(some.ascending(), all.ascending(), "{room}");
            assert!(passed > 100 || matches!(room, 0 | 500), "{room}: {passed}");
        }
    }

    fn key(tier: u8, score: f64, seconds: i64, id: i64) -> Key {
        let created_at = Timestamp::from_micros(seconds * 1_000_000);
        let candidate = Candidate { created_at, ..candidate(id) };
        Key { tier, score, relevance: 0.0, candidate }
    }

    #[test]
    fn ties_are_broken_by_age_then_by_id() {
        let ascending = [
            key(0, 0.9, 9, 9),
            key(1, f64::NEG_INFINITY, 1, 1),
            key(1, 0.5, 1, 1),
            key(1, 0.5, 1, 2),
            key(1, 0.5, 2, 1),
            key(1, 0.6, 0, 0),
            key(2, 0.0, 0, 0),
        ];
        assert!(ascending.is_sorted());
        for (n, one) in ascending.iter().enumerate() {
            for (m, other) in ascending.iter().enumerate() {
                assert_eq!(one.cmp(other), n.cmp(&m), "{n} {m}");
                assert_eq!(one == other, n == m);
            }
        }
    }

    #[test]
    fn relevance_does_not_decide() {
        let one = Key { relevance: 0.1, ..key(0, 1.0, 1, 1) };
        assert_eq!(one, Key { relevance: 0.9, ..one });
    }

    #[test]
    fn memory_is_bounded() {
        let mut best = Best::new(10);
        for n in 0..10_000 {
            best.push(&key(0, f64::from(n), 0, n.into()));
            assert!(best.kept.len() <= 20);
        }
        let ids: Vec<i64> = best.ascending().iter().map(|key| key.candidate.id.0).collect();
        assert_eq!(ids, (9_990..10_000).collect::<Vec<_>>());
    }
}
