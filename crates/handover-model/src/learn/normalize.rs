//! Removes from an error message what varies between occurrences: paths, numbers, hexadecimal values,
//! UUIDs, times, line and column numbers, quoted values. Names of modules, packages, files and symbols stay:
//! what solves `Cannot find module 'a'` does not solve `Cannot find module 'b'`.

use std::fmt::Write;

/// A longer quoted value is data, not a name.
const MAX_NAME_BYTES: usize = 80;

/// The message on one line, with every variable part replaced by a placeholder.
pub(super) fn normalize(message: &str) -> String {
    let message = strip_ansi(message);
    let message = quoted(&message);
    let mut out = String::with_capacity(message.len());
    for word in message.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        push_word(&mut out, word);
    }
    // A date next to a time is one timestamp.
    out.replace("<time> <time>", "<time>")
}

fn strip_ansi(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            // Skip to the final letter of the escape sequence.
            for next in chars.by_ref() {
                if next.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// `'12 apples'` → `'<value>'`, also in double quotes and backticks, unless it is a name. An apostrophe inside
/// a word is not a quote.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let quote = rest.as_bytes()[at] as char;
        let (head, tail) = rest.split_at(at);
        out.push_str(head);
        before = head.chars().next_back().unwrap_or(before);
        let inner = &tail[1..];
        let close = inner
            .char_indices()
            .take_while(|(_, c)| *c != '\n')
            .filter(|(_, c)| *c == quote)
            .map(|(i, _)| i)
            .find(|i| !inner[i + 1..].starts_with(char::is_alphanumeric));
        match close {
            Some(close) if !before.is_alphanumeric() && close > 0 => {
                let value = if is_name(&inner[..close]) { &inner[..close] } else { "<value>" };
                let _ = write!(out, "{quote}{value}{quote}");
                rest = &inner[close + 1..];
            }
            _ => {
                out.push(quote);
                rest = inner;
            }
        }
        before = quote;
    }
    out.push_str(rest);
    out
}

/// Whether a quoted value names something: one word with a letter in it.
fn is_name(value: &str) -> bool {
    value.len() <= MAX_NAME_BYTES
        && !value.contains(char::is_whitespace)
        && value.contains(char::is_alphabetic)
        && !value.contains("://")
}

/// The names that a normalized message quotes.
pub(super) fn names(message: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = message;
    while let Some(at) = rest.find(['\'', '"', '`']) {
        let quote = rest.as_bytes()[at] as char;
        let inner = &rest[at + 1..];
        let Some(close) = inner.find(quote) else { break };
        let (name, after) = (&inner[..close], &inner[close + 1..]);
        // An apostrophe inside a word is not an opening quote.
        let opens = !rest[..at].ends_with(char::is_alphanumeric);
        if opens && is_name(name) && !name.contains('<') {
            names.push(name);
        }
        rest = if opens { after } else { inner };
    }
    names
}

fn push_word(out: &mut String, word: &str) {
    let core = word.trim_matches(|c: char| {
        matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | ',' | ';' | '!' | '?' | '\'' | '"' | '`')
    });
    let core = core.trim_end_matches([':', '.']);
    if core.is_empty() {
        out.push_str(word);
        return;
    }
    let start = word.find(core).unwrap_or(0);
    out.push_str(&word[..start]);
    push_core(out, core);
    out.push_str(&word[start + core.len()..]);
}

fn push_core(out: &mut String, core: &str) {
    if core.contains("://") {
        out.push_str("<url>");
    } else if is_time(core) {
        out.push_str("<time>");
    } else if is_path(core) {
        out.push_str("<path>");
    } else if is_error_code(core) {
        out.push_str(core);
    } else {
        push_pieces(out, core);
    }
}

/// Normalizes parts of a word: `worker-12` → `worker-<n>`, `app.py:42:7` → `app.py:<n>:<n>`, `0x7f` →
/// `<hex>`.
fn push_pieces(out: &mut String, core: &str) {
    if is_uuid(core) {
        out.push_str("<uuid>");
        return;
    }
    let mut piece_start = 0;
    for (i, c) in core.char_indices() {
        if !(c.is_alphanumeric() || c == '_') {
            push_piece(out, &core[piece_start..i]);
            out.push(c);
            piece_start = i + c.len_utf8();
        }
    }
    push_piece(out, &core[piece_start..]);
}

