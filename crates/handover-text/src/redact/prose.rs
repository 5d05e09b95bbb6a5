//! Credentials in prose: pairs after a word (`creds: ann / …`), text typed into a field, the recovery
//! phrase of a wallet.

use super::allowlist;
use super::bytes::{self, ALNUM};
use super::keys::{self, Key};
use super::random;
use super::values::{self, Form};

/// Words that introduce a user and a password.
const PAIRS: [&str; 5] = ["login", "logins", "creds", "credential", "credentials"];
/// Verbs before `with ann / …`.
const ENTER: [&[u8]; 4] = [b"log in ", b"login ", b"sign in ", b"logged in "];
/// The most words between the introduction and the pair.
const BETWEEN: usize = 4;
/// What recovery phrases are called.
const KINDS: [&[u8]; 5] = [b"seed", b"recovery", b"secret", b"backup", b"wallet"];
/// The word counts of recovery phrases.
const WALLET: [usize; 5] = [12, 15, 18, 21, 24];

/// The password of the pair after the word at `start..end`.
pub(super) fn pair(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let name = &text[start..end];
    let enters = || {
        let before = &text[start.saturating_sub(10)..start];
        ENTER.iter().any(|e| {
            before.len() >= e.len() && before[before.len() - e.len()..].eq_ignore_ascii_case(e)
        })
    };
    if let Some(found) = after_id(text, start, end) {
        return Some(found);
    }
    let introduced = PAIRS.iter().any(|word| name.eq_ignore_ascii_case(word.as_bytes()))
        || name == b"with" && enters();
    introduced.then_some(())?;
    let space = |at: usize, most: usize| {
        at + bytes::run(text, at, most, |b| matches!(b, b' ' | b'`' | b'*'))
    };
    let mut at = end + bytes::run(text, end, 4, |b| matches!(b, b':' | b'=' | b' ' | b'`' | b'*'));
    for _ in 0..BETWEEN {
        let user = bytes::run(text, at, 64, |b| {
            bytes::is(b, ALNUM) || matches!(b, b'.' | b'_' | b'-' | b'@')
        });
        (user > 0).then_some(())?;
        let separator = space(at + user, 3);
        if matches!(text.get(separator), Some(b'/' | b':')) {
            let from = space(separator + 1, 3);
            let len = bytes::run(text, from, 48, |b| {
                !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b',' | b')' | b';')
            });
            let to = from + len - bytes::run_back(text, from + len, len, |b| b == b'.');
            return looks(text.get(from..to)?).then_some((from, to));
        }
        (separator > at + user).then_some(())?;
        at = separator;
    }
    None
}

/// `ID/PW master(…)`, `id & password: master / …`: the password after both names and the user.
fn after_id(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    const NAMES: [&[u8]; 4] = [b"pw", b"pwd", b"pass", b"password"];
    let name = &text[start..end];
    // `ID/PW` is one word.
    let (head, name) = match name.iter().rposition(|b| *b == b'/') {
        Some(at) => (start + at, &name[at + 1..]),
        None => (start, name),
    };
    NAMES.iter().any(|n| name.eq_ignore_ascii_case(n)).then_some(())?;
    let between = bytes::run_back(text, head, 3, |b| matches!(b, b' ' | b'/' | b'&' | b'('));
    let id = &text[..head - between];
    let joined = between > 0 || head > start;
    let [before @ .., b'i' | b'I', b'd' | b'D'] = id else { return None };
    (joined && before.last().is_none_or(|b| !b.is_ascii_alphanumeric())).then_some(())?;
    let gap = |at: usize| {
        at + bytes::run(text, at, 4, |b| {
            matches!(b, b' ' | b':' | b'-' | b'>' | b'(' | b')' | b'/' | b',')
        })
    };
    let user = gap(end);
    let len = bytes::run(text, user, 32, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'.'));
    let from = gap(user + len);
    let to =
        from + bytes::run(text, from, 48, |b| !b.is_ascii_whitespace() && b != b')' && b != b',');
    (user > end && len > 0 && from > user + len && looks(text.get(from..to)?)).then_some((from, to))
}

/// Users of machines.
#[rustfmt::skip]
const MACHINE: [&str; 12] = [
    "root", "admin", "administrator", "master", "user", "ubuntu", "pi", "guest", "postgres", "oracle", "sa", "ec2-user",
];

