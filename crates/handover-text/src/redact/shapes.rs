//! Tokens without a literal prefix, recognised by their structure.

use super::bytes::{self, ALNUM, DIGIT, HEX, TILDE};
use super::encoded;
use super::random;

/// The rule that the run `start..end` matches, and where the token begins.
pub(super) fn shape(
    text: &[u8],
    start: usize,
    end: usize,
    seen: u8,
) -> Option<(&'static str, usize)> {
    let run = &text[start..end];
    if run.starts_with(b"ey") {
        return jwt(run).then_some(("jwt", start));
    }
    if run.starts_with(b"LS0tLS1CRUdJTi") && encoded::is_private_key(run) {
        return Some(("private-key", start));
    }
    if seen & DIGIT == 0 || run.len() < 24 {
        return None;
    }
    if seen & TILDE != 0 && azure_secret(run) {
        return Some(("azure-client-secret", start));
    }
    if matches!(run[0], b'M' | b'N' | b'O') && discord_bot(run) {
        return Some(("discord-bot-token", start));
    }
    if mailchimp(run) {
        return Some(("mailchimp-key", start));
    }
    if mailgun(run) {
        return Some(("mailgun-private-key", start));
    }
    telegram(text, start, run).map(|start| ("telegram-bot-token", start))
}

/// `eyJ….eyJ….…`: header and claims both start with `{"` in base64.
fn jwt(run: &[u8]) -> bool {
    let mut parts = run.split(|b| *b == b'.');
    let (Some(header), Some(claims)) = (parts.next(), parts.next()) else {
        return false;
    };
    header.len() >= 12
        && claims.len() >= 8
        && (claims.starts_with(b"ey") || run.len() >= 60)
        && random::mixed(header)
}

/// Three bytes, a digit, `Q~`, then at least 28 more.
fn azure_secret(run: &[u8]) -> bool {
    run.windows(3)
        .position(|w| w[0].is_ascii_digit() && w[1] == b'Q' && w[2] == b'~')
        .is_some_and(|at| at >= 3 && run.len() - at - 3 >= 28)
}

fn discord_bot(run: &[u8]) -> bool {
    let mut parts = run.split(|b| *b == b'.');
    let lens = [parts.next(), parts.next(), parts.next()].map(|p| p.map_or(0, <[u8]>::len));
    (23..=28).contains(&lens[0])
        && (6..=7).contains(&lens[1])
        && (27..=40).contains(&lens[2])
        && parts.next().is_none()
}

/// 32 hexadecimal digits and a data centre: `-us12`.
fn mailchimp(run: &[u8]) -> bool {
    let (Some(head), Some(tail)) = (run.get(..32), run.get(32..)) else {
        return false;
    };
    tail.starts_with(b"-us")
        && (4..=5).contains(&tail.len())
        && tail[3..].iter().all(u8::is_ascii_digit)
        && head.iter().all(|b| bytes::is(*b, HEX))
}

/// 32, 8 and 8 hexadecimal digits.
fn mailgun(run: &[u8]) -> bool {
    let mut lens = [0; 3];
    for (n, part) in run.split(|b| *b == b'-').enumerate() {
        match lens.get_mut(n) {
            Some(len) if part.iter().all(|b| bytes::is(*b, HEX)) => *len = part.len(),
            Some(_) | None => return false,
        }
    }
    lens == [32, 8, 8]
}

/// Digits, a colon, then 33 to 36 bytes that start with `A`.
fn telegram(text: &[u8], start: usize, run: &[u8]) -> Option<usize> {
    let body = (33..=36).contains(&run.len())
        && run[0] == b'A'
        && run.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-'));
    (body && start > 0 && text[start - 1] == b':').then_some(())?;
    let digits = bytes::run_back(text, start - 1, 17, |b| b.is_ascii_digit());
    (5..=16).contains(&digits).then_some(start - 1 - digits)
}
