//! Splits prose into passages: whole paragraphs together, as long as they fit a note.

use handover_text::fence::{FenceLine, Fences};

use crate::MAX_TEXT_CHARS;

/// How long a passage becomes before the next paragraph starts another one.
const TARGET_CHARS: usize = 1_000;

/// The passages of a text. One that fits a note stays whole.
pub(crate) fn passages(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if chars(text) <= MAX_TEXT_CHARS {
        return vec![text.to_owned()];
    }
    let mut passages = Vec::new();
    let mut passage = String::new();
    for piece in paragraphs(text).into_iter().flat_map(pieces) {
        let joined = chars(&passage) + 2 + chars(piece);
        if !passage.is_empty() && joined > TARGET_CHARS {
            passages.push(std::mem::take(&mut passage));
        }
        if !passage.is_empty() {
            passage.push_str("\n\n");
        }
        passage.push_str(piece);
    }
    passages.push(passage);
    passages
}

/// The paragraphs of a text. A block of code is one, whatever empty lines it has.
pub(crate) fn paragraphs(text: &str) -> Vec<&str> {
    let mut paragraphs = Vec::new();
    let mut fences = Fences::default();
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let fenced = matches!(
            fences.line(line.trim_end_matches(['\n', '\r'])),
            FenceLine::Inside | FenceLine::Opens(_)
        );
        if !fenced && line.trim().is_empty() {
            push(&mut paragraphs, &text[start..at]);
            start = at + line.len();
        }
        at += line.len();
    }
    push(&mut paragraphs, &text[start..]);
    paragraphs
}

fn push<'t>(paragraphs: &mut Vec<&'t str>, text: &'t str) {
    let text = text.trim_end().trim_start_matches(['\n', '\r']);
    if !text.trim().is_empty() {
        paragraphs.push(text);
    }
}

/// A paragraph, in parts if it is too long: at the ends of lines, else of sentences, else anywhere.
fn pieces(paragraph: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = paragraph;
    while let Some(limit) = rest.char_indices().nth(TARGET_CHARS).map(|(at, _)| at) {
        if chars(rest) <= MAX_TEXT_CHARS {
            break;
        }
        let head = &rest[..limit];
        let after = |mark: &str| head.rfind(mark).map(|at| at + mark.len());
        let least = limit / 3;
        let end = [after("\n"), after(". "), after(" ")]
            .into_iter()
            .flatten()
            .find(|end| *end > least)
            .unwrap_or(limit);
        pieces.push(rest[..end].trim_end());
        rest = &rest[end..];
    }
    pieces.push(rest);
    pieces
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_fits_stays_whole() {
        assert_eq!(passages("  one\n\ntwo \n"), ["one\n\ntwo"]);
        assert_eq!(passages(" \n "), Vec::<String>::new());
    }

    #[test]
    fn long_texts_are_split_between_paragraphs() {
        let paragraph = "A sentence of some length stands here. ".repeat(12);
        let text = [paragraph.trim(); 6].join("\n\n");
        let split = passages(&text);
        assert!(split.len() >= 3, "{}", split.len());
        for passage in &split {
            assert!(passage.ends_with("here.") && passage.starts_with("A sentence"), "{passage}");
        }
    }

    #[test]
    fn code_stays_together_and_an_endless_line_is_cut() {
        let code = "```\na\n\nb\n```";
        assert_eq!(paragraphs(&format!("x\n\n{code}\n\ny")), ["x", code, "y"]);
        let split = passages(&"é".repeat(10_000));
        assert!(split.iter().all(|passage| chars(passage) <= MAX_TEXT_CHARS));
        assert_eq!(split.iter().map(|passage| chars(passage)).sum::<usize>(), 10_000);
    }

    proptest::proptest! {
        #[test]
        fn no_word_is_lost(text in "([a-zé]{1,30}[ .\\n]{1,3}){0,150}") {
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            let split = passages(&text);
            proptest::prop_assert!(split.iter().all(|passage| chars(passage) <= MAX_TEXT_CHARS));
            proptest::prop_assert_eq!(words(&split.join("\n\n")), words(&text));
        }
    }
}
