//! What people do not see: comments and invisible elements, invisible characters, encodings.

use std::ops::Range;

use handover_model::ScreenFlag;
use memchr::memmem;

use super::Found;

/// So many invisible characters in a row carry a message.
const MANY_INVISIBLE: usize = 8;

/// So many letters with an invisible character between them are a split word.
const MANY_SPLITS: usize = 4;

/// The shortest encoded text that is worth decoding, in characters.
const ENCODED_CHARS: usize = 24;

/// The longest, so that decoding stays cheap.
const MAX_ENCODED_CHARS: usize = 16_384;

/// The places of a text that a reader of the page does not see, in order, without overlaps.
pub(super) fn concealed(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut ranges = between(bytes, b"<!--", &[b"-->"]);
    ranges.extend(between(bytes, b"[//]: #", &[b"\n"]));
    ranges.extend(between(bytes, b"[comment]:", &[b"\n"]));
    for style in STYLES {
        ranges.extend(between(bytes, style.as_bytes(), &[b">", b"</"]));
    }
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => merged.push(range),
        }
    }
    merged
}

/// The ranges from an opening to the last of the signs that follow it one after the other, or to the end.
fn between(bytes: &[u8], opening: &[u8], signs: &[&[u8]]) -> Vec<Range<usize>> {
    let (mut ranges, mut at) = (Vec::new(), 0);
    while let Some(found) = memmem::find(&bytes[at..], opening) {
        let start = at + found;
        let mut end = start + opening.len();
        for sign in signs {
            end = memmem::find(&bytes[end..], sign).map_or(bytes.len(), |found| end + found);
        }
        ranges.push(start..end);
        at = end;
    }
    ranges
}

/// Whether a position is in one of some ordered ranges.
pub(super) fn is_within(ranges: &[Range<usize>], position: usize) -> bool {
    let before = ranges.partition_point(|range| range.start <= position);
    before > 0 && ranges[before - 1].contains(&position)
}

/// Styles that hide an element.
const STYLES: [&str; 10] = [
    "display:none",
    "display: none",
    "visibility:hidden",
    "visibility: hidden",
    "font-size:0",
    "font-size: 0",
    "opacity:0",
    "opacity: 0",
    "color:white",
    "color: white",
];

/// Invisible characters that carry a message or turn a text around.
pub(super) fn characters(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    if text.is_ascii() {
        return found;
    }
    let hidden = |rule, start| Found { flag: ScreenFlag::HiddenText, rule, start };
    let (mut run, mut splits, mut tags, mut letter_before) = (0, 0, 0, false);
    let mut is_flag = false;
    for (at, c) in text.char_indices() {
        match c {
            // Regional flags are spelled with tags, behind a black flag.
            '\u{1f3f4}' => is_flag = true,
            '\u{e0001}'..='\u{e007f}' if !is_flag => {
                tags += 1;
                if tags == MANY_SPLITS {
                    found.push(hidden("tag-characters", at));
                }
            }
            '\u{e0001}'..='\u{e007f}' => {}
            '\u{202d}' | '\u{202e}' => found.push(hidden("text-direction", at)),
            '\u{200b}'..='\u{200d}'
            | '\u{2060}'..='\u{2064}'
            | '\u{feff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}' => {
                run += 1;
                if run == MANY_INVISIBLE {
                    found.push(hidden("invisible-characters", at));
                }
                continue;
            }
            _ => is_flag = false,
        }
        let is_letter = c.is_ascii_alphabetic();
        if run > 0 && is_letter && letter_before {
            splits += 1;
            if splits == MANY_SPLITS {
                found.push(hidden("split-words", at));
            }
        }
        (run, letter_before) = (0, is_letter);
    }
    found
}

/// Texts inside a text: base64, hexadecimal digits, percent escapes and tag characters, with where they start.
pub(super) fn encoded(text: &str) -> Vec<(usize, String)> {
    let mut texts = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let run = bytes[at..].iter().take_while(|byte| is_encoded(**byte)).count();
        if (ENCODED_CHARS..=MAX_ENCODED_CHARS).contains(&run) {
            let part = &bytes[at..at + run];
            let decoded = hexadecimal(part).or_else(|| escaped(part)).or_else(|| base64(part));
            texts.extend(decoded.map(|decoded| (at, decoded)));
        }
        at += run.max(1);
    }
    texts.extend(entities(text));
    texts.extend(spaced_digits(text));
    let tags: String = text
        .chars()
        .filter(|c| ('\u{e0020}'..='\u{e007e}').contains(c))
        .filter_map(|c| char::from_u32(u32::from(c) - 0xe0000))
        .collect();
    if tags.len() >= MANY_INVISIBLE {
        texts.push((text.find(|c| ('\u{e0020}'..='\u{e007e}').contains(&c)).unwrap_or(0), tags));
    }
    texts
}

