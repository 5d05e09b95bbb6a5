//! Hand-written pre-tokenizers of o200k and cl100k.
//!
//! Both encodings first split a text by a pattern and never merge across the pieces. The patterns need
//! look-ahead and backtracking, which `regex` lacks, and building any engine costs more than counting a
//! summary; as code they are a handful of scans. The patterns are quoted where they are implemented, and
//! the parity test compares this file with the reference implementation.

use super::classes::Class;

/// The end of the o200k piece that starts at `start`, which must be inside the text.
#[inline]
pub(crate) fn o200k(text: &str, start: usize) -> usize {
    let Some((class, next)) = peek(text, start) else {
        return text.len();
    };
    // [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|…)?
    // [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|…)?
    if class.is_letter() {
        let (Word::Cased(end) | Word::Upper(end)) = cased_word(text, start);
        return contraction(text, end).unwrap_or(end);
    }
    if class.is_lead() {
        match cased_word(text, next) {
            Word::Cased(end) => return contraction(text, end).unwrap_or(end),
            // The first alternative without its optional lead takes precedence over the second with it, and
            // a mark alone satisfies it.
            Word::Upper(_) if class == Class::Mark => {
                return contraction(text, next).unwrap_or(next);
            }
            Word::Upper(end) if end > next => return contraction(text, end).unwrap_or(end),
            Word::Upper(_) => {}
        }
    }
    if class == Class::Number {
        return numbers(text, next);
    }
    //  ?[^\s\p{L}\p{N}]+[\r\n/]*
    if let Some(end) = symbols(text, start, class, next) {
        return end + count_while(&text.as_bytes()[end..], |b| matches!(b, b'\r' | b'\n' | b'/'));
    }
    // \s*[\r\n]+|\s+(?!\S)|\s+
    let white = White::scan(text, start);
    white.last_newline.unwrap_or_else(|| white.before_last())
}

/// The end of the cl100k piece that starts at `start`, which must be inside the text.
#[inline]
pub(crate) fn cl100k(text: &str, start: usize) -> usize {
    let Some((class, next)) = peek(text, start) else {
        return text.len();
    };
    // '(?i:[sdmt]|ll|ve|re)
    if let Some(end) = contraction(text, start) {
        return end;
    }
    // [^\r\n\p{L}\p{N}]?+\p{L}++
    if class.is_letter() {
        return letters(text, next);
    }
    if class.is_lead() {
        let end = letters(text, next);
        if end > next {
            return end;
        }
    }
    if class == Class::Number {
        return numbers(text, next);
    }
    //  ?[^\s\p{L}\p{N}]++[\r\n]*+
    if let Some(end) = symbols(text, start, class, next) {
        return end + count_while(&text.as_bytes()[end..], |b| matches!(b, b'\r' | b'\n'));
    }
    // \s++$|\s*[\r\n]|\s+(?!\S)|\s
    let white = White::scan(text, start);
    if white.end == text.len() {
        return white.end;
    }
    white.last_newline.unwrap_or_else(|| white.before_last())
}

/// The class of the character at an offset, and the offset of the next one.
#[inline]
fn peek(text: &str, at: usize) -> Option<(Class, usize)> {
    let first = *text.as_bytes().get(at)?;
    if first.is_ascii() {
        return Some((Class::of_ascii(first), at + 1));
    }
    let c = text[at..].chars().next()?;
    Some((Class::of(c), at + c.len_utf8()))
}

/// What the two word alternatives of o200k match after their optional lead.
enum Word {
    /// The first alternative matches up to here.
    Cased(usize),
    /// Only capitals, possibly none, up to here: the second alternative matches if there are any.
    Upper(usize),
}

fn cased_word(text: &str, start: usize) -> Word {
    let mut end = start;
    let mut last_caseless = None;
    while let Some((class, next)) = peek(text, end) {
        match class {
            Class::Upper => end = next,
            Class::Caseless | Class::Mark => {
                end = next;
                last_caseless = Some(end);
            }
            Class::Lower => return Word::Cased(small_letters(text, next)),
            Class::Other | Class::Number | Class::Space | Class::Newline => break,
        }
    }
    // No lower-case letter follows: the greedy run gives back capitals until both halves match.
    last_caseless.map_or(Word::Upper(end), Word::Cased)
}

