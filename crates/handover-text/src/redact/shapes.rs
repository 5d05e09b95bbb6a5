//! Tokens without a literal prefix, recognised by their structure.

use super::bytes::{self, ALNUM, DIGIT, HEX, TILDE};
use super::encoded;
use super::pem;
use super::random;

/// The rule for JSON web tokens.
pub(super) const JWT: &str = "jwt";

/// The rule that the run `start..end` matches, and where the token begins.
pub(super) fn shape(
    text: &[u8],
    start: usize,
    end: usize,
    seen: u8,
) -> Option<(&'static str, usize)> {
    let run = &text[start..end];
    if run.starts_with(b"ey") || run.starts_with(b"ewo") || run.starts_with(b"ew0") {
        return jwt(run).then_some((JWT, start));
    }
    if run.starts_with(b"LS0tLS1CRUdJTi") && encoded::is_private_key(run) || der_private(run) {
        return Some((pem::RULE, start));
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
    if azure_key(run) {
        return Some(("azure-key", start));
    }
    if mailchimp(run) {
        return Some(("mailchimp-key", start));
    }
    if zhipu(run) {
        return Some(("zhipu-key", start));
    }
    if mailgun(run) {
        return Some(("mailgun-private-key", start));
    }
    if newrelic(run) {
        return Some(("newrelic-key", start));
    }
    telegram(text, start, run)
        .map(|start| ("telegram-bot-token", start))
        .or_else(|| facebook(text, start, run).map(|start| ("facebook-app-token", start)))
}

/// `eyJ….eyJ….…`: header and claims both start with `{"` in base64.
fn jwt(run: &[u8]) -> bool {
    let mut parts = run.split(|b| *b == b'.');
    let (Some(header), Some(claims)) = (parts.next(), parts.next()) else {
        return false;
    };
    header.len() >= 12
        && claims.len() >= 8
        && (claims.starts_with(b"ey") || claims.starts_with(b"ew") || run.len() >= 60)
        && random::mixed(header)
}

/// A private key without its PEM header: base64 of a DER sequence that begins with a version number. Public
/// keys and certificates begin otherwise.
fn der_private(run: &[u8]) -> bool {
    /// EC and Ed25519 keys, whose length is fixed.
    const SHORT: [&[u8]; 5] = [b"MHcCAQEE", b"MHQCAQEE", b"MC4CAQAw", b"MIGkAgEB", b"MIHcAgEB"];
    if run.len() < 60 || !run.starts_with(b"M") {
        return false;
    }
    let (head, tail) = (&run[..8], &run[8..]);
    let long = head.starts_with(b"MII")
        && matches!(head[5], b'A' | b'Q' | b'g' | b'w')
        && head.ends_with(b"IB")
        && (tail.starts_with(b"AA") || tail.starts_with(b"AD"));
    let middle = head.starts_with(b"MI") && head.ends_with(b"AgEA");
    long || middle || SHORT.contains(&head)
}

/// 40 characters that end in `NRAL`.
fn newrelic(run: &[u8]) -> bool {
    run.len() == 40
        && run.ends_with(b"NRAL")
        && run[..36].iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
}

/// Three bytes, a digit, `Q~`, then at least 28 more.
fn azure_secret(run: &[u8]) -> bool {
    run.windows(3)
        .position(|w| w[0].is_ascii_digit() && w[1] == b'Q' && w[2] == b'~')
        .is_some_and(|at| at >= 3 && run.len() - at - 3 >= 28)
}

/// 52 characters, the mark of Azure's keys, and about 26 more.
fn azure_key(run: &[u8]) -> bool {
    (80..=90).contains(&run.len())
        && (50..=54).any(|at| run[at..].starts_with(b"JQQJ99"))
        && run.iter().all(|b| bytes::is(*b, ALNUM))
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

/// 32 hexadecimal digits, a dot, and 16 letters and digits of both cases.
fn zhipu(run: &[u8]) -> bool {
    let both = bytes::UPPER | bytes::LOWER | DIGIT;
    run.len() == 49
        && run[32] == b'.'
        && run[..32].iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
        && run[33..].iter().all(|b| bytes::is(*b, ALNUM))
        && random::classes(&run[33..]) & both == both
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

/// The id of an app, a bar, and 27 bytes.
fn facebook(text: &[u8], start: usize, run: &[u8]) -> Option<usize> {
    let body = run.len() == 27
        && run.iter().all(|b| bytes::is(*b, ALNUM) || matches!(b, b'_' | b'-'))
        && random::scattered(run);
    (body && start > 0 && text[start - 1] == b'|').then_some(())?;
    let digits = bytes::run_back(text, start - 1, 18, |b| b.is_ascii_digit());
    (15..=17).contains(&digits).then_some(start - 1 - digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> Option<(&'static str, usize)> {
        let seen = random::classes(text.as_bytes());
        shape(text.as_bytes(), 0, text.len(), seen)
    }

    #[test]
    fn tokens_are_known_by_their_parts() {
        let (digits, body) = ("1527194624358273", "qbBf2-fdB9zZpqLA0_2nNzZDw2M");
        let text = format!("{digits}|{body}");
        let seen = random::classes(body.as_bytes());
        let found = shape(text.as_bytes(), digits.len() + 1, text.len(), seen);
        assert_eq!(found, Some(("facebook-app-token", 0)));
        let (head, tail) = ("9tK2mQ7vLp4RzX8cWn3b".repeat(3), "9tK2mQ7vLp4RzX8cWn3b".repeat(2));
        let azure = format!("{}JQQJ99{}", &head[..52], &tail[..26]);
        assert_eq!(rule(&azure), Some(("azure-key", 0)));
        assert_eq!(rule(&azure[10..]), None);
        let zhipu = "3494c505cf244a3fb17417d6894d404c.LLSZ2InjarUXEhNr";
        assert_eq!(rule(zhipu), Some(("zhipu-key", 0)));
        assert_eq!(rule(&zhipu.to_lowercase()), None);
    }

    #[test]
    fn json_web_tokens_have_a_header_and_claims() {
        let (header, claims) = ("eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0In0");
        assert_eq!(rule(&format!("{header}.{claims}.c2ln")), Some(("jwt", 0)));
        assert_eq!(rule(&format!("{header}.{claims}")), Some(("jwt", 0)));
        assert_eq!(rule(header), None);
        assert_eq!(rule(&format!("{header}.abc")), None);
        assert_eq!(rule("eyelash.eyebrow"), None);
        // A header on several lines.
        assert_eq!(rule(&format!("ewogICJhbGciOiAiSFMyNTYiCn0.{claims}.c2ln")), Some(("jwt", 0)));
        assert_eq!(rule("ewok-village.example.org"), None);
    }

    #[test]
    fn hexadecimal_keys_have_exact_lengths() {
        let hex = "0123456789abcdef0123456789abcdef";
        assert_eq!(rule(&format!("{hex}-us12")), Some(("mailchimp-key", 0)));
        assert_eq!(rule(&format!("{hex}-us1")), Some(("mailchimp-key", 0)));
        assert_eq!(rule(&format!("{hex}-us123")), None);
        assert_eq!(rule(&format!("{hex}-eu12")), None);
        assert_eq!(rule(&format!("{hex}-01234567-89abcdef")), Some(("mailgun-private-key", 0)));
        assert_eq!(rule(&format!("{hex}-01234567-89abcde")), None);
        assert_eq!(rule(&format!("{hex}-01234567-89abcdef-0")), None);
    }

    #[test]
    fn private_keys_need_no_header() {
        let rest = "a1B2".repeat(20);
        for head in [
            "MIIEpAIBAAKCAQEA",
            "MIIEvQIBADANBgkq",
            "MIGHAgEAMBMGByqG",
            "MHcCAQEEIBkg",
            "MC4CAQAwBQYDK2Vw",
        ] {
            assert_eq!(rule(&format!("{head}{rest}")), Some(("private-key", 0)), "{head}");
        }
        // A certificate, a public key, a request, and too little of a key.
        for head in ["MIIDdzCCAl+gAwIB", "MIIBIjANBgkqhkiG", "MIIBCgKCAQEA", "MIICijCCAXICAQAw"] {
            assert_eq!(rule(&format!("{head}{rest}")), None, "{head}");
        }
        assert_eq!(rule("MIIEpAIBAAKCAQEA"), None);
    }

    #[test]
    fn license_keys_end_in_their_mark() {
        assert_eq!(rule(&format!("{}NRAL", "a1b2".repeat(9))), Some(("newrelic-key", 0)));
        assert_eq!(rule(&format!("{}NRAL", "a1b2".repeat(8))), None);
    }

    #[test]
    fn azure_secrets_have_a_mark_after_three_bytes() {
        let body = "a1B2".repeat(8);
        assert_eq!(rule(&format!("abc8Q~{body}")), Some(("azure-client-secret", 0)));
        assert_eq!(rule(&format!("ab8Q~{body}")), None);
        assert_eq!(rule(&format!("abc8Q~{}", &body[..27])), None);
        assert_eq!(rule(&format!("abc8Q~{}", &body[..28])), Some(("azure-client-secret", 0)));
    }

    #[test]
    fn bot_tokens_have_parts_of_fixed_length() {
        let part = |len: usize| "a1B2".repeat(10)[..len].to_owned();
        let discord =
            |a: usize, b: usize, c: usize| format!("M{}.{}.{}", part(a - 1), part(b), part(c));
        for (a, b, c) in [(23, 6, 27), (28, 7, 40)] {
            assert_eq!(rule(&discord(a, b, c)), Some(("discord-bot-token", 0)));
        }
        for (a, b, c) in [(22, 6, 27), (23, 5, 27), (23, 8, 27), (23, 6, 26)] {
            assert_eq!(rule(&discord(a, b, c)), None, "{a} {b} {c}");
        }
        let telegram = |digits: usize, len: usize| {
            let text = format!("{}:A{}", "1".repeat(digits), part(len - 1));
            let (start, seen) = (digits + 1, random::classes(text.as_bytes()));
            shape(text.as_bytes(), start, text.len(), seen)
        };
        assert_eq!(telegram(9, 35), Some(("telegram-bot-token", 0)));
        assert_eq!(telegram(5, 33), Some(("telegram-bot-token", 0)));
        for (digits, len) in [(4, 35), (17, 35), (9, 32), (9, 37)] {
            assert_eq!(telegram(digits, len), None, "{digits} {len}");
        }
    }
}