/// The password after an address and a user, whose word is `start..end`: `192.168.0.1 root/…`.
pub(super) fn at_machine(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let run = &text[start..end.min(start + 16)];
    (start > 0 && matches!(text[start - 1], b' ' | b'\t' | b'(' | b',')).then_some(())?;
    let slash = run.iter().position(|b| *b == b'/')?;
    MACHINE.iter().any(|user| run[..slash].eq_ignore_ascii_case(user.as_bytes())).then_some(())?;
    let gap = bytes::run_back(text, start, 3, |b| matches!(b, b' ' | b'\t' | b'(' | b','));
    let number = bytes::run_back(text, start - gap, 16, |b| b.is_ascii_digit() || b == b'.');
    let address = &text[start - gap - number..start - gap];
    let is = gap > 0
        && address.split(|b| *b == b'.').count() == 4
        && address.split(|b| *b == b'.').all(|part| (1..=3).contains(&part.len()));
    let from = start + slash + 1;
    let to =
        from + bytes::run(text, from, 48, |b| !b.is_ascii_whitespace() && b != b')' && b != b',');
    (is && looks(text.get(from..to)?)).then_some((from, to))
}

/// The password before the word at `start..end`: `type "…" into "password"`, `use … as the password`.
pub(super) fn before(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let name = &text[start..end];
    let head = &text[..start];
    // `"…" | ConvertTo-SecureString`
    if let [string @ .., quote @ (b'"' | b'\''), b' ', b'|', b' '] = head
        && name.ends_with(b"SecureString")
    {
        let len = bytes::run_back(string, string.len(), 128, |b| b != *quote && b != b'\n');
        let (from, to) = (string.len() - len, string.len());
        return (len >= 3 && !allowlist::placeholder(&text[from..to])).then_some((from, to));
    }
    if let Some(found) = compared(head, name) {
        return Some(found);
    }
    let quote = head.last().copied().filter(|b| matches!(b, b'"' | b'\''));
    let ends: [&[u8]; 4] = match quote {
        Some(b'"') => [b"\" into \"", b"\" in \"", b"\" for \"", b"\", forKey: \""],
        Some(_) => [b"' into '", b"' in '", b"' for '", b"', forKey: '"],
        None => [b" as the ", b" as your ", b" as a ", b" as "],
    };
    let words = ends.iter().find(|words| head.ends_with(words))?;
    (keys::may_end(name) && keys::classify(name) == Some(Key::Password)).then_some(())?;
    let to = start - words.len();
    let len = bytes::run_back(text, to, 48, |b| match quote {
        Some(quote) => b != quote && b != b'\n',
        None => !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`'),
    });
    looks(text.get(to - len..to)?).then_some((to - len, to))
}

/// The literal that is compared with the name after `head`: `"…" == password`.
fn compared(head: &[u8], name: &[u8]) -> Option<(usize, usize)> {
    let head = head.strip_suffix(b"$").unwrap_or(head).strip_suffix(b" ")?;
    let operator = bytes::run_back(head, head.len(), 3, |b| matches!(b, b'=' | b'!'));
    let head = &head[..head.len() - operator];
    let [string @ .., quote @ (b'"' | b'\''), b' '] = head else { return None };
    let len = bytes::run_back(string, string.len(), 64, |b| b != *quote && b != b'\n');
    let (from, to) = (string.len() - len, string.len());
    let opened = from > 0 && string[from - 1] == *quote;
    let value = &string[from..];
    (operator >= 2 && opened && (random::mixed(value) || values::special(value))).then_some(())?;
    let key = keys::classify(name).filter(|key| matches!(key, Key::Password | Key::Secret))?;
    values::is_secret(key, Form::Quoted, value).then_some((from, to))
}

/// The recovery phrase after the name at `start..end`: `mnemonic: "abandon ability …"`.
pub(super) fn wallet(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let name = &text[start..end];
    let ends = |word: &[u8]| {
        name.len() >= word.len() && name[name.len() - word.len()..].eq_ignore_ascii_case(word)
    };
    let of_wallet = || {
        let before = &text[start.saturating_sub(10)..end];
        KINDS.iter().any(|kind| bytes::contains_ignore_case(before, kind))
    };
    let named = ends(b"mnemonic") || ends(b"seed");
    (named || (ends(b"phrase") || ends(b"words")) && of_wallet()).then_some(())?;
    let operator = bytes::run(text, end, 12, |b| {
        matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'`' | b'(' | b'>' | b'\n')
    });
    let from = end + operator;
    let is = if text[from..].starts_with(b"is ") { 3 } else { 0 };
    let from =
        from + is + bytes::run(text, from + is, 2, |b| matches!(b, b'"' | b'\'' | b':' | b' '));
    let mut to = from;
    let mut count = 0;
    while count <= 24 {
        let at = if count > 0 { to + 1 } else { to };
        let len = bytes::run(text, at, 9, |b| b.is_ascii_lowercase());
        if !(3..=8).contains(&len) || count > 0 && text.get(to) != Some(&b' ') {
            break;
        }
        to = at + len;
        count += 1;
    }
    let ends = !matches!(text.get(to), Some(b) if *b == b' ' || bytes::is(*b, ALNUM));
    (ends && WALLET.contains(&count)).then_some((from, to))
}

/// Whether a word is unmistakably a password.
fn looks(value: &[u8]) -> bool {
    let mixed = random::mixed(value) || values::special(value);
    (6..=40).contains(&value.len())
        && mixed
        && (!values::wordy_with_number(value) || values::made_up(value))
        && !value
            .iter()
            .any(|b| matches!(b, b'/' | b'(' | b'[' | b'{' | b'<') || b.is_ascii_whitespace())
        && !allowlist::reference(value)
        && !allowlist::placeholder(value)
        && !allowlist::version(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrase(words: usize) -> String {
        ["ember", "hornet", "tundra", "opal"]
            .iter()
            .cycle()
            .take(words)
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn recovered(text: &str, name: &str) -> Option<String> {
        let start = text.find(name)?;
        let (from, to) = wallet(text.as_bytes(), start, start + name.len())?;
        Some(text[from..to].to_owned())
    }

    #[test]
    fn recovery_phrases_have_fixed_lengths() {
        for words in 1..=26 {
            let found = recovered(&format!("mnemonic: \"{}\"", phrase(words)), "mnemonic");
            let expected = WALLET.contains(&words).then(|| phrase(words));
            assert_eq!(found, expected, "{words}");
        }
        assert!(recovered(&format!("seed phrase is {}.", phrase(12)), "phrase").is_some());
        assert!(recovered(&format!("a phrase is {}.", phrase(12)), "phrase").is_none());
        assert!(recovered(&format!("mnemonic: {} 1", phrase(12)), "mnemonic").is_none());
    }

    fn paired(text: &str, word: &str) -> Option<String> {
        let start = text.find(word)?;
        let (from, to) = pair(text.as_bytes(), start, start + word.len())?;
        Some(text[from..to].to_owned())
    }

    #[test]
    fn pairs_follow_an_introduction() {
        for (text, word) in [
            ("creds: ann / Harvest1994$", "creds"),
            ("login ann:Harvest1994$.", "login"),
            ("the credentials are admin:Harvest1994$", "credentials"),
            ("log in with `ann` / `Harvest1994$`", "with"),
        ] {
            assert_eq!(paired(text, word).as_deref(), Some("Harvest1994$"), "{text}");
        }
        for (text, word) in [
            ("creds: ann / sesame", "creds"),
            ("comes with ann / Harvest1994$", "with"),
            ("creds: one two three four five / Harvest1994$", "creds"),
            ("creds: / Harvest1994$", "creds"),
        ] {
            assert_eq!(paired(text, word), None, "{text}");
        }
    }

    #[test]
    fn values_may_precede_the_name() {
        let found = |text: &str, name: &str| {
            let start = text.rfind(name)?;
            let (from, to) = before(text.as_bytes(), start, start + name.len())?;
            Some(text[from..to].to_owned())
        };
        for text in [
            "I type \"Panther991!\" into \"password\"",
            "enter 'Panther991!' for 'password'",
            "use Panther991! as the password",
            "if (\"Panther991!\" === $password",
        ] {
            assert_eq!(found(text, "password").as_deref(), Some("Panther991!"), "{text}");
        }
        assert_eq!(
            found("\"sesame\" | ConvertTo-SecureString", "ConvertTo-SecureString").as_deref(),
            Some("sesame")
        );
        for text in [
            "type \"sesame\" into \"password\"",
            "use Panther991! as the colour",
            "Panther991! password",
        ] {
            assert_eq!(
                found(text, text.rsplit([' ', '"']).find(|w| !w.is_empty()).unwrap()),
                None,
                "{text}"
            );
        }
    }
}
