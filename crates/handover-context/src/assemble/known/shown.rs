//! What is shown of a note.

use handover_model::{Form, Note, NoteKind};
use handover_text::cut;

use super::super::passages::{Passage, Question};

/// A longer note is shown by its best passages; a statement may be longer, since it stands with others.
const SHOWN_CHARS: usize = 400;
const STATED_CHARS: usize = 480;

/// Few texts have more characters to a token. A note that would not fit even then is not prepared.
const CHARS_PER_TOKEN: usize = 6;

/// How much is shown of a note.
fn most_chars(kind: NoteKind) -> usize {
    match kind {
        NoteKind::Conversation => STATED_CHARS,
        NoteKind::Doc | NoteKind::Commit | NoteKind::Memory | NoteKind::Manual => SHOWN_CHARS,
    }
}

/// A note as it is shown: all of it if it is short, else its best passage with those around it.
pub(super) fn shown(note: &Note, question: Option<&Question>) -> (String, Form) {
    let most = most_chars(note.kind);
    let whole = cut::one_line(&note.text);
    if whole.chars().count() <= most {
        return (titled(note, whole), Form::Full);
    }
    let ranked = question.map(|question| question.rank(&[&note.text])).unwrap_or_default();
    let passages: &[Passage] = ranked.first().map_or(&[], Vec::as_slice);
    if passages.is_empty() {
        return (titled(note, cut::cut(&whole, most)), Form::Short);
    }
    let best = (0..passages.len())
        .max_by(|a, b| passages[*a].score.total_cmp(&passages[*b].score).then(b.cmp(a)))
        .unwrap_or_default();
    let (mut first, mut last) = (best, best);
    let mut length = passages[best].text.chars().count();
    // What follows completes a statement more often than what precedes it.
    loop {
        let after = passages.get(last + 1).map(|next| next.text.chars().count());
        let before = first.checked_sub(1).map(|at| passages[at].text.chars().count());
        match (after, before) {
            (Some(more), _) if length + more < most => {
                last += 1;
                length += more + 1;
            }
            (_, Some(more)) if length + more < most => {
                first -= 1;
                length += more + 1;
            }
            _ => break,
        }
    }
    let texts: Vec<&str> =
        passages[first..=last].iter().map(|passage| passage.text.as_str()).collect();
    (titled(note, texts.join(" ")), Form::Focus)
}

/// A text with the title of its note, unless that stands elsewhere: a document's heading is part of its origin,
/// what a conversation is about stands above its statements.
fn titled(note: &Note, text: String) -> String {
    let title = cut::one_line(&note.title);
    // On one line, a subject and the text below it would run into each other.
    if let Some(body) = text.strip_prefix(&title).filter(|_| note.kind == NoteKind::Commit)
        && body.starts_with(' ')
    {
        return format!("{title}:{body}");
    }
    let repeats = title.is_empty()
        || matches!(note.kind, NoteKind::Doc | NoteKind::Conversation)
        || text.to_lowercase().contains(&title.trim_end_matches('…').to_lowercase());
    if repeats { text } else { format!("{title}: {text}") }
}

/// The least tokens that a note takes.
pub(super) fn least_tokens(note: &Note) -> u64 {
    (note.text.len().min(most_chars(note.kind)) / CHARS_PER_TOKEN) as u64
}

/// The least tokens of a text: a word and three digits are at least a token each, and the lowest estimates are half of
/// one for a word with capitals, and nine tenths for the others. Nothing else is counted.
pub(super) fn least_tokens_of(text: &str) -> u64 {
    let (mut tenths, mut run, mut plain, mut digits) = (0_u64, false, true, 0_u64);
    for byte in text.bytes().chain([b' ']) {
        if byte.is_ascii_alphabetic() {
            (run, plain) = (true, plain && byte.is_ascii_lowercase());
        } else if run && byte != b'\'' && byte.is_ascii() {
            // `don't` and `naïve` may be one token each.
            tenths += if plain { 9 } else { 5 };
            (run, plain) = (false, true);
        }
        if byte.is_ascii_digit() {
            digits += 1;
        } else if digits > 0 {
            tenths += 9 * digits.div_ceil(3);
            digits = 0;
        }
    }
    tenths / 10
}

/// How much of a text is searched for before all of it.
const BEGINNING: usize = 16;

/// Whether a text may contain another one. Hardly any does, and a search for a long text takes long to prepare.
pub(super) fn may_repeat(text: &str, other: &str) -> bool {
    let end = other.char_indices().nth(BEGINNING).map_or(other.len(), |(end, _)| end);
    other.len() <= text.len() && text.contains(&other[..end])
}

#[cfg(test)]
mod tests {
    use handover_model::Tokenizer;
    use handover_text::tokens;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_and_numbers_count() {
        assert_eq!(least_tokens_of(""), 0);
        assert_eq!(least_tokens_of(&"word ".repeat(10)), 9);
        assert_eq!(least_tokens_of(&"Word ".repeat(10)), 5);
        assert_eq!(least_tokens_of(&"1234 ".repeat(10)), 18);
        assert_eq!(least_tokens_of(&"word1234, ".repeat(10)), 27);
        assert_eq!(least_tokens_of(&"don't ".repeat(10)), 9);
        assert_eq!(least_tokens_of(&"naïveté ".repeat(10)), 9);
    }

    #[test]
    fn what_repeats_another_may_repeat_it() {
        let (short, long) =
            ("é, as it was said", "é, as it was said before by many of those who know");
        assert!(may_repeat(&format!("They say {long}, too"), long));
        assert!(may_repeat(&format!("They say {short}"), short));
        assert!(!may_repeat(short, long));
        assert!(!may_repeat(&format!("{long}, too"), &long.replacen("it was", "it is", 1)));
        assert!(may_repeat("anything", ""));
    }

    proptest! {
        /// Never more than any tokenizer counts.
        #[test]
        fn no_text_has_fewer(
            text in "([a-z]{1,9}|[A-Za-z]{1,6}|[0-9]{1,5}|[ .,:;/_'é世(){}\\n-]{1,3}|the|word1){0,60}",
        ) {
            for &tokenizer in Tokenizer::ALL {
                let counted = tokens::count(tokenizer, &text);
                prop_assert!(least_tokens_of(&text) <= counted, "{tokenizer}: {counted}");
            }
        }
    }
}
