//! Reproducible chance: the same seed gives the same order of trials and the same intervals on every machine.

/// `SplitMix64`: small, fast, and good enough for shuffling and resampling. Not for secrets.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A generator for a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`; 0 if `end` is 0. The bias is below 2⁻³² for every list that fits in memory.
    pub fn below(&mut self, end: usize) -> usize {
        let wide = u128::from(self.next_bits()) * end as u128;
        usize::try_from(wide >> 64).unwrap_or_default()
    }

    /// A number from 0 to 1, without 1.
    pub fn unit(&mut self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.next_bits() >> 11) as f64 / STEPS
    }

    /// Whether something with this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Puts a list into random order.
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for last in (1..list.len()).rev() {
            let other = self.below(last + 1);
            list.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let numbers = |seed| -> Vec<u64> {
            let mut rng = Rng::new(seed);
            (0..5).map(|_| rng.next_bits()).collect()
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(8));
        // The published first value for seed 0.
        assert_eq!(Rng::new(0).next_bits(), 0xe220_a839_7b1d_cdaf);
    }

    #[test]
    fn every_number_below_the_end_is_as_likely() {
        let (mut rng, mut counts) = (Rng::new(1), [0_u32; 6]);
        for _ in 0..60_000 {
            counts[rng.below(6)] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(rng.below(0), 0);
    }

    #[test]
    fn shuffling_keeps_every_element() {
        let (mut rng, mut list): (Rng, Vec<u32>) = (Rng::new(3), (0..50).collect());
        rng.shuffle(&mut list);
        assert_ne!(list, (0..50).collect::<Vec<_>>());
        list.sort_unstable();
        assert_eq!(list, (0..50).collect::<Vec<_>>());
    }
}
