//! Intervals: how large a difference may be.

use serde::{Deserialize, Serialize};

use crate::Rng;

/// A difference and the limits between which it lies with 95 % confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The difference that was seen.
    pub effect: f64,
    /// The lower limit.
    pub low: f64,
    /// The upper limit.
    pub high: f64,
}

/// How often a bootstrap resamples.
const RESAMPLES: usize = 4_000;

/// With fewer tasks a bootstrap knows nothing about the rest.
const LEAST_TASKS: usize = 4;

/// The mean difference of success over tasks, each from -1 to 1.
///
/// A bootstrap collapses to a point if all tasks agree, which is common with few tasks and would claim certainty. So
/// this is the interval of Agresti and Min (2005) for paired proportions, with tasks as the units and Student's
/// distribution: it acts as if two more tasks had been seen, with half a win and half a loss.
pub fn of_success(differences: &[f64]) -> Option<Interval> {
    if differences.is_empty() {
        return None;
    }
    let count = differences.len() as f64;
    let effect = differences.iter().sum::<f64>() / count;
    let (more, squares) = (count + 2.0, differences.iter().map(|one| one * one).sum::<f64>());
    let center = differences.iter().sum::<f64>() / more;
    let variance = (squares + 1.0) / more - center * center;
    let half = student(differences.len() - 1) * (variance / more).sqrt();
    let (low, high) = ((center - half).max(-1.0), (center + half).min(1.0));
    Some(Interval { effect, low: low.min(effect), high: high.max(effect) })
}

/// The mean difference of anything else over tasks: a bias-corrected and accelerated bootstrap (Efron 1987). None
/// with too few tasks.
pub fn of_mean(differences: &[f64], seed: u64) -> Option<Interval> {
    let count = differences.len();
    if count < LEAST_TASKS {
        return None;
    }
    let effect = mean(differences);
    let mut rng = Rng::new(seed);
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| (0..count).map(|_| differences[rng.below(count)]).sum::<f64>() / count as f64)
        .collect();
    means.sort_by(f64::total_cmp);
    let below = means.iter().filter(|one| **one < effect).count() as f64;
    let ties = means.iter().filter(|one| (**one - effect).abs() <= f64::EPSILON).count() as f64;
    let share = (below + ties / 2.0) / RESAMPLES as f64;
    let half = 0.5 / RESAMPLES as f64;
    let bias = quantile(share.clamp(half, 1.0 - half));
    let acceleration = acceleration(differences);
    let limit = |z: f64| {
        let moved = bias + (bias + z) / (1.0 - acceleration * (bias + z));
        let at = (cumulative(moved) * RESAMPLES as f64).floor();
        // The cast saturates, and the index is checked.
        means[(at.max(0.0) as usize).min(RESAMPLES - 1)]
    };
    let (low, high) = (limit(-Z), limit(Z));
    Some(Interval { effect, low: low.min(effect), high: high.max(effect) })
}