#[inline]
fn small_letters(text: &str, mut end: usize) -> usize {
    loop {
        end += count_while(&text.as_bytes()[end..], |b| b.is_ascii_lowercase());
        match peek(text, end) {
            Some((Class::Lower | Class::Caseless | Class::Mark, next)) => end = next,
            Some((
                Class::Other | Class::Upper | Class::Number | Class::Space | Class::Newline,
                _,
            ))
            | None => return end,
        }
    }
}

#[inline]
fn letters(text: &str, mut end: usize) -> usize {
    loop {
        end += count_while(&text.as_bytes()[end..], |b| b.is_ascii_alphabetic());
        match peek(text, end) {
            Some((class, next)) if class.is_letter() => end = next,
            Some(_) | None => return end,
        }
    }
}

/// `\p{N}{1,3}`, after the first digit.
fn numbers(text: &str, mut end: usize) -> usize {
    for _ in 0..2 {
        match peek(text, end) {
            Some((Class::Number, next)) => end = next,
            Some(_) | None => break,
        }
    }
    end
}

/// ` ?[^\s\p{L}\p{N}]+`
#[inline]
fn symbols(text: &str, start: usize, class: Class, next: usize) -> Option<usize> {
    let mut end = if class.is_symbol() {
        next
    } else if text.as_bytes().get(start) == Some(&b' ') {
        peek(text, next).filter(|(class, _)| class.is_symbol())?.1
    } else {
        return None;
    };
    while let Some((class, next)) = peek(text, end)
        && class.is_symbol()
    {
        end = next;
    }
    Some(end)
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)`, where `'ſ` is an `'s` too.
#[inline]
fn contraction(text: &str, at: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    if bytes.get(at) != Some(&b'\'') {
        return None;
    }
    let first = bytes.get(at + 1)?.to_ascii_lowercase();
    let second = bytes.get(at + 2).map(u8::to_ascii_lowercase);
    match (first, second) {
        (b's' | b't' | b'm' | b'd', _) => Some(at + 2),
        (b'r' | b'v', Some(b'e')) | (b'l', Some(b'l')) => Some(at + 3),
        _ if text[at + 1..].starts_with('ſ') => Some(at + 1 + 'ſ'.len_utf8()),
        _ => None,
    }
}

/// A run of white space.
struct White {
    start: usize,
    /// Start of its last character.
    last: usize,
    /// End of its last line break.
    last_newline: Option<usize>,
    end: usize,
    at_end_of_text: bool,
}

impl White {
    fn scan(text: &str, start: usize) -> Self {
        let mut white =
            Self { start, last: start, last_newline: None, end: start, at_end_of_text: true };
        while let Some((class, next)) = peek(text, white.end) {
            if !class.is_white() {
                white.at_end_of_text = false;
                break;
            }
            white.last = white.end;
            white.end = next;
            if class == Class::Newline {
                white.last_newline = Some(next);
            }
        }
        white
    }

    /// `\s+(?!\S)|\s+`: the last character of a run is left to the following word.
    fn before_last(&self) -> usize {
        if self.at_end_of_text || self.last == self.start { self.end } else { self.last }
    }
}

#[inline]
fn count_while(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> usize {
    bytes.iter().take_while(|b| wanted(**b)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(split: fn(&str, usize) -> usize, text: &str, expected: &[&str]) {
        let mut pieces = Vec::new();
        let mut at = 0;
        while at < text.len() {
            let end = split(text, at);
            pieces.push(&text[at..end]);
            at = end;
        }
        assert_eq!(pieces, expected);
    }

    #[test]
    fn o200k_splits_as_its_pattern() {
        check(o200k, "Hello World's", &["Hello", " World's"]);
        check(o200k, "HTTPServer getX", &["HTTPServer", " get", "X"]);
        check(o200k, "a  b\n\n  c ", &["a", " ", " b", "\n\n", " ", " c", " "]);
        check(o200k, "12345", &["123", "45"]);
        check(o200k, " //\n/x", &[" //\n/", "x"]);
        check(o200k, "\u{301}ABC", &["\u{301}", "ABC"]);
        check(o200k, "DON'T we'Ll", &["DON'T", " we'Ll"]);
        check(o200k, "I'ſ", &["I'ſ"]);
    }

    #[test]
    fn cl100k_splits_as_its_pattern() {
        check(cl100k, "World's", &["World", "'s"]);
        check(cl100k, "getX (y)", &["getX", " (", "y", ")"]);
        check(cl100k, "(y\t\tz", &["(y", "\t", "\tz"]);
        check(cl100k, "a \n ", &["a", " \n "]);
        check(cl100k, "e\u{301}a", &["e", "\u{301}a"]);
    }
}
