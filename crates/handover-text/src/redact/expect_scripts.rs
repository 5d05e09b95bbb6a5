//! Scripted answers to prompts: `expect "Password:"` followed by `send "…\r"`.

use super::allowlist;
use super::bytes;

/// How many bytes and lines before the answer the prompt may be.
const BEFORE: usize = 160;
const LINES: usize = 4;

/// The password that the function or command at `start..end` sends.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let name = text.get(start..end)?;
    const SENDS: [&[u8]; 3] = [b"send", b"sendline", b".write"];
    SENDS.iter().any(|s| name.ends_with(s)).then_some(())?;
    let at = end + bytes::run(text, end, 4, |b| matches!(b, b' ' | b'-' | b'('));
    let at = at + bytes::run(text, at, 1, |b| b == b'b');
    let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let len = bytes::run(text, at + 1, 128, |b| b != quote && b != b'\n');
    let value = text.get(at + 1..at + 1 + len)?;
    let value = [&b"\\r"[..], b"\\n", b"\\r"]
        .iter()
        .fold(value, |value, end| value.strip_suffix(*end).unwrap_or(value));
    let before = &text[start.saturating_sub(BEFORE)..start];
    let lines = before.split(|b| *b == b'\n').rev().take(LINES);
    let prompted = lines
        .map(<[u8]>::trim_ascii)
        .find(|line| {
            let waits = [&b"expect"[..], b"read_until", b"waitfor"];
            waits.iter().any(|word| bytes::contains_ignore_case(line, word))
        })
        .is_some_and(|line| {
            bytes::contains_ignore_case(line, b"assword")
                || bytes::contains_ignore_case(line, b"assphrase")
        });
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    let variable = value.contains(&b'$') && !value.iter().any(u8::is_ascii_digit);
    (prompted && value.len() >= 3 && !spaced && !variable && !allowlist::placeholder(value))
        .then_some((at + 1, at + 1 + value.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &str) -> Option<&str> {
        let start = text.rfind("send")?;
        let end = start + text[start..].find([' ', '(']).unwrap();
        secret(text.as_bytes(), start, end).map(|(from, to)| &text[from..to])
    }

    #[test]
    fn finds_the_answer_to_a_password_prompt() {
        assert_eq!(sent("expect \"Password:\"\nsend \"sesame\\r\""), Some("sesame"));
        assert_eq!(sent("expect \"assword\"\nsend -- 'sesame\\r\\n'"), Some("sesame"));
        assert_eq!(sent("c.expect('passphrase')\nc.sendline(b'sesame')"), Some("sesame"));
    }

    #[test]
    fn other_answers_are_left_alone() {
        for text in [
            "expect \"login:\"\nsend \"sesame\"",
            "send \"sesame\"",
            "expect \"password\"\n1\n2\n3\n4\nsend \"sesame\"",
            "expect \"password\"\nsend \"$secret\\r\"",
            "expect \"password\"\nsend \"two words\"",
            "expect \"password\"\nsend \"ab\"",
            "expect \"password\"\nexpect \"$ \"\nsend \"sesame\"",
        ] {
            assert_eq!(sent(text), None, "{text}");
        }
    }
}
