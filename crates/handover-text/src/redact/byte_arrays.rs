//! Keys written as lists of bytes: `let key = [12, 255, …]`, `new byte[] { 0x0c, 0xff, … }`.

use super::bytes::{self, ALNUM};
use super::keys::{self, Key};

/// How far after its name a list may begin.
const AHEAD: usize = 64;
/// The lengths of keys; longer lists are data.
const LENGTHS: std::ops::RangeInclusive<usize> = 16..=128;
/// Names for keys that are not sensitive otherwise.
const NAMES: [&str; 2] = ["keypair", "seed"];

/// Whether the name may be given such a list although it is not sensitive otherwise: cheap.
#[inline]
pub(super) fn is_name(name: &[u8]) -> bool {
    matches!(name.last(), Some(b'r' | b'R' | b'd' | b'D'))
        && NAMES.iter().any(|known| {
            let start = name.len().checked_sub(known.len());
            start.is_some_and(|at| name[at..].eq_ignore_ascii_case(known.as_bytes()))
        })
}

/// The bytes of the key that the name at `start..end` is given.
pub(super) fn key(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let name = &text[start..end];
    matches!(text.get(end)?, b' ' | b':' | b'=' | b'[' | b'"' | b'\'' | b'\t').then_some(())?;
    // Prose has no brackets.
    memchr::memchr3(b'[', b'{', b'(', &text[end..text.len().min(end + AHEAD)])?;
    let from = opening(text, end)?;
    let (to, count) = list(text, from)?;
    let sensitive = keys::classify(name).is_some_and(|key| key >= Key::Weak) || is_name(name);
    (sensitive && LENGTHS.contains(&count)).then_some((from, to))
}

/// Where the numbers of a list begin: after the last bracket, with nothing but a type before it.
fn opening(text: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    let mut assigned = false;
    for _ in 0..AHEAD {
        let b = *text.get(at)?;
        at += 1;
        match b {
            b'[' | b'{' | b'(' => {
                let from = at + bytes::run(text, at, AHEAD, |b| b.is_ascii_whitespace());
                if assigned && text.get(from)?.is_ascii_digit() {
                    return Some(from);
                }
            }
            b'=' | b':' => assigned = true,
            b' ' | b'\t' | b']' | b'"' | b'\'' | b'_' | b';' | b'.' | b'<' | b'>' | b'&' => {}
            b if bytes::is(b, ALNUM) => {}
            _ => return None,
        }
    }
    None
}

/// The end of the list of bytes that begins at `from`, and how many there are. Lists that count, or
/// repeat a few values, are no keys.
fn list(text: &[u8], from: usize) -> Option<(usize, usize)> {
    let mut at = from;
    let mut count = 0;
    let mut seen = [false; 256];
    let mut steps = 0;
    let mut last = None;
    loop {
        let (value, next) = number(text, at)?;
        count += 1;
        (count <= *LENGTHS.end()).then_some(())?;
        seen[usize::from(value)] = true;
        steps += usize::from(last.is_some_and(|last: u8| value.abs_diff(last) == 1));
        last = Some(value);
        let comma = next + bytes::run(text, next, 8, |b| b.is_ascii_whitespace());
        match text.get(comma)? {
            b',' => {
                at = comma + 1 + bytes::run(text, comma + 1, AHEAD, |b| b.is_ascii_whitespace());
                // A comma may precede the closing bracket.
                if matches!(text.get(at)?, b']' | b'}' | b')') {
                    at = next;
                    break;
                }
            }
            b']' | b'}' | b')' => {
                at = next;
                break;
            }
            _ => return None,
        }
    }
    let kinds = seen.iter().filter(|seen| **seen).count();
    (kinds * 2 >= count && steps * 4 < count).then_some((at, count))
}

/// The byte written at `at`, decimal or hexadecimal, and where it ends.
fn number(text: &[u8], at: usize) -> Option<(u8, usize)> {
    let (radix, from) = match text.get(at..at + 2) {
        Some([b'0', b'x' | b'X']) => (16, at + 2),
        Some(_) | None => (10, at),
    };
    let digits =
        bytes::run(text, from, 4, |b| b.is_ascii_hexdigit() && (radix == 16 || b.is_ascii_digit()));
    (digits > 0 && digits <= 3).then_some(())?;
    let digits = std::str::from_utf8(&text[from..from + digits]).ok()?;
    let value = u8::from_str_radix(digits, radix).ok()?;
    let end = from + digits.len();
    let suffix = if text[end..].starts_with(b"u8") { 2 } else { 0 };
    Some((value, end + suffix))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes without a pattern.
    fn random(count: usize) -> Vec<u8> {
        (0..count).map(|n| (n * n * 37 + n * 101 + 13) as u8).collect()
    }

    fn decimal(bytes: &[u8]) -> String {
        bytes.iter().map(u8::to_string).collect::<Vec<_>>().join(", ")
    }

    fn found(text: &str, name: &str) -> Option<String> {
        let start = text.find(name)?;
        let (from, to) = key(text.as_bytes(), start, start + name.len())?;
        Some(text[from..to].to_owned())
    }

    #[test]
    fn lists_of_bytes_are_keys_in_every_language() {
        let list = decimal(&random(32));
        let hex = random(16).iter().map(|b| format!("{b:#04x}")).collect::<Vec<_>>().join(",\n  ");
        for (text, name, expected) in [
            (format!("let key = [{list}];"), "key", &list),
            (format!("const SECRET_KEY: [u8; 32] = [{list}];"), "SECRET_KEY", &list),
            (format!("byte[] aesKey = new byte[] {{ {hex} }};"), "aesKey", &hex),
            (format!("privateKey := []byte{{{hex},\n}}"), "privateKey", &hex),
            (format!("keypair: [{list}]"), "keypair", &list),
            (format!("\"secret\": [\n    {list}\n  ]"), "secret", &list),
            (format!("key = bytes([{list}])"), "key", &list),
        ] {
            assert_eq!(found(&text, name).as_ref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn other_lists_are_no_keys() {
        let list = decimal(&random(32));
        let count = decimal(&(0..32).collect::<Vec<u8>>());
        let down = decimal(&(0..32).rev().collect::<Vec<u8>>());
        for (text, name) in [
            (format!("let sizes = [{list}];"), "sizes"),
            (format!("let key = [{count}];"), "key"),
            (format!("let key = [{down}];"), "key"),
            (format!("let key = [{}];", decimal(&[7; 32])), "key"),
            (format!("let key = [{}];", decimal(&random(8))), "key"),
            (format!("let key = [{}];", decimal(&random(200))), "key"),
            (format!("let key = [{list}, 256];"), "key"),
            (format!("let key = [{list}"), "key"),
            (format!("the key, in short: [{list}]"), "key"),
            ("let key = [a, b];".to_owned(), "key"),
        ] {
            assert_eq!(found(&text, name), None, "{text}");
        }
    }
}
