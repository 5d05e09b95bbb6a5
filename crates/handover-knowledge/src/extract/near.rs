//! How alike texts are, by their words.

use std::collections::HashSet;

/// The share of common words from which two texts say the same.
const SAME: f64 = 0.8;

/// With three words each, unrelated texts hardly ever share one of ten signs, and those that are 80 % alike
/// nearly always do.
const SIGNS: usize = 10;
const WORDS_OF_SIGN: usize = 3;

/// The words of a text, to be compared.
#[derive(Debug, Clone, Default)]
pub struct Likeness {
    words: HashSet<u64>,
}

impl Likeness {
    /// Of a text.
    pub fn of(text: &str) -> Self {
        use std::hash::{DefaultHasher, Hash as _, Hasher as _};
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let words = words.map(|word| {
            let mut hasher = DefaultHasher::new();
            word.to_lowercase().hash(&mut hasher);
            hasher.finish()
        });
        Self { words: words.collect() }
    }

    /// How many different words there are.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    /// What most texts that say nearly the same share one of: the smallest words in a few orders, some together.
    pub(super) fn signs(&self) -> [u64; SIGNS] {
        let mut signs = [0_u64; SIGNS];
        for (at, sign) in signs.iter_mut().enumerate() {
            for order in 0..WORDS_OF_SIGN {
                // Odd numbers permute: no two words become one.
                let factor = ((at * WORDS_OF_SIGN + order) as u64 * 2 + 1)
                    .wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let place =
                    |word: &u64| word.wrapping_mul(factor).rotate_left(29).wrapping_mul(factor);
                let least = self.words.iter().map(place).min().unwrap_or_default();
                *sign = sign.rotate_left(21).wrapping_add(least);
            }
        }
        signs
    }

    /// Whether two texts say nearly the same.
    pub fn is_near(&self, other: &Self) -> bool {
        let (least, most) =
            (self.words.len().min(other.words.len()), self.words.len().max(other.words.len()));
        // Too different in length to have enough in common.
        if least == 0 || (least as f64) < SAME * most as f64 {
            return false;
        }
        let common = self.words.intersection(&other.words).count();
        let all = self.words.len() + other.words.len() - common;
        common as f64 >= SAME * all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearly_the_same_is_near() {
        let near = |a: &str, b: &str| Likeness::of(a).is_near(&Likeness::of(b));
        assert!(near("Use WAL for the settings database.", "use wal for the settings-database"));
        assert!(!near("Use WAL for the settings database", "Use DELETE for the other tables"));
        assert!(!near("", "") && !near("Keep 15 minutes", "Keep 30 minutes"));
    }
}
