//! Random strings that match no vendor's format, judged by token efficiency and context.

use super::allowlist;
use super::bytes::{self, ALNUM, DIGIT, LOWER, SLASH, UPPER};
use super::encoded;
use super::lexicon::{self, Hint};
use super::random;
use super::values;

/// Shorter strings are never judged.
pub(super) const LEAST: usize = 16;
/// The shortest string that counts as a secret without a hint.
const ALONE: usize = 20;
/// Longer strings are data, not secrets.
const MOST: usize = 1024;
/// How far back to look for a hint.
const WINDOW: usize = 56;

/// The secret in the run `start..end`, if any.
pub(super) fn secret(
    text: &[u8],
    mut start: usize,
    end: usize,
    seen: u8,
) -> Option<(usize, usize)> {
    // `//token` in a comment; after a colon it continues a URL.
    let slashes = bytes::run(text, start, 3, |b| b == b'/');
    if slashes >= 2
        && !matches!(start.checked_sub(1).map(|i| text[i]), Some(b':' | b'"' | b'\''))
        && !text[start + slashes..end].contains(&b'/')
    {
        start += slashes;
    }
    let run = &text[start..end];
    let len = run.len();
    if !(LEAST..=MOST).contains(&len) || !promising(run, seen) {
        return None;
    }
    let next = text.get(end).copied();
    let before = start.checked_sub(1).map(|i| text[i]);
    // Function names, parts of e-mail addresses, the rest of a URL.
    if matches!(next, Some(b'(' | b'@'))
        || run.starts_with(b"//") && !after_webhook(text, start) && !is_hook(run)
        || run.starts_with(b"xn--")
        || allowlist::public(run)
        || matches!(before, Some(b'@' | b'#'))
    {
        return None;
    }
    let base64 = seen & SLASH != 0 && base64_like(run);
    let candidate = |piece: &[u8]| piece.len() >= LEAST && !values::wordy_with_number(piece);
    // Looking at the context costs more than looking at the string itself.
    if !(base64 || pieces(run).any(candidate)) || block_line(text, start, end) {
        return None;
    }
    if declared(text, start) || variable(text, start, end) {
        return None;
    }
    let mut hint = Hints::new(text, start, end);
    hint.near.secret |= run.starts_with(b"//") && is_hook(run);
    if !hint.wide.secret && cut_line(text, start, end) {
        return None;
    }
    if base64 {
        let padded = end + bytes::run(text, end, 2, |b| b == b'=');
        if encoded::is_data(run) {
            return None;
        }
        if judge(run, hint, before) {
            return Some((start, padded));
        }
    }
    let paths = run.contains(&b'/');
    let mut at = start;
    for piece in pieces(run) {
        let from = at;
        at += piece.len() + 1;
        if piece.len() < LEAST || !judge(piece, hint, before) || encoded::is_data(piece) {
            continue;
        }
        // Random parts of paths name files and folders, unless a hint says otherwise.
        if paths && !hint.near.secret {
            continue;
        }
        let pad = |end| end + bytes::run(text, end, 2, |b| b == b'=');
        // In a path only the piece is the secret; elsewhere the piece belongs to a longer one.
        return Some(if paths { (from, pad(from + piece.len())) } else { (start, pad(end)) });
    }
    None
}

/// The parts of a run that may each be a secret.
fn pieces(run: &[u8]) -> impl Iterator<Item = &[u8]> {
    run.split(|b| matches!(b, b'/' | b'+' | b'~' | b'.'))
}

/// Whether the byte classes of a run permit a secret at all.
fn promising(run: &[u8], seen: u8) -> bool {
    let letters = seen & (UPPER | LOWER);
    letters != 0 && (seen & DIGIT != 0 || consonants(run))
}

