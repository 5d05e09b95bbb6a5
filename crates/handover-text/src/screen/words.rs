//! A text as words of the lexicon, without case, look-alike letters and invisible characters.

use super::lexicon::{Lexicon, Word};

/// A word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// The word, if a rule knows it.
    pub(super) word: Word,
    /// Where it starts, in bytes.
    pub(super) start: u32,
    /// Whether it is the first of its sentence.
    pub(super) opens: bool,
    /// Whether something that separates clauses stands before it: a comma, a colon, a quote, a dash.
    pub(super) after_mark: bool,
}

/// The longest word that any rule knows, in bytes; longer ones are unknown.
const LONGEST: usize = 32;

/// The words of a text. One longer than four gigabytes is cut.
pub(super) fn tokens(text: &str, lexicon: &Lexicon) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(text.len() / 6);
    let bytes = text.as_bytes();
    let (mut at, mut opens, mut after_mark) = (0, true, false);
    while at < bytes.len() && at < u32::MAX as usize {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() || byte >= 0x80 {
            let (end, word, has_letters) = word(text, at, lexicon);
            if has_letters {
                tokens.push(Token { word, start: at as u32, opens, after_mark });
                (opens, after_mark) = (false, false);
            }
            at = end;
            continue;
        }
        match byte {
            b'.' | b'!' | b'?' | b';' | b'|' => {
                let next = bytes.get(at + 1).copied().unwrap_or(b' ');
                opens |= next.is_ascii_whitespace() || !next.is_ascii_alphanumeric();
            }
            b'\n' => opens |= starts_block(&bytes[at + 1..]),
            b',' | b':' | b'"' | b'(' | b'[' | b'<' | b'>' | b'`' | b'*' | b'-' | b'{' => {
                after_mark = true;
            }
            _ => {}
        }
        at += 1;
    }
    tokens
}

/// Whether a line starts something new: it is empty, or an item, a heading, a row or a quote.
fn starts_block(rest: &[u8]) -> bool {
    let first = rest.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r'));
    match first {
        None => true,
        Some(byte) => matches!(byte, b'\n' | b'-' | b'*' | b'#' | b'|' | b'>' | b'+'),
    }
}

/// The end of the word at a position, which word it is, and whether it is one at all.
fn word(text: &str, start: usize, lexicon: &Lexicon) -> (usize, Word, bool) {
    let bytes = text.as_bytes();
    let mut plain = [0u8; LONGEST];
    let (mut length, mut at) = (0, start);
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() {
            if length < LONGEST {
                plain[length] = byte.to_ascii_lowercase();
            }
            length += 1;
        } else if byte >= 0x80 {
            return foreign_word(text, start, lexicon);
        } else if byte != b'\'' || !bytes.get(at + 1).is_some_and(u8::is_ascii_alphabetic) {
            break;
        }
        at += 1;
    }
    if length > LONGEST {
        return (at, Word::UNKNOWN, true);
    }
    let plain = &plain[..length];
    let mut word = lexicon.word(plain);
    let digits = plain.iter().filter(|byte| byte.is_ascii_digit()).count();
    if word == Word::UNKNOWN && digits > 0 && digits < length && length > 4 {
        let letters: Vec<u8> = plain.iter().map(|byte| letter(*byte)).collect();
        word = lexicon.word(&letters);
    }
    (at, word, digits < length)
}

/// The letter that a digit stands for.
fn letter(byte: u8) -> u8 {
    match byte {
        b'0' => b'o',
        b'1' => b'i',
        b'3' => b'e',
        b'4' => b'a',
        b'5' => b's',
        b'7' => b't',
        other => other,
    }
}

/// A word with letters beyond ASCII.
fn foreign_word(text: &str, start: usize, lexicon: &Lexicon) -> (usize, Word, bool) {
    let (mut said, mut folded) = (String::new(), String::new());
    let (mut end, mut has_letters) = (text.len(), false);
    for (at, c) in text[start..].char_indices() {
        if is_invisible(c) {
            continue;
        }
        if is_ideograph(c) {
            // Scripts without spaces: every character is a word.
            if said.is_empty() {
                let mut buffer = [0; 4];
                let word = lexicon.word(c.encode_utf8(&mut buffer).as_bytes());
                return (start + at + c.len_utf8(), word, true);
            }
            end = start + at;
            break;
        }
        if !c.is_alphanumeric() && c != '\'' && c != '’' {
            end = start + at + if at == 0 { c.len_utf8() } else { 0 };
            break;
        }
        if c == '\'' || c == '’' {
            continue;
        }
        has_letters |= c.is_alphabetic();
        if said.len() <= 2 * LONGEST {
            said.extend(c.to_lowercase());
            folded.extend(fold(c).to_lowercase());
        }
    }
    let word = match lexicon.word(said.as_bytes()) {
        Word::UNKNOWN => lexicon.word(folded.as_bytes()),
        word => word,
    };
    (end, word, has_letters)
}

/// Whether a character takes no room on a screen.
pub(super) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e01ef}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}')
}

/// The Latin letter that a character looks like.
fn fold(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xff01 + 0x21).unwrap_or(c),
        // Mathematical letters: bold, italic, script, double-struck and so on, 52 of each.
        '\u{1d400}'..='\u{1d6a3}' => {
            let at = (u32::from(c) - 0x1d400) % 52;
            let base = if at < 26 { u32::from('A') + at } else { u32::from('a') + at - 26 };
            char::from_u32(base).unwrap_or(c)
        }
        '\u{24d0}'..='\u{24e9}' => char::from_u32(u32::from(c) - 0x24d0 + 0x61).unwrap_or(c),
        '\u{24b6}'..='\u{24cf}' => char::from_u32(u32::from(c) - 0x24b6 + 0x61).unwrap_or(c),
        'а' | 'А' | 'α' | 'Α' => 'a',
        'е' | 'Е' | 'ε' | 'Ε' => 'e',
        'о' | 'О' | 'ο' | 'Ο' => 'o',
        'р' | 'Р' | 'ρ' | 'Ρ' => 'p',
        'с' | 'С' => 'c',
        'у' | 'У' => 'y',
        'х' | 'Х' | 'χ' | 'Χ' => 'x',
        'і' | 'І' | 'ι' | 'Ι' | 'ı' => 'i',
        'ѕ' | 'Ѕ' => 's',
        'ј' | 'Ј' => 'j',
        'ԁ' => 'd',
        'ɡ' => 'g',
        'ν' | 'Ν' => 'v',
        'т' | 'Т' | 'τ' | 'Τ' => 't',
        'м' | 'М' | 'Μ' => 'm',
        'н' | 'Н' => 'h',
        'к' | 'К' | 'κ' | 'Κ' => 'k',
        'в' | 'В' => 'b',
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    }
}
