//! Words that were mistyped: a letter too many, missing or wrong, or two of them swapped.
//!
//! An index has stems, and nobody knows which word each of them was. So a mistyped word is compared with
//! what a stem may have been, and only counts as that if the stemmer agrees.

use crate::words;

/// Shorter words have too many neighbors.
const SHORTEST: usize = 4;
/// From this length on, two slips are forgiven.
const LONG: usize = 8;

/// What the stemmer takes away.
const ENDINGS: &[&str] = &[
    "", "s", "e", "es", "ed", "er", "ers", "ing", "ings", "ion", "ions", "ation", "ations", "ator",
    "ators", "icate", "ication", "ications", "ment", "ments", "able", "ible", "ly", "al", "ity",
    "ive", "ance", "ence", "ancy", "ency", "ant", "ent", "ness", "ful",
];
const LONGEST_ENDING: u32 = 8;

/// How many slips a word may have.
pub fn forgiven(word: &str) -> u32 {
    match word.chars().count() {
        0..SHORTEST => 0,
        SHORTEST..LONG => 1,
        _ => 2,
    }
}

/// The number of slips between two words, if it is at most `most`.
pub fn slips(a: &str, b: &str, most: u32) -> Option<u32> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > most as usize {
        return None;
    }
    distances(&a, &b).last().copied().filter(|slips| *slips <= most)
}

/// The slips between a word and each beginning of another one.
fn distances(a: &[char], b: &[char]) -> Vec<u32> {
    // Rows of the table of distances between beginnings; the older one for swapped letters.
    let mut older: Vec<u32> = Vec::new();
    let mut last: Vec<u32> = (0..).take(b.len() + 1).collect();
    for (i, of_a) in a.iter().enumerate() {
        let mut row = vec![last[0] + 1; b.len() + 1];
        for (j, of_b) in b.iter().enumerate() {
            let wrong = last[j] + u32::from(of_a != of_b);
            row[j + 1] = wrong.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *of_a == b[j - 1] && a[i - 1] == *of_b {
                row[j + 1] = row[j + 1].min(older[j - 1] + 1);
            }
        }
        older = std::mem::replace(&mut last, row);
    }
    last
}

/// The lengths, in characters, of the stems that a word can be meant by.
pub fn stem_lengths(word: &str, slips: u32) -> (u32, u32) {
    let length = u32::try_from(word.chars().count()).unwrap_or(u32::MAX);
    let shortest = length.saturating_sub(slips + LONGEST_ENDING);
    (shortest.max(2), length.saturating_add(slips))
}

/// The words that a mistyped word was most likely meant to be, given the terms of an index (see
/// [`words::terms`]): those with the fewest slips, at most as many as given, in the order of the terms.
pub fn nearest(word: &str, most: u32, terms: impl IntoIterator<Item = String>) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let (mut least, mut near) = (most, Vec::new());
    for term in terms {
        let Some((found, meant)) = meant(word, &letters, &term, least) else { continue };
        if found < least {
            least = found;
            near.clear();
        }
        near.push(meant);
    }
    near
}

/// What a term would have been if a word was meant by it.
fn meant(word: &str, letters: &[char], term: &str, most: u32) -> Option<(u32, String)> {
    let stem: Vec<char> = term.chars().collect();
    if stem.len() > letters.len() + most as usize {
        return None;
    }
    // The last letter of a stem can stand for another one: `retri` is `retry`.
    let nearest = distances(&stem, letters).into_iter().min()?;
    if nearest > most + u32::from(term.ends_with('i')) {
        return None;
    }
    let mut best: Option<(u32, String)> = None;
    for form in forms(term) {
        let most = best.as_ref().map_or(most, |(found, _)| *found);
        let Some(found) = slips(word, &form, most) else { continue };
        // A letter is missing more often than there is one too many.
        let better = best.as_ref().is_none_or(|(least, known)| {
            (found, std::cmp::Reverse(form.len())) < (*least, std::cmp::Reverse(known.len()))
        });
        if better && words::terms(&form) == [term] {
            best = Some((found, form));
        }
    }
    best
}

/// Words that a stem may come from.
fn forms(term: &str) -> impl Iterator<Item = String> {
    let plain = ENDINGS.iter().map(move |ending| format!("{term}{ending}"));
    let with_y =
        term.strip_suffix('i').map(|start| ["y", "ies", "ied"].map(|end| format!("{start}{end}")));
    let doubled = term
        .chars()
        .last()
        .filter(char::is_ascii_lowercase)
        .map(|last| ["ing", "ed", "er"].map(|ending| format!("{term}{last}{ending}")));
    plain.chain(with_y.into_iter().flatten()).chain(doubled.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted() {
        assert_eq!(slips("gateway", "gateway", 2), Some(0));
        assert_eq!(slips("gatway", "gateway", 2), Some(1), "missing");
        assert_eq!(slips("gateeway", "gateway", 2), Some(1), "too many");
        assert_eq!(slips("gatewey", "gateway", 2), Some(1), "wrong");
        assert_eq!(slips("gatweay", "gateway", 2), Some(1), "swapped");
        assert_eq!(slips("agtweay", "gateway", 2), Some(2), "swapped twice");
        assert_eq!(slips("getwey", "gateway", 1), None);
        assert_eq!(slips("ab", "abcd", 1), None);
        assert_eq!(slips("café", "cafe", 1), Some(1));
        assert_eq!(slips("", "a", 1), Some(1));
    }

    #[test]
    fn short_words_are_taken_as_they_are() {
        assert_eq!(["db", "api", "auth", "gateway", "payments"].map(forgiven), [0, 0, 1, 1, 2]);
    }

    /// The terms of a text that has these words.
    fn index(words: &str) -> Vec<String> {
        crate::words::terms(words)
    }

    #[test]
    fn mistyped_words_are_recognized_by_what_was_meant() {
        let terms = index("configure authentication databases retry logging idempotency gateways");
        let meant = |word: &str| nearest(word, forgiven(word), terms.clone());
        assert_eq!(meant("configuratoin"), ["configuration"]);
        assert_eq!(meant("authentcation"), ["authentication"]);
        assert_eq!(meant("databse"), ["database"]);
        assert_eq!(meant("retyr"), ["retry"]);
        assert_eq!(meant("retires"), ["retries"]);
        assert_eq!(meant("loggign"), ["logging"]);
        assert_eq!(meant("idempotnecy"), ["idempotency"]);
        assert_eq!(meant("gatweay"), ["gateway"]);
        assert_eq!(meant("settings"), [""; 0]);
        assert_eq!(meant("lighthouse"), [""; 0]);
    }

    #[test]
    fn only_the_nearest_words_are_taken() {
        assert_eq!(nearest("cold", 1, index("bold hold house")), ["bold", "hold"]);
        assert_eq!(nearest("houses", 1, index("horse house")), ["houses"]);
    }
}