/// Whether the run is a line of a base64 block: a line as long precedes or follows it, or it is the
/// shorter last line next to a full one.
fn block_line(text: &[u8], start: usize, end: usize) -> bool {
    let least = match end - start {
        40.. => 40,
        _ if alone(text, start, end) => FULL_LINES[0],
        _ => return false,
    };
    let quote = |b: u8| {
        matches!(
            b,
            b' ' | b'\t' | b'\r' | b'"' | b'\'' | b'+' | b'\\' | b',' | b';' | b'n' | b'r' | b'='
        )
    };
    let base64 = |b: u8| bytes::is(b, ALNUM | SLASH) || b == b'=';
    let after = end + bytes::run(text, end, 12, quote);
    let next = after
        + 1
        + bytes::run(text, after + 1, 24, |b| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'\r'));
    let below = text.get(after) == Some(&b'\n') && bytes::run(text, next, least, base64) >= least;
    let before =
        start - bytes::run_back(text, start, 24, |b| matches!(b, b' ' | b'\t' | b'"' | b'\''));
    let above = before > 0 && text[before - 1] == b'\n' && {
        let last = before - 1 - bytes::run_back(text, before - 1, 12, quote);
        bytes::run_back(text, last, least, |b| bytes::is(b, ALNUM | SLASH)) >= least
    };
    below || above
}

/// The line lengths of wrapped base64: PEM and MIME.
const FULL_LINES: [usize; 2] = [64, 76];

/// Whether a string is alone on its line.
fn alone(text: &[u8], start: usize, end: usize) -> bool {
    let blank = |b: u8| matches!(b, b' ' | b'\t' | b'=' | b'\r');
    let from = start - bytes::run_back(text, start, 24, blank);
    let to = end + bytes::run(text, end, 4, blank);
    (from == 0 || text[from - 1] == b'\n') && text.get(to).is_none_or(|b| *b == b'\n')
}

/// Whether a string is one full line of a base64 block whose other lines were cut off.
fn cut_line(text: &[u8], start: usize, end: usize) -> bool {
    let padded = end - start + bytes::run(text, end, 2, |b| b == b'=');
    FULL_LINES.contains(&padded)
        && text[start..end].iter().all(|b| bytes::is(*b, ALNUM | SLASH))
        && alone(text, start, end)
}

/// Words have vowels: a string of letters with few of them may be random.
fn consonants(run: &[u8]) -> bool {
    let vowels =
        run.iter().filter(|b| matches!(b.to_ascii_lowercase(), b'a' | b'e' | b'i' | b'o' | b'u'));
    vowels.count() * 10 < run.len() * 3
        && run.iter().all(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'+' | b'/'))
}

fn base64_like(run: &[u8]) -> bool {
    run.len() >= 32 && run.iter().all(|b| bytes::is(*b, ALNUM | SLASH)) && !run.starts_with(b"/")
}

/// The hints before a string.
#[derive(Debug, Clone, Copy)]
struct Hints {
    /// On its line; on the lines before as well, if the string is alone on its line.
    near: Hint,
    /// On its line and the two before it, one of which may be empty.
    wide: Hint,
}

impl Hints {
    fn new(text: &[u8], start: usize, end: usize) -> Self {
        let window = &text[start.saturating_sub(WINDOW)..start];
        let mut lines =
            window.iter().enumerate().rev().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
        let own = lines.next().unwrap_or(0);
        let before = lines.nth(1).unwrap_or(0);
        let after = bytes::run(text, end, 8, |b| b != b'\n');
        let alone = window[own..].trim_ascii().len() <= 9 && after < 8;
        let wide = lexicon::hint(&window[before..]);
        let near = if alone || own == 0 { wide } else { lexicon::hint(&window[own..]) };
        Self { near, wide }
    }
}

