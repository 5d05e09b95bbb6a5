//! Word lists, indexed at compile time by two of their letters.
//!
//! Where no word has these letters, which is nearly everywhere, a lookup is one table access.

/// Which letters of a word are indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// The first two.
    Start,
    /// The last two.
    End,
}

/// `N` words from several lists, matched case-insensitively.
pub(super) struct Index<const N: usize> {
    side: Side,
    starts: [u16; SLOTS + 1],
    entries: [Entry; N],
}

const SLOTS: usize = 1 << 10;

/// A word and the index of its list.
#[derive(Clone, Copy)]
struct Entry {
    list: u8,
    word: &'static [u8],
}

/// The total number of words in the lists.
pub(super) const fn count(lists: &[&[&str]]) -> usize {
    let mut n = 0;
    let mut l = 0;
    while l < lists.len() {
        n += lists[l].len();
        l += 1;
    }
    n
}

/// The slot of two letters, the same for upper and lower case.
pub(super) const fn slot(a: u8, b: u8) -> usize {
    ((a & 31) as usize) << 5 | (b & 31) as usize
}

impl<const N: usize> Index<N> {
    pub(super) const fn new(lists: &[&[&'static str]], side: Side) -> Self {
        let mut starts = [0u16; SLOTS + 1];
        let mut l = 0;
        while l < lists.len() {
            let mut w = 0;
            while w < lists[l].len() {
                starts[Self::slot_of(lists[l][w].as_bytes(), side) + 1] += 1;
                w += 1;
            }
            l += 1;
        }
        let mut i = 0;
        while i < SLOTS {
            starts[i + 1] += starts[i];
            i += 1;
        }
        let mut next = starts;
        let mut entries = [Entry { list: 0, word: b"" }; N];
        let mut l = 0;
        while l < lists.len() {
            let mut w = 0;
            while w < lists[l].len() {
                let word = lists[l][w].as_bytes();
                let slot = Self::slot_of(word, side);
                entries[next[slot] as usize] = Entry { list: l as u8, word };
                next[slot] += 1;
                w += 1;
            }
            l += 1;
        }
        Self { side, starts, entries }
    }

    const fn slot_of(word: &[u8], side: Side) -> usize {
        match side {
            Side::Start => slot(word[0], word[1]),
            Side::End => slot(word[word.len() - 2], word[word.len() - 1]),
        }
    }

    /// Whether any word has these two letters.
    #[inline]
    pub(super) fn has(&self, a: u8, b: u8) -> bool {
        let slot = slot(a, b);
        self.starts[slot] != self.starts[slot + 1]
    }

    /// The words with these two letters.
    pub(super) fn near(&self, a: u8, b: u8) -> impl Iterator<Item = &'static [u8]> {
        let slot = slot(a, b);
        let group = usize::from(self.starts[slot])..usize::from(self.starts[slot + 1]);
        self.entries[group].iter().map(|entry| entry.word)
    }

    /// The words that the text starts (or ends) with, and the indexes of their lists.
    pub(super) fn at<'i>(
        &'i self,
        text: &'i [u8],
    ) -> impl Iterator<Item = (u8, &'static [u8])> + 'i {
        let slot = match (self.side, text) {
            (Side::Start, [a, b, ..]) | (Side::End, [.., a, b]) => Some(slot(*a, *b)),
            (Side::Start | Side::End, _) => None,
        };
        let group =
            slot.map_or(0..0, |s| usize::from(self.starts[s])..usize::from(self.starts[s + 1]));
        self.entries[group].iter().filter_map(move |entry| {
            let len = entry.word.len();
            let part = match self.side {
                Side::Start => text.get(..len)?,
                Side::End => text.get(text.len().checked_sub(len)?..)?,
            };
            part.eq_ignore_ascii_case(entry.word).then_some((entry.list, entry.word))
        })
    }

    /// Whether the text contains any of the words. Only for an index of starts.
    pub(super) fn inside(&self, text: &[u8]) -> bool {
        (0..text.len().saturating_sub(1)).any(|at| self.at(&text[at..]).next().is_some())
    }
}

/// A set of three-letter starts (or ends) that rules out nearly every other word at once.
pub(super) struct Letters([u64; 512]);

impl Letters {
    pub(super) const fn new(lists: &[&[&str]], side: Side) -> Self {
        let mut bits = [0; 512];
        let mut l = 0;
        while l < lists.len() {
            let mut w = 0;
            while w < lists[l].len() {
                let word = lists[l][w].as_bytes();
                let (pair, third) = match side {
                    Side::Start => (slot(word[0], word[1]), word.len() > 2),
                    Side::End => (slot(word[word.len() - 2], word[word.len() - 1]), word.len() > 2),
                };
                let mut letter = 0;
                while letter < 32 {
                    let own = match side {
                        Side::Start if third => (word[2] & 31) as usize,
                        Side::End if third => (word[word.len() - 3] & 31) as usize,
                        Side::Start | Side::End => letter,
                    };
                    if own == letter {
                        let bit = pair << 5 | letter;
                        bits[bit >> 6] |= 1 << (bit & 63);
                    }
                    letter += 1;
                }
                w += 1;
            }
            l += 1;
        }
        Self(bits)
    }

