//! How large an effect must be for an experiment to see it.

use crate::Rng;

use super::exact::sign_flip;
use super::{LEVEL, interval};

/// How sure an experiment should be to see an effect.
const POWER: f64 = 0.8;

/// How many experiments are simulated for each effect.
const ROUNDS: usize = 400;

/// The smallest difference of success, in steps of five points, that an experiment of this size would find in four
/// of five cases; none if it could not even find that one arm always passes and the other never does.
///
/// Simulated with the test that the experiment will use, for tasks of any difficulty.
pub fn smallest_visible(tasks: usize, repeat: u32, comparisons: usize, seed: u64) -> Option<f64> {
    let level = LEVEL / comparisons.max(1) as f64;
    let mut rng = Rng::new(seed);
    let mut sees = |effect: f64| {
        let seen = (0..ROUNDS).filter(|_| {
            let wins: Vec<i64> = (0..tasks).map(|_| task(&mut rng, repeat, effect)).collect();
            let means: Vec<f64> =
                wins.iter().map(|wins| *wins as f64 / f64::from(repeat.max(1))).collect();
            sign_flip(&wins) <= level
                && interval::of_success(&means).is_some_and(|one| one.low > 0.0)
        });
        seen.count() as f64 / ROUNDS as f64 >= POWER
    };
    (1..=20).map(|step| f64::from(step) * 0.05).find(|effect| sees(*effect))
}

/// The net wins in one task of random difficulty.
fn task(rng: &mut Rng, repeat: u32, effect: f64) -> i64 {
    let middle = effect / 2.0 + (1.0 - effect) * rng.unit();
    (0..repeat)
        .map(|_| {
            let with = rng.happens(middle + effect / 2.0);
            i64::from(with) - i64::from(rng.happens(middle - effect / 2.0))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_experiments_see_smaller_effects() {
        let sees = |tasks, repeat| smallest_visible(tasks, repeat, 3, 1);
        assert_eq!(
            sees(4, 10),
            None,
            "four tasks can be alike by chance, however often they are repeated"
        );
        let (few, some, many) = (sees(12, 1).unwrap(), sees(12, 3).unwrap(), sees(60, 5).unwrap());
        println!("12 × 1: {few}, 12 × 3: {some}, 40 × 3: {:?}, 60 × 5: {many}", sees(40, 3));
        assert!(few > some && some > many, "{few} {some} {many}");
        assert!((0.25..=0.45).contains(&some), "{some}");
        assert!(many < 0.16, "{many}");
    }
}