fn push_piece(out: &mut String, piece: &str) {
    if is_hex(piece) {
        out.push_str("<hex>");
    } else if piece.starts_with(|c: char| c.is_ascii_digit()) {
        out.push_str("<n>");
        // The unit is kept: `12ms` and `12s` mean different things.
        out.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_'));
    } else if let Some((head, tail)) = piece.rsplit_once('_')
        && !tail.is_empty()
        && tail.bytes().all(|b| b.is_ascii_digit())
    {
        out.push_str(head);
        out.push_str("_<n>");
    } else {
        out.push_str(piece);
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(i, b)| match i {
            8 | 13 | 18 | 23 => b == b'-',
            _ => b.is_ascii_hexdigit(),
        })
}

fn is_hex(piece: &str) -> bool {
    if let Some(digits) = piece.strip_prefix("0x").or_else(|| piece.strip_prefix("0X")) {
        return !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    }
    piece.len() >= 7
        && piece.bytes().all(|b| b.is_ascii_hexdigit())
        && piece.bytes().any(|b| b.is_ascii_digit())
        && piece.bytes().any(|b| b.is_ascii_alphabetic())
}

/// `2026-11-15`, `10:00:00.123`, `2026-11-15T10:00:00Z`.
fn is_time(text: &str) -> bool {
    let digits = |s: &str, n: usize| s.len() == n && s.bytes().all(|b| b.is_ascii_digit());
    let date = |s: &str| {
        let mut parts = s.split(['-', '/']);
        matches!((parts.next(), parts.next(), parts.next(), parts.next()),
            (Some(y), Some(m), Some(d), None) if digits(y, 4) && digits(m, 2) && digits(d, 2))
    };
    let clock = |s: &str| {
        let s = s.split(['Z', 'z', '+']).next().unwrap_or(s);
        let s = s.split(['.', ',']).next().unwrap_or(s);
        let mut parts = s.split(':');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(h), Some(m), Some(s), None) => digits(h, 2) && digits(m, 2) && digits(s, 2),
            _ => false,
        }
    };
    match text.split_once(['T', 't']) {
        Some((d, t)) => date(d) && clock(t),
        None => date(text) || clock(text),
    }
}

/// A path: absolute, relative with a leading dot, with a drive letter, or ending in a file name. `and/or`
/// and `text/html` are words.
fn is_path(text: &str) -> bool {
    let rooted = text.starts_with('/') && text.len() > 1;
    let relative = ["./", "../", "~/", "~\\", ".\\"].iter().any(|p| text.starts_with(p));
    let drive =
        text.len() > 2 && text.as_bytes()[0].is_ascii_alphabetic() && text[1..].starts_with(":\\");
    let slashes = text.bytes().filter(|b| matches!(b, b'/' | b'\\')).count();
    let last = text.rsplit(['/', '\\']).next().unwrap_or(text);
    rooted || relative || drive || slashes >= 2 || (slashes == 1 && last.contains('.'))
}

