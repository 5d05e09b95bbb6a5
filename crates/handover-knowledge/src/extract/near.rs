//! How alike texts are, by their words.

use std::collections::HashSet;

/// The share of common words from which two texts say the same.
const SAME: f64 = 0.8;

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

    /// The smallest of the words, in an order that depends on the group. Texts with many common words share
    /// that of most groups.
    pub(super) fn sign(&self, group: u64) -> Option<u64> {
        // Odd numbers permute: no two words become one.
        let factor = (group * 2 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.words
            .iter()
            .map(|word| word.wrapping_mul(factor).rotate_left(29).wrapping_mul(factor))
            .min()
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