fn judge(s: &[u8], Hints { near, wide: hint }: Hints, before: Option<u8>) -> bool {
    let hinted = (hint.secret || hint.vendor) && !hint.hash;
    let assigned = matches!(
        before,
        Some(
            b'=' | b':'
                | b'"'
                | b'\''
                | b'`'
                | b'>'
                | b' '
                | b'\n'
                | b'\t'
                | b'('
                | b','
                | b'|'
                | b'{'
        ) | None
    );
    let s = trim(s);
    if s.len() < LEAST {
        return false;
    }
    let number = s.strip_prefix(b"0x").or_else(|| s.strip_prefix(b"0X"));
    if number.is_some_and(|n| {
        let digits = bytes::run(n, 0, 17, |b| b.is_ascii_hexdigit());
        (1..=16).contains(&digits)
    }) {
        return false;
    }
    if near.secret && !near.hash && assigned && random::typed_key(s) {
        return true;
    }
    if hexadecimal(s) {
        // After white space, 40 hex digits are a commit or a package checksum.
        let sha1 = s.len() == 40 && before.is_none_or(|b| b.is_ascii_whitespace());
        // A signer's key is identified by its fingerprint in capitals.
        let signer = sha1 && !s.iter().any(u8::is_ascii_lowercase);
        let hinted = near.secret && !signer || near.api && !hint.hash && !near.id && !sha1;
        return hinted && !near.hash && assigned && s.len() >= 20 && !allowlist::placeholder(s);
    }
    if allowlist::placeholder(s) {
        return false;
    }
    if !near.secret && !near.api && identifier(s) {
        return false;
    }
    if near.id && !near.secret || drawing(s) || constant(s) {
        return false;
    }
    if hint.hash || s.iter().all(|b| !b.is_ascii_alphabetic()) {
        return false;
    }
    let classes = random::classes(s);
    if classes & DIGIT == 0 {
        let both = classes & (UPPER | LOWER) == UPPER | LOWER && s.len() >= ALONE;
        let one_word = s.iter().all(u8::is_ascii_alphabetic);
        return hinted
            && (both || one_word)
            && random::longest_word(s) >= LEAST
            && random::efficiency(s) < random::RANDOM;
    }
    if values::wordy_with_number(s) || random::longest_letters(s) < 2 {
        return false;
    }
    let efficiency = random::efficiency(s);
    if hinted {
        // Long base64url keys contain separators by chance.
        let word = (s.len() / 2).clamp(8, 12);
        efficiency < random::LIKELY && (random::longest_mixed_word(s) >= word || grouped(s))
    } else {
        s.len() >= ALONE
            && efficiency < random::RANDOM
            && random::longest_mixed_word(s) >= 16
            && random::changes(s) >= s.len() / 4
    }
}

/// Whether the word before a string declares a name.
fn declared(text: &[u8], start: usize) -> bool {
    const WORDS: [&[u8]; 8] =
        [b"define", b"const", b"fn", b"class", b"struct", b"enum", b"typedef", b"static"];
    let space = bytes::run_back(text, start, 4, |b| matches!(b, b' ' | b'\t'));
    let before = &text[..start - space];
    space > 0
        && WORDS.iter().any(|word| {
            before.strip_suffix(*word).is_some_and(|rest| {
                rest.last().is_none_or(|b| !b.is_ascii_alphanumeric() && *b != b'_')
            })
        })
}

/// `${name}`
fn variable(text: &[u8], start: usize, end: usize) -> bool {
    text[..start].ends_with(b"${") && text.get(end) == Some(&b'}')
}

/// `webhook_url: https:`: the path of a webhook URL is a secret.
fn after_webhook(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(32)..start];
    bytes::contains_ignore_case(before, b"webhook")
}

/// Whether it is the address of a web hook: anyone who knows its path can call it.
fn is_hook(run: &[u8]) -> bool {
    [&b"hooks."[..], b"/hooks/", b"/hook/", b"webhook", b"/integration/"]
        .iter()
        .any(|part| bytes::contains_ignore_case(&run[..run.len().min(96)], part))
}

/// SVG path data: `207v123h210v40h-256V13zm393`.
fn drawing(s: &[u8]) -> bool {
    s.iter().all(|b| b.is_ascii_digit() || b"MmZzLlHhVvCcSsQqTtAa-.".contains(b))
}