/// So many escapes in a text are a message.
const MANY_ESCAPES: usize = 6;

/// Text as `&#73;` or `\\u0049`.
fn entities(text: &str) -> Option<(usize, String)> {
    let (mut out, mut first) = (String::new(), None);
    let mut add = |at: usize, code: Option<u32>| {
        first.get_or_insert(at);
        let c = code.and_then(char::from_u32);
        out.extend(c.filter(|c| c.is_ascii_graphic() || *c == ' '));
    };
    for at in memmem::find_iter(text.as_bytes(), b"&#") {
        let rest = text.get(at + 2..).unwrap_or_default();
        let digits: &str =
            rest.split(';').next().filter(|digits| digits.len() <= 8).unwrap_or_default();
        let code = match digits.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        add(at, code.ok());
    }
    for at in memmem::find_iter(text.as_bytes(), b"\\u") {
        let digits = text.get(at + 2..at + 6).unwrap_or_default();
        add(at, u32::from_str_radix(digits, 16).ok());
    }
    // Between escapes, spaces are often left as they are: words then stick together, so they are tried as they come.
    (out.len() >= MANY_ESCAPES).then_some((first?, spread(&out, text)))
}

/// The decoded letters with the spaces that stand between escapes in the text.
fn spread(decoded: &str, text: &str) -> String {
    if decoded.contains(' ') {
        return decoded.to_owned();
    }
    let words =
        text.split_whitespace().filter(|word| word.starts_with("\\u") || word.starts_with("&#"));
    let lengths = words.map(|word| word.matches("\\u").count() + word.matches("&#").count());
    let (mut rest, mut out) = (decoded.chars(), String::new());
    for length in lengths {
        out.extend(rest.by_ref().take(length));
        out.push(' ');
    }
    out.extend(rest);
    out
}

/// Text as pairs of hexadecimal digits with spaces between them.
fn spaced_digits(text: &str) -> Option<(usize, String)> {
    let is_pair = |word: &str| word.len() == 2 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mut run: Vec<u8> = Vec::new();
    let mut best: Vec<u8> = Vec::new();
    for word in text.split_ascii_whitespace().chain(["."]) {
        if is_pair(word) {
            run.extend(u8::from_str_radix(word, 16));
        } else if run.len() > best.len() {
            best = std::mem::take(&mut run);
        } else {
            run.clear();
        }
    }
    let decoded = (best.len() >= 2 * MANY_ESCAPES).then(|| sentence(best)).flatten()?;
    Some((0, decoded))
}

fn is_encoded(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_' | b'%' | b'\\')
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

/// Text as pairs of hexadecimal digits, with or without `\x`.
fn hexadecimal(run: &[u8]) -> Option<String> {
    let digits: Vec<u8> = match run.starts_with(b"\\x") {
        true => {
            run.split(|byte| *byte == b'x').flatten().copied().filter(|b| *b != b'\\').collect()
        }
        false => run.to_vec(),
    };
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    let pairs = digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?));
    sentence(pairs.collect::<Option<Vec<u8>>>()?)
}

/// Text with percent escapes; a few are ordinary in an address.
fn escaped(run: &[u8]) -> Option<String> {
    let escapes = run.iter().filter(|byte| **byte == b'%').count();
    if escapes < 4 {
        return None;
    }
    let (mut out, mut at) = (Vec::with_capacity(run.len()), 0);
    while at < run.len() {
        let pair = run.get(at + 1..at + 3).filter(|_| run[at] == b'%');
        match pair.and_then(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(run[at]);
                at += 1;
            }
        }
    }
    sentence(out)
}

fn base64(run: &[u8]) -> Option<String> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    };
    let digits = run.iter().take_while(|byte| **byte != b'=');
    let values: Vec<u8> = digits.map(|byte| value(*byte)).collect::<Option<_>>()?;
    let mut out = Vec::with_capacity(values.len() * 3 / 4);
    for four in values.chunks(4) {
        let mut bits = [0u8; 4];
        bits[..four.len()].copy_from_slice(four);
        let [a, b, c, d] = bits;
        let three = [a << 2 | b >> 4, b << 4 | c >> 2, c << 6 | d];
        out.extend_from_slice(&three[..four.len().saturating_sub(1)]);
    }
    sentence(out)
}

/// Bytes as text, if they are words: printable, with spaces.
fn sentence(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let printable = text.chars().all(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t'));
    (printable && text.contains(' ')).then_some(text)
}
