//! The exact test for success.

/// The two-sided probability that a difference at least as large appears by chance, given the net wins of one arm
/// over the other in each task: `wins[i]` is how often arm A passed task `i` where B failed, minus the opposite.
///
/// Repetitions of one task are not independent: they share its difficulty, and what a brief does to it. So the unit
/// is the task, and under the null hypothesis its whole sum could as well have had the other sign. All 2ⁿ ways to
/// choose signs are counted, by adding one task after the other to the distribution of the sum; with one repetition
/// this is `McNemar`'s exact test.
pub fn sign_flip(wins: &[i64]) -> f64 {
    let sizes: Vec<usize> =
        wins.iter().map(|sum| usize::try_from(sum.unsigned_abs()).unwrap_or(usize::MAX)).collect();
    let most: usize = sizes.iter().sum();
    // The index of a sum is the sum plus `most`.
    let mut chances = vec![0.0; 2 * most + 1];
    chances[most] = 1.0;
    let mut reached = 0;
    for size in sizes.into_iter().filter(|size| *size > 0) {
        let mut next = vec![0.0; chances.len()];
        for at in most - reached..=most + reached {
            let half = chances[at] / 2.0;
            next[at - size] += half;
            next[at + size] += half;
        }
        chances = next;
        reached += size;
    }
    let seen = usize::try_from(wins.iter().sum::<i64>().unsigned_abs()).unwrap_or(usize::MAX);
    let chance: f64 = chances
        .iter()
        .enumerate()
        .filter(|(at, _)| at.abs_diff(most) >= seen)
        .map(|(_, chance)| chance)
        .sum();
    chance.min(1.0)
}

/// Holm's correction for several comparisons: the chance of even one false claim stays below the level.
pub fn holm(chances: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..chances.len()).collect();
    order.sort_by(|a, b| chances[*a].total_cmp(&chances[*b]));
    let mut adjusted = vec![1.0; chances.len()];
    let mut least: f64 = 0.0;
    for (rank, index) in order.into_iter().enumerate() {
        least = least.max(chances[index] * (chances.len() - rank) as f64).min(1.0);
        adjusted[index] = least;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-12
    }

    #[test]
    fn agrees_with_mcnemars_exact_test() {
        // 10 discordant pairs, 9 against 1: 2 · (1 + 10) / 2¹⁰.
        let mut wins = vec![1; 9];
        wins.push(-1);
        wins.extend([0; 20]);
        assert!(close(sign_flip(&wins), 22.0 / 1024.0));
        assert!(close(sign_flip(&[1; 5]), 2.0 / 32.0));
    }

    #[test]
    fn says_nothing_without_a_difference() {
        assert!(close(sign_flip(&[]), 1.0));
        assert!(close(sign_flip(&[0, 0, 0]), 1.0));
        assert!(close(sign_flip(&[3, -3]), 1.0));
    }

    #[test]
    fn repetitions_of_one_task_are_no_evidence_about_others() {
        // One task, won thirty times, is one task.
        assert!(close(sign_flip(&[30]), 1.0));
    }

    #[test]
    fn holm_is_the_textbook_example() {
        let adjusted = holm(&[0.01, 0.04, 0.03, 0.005]);
        for (one, other) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            assert!(close(*one, other), "{adjusted:?}");
        }
        assert!(holm(&[]).is_empty());
        assert!(close(holm(&[0.7, 0.8])[0], 1.0));
    }

    proptest! {
        #[test]
        fn agrees_with_trying_all_signs(wins in prop::collection::vec(-4_i64..=4, 0..9)) {
            let seen = wins.iter().sum::<i64>().abs();
            let ways = 1_u32 << wins.len();
            let extreme = (0..ways).filter(|signs| {
                let flip = |(at, sum): (usize, &i64)| if signs >> at & 1 == 1 { -sum } else { *sum };
                wins.iter().enumerate().map(flip).sum::<i64>().abs() >= seen
            });
            let expected = extreme.count() as f64 / f64::from(ways);
            prop_assert!((sign_flip(&wins) - expected).abs() < 1e-9);
        }

        #[test]
        fn who_is_a_and_who_is_b_does_not_matter(wins in prop::collection::vec(-9_i64..=9, 0..30)) {
            let other: Vec<i64> = wins.iter().map(|sum| -sum).collect();
            prop_assert!((sign_flip(&wins) - sign_flip(&other)).abs() < 1e-12);
        }
    }
}
