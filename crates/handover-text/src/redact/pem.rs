//! Private key blocks: PEM, OpenSSH, PGP, PuTTY.

use std::ops::Range;

use memchr::memmem;

use super::Hit;
use super::bytes;

/// The rule's name in findings.
pub(super) const RULE: &str = "private-key";

/// The longest line of such a block.
const LINE: usize = 128;

/// Adds every private key block. A block without an end was truncated: everything after its start
/// that may be key material is included. Returns the public blocks: certificates, public keys,
/// signatures.
pub(super) fn find(text: &[u8], hits: &mut Vec<Hit<'_>>) -> Vec<Range<usize>> {
    let mut public = Vec::new();
    let mut ends = memmem::find_iter(text, b"-----END ").peekable();
    let mut from = 0;
    for start in memmem::find_iter(text, b"-----BEGIN ") {
        if start < from {
            continue;
        }
        let label = start + 11;
        let Some(label_len) = label_len(&text[label..]) else {
            continue;
        };
        let body = label + label_len;
        while let Some(end) = ends.next_if(|end| *end < body) {
            headless(text, from, end, hits, &mut public);
        }
        if !secret_label(&text[label..body]) {
            let stop = material_end(text, body);
            public.push(body..stop);
            from = stop;
            continue;
        }
        let end = match ends.peek() {
            // A sentence about keys, not a key.
            Some(end) if about_keys(&text[body..*end]) => continue,
            Some(end) => block_end(text, *end),
            None => material_end(text, body),
        };
        from = end;
        hits.push(Hit::new(RULE, start, end));
    }
    for end in ends {
        headless(text, from, end, hits, &mut public);
    }
    let mut from = 0;
    let mut ends = memmem::find_iter(text, b"Private-MAC").peekable();
    for start in memmem::find_iter(text, b"Private-Lines: ") {
        if start < from {
            continue;
        }
        let body = start + 15;
        while ends.next_if(|end| *end < body).is_some() {}
        from = match ends.peek() {
            Some(end) => *end,
            None => material_end(text, body),
        };
        hits.push(Hit::new(RULE, body, from));
    }
    public.sort_by_key(|block| block.start);
    public
}

/// The longest block that a stream waits for.
const OPEN: usize = 65536;

/// The first block from `from` on without an end, if its end may still come.
pub(super) fn open(text: &[u8], from: usize) -> Option<usize> {
    let unclosed = |begin: &[u8], end: &[u8]| {
        let closed = memmem::rfind(text.get(from..)?, end).map_or(from, |at| from + at);
        let start = closed + memmem::find(&text[closed..], begin)?;
        (text.len() - start < OPEN).then_some(start)
    };
    let block = unclosed(b"-----BEGIN ", b"-----END ");
    let lines = unclosed(b"Private-Lines: ", b"Private-MAC");
    block.into_iter().chain(lines).min()
}

/// The lines before an end marker whose start was cut off.
fn headless(
    text: &[u8],
    from: usize,
    end: usize,
    hits: &mut Vec<Hit<'_>>,
    public: &mut Vec<Range<usize>>,
) {
    let base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let head = &text[..end];
    let mut start = end;
    while start > from {
        let close = start - bytes::run_back(head, start, 2, |b| matches!(b, b'\n' | b'\r'));
        let line = bytes::run_back(head, close, LINE, base64);
        let begins = close == line || text[close - line - 1] == b'\n';
        if close == start || line == 0 || !begins || close - line < from {
            break;
        }
        start = close - line;
    }
    let label = &text[end + 9..text.len().min(end + 89)];
    let label = &label[..label_len(label).unwrap_or(0)];
    if start < end && !label.is_empty() {
        match secret_label(label) {
            true => hits.push(Hit::new(RULE, start, end)),
            false => public.push(start..end),
        }
    }
}

fn label_len(text: &[u8]) -> Option<usize> {
    memmem::find(&text[..text.len().min(80)], b"-----")
}

fn secret_label(label: &[u8]) -> bool {
    memmem::find(label, b"PRIVATE").is_some()
        || memmem::find(label, b"OpenVPN Static key").is_some()
}

/// `…-----' and '-----END…`: the markers are quoted in a sentence, with nothing between them.
fn about_keys(between: &[u8]) -> bool {
    between.len() < LINE
        && matches!(between.get(5), Some(b'\'' | b'"' | b'`' | b' '))
        && !between.split(|b| !material(*b)).any(|run| run.len() >= 12)
}