    /// Whether any word has these two letters at its edge and this one next to them.
    #[inline]
    pub(super) fn has(&self, a: u8, b: u8, beside: u8) -> bool {
        let bit = slot(a, b) << 5 | (beside & 31) as usize;
        self.0[bit >> 6] >> (bit & 63) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LISTS: [&[&str]; 2] = [&["key", "keyboard", "to"], &["token", "Key", "x1"]];
    static STARTS: Index<{ count(&LISTS) }> = Index::new(&LISTS, Side::Start);
    static ENDS: Index<{ count(&LISTS) }> = Index::new(&LISTS, Side::End);
    static LETTERS: Letters = Letters::new(&LISTS, Side::Start);

    fn naive(text: &str, starts: bool) -> Vec<(u8, &'static [u8])> {
        let text = text.to_ascii_lowercase();
        let mut found: Vec<(u8, &[u8])> = Vec::new();
        for (list, words) in LISTS.iter().enumerate() {
            for word in *words {
                let lower = word.to_ascii_lowercase();
                let found_here =
                    if starts { text.starts_with(&lower) } else { text.ends_with(&lower) };
                if found_here {
                    found.push((list as u8, word.as_bytes()));
                }
            }
        }
        found.sort();
        found
    }

    #[test]
    fn words_are_found_in_any_case() {
        let found: Vec<_> = STARTS.at(b"KEYBOARD").map(|(_, word)| word).collect();
        assert_eq!(found.len(), 3);
        assert!(STARTS.inside(b"a big keyring") && !STARTS.inside(b"a k e y"));
        assert!(STARTS.has(b't', b'O') && !STARTS.has(b'z', b'z'));
        assert_eq!(STARTS.near(b'x', b'1').count(), 1);
    }

    proptest! {
        #[test]
        fn lookups_equal_a_search(text in "(key|KEY|to|x1|[a-z0-9])?[a-zA-Z0-9]{0,8}(key|token|Key)?") {
            let sorted = |index: &'static Index<6>| {
                let mut found: Vec<_> = index.at(text.as_bytes()).collect();
                found.sort();
                found
            };
            prop_assert_eq!(sorted(&STARTS), naive(&text, true));
            prop_assert_eq!(sorted(&ENDS), naive(&text, false));
        }

        #[test]
        fn letters_never_rule_out_a_word(text in "(key|KEYBOARD|to|tok|x1)[a-z]{0,3}") {
            let bytes = text.as_bytes();
            if let [a, b, c, ..] = bytes && !naive(&text, true).is_empty() {
                prop_assert!(LETTERS.has(*a, *b, *c));
            }
        }
    }
}