/// `_CAMELLIA256_NKEYS`: words in capitals, some ending in a number.
fn constant(s: &[u8]) -> bool {
    let word = |part: &[u8]| {
        let digits = part.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        digits <= 4 && part[..part.len() - digits].iter().all(u8::is_ascii_uppercase)
    };
    s.contains(&b'_') && s.split(|b| *b == b'_').all(word)
}

/// `ABC1234-DEF5678-…`: groups of equal length, in capitals and digits.
pub(super) fn grouped(s: &[u8]) -> bool {
    let mut groups = s.split(|b| *b == b'-');
    let len = groups.clone().next().map_or(0, <[u8]>::len);
    let capital = |b: &u8| bytes::is(*b, UPPER | DIGIT);
    let least = if len == 4 { 4 } else { 3 };
    (4..=10).contains(&len)
        && random::mixed(s)
        && groups.clone().count() >= least
        && groups.all(|g| g.len() == len && g.iter().all(capital))
}

/// Prefixes of public ids.
#[rustfmt::skip]
const ID_WORDS: &[&str] = &[
    "msg", "toolu", "req", "call", "chatcmpl", "resp", "ses", "session", "run", "evt", "event", "thread", "asst",
    "file", "batch", "item", "rs", "fc", "ws", "step", "vs", "cus", "sub", "in", "pi", "ch", "price", "prod", "acct",
    "srvtoolu", "task", "job", "org", "proj", "user", "usr", "trace", "gen", "conv", "ctx", "node", "obj", "id", "uid",
    "cs", "si", "ii", "plan", "txn", "inv", "seti", "pm", "src", "tok", "re", "po", "py", "fr", "dp", "issfr",
];

/// Service ids (`msg_01Xf…`) and ULIDs.
pub(super) fn identifier(s: &[u8]) -> bool {
    let ulid = s.len() == 26
        && s[0] == b'0'
        && s.iter().all(|b| matches!(b, b'0'..=b'9' | b'A'..=b'H' | b'J' | b'K' | b'M' | b'N' | b'P'..=b'T' | b'V'..=b'Z'));
    let word = s.iter().take_while(|b| b.is_ascii_lowercase()).count();
    let separated = matches!(s.get(word), Some(b'_' | b'-'));
    // IPFS content ids and Bitcoin addresses.
    let ledger = s.len() == 46 && s.starts_with(b"Qm")
        || s.starts_with(b"bafy") && s.len() >= 50
        || s.starts_with(b"bc1") && s.iter().all(|b| bytes::is(*b, LOWER | DIGIT));
    ulid || ledger || separated && ID_WORDS.iter().any(|w| w.as_bytes() == &s[..word])
}

/// Hashes and ids: hexadecimal, in groups (UUIDs), with words (`query-b4ff…`), as a number (`0x…`).
fn hexadecimal(s: &[u8]) -> bool {
    let s = match s {
        [b'0', b'x' | b'X', number @ ..] => {
            let digits = number.iter().take_while(|b| b.is_ascii_hexdigit()).count();
            &number[..digits]
        }
        _ => s,
    };
    let group = |part: &[u8]| {
        random::hex(part)
            || part.iter().all(u8::is_ascii_digit)
            || (part.len() <= 4 && part.iter().all(u8::is_ascii_hexdigit))
    };
    let word = |part: &[u8]| {
        part.iter().all(u8::is_ascii_alphabetic) && !(part.len() >= 8 && random::scattered(part))
    };
    let mut groups = s.split(|b| matches!(b, b'-' | b'_'));
    groups.clone().any(|part| part.len() >= 8 && random::hex(part))
        && groups.all(|part| group(part) || word(part) || values::wordy_with_number(part))
}

fn trim(s: &[u8]) -> &[u8] {
    let noise = |b: &u8| matches!(b, b'-' | b'_' | b'.');
    let start = s.iter().take_while(|b| noise(b)).count();
    let end = s.len() - s.iter().rev().take_while(|b| noise(b)).count();
    s.get(start..end).unwrap_or_default()
}
