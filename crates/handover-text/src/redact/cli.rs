//! Passwords on command lines: `curl -u user:password`, `mysql -ppassword`.

use super::bytes;
use super::innocent;

/// How far back the name of the program may stand.
const LINE: usize = 240;

/// Programs whose `-p` (or `-a`, `-w`, `-P`) is a password.
#[rustfmt::skip]
const PROGRAMS: &[(&str, &str)] = &[
    ("mysql", "-p"), ("mariadb", "-p"), ("sshpass", "-p"), ("mongo", "-p"), ("docker login", "-p"),
    ("podman login", "-p"), ("redis-cli", "-a"), ("sqlcmd", "-P"), ("ldapsearch", "-w"),
    ("ldapmodify", "-w"), ("rabbitmqadmin", "-p"), ("smbclient", "-P"), ("bcp ", "-P"),
    ("isql", "-P"), ("cf login", "-p"), ("az login", "-p"), ("oc login", "-p"),
    ("helm registry login", "-p"), ("htpasswd", "-b"), ("ansible-vault", "-p"), ("openssl", "-k"),
    ("zip ", "-P"), ("ssh-keygen", "-N"), ("psexec", "-p"), ("7z ", "-p"), ("7za ", "-p"),
];

/// The secret that a flag at `start..end` carries or announces.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let run = &text[start..end];
    if !matches!(
        start.checked_sub(1).map(|i| text[i]),
        None | Some(b' ' | b'\t' | b'\n' | b'"' | b'\'')
    ) {
        return None;
    }
    if matches!(run, b"--password-stdin" | b"-S") {
        return piped(text, start, run);
    }
    if matches!(run, b"-u" | b"--user" | b"--proxy-user" | b"-U") {
        return user(text, start, end);
    }
    let flag = run.get(..2)?;
    if !matches!(flag, b"-p" | b"-a" | b"-P" | b"-w" | b"-k" | b"-N") {
        return None;
    }
    let from = bytes::line_start(text, start, LINE);
    let line = &text[from..start];
    let known = PROGRAMS.iter().any(|(program, f)| {
        f.as_bytes() == flag && line.windows(program.len()).any(|w| w == program.as_bytes())
    });
    if !known {
        return None;
    }
    let (from, to) =
        word(text, if run.len() > 2 || quote(text, end) { start + 2 } else { end + 1 })?;
    let value = text.get(from..to)?;
    // `-p 3306:3306` publishes a port, `-P 8080` names one.
    let port = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    (!port && value.len() >= 3 && !value.starts_with(b"-") && !innocent::placeholder(value))
        .then_some((from, to))
}

/// `echo "…" | sudo -S`, `echo "…" | docker login --password-stdin`
fn piped(text: &[u8], start: usize, run: &[u8]) -> Option<(usize, usize)> {
    let from = bytes::line_start(text, start, LINE);
    let line = &text[from..start];
    let reads = run != b"-S" || line.trim_ascii_end().ends_with(b"sudo");
    let echo = line.windows(5).rposition(|w| w == b"echo ")?;
    let at = from + echo + 5;
    let at = if text[at..].starts_with(b"-n ") { at + 3 } else { at };
    let (from, to) = word(text, at)?;
    let value = text.get(from..to)?;
    let rest = text.get(to..start)?.trim_ascii_start();
    let pipe = rest.iter().take(3).any(|b| *b == b'|');
    (reads && pipe && value.len() >= 3 && !innocent::placeholder(value)).then_some((from, to))
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
    if [&b"smbclient"[..], b"rpcclient", b"winexe"].iter().any(|p| line.starts_with(p)) {
        let sign = value.iter().position(|b| *b == b'%')?;
        let secret = value.get(sign + 1..).filter(|s| s.len() >= 3 && !innocent::placeholder(s));
        return secret.map(|_| (from + sign + 1, to));
    }
    let colon = value.iter().position(|b| *b == b':')?;
    let password = &value[colon + 1..];
    let ids = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    if !web || ids || value.contains(&b'/') && password.starts_with(b"//") {
        return None;
    }
    if password.is_empty() {
        // `-u key:` gives the key as the user.
        return (colon >= 8 && !innocent::placeholder(&value[..colon]))
            .then_some((from, from + colon));
    }
    (!innocent::placeholder(password)).then_some((from + colon + 1, to))
}

fn quote(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), Some(b'"' | b'\''))
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