/// From the jackknife: how much the spread depends on the mean.
fn acceleration(values: &[f64]) -> f64 {
    let mean = mean(values);
    let (mut squares, mut cubes) = (0.0, 0.0);
    for value in values {
        // Leaving a value out moves the mean against it.
        let moved = value - mean;
        squares += moved * moved;
        cubes += moved * moved * moved;
    }
    if squares <= 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_985;

/// The 97.5 % points of Student's distribution with 1 to 30 degrees of freedom.
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

fn student(freedom: usize) -> f64 {
    match freedom.checked_sub(1).map(|at| STUDENT.get(at)) {
        None => STUDENT[0],
        Some(Some(point)) => *point,
        // Two terms of the expansion around the normal distribution, good to three digits from here.
        Some(None) => {
            let freedom = freedom as f64;
            let second = 5.0 * Z.powi(5) + 16.0 * Z.powi(3) + 3.0 * Z;
            Z + (Z.powi(3) + Z) / (4.0 * freedom) + second / (96.0 * freedom * freedom)
        }
    }
}

/// The normal distribution, by the expansion of Abramowitz and Stegun (7.1.26); its error is below 2·10⁻⁷.
fn cumulative(z: f64) -> f64 {
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [1.061_405_429, -1.453_152_027, 1.421_413_741, -0.284_496_736, 0.254_829_592];
    let sum = terms.iter().fold(0.0, |sum, term| (sum + term) * t);
    let erf = 1.0 - sum * (-x * x).exp();
    if z < 0.0 { (1.0 - erf) / 2.0 } else { f64::midpoint(1.0, erf) }
}

/// The inverse of [`cumulative`], by bisection.
fn quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-9.0, 9.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if cumulative(middle) < share { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_right() {
        assert!((cumulative(Z) - 0.975).abs() < 1e-6);
        assert!((cumulative(-1.0) - 0.158_655).abs() < 1e-6);
        assert!((quantile(0.975) - Z).abs() < 1e-4);
        assert!(quantile(0.5).abs() < 1e-6);
    }

    #[test]
    fn students_points_continue_where_the_table_ends() {
        assert!((student(30) - 2.042).abs() < 1e-9);
        assert!((student(31) - 2.040).abs() < 0.002);
        assert!((student(120) - 1.980).abs() < 0.001);
        assert!((student(0) - 12.706).abs() < 1e-9);
    }

    #[test]
    fn tasks_that_all_agree_leave_doubt() {
        let none = of_success(&[0.0; 6]).unwrap();
        assert!(none.low < -0.2 && none.high > 0.2, "{none:?}");
        let all = of_success(&[1.0; 6]).unwrap();
        assert!(all.low > 0.0 && all.low < 0.5, "{all:?}");
        assert!((all.high - 1.0).abs() < 1e-12);
        assert_eq!(of_success(&[]), None);
    }

    /// How often the true difference is inside, over seeded experiments with tasks of any difficulty, and briefs
    /// that help some tasks more than others.
    fn coverage(tasks: usize, repeat: u32, effect: f64) -> f64 {
        let mut rng = Rng::new(99);
        let rounds = 2_000;
        let inside = (0..rounds).filter(|_| {
            let differences: Vec<f64> = (0..tasks)
                .map(|_| {
                    let base = 0.2 + 0.4 * rng.unit();
                    let own = effect + 0.3 * (rng.unit() - 0.5);
                    let mut wins = |chance: f64| {
                        (0..repeat).filter(|_| rng.happens(chance)).count() as f64
                            / f64::from(repeat)
                    };
                    wins(base + own) - wins(base)
                })
                .collect();
            let interval = of_success(&differences).unwrap();
            interval.low <= effect && effect <= interval.high
        });
        inside.count() as f64 / f64::from(rounds)
    }

    #[test]
    fn intervals_of_success_hold_what_they_promise() {
        for (tasks, repeat) in [(6, 1), (8, 3), (12, 3), (20, 5), (40, 2)] {
            for effect in [0.0, 0.2] {
                let coverage = coverage(tasks, repeat, effect);
                assert!(coverage >= 0.94, "{tasks} × {repeat}, {effect}: {coverage}");
            }
        }
    }

    #[test]
    fn a_bootstrap_covers_a_skewed_mean() {
        // Costs are skewed: most agents are cheap, some are not.
        let mut rng = Rng::new(5);
        let rounds = 400;
        let inside = (0..rounds).filter(|round| {
            let values: Vec<f64> = (0..20).map(|_| -(1.0 - rng.unit()).ln()).collect();
            let interval = of_mean(&values, *round).unwrap();
            interval.low <= 1.0 && 1.0 <= interval.high
        });
        let coverage = inside.count() as f64 / rounds as f64;
        assert!((0.88..=0.99).contains(&coverage), "{coverage}");
    }

    #[test]
    fn a_bootstrap_is_reproducible_and_needs_tasks() {
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        assert_eq!(of_mean(&values, 1), of_mean(&values, 1));
        let interval = of_mean(&values, 1).unwrap();
        assert!((interval.effect - 6.2).abs() < 1e-12);
        assert!(interval.low > 1.0 && interval.high < 16.0, "{interval:?}");
        assert_eq!(of_mean(&values[..3], 1), None);
        let same = of_mean(&[2.0; 5], 1).unwrap();
        assert_eq!((same.low, same.high), (2.0, 2.0));
    }
}
