//! Passwords in flags that many commands share: `-u user:password`, `--password-stdin`.

use super::allowlist;
use super::bytes::{self, ALNUM, SLASH};
use super::commands;
use super::encoded;

/// How far back to look for the program's name.
const LINE: usize = 240;

/// The secret that the flag at `start..end` carries or implies.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let run = &text[start..end];
    if !matches!(
        start.checked_sub(1).map(|i| text[i]),
        None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\'')
    ) {
        return None;
    }
    match run {
        b"--password-stdin" => piped(text, start),
        b"-u" | b"--user" | b"--proxy-user" | b"-U" => user(text, start, end),
        b"-p" | b"-P" | b"-pw" | b"-gp" => after_user(text, start, end),
        b"--from-literal" => literal(text, end),
        _ => None,
    }
}

/// `CURLOPT_USERPWD, "ann:…"`, and `Basic …` with an encoded user and password.
pub(super) fn user_password(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    match &text[start..end] {
        b"Basic" | b"basic" => {
            let len = bytes::run(text, end + 1, 256, |b| bytes::is(b, ALNUM | SLASH) || b == b'=');
            let value = text.get(end + 1..end + 1 + len)?;
            (text[end] == b' ' && len >= 12 && encoded::is_user_password(value))
                .then_some((end + 1, end + 1 + len))
        }
        name if name.ends_with(b"USERPWD") => {
            let at = end + bytes::run(text, end, 4, |b| matches!(b, b',' | b' ' | b'=' | b'>'));
            matches!(text.get(at), Some(b'"' | b'\'')).then_some(())?;
            let (from, to) = word(text, at)?;
            let value = text.get(from..to)?;
            let colon = value.iter().position(|b| *b == b':')? + 1;
            (value.len() > colon + 2 && !allowlist::placeholder(&value[colon..]))
                .then_some((from + colon, to))
        }
        _ => None,
    }
}

/// `-u ann -p …`: after a user, `-p` is a password in any program except `mysql`, where a separate
/// word would be the database.
fn after_user(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let line = &text[bytes::line_start(text, start, LINE)..start];
    let mut words = line.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty()).rev();
    let user = words.next()?;
    let flag = words.next()?;
    let named = matches!(flag, b"-u" | b"-U" | b"-l" | b"-gu" | b"--user" | b"--username")
        && !user.starts_with(b"-")
        || [&b"-u:"[..], b"--user=", b"--username="].iter().any(|f| user.starts_with(f));
    let database =
        [&b"mysql"[..], b"mariadb"].iter().any(|p| line.windows(p.len()).any(|w| w == *p));
    (named && !database && text.get(end) == Some(&b' ')).then_some(())?;
    let (from, to) = word(text, end + 1)?;
    commands::is_secret(text.get(from..to)?, true).then_some((from, to))
}

/// `kubectl create secret generic x --from-literal=name=…`: whatever its name.
fn literal(text: &[u8], end: usize) -> Option<(usize, usize)> {
    matches!(text.get(end)?, b'=' | b' ').then_some(())?;
    let (from, to) = word(text, end + 1)?;
    let value = text.get(from..to)?;
    let equals = value.iter().position(|b| *b == b'=')? + 1;
    let value = &value[equals..];
    let quote = bytes::run(value, 0, 1, |b| matches!(b, b'"' | b'\''));
    (value.len() >= 3 + quote
        && !allowlist::placeholder(&value[quote..])
        && !allowlist::reference(value))
    .then_some((from + equals + quote, to))
}

/// `echo "…" | docker login --password-stdin`
fn piped(text: &[u8], start: usize) -> Option<(usize, usize)> {
    let from = bytes::line_start(text, start, LINE);
    let line = &text[from..start];
    let echo = line.windows(5).rposition(|w| w == b"echo ")?;
    let at = from + echo + 5;
    let at = if text[at..].starts_with(b"-n ") { at + 3 } else { at };
    let (from, to) = word(text, at)?;
    let value = text.get(from..to)?;
    let rest = text.get(to..start)?.trim_ascii_start();
    let pipe = rest.iter().take(3).any(|b| *b == b'|');
    (pipe && value.len() >= 3 && !allowlist::placeholder(value)).then_some((from, to))
}

