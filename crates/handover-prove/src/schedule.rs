//! The order of trials: every arm has run as often as every other, up to one, whenever an experiment ends.

use serde::{Deserialize, Serialize};

use crate::{Arm, Rng};

/// One agent on one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Trial {
    /// The number of its task, from 0.
    pub task: usize,
    /// Which repetition, from 0.
    pub repetition: u32,
    /// What the agent is given.
    pub arm: Arm,
}

/// All trials in the order in which they run: one repetition after the other, the tasks of each in random order, and
/// the arms of each task next to each other in random order. So a budget that ends early leaves whole pairs, and
/// what changes with time (a model, a rate limit, a machine) meets all arms alike.
pub fn schedule(tasks: usize, arms: &[Arm], repetitions: u32, seed: u64) -> Vec<Trial> {
    let mut rng = Rng::new(seed);
    let mut trials = Vec::new();
    for repetition in 0..repetitions {
        let mut order: Vec<usize> = (0..tasks).collect();
        rng.shuffle(&mut order);
        for task in order {
            let mut arms = arms.to_vec();
            rng.shuffle(&mut arms);
            trials.extend(arms.into_iter().map(|arm| Trial { task, repetition, arm }));
        }
    }
    trials
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn arms_are_balanced_at_every_point() {
        let trials = schedule(7, &Arm::USUAL, 3, 42);
        assert_eq!(trials.len(), 7 * 3 * 3);
        let mut counts: BTreeMap<Arm, i32> = Arm::USUAL.map(|arm| (arm, 0)).into();
        for trial in &trials {
            *counts.entry(trial.arm).or_default() += 1;
            let (least, most) = (counts.values().min().unwrap(), counts.values().max().unwrap());
            assert!(most - least <= 1);
        }
    }

    #[test]
    fn every_arm_is_first_now_and_then() {
        let trials = schedule(30, &Arm::USUAL, 1, 1);
        let first = |arm| trials.chunks(3).filter(|block| block[0].arm == arm).count();
        assert!(Arm::USUAL.into_iter().all(|arm| first(arm) >= 4));
    }

    #[test]
    fn the_seed_decides() {
        let order = |seed| schedule(5, &Arm::USUAL, 2, seed);
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
