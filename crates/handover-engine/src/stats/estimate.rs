//! How sure a share or a difference is, for few observations.

use serde::Serialize;

/// Of a normal distribution, 95 % is within so many standard deviations.
const Z: f64 = 1.96;

/// With so few briefs a spread says nothing.
const LEAST: usize = 20;

/// A share with the interval that holds it 95 % of the time (Wilson).
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Share {
    /// The share, from 0 to 1.
    pub share: f64,
    /// The least it may be.
    pub low: f64,
    /// The most it may be.
    pub high: f64,
}

impl Share {
    /// Of so many, so many; none of none.
    pub(super) fn of(hits: u64, all: u64) -> Option<Self> {
        if all == 0 {
            return None;
        }
        let (n, share) = (all as f64, hits as f64 / all as f64);
        let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
        let half =
            Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
        Some(Self { share, low: (middle - half).max(0.0), high: (middle + half).min(1.0) })
    }
}

/// How far two shares are apart, with the interval that holds it 95 % of the time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Difference {
    /// The first share minus the second.
    pub difference: f64,
    /// The least it may be.
    pub low: f64,
    /// The most it may be.
    pub high: f64,
}

impl Difference {
    /// Between two shares of independent observations (Newcombe).
    pub(super) fn of_shares(one: Option<Share>, other: Option<Share>) -> Option<Self> {
        let (one, other) = (one?, other?);
        let difference = one.share - other.share;
        let down = ((one.share - one.low).powi(2) + (other.high - other.share).powi(2)).sqrt();
        let up = ((one.high - one.share).powi(2) + (other.share - other.low).powi(2)).sqrt();
        Some(Self { difference, low: difference - down, high: difference + up })
    }

    /// Between the means of two samples; none if either is too small to tell.
    pub(super) fn of_means(one: &[f64], other: &[f64]) -> Option<Self> {
        if one.len() < LEAST || other.len() < LEAST {
            return None;
        }
        let ((one, of_one), (other, of_other)) = (mean(one), mean(other));
        let half = Z * (of_one + of_other).sqrt();
        let difference = one - other;
        Some(Self { difference, low: difference - half, high: difference + half })
    }

    /// Whether nothing but chance would explain it.
    pub fn is_unclear(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// The mean of a sample, and the variance of that mean.
fn mean(sample: &[f64]) -> (f64, f64) {
    let n = sample.len() as f64;
    let mean = sample.iter().sum::<f64>() / n;
    let spread: f64 = sample.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, spread / (n - 1.0) / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() < 5e-4
    }

    #[test]
    fn shares_have_the_intervals_of_the_textbook() {
        // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
        for (hits, all, low, high) in [
            (81, 263, 0.2553, 0.3662),
            (15, 148, 0.0624, 0.1605),
            (0, 20, 0.0, 0.1611),
            (1, 29, 0.0061, 0.1718),
        ] {
            let share = Share::of(hits, all).unwrap();
            assert!(near(share.low, low) && near(share.high, high), "{share:?}");
        }
        assert_eq!(Share::of(0, 0), None);
    }

    #[test]
    fn differences_have_the_intervals_of_the_textbook() {
        // Newcombe (1998), table II, method 10: 56/70 − 48/80.
        let apart = Difference::of_shares(Share::of(56, 70), Share::of(48, 80)).unwrap();
        assert!(near(apart.low, 0.0524) && near(apart.high, 0.3339), "{apart:?}");
        assert!(!apart.is_unclear());
        let same = Difference::of_shares(Share::of(9, 20), Share::of(8, 20)).unwrap();
        assert!(same.is_unclear());
        assert_eq!(Difference::of_shares(Share::of(1, 1), None), None);
    }

    #[test]
    fn means_need_enough_briefs() {
        let (low, high) = ([0.2, 0.4].repeat(10), [0.7, 0.9].repeat(10));
        let apart = Difference::of_means(&high, &low).unwrap();
        assert!(near(apart.difference, 0.5) && !apart.is_unclear(), "{apart:?}");
        assert!(near(apart.high - apart.low, 2.0 * Z * (2.0 * 0.01 / 19.0_f64).sqrt()));
        assert_eq!(Difference::of_means(&high[1..], &low), None);
        assert!(Difference::of_means(&low, &low).unwrap().is_unclear());
    }
}