/// `E0308`, `TS2322`, `ORA-00942`: here the number carries the meaning.
fn is_error_code(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = text[letters..].strip_prefix('-').unwrap_or_else(|| &text[letters..]);
    (1..=8).contains(&letters)
        && (2..=6).contains(&digits.len())
        && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn replaces_variable_parts() {
        for (message, expected) in [
            (
                "Cannot find module '@app/db' from src/index.ts:12:5",
                "Cannot find module '@app/db' from <path>",
            ),
            ("can't open /tmp/x1/log.txt", "can't open <path>"),
            ("cannot read '/srv/a/b.json'", "cannot read '<path>'"),
            ("C:\\Users\\me\\a.txt not found", "<path> not found"),
            ("panicked at src/main.rs:42:7: oops", "panicked at <path>: oops"),
            ("line 12, column 8", "line <n>, column <n>"),
            ("app.py:42: SyntaxError", "app.py:<n>: SyntaxError"),
            ("object at 0x7fffee01 freed", "object at <hex> freed"),
            ("commit deadbeef01 is gone", "commit <hex> is gone"),
            ("id 550e8400-e29b-41d4-a716-446655440000 missing", "id <uuid> missing"),
            ("at 2026-11-15T10:00:00Z", "at <time>"),
            ("2026-11-15 10:00:00,123 ERROR boom", "<time> ERROR boom"),
            ("timed out after 5000ms", "timed out after <n>ms"),
            ("worker-12 of pool_3 died", "worker-<n> of pool_<n> died"),
            ("error[E0308]: mismatched", "error[E0308]: mismatched"),
            ("GET https://a.example/x?y=1 failed", "GET <url> failed"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED <n>.<n>.<n>.<n>:<n>"),
            ("expected \"a\" got \"b c\"", "expected \"a\" got \"<value>\""),
            ("no field `name` on '17'", "no field `name` on '<value>'"),
            ("text/html and/or plain", "text/html and/or plain"),
            ("\u{1b}[31merror\u{1b}[0m:   two\n lines", "error: two lines"),
            ("it's John's", "it's John's"),
            ("", ""),
        ] {
            assert_eq!(normalize(message), expected, "{message:?}");
        }
    }

    #[test]
    fn names_are_quoted_words_that_are_not_values() {
        let names = |message| names(message).join(" ");
        assert_eq!(names("Cannot find module '@/utils' in \"app\""), "@/utils app");
        assert_eq!(names("it's `x` and '<value>' and '<path>/a.rs'"), "x");
        assert_eq!(names("don't, won't, 'open"), "");
        assert_eq!(names("no quotes"), "");
    }

    #[test]
    fn normalizing_twice_changes_nothing() {
        for message in ["a 'b' /c/d 12 0xff", "x <n> '<value>' <path>", "Ünïcode 'ä' 7é"] {
            let once = normalize(message);
            assert_eq!(normalize(&once), once);
        }
    }

    #[test]
    fn recognizes_times() {
        for time in [
            "2026-11-15",
            "2026/11/15",
            "10:00:00",
            "10:00:00.123",
            "10:00:00,123",
            "10:00:00Z",
            "2026-11-15T10:00:00",
            "2026-11-15t10:00:00.5z",
            "2026-11-15T10:00:00+02:00",
        ] {
            assert!(is_time(time), "{time}");
        }
        for other in [
            "",
            "2026-11",
            "2026-11-15-1",
            "26-11-15",
            "2026-1-15",
            "2026-11-5",
            "10:00",
            "1:00:00",
            "10:0:00",
            "10:00:0",
            "10:00:00:00",
            "aa:bb:cc",
            "2026-11-15T",
            "T10:00:00",
            "2026-11-15T10:00",
            "xT10:00:00",
        ] {
            assert!(!is_time(other), "{other}");
        }
    }

    #[test]
    fn recognizes_paths() {
        for path in [
            "/x",
            "/usr/bin/env",
            "./a",
            "../a",
            "~/a",
            "~\\a",
            ".\\a",
            "C:\\x",
            "a/b/c",
            "a\\b\\c",
            "src/main.rs",
            "src\\main.rs",
        ] {
            assert!(is_path(path), "{path}");
        }
        for other in ["/", "a", "a/b", "and/or", "a.b", "C:", "C:x", "1:\\x", ".", "..", "~", ""] {
            assert!(!is_path(other), "{other}");
        }
    }

    #[test]
    fn recognizes_hexadecimal_values() {
        for hex in ["0x0", "0XfF", "0xdeadbeef", "deadbee1", "0123abc", "a1b2c3d"] {
            assert!(is_hex(hex), "{hex}");
        }
        for other in ["0x", "0xg", "deadbeef", "1234567", "abc123", "a1b2c3", "g123456", ""] {
            assert!(!is_hex(other), "{other}");
        }
    }

    #[test]
    fn recognizes_uuids_by_their_dashes() {
        let uuid = "550e8400-e29b-41d4-a716-446655440000";
        assert!(is_uuid(uuid) && is_uuid(&uuid.to_uppercase()));
        for other in [
            "550e8400-e29b-41d4-a716-44665544000",
            "550e8400-e29b-41d4-a716-4466554400000",
            "550e8400ae29b-41d4-a716-446655440000",
            "550e8400-e29ba41d4-a716-446655440000",
            "550e8400-e29b-41d4aa716-446655440000",
            "550e8400-e29b-41d4-a716a446655440000",
            "550e8400-e29b-41d4-a716-44665544000g",
        ] {
            assert!(!is_uuid(other), "{other}");
        }
    }

    #[test]
    fn error_codes_stay_as_they_are() {
        for code in ["E0308", "TS2304", "ORA-00942", "CVE-2024", "C12", "ABCDEFGH123456"] {
            assert!(is_error_code(code), "{code}");
            assert_eq!(normalize(code), code);
        }
        for other in ["E", "E1", "e0308", "E1234567", "ABCDEFGHI12", "E03a8", "12", "E--12", ""] {
            assert!(!is_error_code(other), "{other}");
        }
    }

    #[test]
    fn quotes_are_values_only_around_words() {
        for (message, expected) in [
            ("'1 a' and '2 b'", "'<value>' and '<value>'"),
            ("field 'it's 1' here", "field '<value>' here"),
            ("don't stop", "don't stop"),
            ("the users' list of '12'", "the users' list of '<value>'"),
            ("empty '' here", "empty '' here"),
            ("open 'quote", "open 'quote"),
            ("'a\nb'", "'a b'"),
            ("(\"1\")", "(\"<value>\")"),
            ("mixed \"1'2\" c", "mixed \"<value>\" c"),
            ("`1`:`2`", "`<value>`:`<value>`"),
        ] {
            assert_eq!(normalize(message), expected, "{message}");
        }
    }

    #[test]
    fn punctuation_around_a_word_stays() {
        for (message, expected) in [
            ("(/a/b)", "(<path>)"),
            ("[12], {34};", "[<n>], {<n>};"),
            ("why? 7!", "why? <n>!"),
            ("/a/b: gone.", "<path>: gone."),
            ("... : ,", "... : ,"),
            ("v1.2.3-rc4", "v1.<n>.<n>-rc4"),
            ("x_12_34 y_ z_1a", "x_12_<n> y_ z_1a"),
            ("1_000 rows", "<n> rows"),
            ("12ms 3s", "<n>ms <n>s"),
        ] {
            assert_eq!(normalize(message), expected, "{message}");
        }
    }

    #[test]
    fn escape_sequences_and_extra_spaces_are_dropped() {
        assert_eq!(
            normalize("\u{1b}[1;31mfailed\u{1b}[0m \u{1b}[Kat \t end \u{1b}[2"),
            "failed at end"
        );
        assert_eq!(normalize("  a\r\n\n b  "), "a b");
    }

    #[test]
    fn two_times_in_a_row_are_one() {
        assert_eq!(normalize("2026-11-15 10:00:00 x"), "<time> x");
        assert_eq!(normalize("10:00:00 x 10:00:01"), "<time> x <time>");
    }

    proptest! {
        #[test]
        fn any_message_is_normalized_to_one_line(message in "\\PC{0,80}|[a-z0-9 '\"`/:._\\n-]{0,80}") {
            let once = normalize(&message);
            prop_assert!(!once.contains('\n') && !once.contains("  "), "{:?}", once);
            prop_assert_eq!(once.trim(), &once);
        }

        #[test]
        fn details_do_not_matter(
            number in 0_u32..100_000, other in 0_u32..100_000, name in "[a-z]{1,8}", path in "(/[a-z]{1,6}){1,4}",
        ) {
            let message = |n: u32, path: &str| format!("worker {n} cannot open {path} after {n}ms: '{name}' got '{n}'");
            let expected = format!("worker <n> cannot open <path> after <n>ms: '{name}' got '<value>'");
            prop_assert_eq!(normalize(&message(number, &path)), &*expected);
            prop_assert_eq!(normalize(&message(other, "/other")), &*expected);
        }
    }
}