fn user(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let line = &text[bytes::line_start(text, start, LINE)..start];
    let web = [&b"curl"[..], b"wget", b"http", b"-X ", b"-H ", b"\\"]
        .iter()
        .any(|p| line.windows(p.len()).any(|w| w == *p))
        || line.trim_ascii().is_empty();
    let at = end + bytes::run(text, end, 1, |b| b == b' ' || b == b'=');
    let (from, to) = word(text, at)?;
    let value = text.get(from..to)?;
    let colon = value.iter().position(|b| *b == b':')?;
    let password = &value[colon + 1..];
    let ids = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    if !web || ids || value.contains(&b'/') && password.starts_with(b"//") {
        return None;
    }
    if password.is_empty() {
        // `-u key:` passes the key as the user.
        return (colon >= 8 && !allowlist::placeholder(&value[..colon]))
            .then_some((from, from + colon));
    }
    (!allowlist::placeholder(password)).then_some((from + colon + 1, to))
}

/// The shell word at `at`, without its quotes.
fn word(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let first = *text.get(at)?;
    if matches!(first, b'"' | b'\'') {
        let len = bytes::run(text, at + 1, 512, |b| b != first && b != b'\n');
        return Some((at + 1, at + 1 + len));
    }
    let len = bytes::run(text, at, 512, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b';' | b'|' | b')')
    });
    (len > 0).then_some((at, at + len))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, flag: &str) -> Option<String> {
        let start = text.find(flag)?;
        let (from, to) = secret(text.as_bytes(), start, start + flag.len())?;
        Some(text[from..to].to_owned())
    }

    #[test]
    fn reads_the_password_of_a_flag() {
        for (text, flag) in [
            ("curl -u ann:sesame https://x", "-u"),
            ("curl --user=ann:sesame https://x", "--user"),
            ("  -u 'ann:sesame'", "-u"),
            ("tool -u ann -p sesame", "-p"),
            ("tool --user=ann -p 'sesame'", "-p"),
            ("echo sesame | docker login -u x --password-stdin", "--password-stdin"),
            ("echo -n \"sesame\" | docker login --password-stdin", "--password-stdin"),
        ] {
            assert_eq!(found(text, flag).as_deref(), Some("sesame"), "{text}");
        }
        assert_eq!(found("curl -u sk12345678: https://x", "-u").as_deref(), Some("sk12345678"));
    }

    #[test]
    fn other_flags_are_left_alone() {
        for (text, flag) in [
            ("docker run -u 1000:1000 x", "-u"),
            ("sort -u a:b", "-u"),
            ("curl -u ann:$PASS https://x", "-u"),
            ("curl -u key: https://x", "-u"),
            ("mysql -u ann -p sesame", "-p"),
            ("tool -p sesame", "-p"),
            ("tool -u ann -p 8080", "-p"),
            ("cat file | docker login --password-stdin", "--password-stdin"),
            ("xcurl-u ann:sesame", "-u"),
        ] {
            assert_eq!(found(text, flag), None, "{text}");
        }
    }

    #[test]
    fn basic_credentials_are_decoded() {
        let found = |text: &str, word: &str| {
            let start = text.find(word).unwrap();
            user_password(text.as_bytes(), start, start + word.len())
                .map(|(from, to)| text[from..to].to_owned())
        };
        assert_eq!(
            found("Basic dXNlcjpwYXNzd29yZA==", "Basic").as_deref(),
            Some("dXNlcjpwYXNzd29yZA==")
        );
        assert_eq!(found("Basic dXNlcm5hbWU=", "Basic"), None);
        assert_eq!(
            found("CURLOPT_USERPWD, \"ann:sesame\"", "CURLOPT_USERPWD").as_deref(),
            Some("sesame")
        );
        assert_eq!(found("CURLOPT_USERPWD, \"ann\"", "CURLOPT_USERPWD"), None);
    }
}
