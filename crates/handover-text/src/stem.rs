//! The stem of an English word: Porter's second algorithm, as Snowball defines it.
//!
//! Every text that is stored, searched or shown goes through here, often word by word on the way to an agent. The
//! words are lower-case ASCII, so the rules are cuts of one buffer; the general library for all languages took ten
//! times as long. The tests compare with it.

/// Replaces a lower-case ASCII word by its stem.
pub(crate) fn stem(word: &mut String) {
    if word.len() <= 2 || !word.as_bytes().last().is_some_and(is_last_of_suffix) {
        return;
    }
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(exception, _)| exception == word) {
        (*stem).clone_into(word);
        return;
    }
    let (r1, r2) = regions(word.as_bytes());
    plural(word);
    if COMPLETE.contains(&word.as_str()) {
        return;
    }
    past_and_gerund(word, r1);
    final_y(word);
    replace_longest(word, r1, r2, SUFFIXES);
    replace_longest(word, r1, r2, MORE_SUFFIXES);
    replace_longest(word, r1, r2, ENDINGS);
    final_e_or_l(word, r1, r2);
}

/// Whether any rule is about words that end like this.
fn is_last_of_suffix(letter: &u8) -> bool {
    b"cdegilmnrsty".contains(letter)
}

/// Words with a stem of their own, and words that only look inflected.
const EXCEPTIONS: &[(&str, &str)] = &[
    ("skis", "ski"),
    ("skies", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("idly", "idl"),
    ("gently", "gentl"),
    ("ugly", "ugli"),
    ("early", "earli"),
    ("only", "onli"),
    ("singly", "singl"),
    ("sky", "sky"),
    ("news", "news"),
    ("howe", "howe"),
    ("atlas", "atlas"),
    ("cosmos", "cosmos"),
    ("bias", "bias"),
    ("andes", "andes"),
];

/// What is complete without its plural.
const COMPLETE: &[&str] =
    &["inning", "outing", "canning", "herring", "earring", "proceed", "exceed", "succeed"];

/// Beginnings after which the first region starts, whatever their vowels.
const PREFIXES: &[&[u8]] = &[b"gener", b"commun", b"arsen"];

/// What must hold for a suffix to be replaced.
#[derive(Debug, Clone, Copy)]
enum If {
    /// It is in the first region.
    InR1,
    /// It is in the second region.
    InR2,
    /// It is in the first region, behind an `l`.
    InR1BehindL,
    /// It is in the first region, behind a letter that `li` follows in adverbs.
    InR1BehindLiEnding,
    /// It is in the first region as a suffix of this step, and in the second.
    InR1AndR2,
    /// It is in the second region, behind `s` or `t`.
    InR2BehindSOrT,
}

/// A suffix, what replaces it, and where. In a list, no suffix comes after one that it ends with.
type Suffix = (&'static str, &'static str, If);

const SUFFIXES: &[Suffix] = &[
    ("ational", "ate", If::InR1),
    ("fulness", "ful", If::InR1),
    ("iveness", "ive", If::InR1),
    ("ization", "ize", If::InR1),
    ("ousness", "ous", If::InR1),
    ("biliti", "ble", If::InR1),
    ("lessli", "less", If::InR1),
    ("tional", "tion", If::InR1),
    ("alism", "al", If::InR1),
    ("aliti", "al", If::InR1),
    ("ation", "ate", If::InR1),
    ("entli", "ent", If::InR1),
    ("fulli", "ful", If::InR1),
    ("iviti", "ive", If::InR1),
    ("ousli", "ous", If::InR1),
    ("abli", "able", If::InR1),
    ("alli", "al", If::InR1),
    ("anci", "ance", If::InR1),
    ("ator", "ate", If::InR1),
    ("enci", "ence", If::InR1),
    ("izer", "ize", If::InR1),
    ("bli", "ble", If::InR1),
    ("ogi", "og", If::InR1BehindL),
    ("li", "", If::InR1BehindLiEnding),
];

const MORE_SUFFIXES: &[Suffix] = &[
    ("ational", "ate", If::InR1),
    ("tional", "tion", If::InR1),
    ("alize", "al", If::InR1),
    ("ative", "", If::InR1AndR2),
    ("icate", "ic", If::InR1),
    ("iciti", "ic", If::InR1),
    ("ical", "ic", If::InR1),
    ("ness", "", If::InR1),
    ("ful", "", If::InR1),
];

const ENDINGS: &[Suffix] = &[
    ("ement", "", If::InR2),
    ("able", "", If::InR2),
    ("ance", "", If::InR2),
    ("ence", "", If::InR2),
    ("ible", "", If::InR2),
    ("ment", "", If::InR2),
    ("ant", "", If::InR2),
    ("ate", "", If::InR2),
    ("ent", "", If::InR2),
    ("ion", "", If::InR2BehindSOrT),
    ("ism", "", If::InR2),
    ("iti", "", If::InR2),
    ("ive", "", If::InR2),
    ("ize", "", If::InR2),
    ("ous", "", If::InR2),
    ("al", "", If::InR2),
    ("er", "", If::InR2),
    ("ic", "", If::InR2),
];

/// Whether the letter at a place is a vowel. A `y` is one behind a consonant.
fn is_vowel(word: &[u8], at: usize) -> bool {
    match word[at] {
        b'a' | b'e' | b'i' | b'o' | b'u' => true,
        b'y' => at > 0 && !is_vowel(word, at - 1),
        _ => false,
    }
}

fn has_vowel(word: &[u8]) -> bool {
    (0..word.len()).any(|at| is_vowel(word, at))
}

/// Where the two regions start: each behind the first consonant that follows a vowel, the second within the first.
fn regions(word: &[u8]) -> (usize, usize) {
    let behind = |from: usize| {
        let vowel = (from..word.len()).find(|at| is_vowel(word, *at))?;
        (vowel..word.len()).find(|at| !is_vowel(word, *at)).map(|consonant| consonant + 1)
    };
    let prefix = PREFIXES.iter().find(|prefix| word.starts_with(prefix)).map(|prefix| prefix.len());
    let r1 = prefix.or_else(|| behind(0)).unwrap_or(word.len());
    (r1, behind(r1).unwrap_or(word.len()))
}

/// Whether a word ends in a short syllable.
fn ends_short(word: &[u8]) -> bool {
    let Some(last) = word.len().checked_sub(1) else { return false };
    if last == 0 || is_vowel(word, last) || !is_vowel(word, last - 1) {
        return false;
    }
    last == 1 || (!is_vowel(word, last - 2) && !matches!(word[last], b'w' | b'x' | b'y'))
}

/// Compares the last two letters first, which nearly always settles it.
fn ends_with(word: &[u8], suffix: &[u8]) -> bool {
    match (word, suffix) {
        ([.., a, b], [.., c, d]) => b == d && a == c && word.ends_with(suffix),
        _ => word.ends_with(suffix),
    }
}

fn cut(word: &mut String, letters: usize) {
    word.truncate(word.len() - letters);
}

/// `caresses`, `flies`, `gaps`.
fn plural(word: &mut String) {
    if word.ends_with("sses") {
        cut(word, 2);
    } else if word.ends_with("ied") || word.ends_with("ies") {
        cut(word, if word.len() > 4 { 2 } else { 1 });
    } else if word.ends_with('s')
        && !(word.ends_with("us") || word.ends_with("ss"))
        && has_vowel(&word.as_bytes()[..word.len() - 2])
    {
        cut(word, 1);
    }
}

/// `agreed`, `hoped`, `hopping`.
fn past_and_gerund(word: &mut String, r1: usize) {
    if let Some(suffix) = ["eedly", "eed"].iter().find(|suffix| word.ends_with(**suffix)) {
        if word.len() - suffix.len() >= r1 {
            cut(word, suffix.len() - 2);
        }
        return;
    }
    let Some(suffix) =
        ["ingly", "edly", "ing", "ed"].iter().find(|suffix| word.ends_with(**suffix))
    else {
        return;
    };
    let rest = word.len() - suffix.len();
    if !has_vowel(&word.as_bytes()[..rest]) {
        return;
    }
    word.truncate(rest);
    match word.as_bytes() {
        [.., b'a', b't'] | [.., b'b', b'l'] | [.., b'i', b'z'] => word.push('e'),
        [.., one, other]
            if one == other
                && matches!(one, b'b' | b'd' | b'f' | b'g' | b'm' | b'n' | b'p' | b'r' | b't') =>
        {
            cut(word, 1);
        }
        // Only a word that ends where the first region starts is short.
        rest if rest.len() == r1 && ends_short(rest) => word.push('e'),
        _ => {}
    }
}

/// `happy` but not `say` or `by`.
fn final_y(word: &mut String) {
    let bytes = word.as_bytes();
    if bytes.len() > 2 && bytes.ends_with(b"y") && !is_vowel(bytes, bytes.len() - 2) {
        cut(word, 1);
        word.push('i');
    }
}

/// Replaces the longest suffix of a list, if its condition holds.
fn replace_longest(word: &mut String, r1: usize, r2: usize, suffixes: &[Suffix]) {
    let bytes = word.as_bytes();
    let last = bytes.last();
    // Most suffixes are ruled out by their last letter.
    let is_suffix = |(suffix, ..): &&Suffix| {
        suffix.as_bytes().last() == last && ends_with(bytes, suffix.as_bytes())
    };
    let Some((suffix, replacement, condition)) = suffixes.iter().find(is_suffix) else {
        return;
    };
    let at = word.len() - suffix.len();
    let before = at.checked_sub(1).map(|before| word.as_bytes()[before]);
    let holds = match condition {
        If::InR1 => at >= r1,
        If::InR2 => at >= r2,
        If::InR1AndR2 => at >= r1 && at >= r2,
        If::InR1BehindL => at >= r1 && before == Some(b'l'),
        If::InR1BehindLiEnding => {
            let ending = matches!(before, Some(b'c' | b'd' | b'e' | b'g' | b'h' | b'k' | b'm'))
                || matches!(before, Some(b'n' | b'r' | b't'));
            at >= r1 && ending
        }
        If::InR2BehindSOrT => at >= r2 && matches!(before, Some(b's' | b't')),
    };
    if holds {
        word.truncate(at);
        word.push_str(replacement);
    }
}

fn final_e_or_l(word: &mut String, r1: usize, r2: usize) {
    let Some(at) = word.len().checked_sub(1) else { return };
    let rest = &word.as_bytes()[..at];
    let goes = match word.as_bytes()[at] {
        b'e' => at >= r2 || (at >= r1 && !ends_short(rest)),
        b'l' => at >= r2 && rest.ends_with(b"l"),
        _ => false,
    };
    if goes {
        word.truncate(at);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rust_stemmers::{Algorithm, Stemmer};

    use super::*;

    #[track_caller]
    fn check(word: &str) {
        let mut ours = word.to_owned();
        stem(&mut ours);
        assert_eq!(ours, Stemmer::create(Algorithm::English).stem(word), "{word:?}");
    }

    #[test]
    fn words_are_stemmed_like_the_library_does() {
        for (exception, _) in EXCEPTIONS {
            check(exception);
        }
        for word in COMPLETE {
            check(word);
            check(&format!("{word}s"));
        }
        let text = concat!(include_str!("synonyms.rs"), include_str!("statement.rs"));
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            check(&word.to_ascii_lowercase());
        }
    }

    #[test]
    fn suffixes_come_before_those_they_end_with() {
        for list in [SUFFIXES, MORE_SUFFIXES, ENDINGS] {
            for (at, (suffix, ..)) in list.iter().enumerate() {
                let hidden = list[..at].iter().find(|(before, ..)| suffix.ends_with(before));
                assert!(hidden.is_none(), "{hidden:?} hides {suffix}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn any_word_is_stemmed_like_the_library_does(
            word in "[a-z]{0,5}[aeiouy]?(generat|commun|arsen|[bcdfglmnprstwxy]{1,2})?[aeiouy]{0,2}(l|s|t)?\
                (y|s|es|ies|ied|sses|us|eed|eedly|ed|edly|ing|ingly|at|bl|iz|tional|ational|enci|anci|abli|entli|\
                izer|ization|ation|ator|alism|aliti|alli|fulness|ousli|ousness|iveness|iviti|biliti|bli|ogi|fulli|\
                lessli|li|ly|alize|icate|iciti|ical|ful|ness|ative|al|ance|ence|er|ic|able|ible|ant|ement|ment|ent|\
                ism|ate|iti|ous|ive|ize|ion|e|l|ll)?"
        ) {
            check(&word);
        }

        #[test]
        fn anything_lower_case_is_stemmed_like_the_library_does(word in "[a-z0-9]{0,12}") {
            check(&word);
        }
    }
}
