//! Shorter forms of a package, and how its summary relates to its text.

use handover_model::{Form, Tokenizer};
use handover_text::{cut, tokens};

use super::render::Common;
use super::{PackedPackage, render};

/// Shorter forms that are tried before a package is skipped, in characters.
const SHORTER: [usize; 2] = [100, 60];

/// So many first words tell whether a summary was written or copied.
const WORDS_COMPARED: usize = 12;

/// Whether a summary is all there is to read of a text but its headings.
pub(super) fn is_all_of(summary: &str, body: &str) -> bool {
    let lines = || body.lines().filter(|line| !line.starts_with('#'));
    let mut words = lines().flat_map(str::split_whitespace).peekable();
    words.peek().is_some() && words.eq(summary.split_whitespace())
}

/// Whether a summary is just the beginning of a text.
pub(super) fn repeats(summary: &str, body: &str) -> bool {
    let start = summary.split_whitespace().take(WORDS_COMPARED);
    body.split_whitespace().zip(start).all(|(word, same)| word == same)
}

/// The next shorter form of a package; the last one is its path alone.
pub(super) fn shorten(package: &mut PackedPackage, common: &Common, tokenizer: Tokenizer) {
    if package.form == Form::Focus && package.passages.len() > 1 {
        let least = (0..package.passages.len())
            .min_by(|a, b| package.passages[*a].score.total_cmp(&package.passages[*b].score));
        package.passages.remove(least.unwrap_or_default());
    } else if let Some(passage) = package.passages.pop() {
        // What remains of the best passage goes in like a summary.
        package.summary = passage.text;
        next_shorter(package);
    } else {
        next_shorter(package);
    }
    package.whole = false;
    package.tokens = tokens::count(tokenizer, &render::package(package, common));
}

fn next_shorter(package: &mut PackedPackage) {
    let length = package.summary.chars().count();
    let next = SHORTER.into_iter().find(|chars| *chars < length);
    (package.summary, package.form) = match next {
        Some(chars) => (cut::cut(&package.summary, chars), Form::Short),
        None => (String::new(), Form::Pointer),
    };
}