fn block_end(text: &[u8], end: usize) -> usize {
    let tail = end + 9;
    match label_len(text.get(tail..).unwrap_or_default()) {
        Some(n) => tail + n + 5,
        None => tail.min(text.len()),
    }
}

/// The end of the lines from `at` that may belong to a key: base64, or a header such as `DEK-Info:`.
fn material_end(text: &[u8], at: usize) -> usize {
    let at = at + bytes::run(text, at, 5, |b| b == b'-');
    let mut end = at;
    loop {
        let line = end + bytes::run(text, end, usize::MAX, |b| b.is_ascii_whitespace());
        let stop = line + bytes::run(text, line, usize::MAX, material);
        let header = bytes::run(text, line, 80, |b| b != b'\n');
        match text.get(stop) {
            Some(b'\r' | b'\n') if stop > line => end = stop,
            Some(_)
                if line > at
                    && header < 80
                    && memmem::find(&text[line..line + header], b": ").is_some() =>
            {
                end = line + header;
            }
            // The key may share its line with other text: `MIIE…" and more`.
            Some(_) if stop - line < 16 => return end,
            Some(_) | None => return stop,
        }
    }
}

fn material(b: u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=' | b'\\' | b'-' | b'.' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &str = "MIIEpQIBAAKCAQEAn6ycIHB5dGhvbiBpcyBmdW4gYnV0IHRoaXMgaXMgbm90IGEgZmls";

    fn found(text: &str) -> (Vec<&str>, Vec<&str>) {
        let mut hits = Vec::new();
        let public = find(text.as_bytes(), &mut hits);
        let hits = hits.into_iter().map(|hit| &text[hit.start..hit.end]).collect();
        (hits, public.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn private_keys_are_found_whole() {
        let key = format!("-----BEGIN RSA PRIVATE KEY-----\n{BODY}\n-----END RSA PRIVATE KEY-----");
        let text = format!("before\n{key}\nbetween\n{key}\nafter");
        assert_eq!(found(&text).0, [key.as_str(), &key]);
    }

    #[test]
    fn public_blocks_are_reported_separately() {
        let text = format!("-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----\n");
        let (private, public) = found(&text);
        assert_eq!((private.len(), public.len()), (0, 1));
        assert!(public[0].contains(BODY));
    }

    #[test]
    fn truncated_keys_are_found() {
        let cut = format!("x -----BEGIN OPENSSH PRIVATE KEY-----\n{BODY}\n{BODY}");
        assert_eq!(found(&cut).0, [&cut[2..]]);
        let tail = format!("{BODY}\n-----END EC PRIVATE KEY-----");
        assert_eq!(found(&tail).0, [format!("{BODY}\n")]);
        let public = format!("{BODY}\n-----END CERTIFICATE-----");
        assert_eq!(found(&public), (vec![], vec![&public[..=BODY.len()]]));
    }

    #[test]
    fn text_about_keys_is_left_alone() {
        let text =
            "starts with '-----BEGIN PRIVATE KEY-----' and ends with '-----END PRIVATE KEY-----'";
        assert_eq!(found(text).0, [""; 0]);
    }

    #[test]
    fn a_block_is_open_until_its_end() {
        let open = |text: &str| open(text.as_bytes(), 0);
        assert_eq!(open("x\n-----BEGIN RSA PRIVATE KEY-----\nMIIE"), Some(2));
        assert_eq!(open("-----BEGIN X-----\n-----END X-----\n-----BEGIN Y-----\n"), Some(34));
        assert_eq!(open("-----BEGIN X-----\n-----END X-----\n"), None);
        assert_eq!(open("Private-Lines: 8\nAAAA"), Some(0));
        assert_eq!(open("Private-Lines: 8\nAAAA\nPrivate-MAC: 0\n"), None);
        assert_eq!(open(&format!("-----BEGIN X-----\n{}", "x\n".repeat(OPEN))), None);
    }

    #[test]
    fn putty_keys_end_at_their_checksum() {
        let text = format!("Private-Lines: 1\n{BODY}\nPrivate-MAC: 0123");
        assert_eq!(found(&text).0, [format!("1\n{BODY}\n")]);
        let more =
            format!("{text}\n-----BEGIN CERTIFICATE-----\n{BODY}\n-----END CERTIFICATE-----\n");
        assert_eq!(found(&more).0, [format!("1\n{BODY}\n")]);
    }
}
