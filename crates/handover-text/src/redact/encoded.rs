//! Text encoded once, in base64 or percent escapes.

use super::bytes::{self, ALNUM};

/// First bytes of file types that are often embedded in base64.
#[rustfmt::skip]
const MAGIC: &[&[u8]] = &[
    b"\x89PNG", b"GIF8", b"\xff\xd8\xff", b"RIFF", b"wOFF", b"wOF2", b"<svg", b"<?xml", b"%PDF",
    b"\0\x01\0\0", b"PK\x03\x04", b"\x1f\x8b", b"\0asm", b"OggS", b"ID3", b"BM", b"\0\0\x01\0",
    b"{\"", b"{\n", b"[{",
];

/// Whether base64 contains an image, a font, an archive or plain text: data, not a key.
pub(super) fn is_data(run: &[u8]) -> bool {
    let mut head = [0u8; 24];
    let len = decode(&run[..run.len().min(32)], &mut head);
    let head = &head[..len];
    len >= 12
        && (MAGIC.iter().any(|m| head.starts_with(m)) || printable(head) || other_script(head))
}

/// Whether bytes are text in another script; the last character may be cut off.
fn other_script(head: &[u8]) -> bool {
    let whole = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return false,
    };
    !whole.is_empty() && !whole.contains(char::is_control)
}

/// The decoded text, if base64 contains text.
pub(super) fn base64_text(run: &[u8]) -> Option<String> {
    if run.len() < 20 || !is_printable_start(run) {
        return None;
    }
    let mut out = vec![0; run.len() / 4 * 3 + 3];
    let len = decode(run, &mut out);
    out.truncate(len);
    let text = String::from_utf8(out).ok()?;
    printable(text.as_bytes()).then_some(text)
}

/// Whether base64 contains `user:password`.
pub(super) fn is_user_password(run: &[u8]) -> bool {
    let mut out = [0u8; 96];
    let digits = run.iter().take_while(|b| **b != b'=').count();
    if !(8..=128).contains(&digits) || run.len() - digits > 2 {
        return false;
    }
    let len = decode(&run[..digits], &mut out);
    let text = &out[..len];
    let colon = text.iter().position(|b| *b == b':');
    len == digits * 3 / 4 && printable(text) && colon.is_some_and(|at| at > 0 && at + 1 < len)
}

/// Whether base64 contains a PEM private key, judged by its label.
pub(super) fn is_private_key(run: &[u8]) -> bool {
    let mut head = [0u8; 42];
    let len = decode(&run[..run.len().min(56)], &mut head);
    head[..len].windows(8).any(|w| w == b"PRIVATE ")
}

fn is_printable_start(run: &[u8]) -> bool {
    let mut head = [0u8; 12];
    let len = decode(&run[..16], &mut head);
    printable(&head[..len])
}

fn printable(text: &[u8]) -> bool {
    text.iter().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t'))
}

/// Decodes either base64 alphabet up to the first invalid byte; returns the decoded length.
fn decode(run: &[u8], out: &mut [u8]) -> usize {
    let mut bits = 0u32;
    let mut have = 0;
    let mut len = 0;
    for b in run {
        let six = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => break,
        };
        bits = bits << 6 | u32::from(six);
        have += 6;
        if have >= 8 {
            have -= 8;
            let Some(slot) = out.get_mut(len) else { break };
            *slot = (bits >> have) as u8;
            len += 1;
        }
    }
    len
}

/// The text with its percent escapes decoded.
pub(super) fn percent_text(s: &[u8]) -> Option<String> {
    let mut out = Vec::with_capacity(s.len());
    let mut i = 0;
    while i < s.len() {
        let escape = s.get(i + 1..i + 3).and_then(hex_pair).filter(|_| s[i] == b'%');
        match escape {
            Some(b) => {
                out.push(b);
                i += 3;
            }
            None => {
                out.push(s[i]);
                i += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

fn hex_pair(pair: &[u8]) -> Option<u8> {
    let digit = |b: u8| (b as char).to_digit(16);
    let (a, b) = (digit(*pair.first()?)?, digit(*pair.get(1)?)?);
    u8::try_from(a * 16 + b).ok()
}

/// Whether a byte may be part of a percent-encoded word.
pub(super) fn percent_byte(b: u8) -> bool {
    bytes::is(b, ALNUM) || matches!(b, b'%' | b'_' | b'-' | b'.' | b'~' | b'+' | b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decodes_text_but_not_data() {
        let text = base64_text(b"cGFzc3dvcmQ9aHVudGVyMmFiYw");
        assert_eq!(text.as_deref(), Some("password=hunter2abc"));
        // Too short, and not text.
        assert_eq!(base64_text(b"cGFzc3dvcmQ9aHVudGV"), None);
        assert_eq!(base64_text(b"q83vEjRWeJq83vEjRWeJq83v"), None);
    }

    #[test]
    fn recognises_user_and_password() {
        assert!(is_user_password(b"dXNlcjpwYXNzd29yZA=="));
        for other in [
            &b"dXNlcm5hbWU="[..],
            b"OmFiY2RlZmc=",
            b"YWJjZGVmZzo=",
            b"dTpw",
            b"dXNlcjpwYXNzd29yZA===",
            b"dXNlcjpwYXN*d29yZA==",
        ] {
            assert!(!is_user_password(other), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn recognises_data() {
        assert!(is_data(b"iVBORw0KGgoAAAANSUhEUgAA"));
        assert!(is_data(b"aGVsbG8gd29uZGVyZnVsIHdvcmxkLCBwbGFpbiB0ZXh0"));
        assert!(is_data("0J/RgNC40LLQtdGCLCDQutCw0Log0LTQtdC70LAg0YHQtdCz0L7QtNC90Y8".as_bytes()));
        assert!(!is_data(b"q83vEjRWeJq83vEjRWeJq83v"));
        assert!(!is_data(b"iVBORw0KGgo"));
    }

    #[test]
    fn recognises_private_keys_by_label() {
        assert!(is_private_key(b"LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQ=="));
        assert!(!is_private_key(b"LS0tLS1CRUdJTiBQVUJMSUMgS0VZLS0tLS0="));
    }

    #[test]
    fn decodes_percent_escapes() {
        assert_eq!(percent_text(b"a%3Db%2").as_deref(), Some("a=b%2"));
        assert_eq!(percent_text(b"100%zz%41").as_deref(), Some("100%zzA"));
        assert_eq!(percent_text(b"%ff"), None);
    }

    proptest! {
        #[test]
        fn either_alphabet_decodes_to_the_same(text in "[ -~]{15,60}") {
            let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            let mut encoded = Vec::new();
            for chunk in text.as_bytes().chunks(3) {
                let mut word = [0; 3];
                word[..chunk.len()].copy_from_slice(chunk);
                let bits = u32::from_be_bytes([0, word[0], word[1], word[2]]);
                for n in 0..=chunk.len() {
                    encoded.push(digits[(bits >> (18 - 6 * n) & 63) as usize]);
                }
            }
            let urls: Vec<u8> = encoded
                .iter()
                .map(|b| match b { b'+' => b'-', b'/' => b'_', b => *b })
                .collect();
            prop_assert_eq!(base64_text(&encoded), Some(text.clone()));
            prop_assert_eq!(base64_text(&urls), Some(text));
        }
    }
}
