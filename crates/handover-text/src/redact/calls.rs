//! Credentials passed to functions: one table row per group of functions, with examples.
//!
//! A row lists the endings of function names, the positions of the arguments that may be the
//! password (from zero, not counting numbers), and the evidence an argument needs.

use super::allowlist;
use super::bytes::{self, ALNUM};
use super::index::{self, Index, Side};
use super::keys::{self, Key};
use super::random;
use super::values;

/// What makes an argument a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Evidence {
    /// Its position alone.
    Position,
    /// Its position, if it also looks like a password.
    Appearance,
    /// The argument before it names a password.
    PrecedingName,
}

#[derive(Debug)]
struct Function {
    names: &'static [&'static str],
    positions: &'static [usize],
    evidence: Evidence,
    /// A call with a password, marked with «».
    #[cfg(test)]
    yes: &'static str,
    /// A call without a password.
    #[cfg(test)]
    no: &'static str,
}

macro_rules! functions {
    ($($($name:literal)|+ [$($position:literal),+] $evidence:ident, yes $yes:literal, no $no:literal;)*) => {
        &[$(Function {
            names: &[$($name),+],
            positions: &[$($position),+],
            evidence: Evidence::$evidence,
            #[cfg(test)]
            yes: $yes,
            #[cfg(test)]
            no: $no,
        }),*]
    };
}

#[rustfmt::skip]
const TABLE: &[Function] = functions! {
    "credential" | "credentials" | "basicauth" | "basic_auth" | "auth.basic" | "feature.basic" | "httpbasic" | "passwordauthentication" | "passwordtoken" [3, 1] Position, yes "new NetworkCredential(\"ann\", \"«sesame»\")", no "new NetworkCredential(\"ann\", password)";
    "username_pw_set" | "keystore.load" | "ks.load" [1] Position, yes "keyStore.load(in, \"«sesame»\".toCharArray())", no "keyStore.load(in, password)";
    "passwordprotection" | "pbekeyspec" [0] Position, yes "new PBEKeySpec(\"«sesame»\".toCharArray(), salt)", no "new PBEKeySpec(password, salt)";
    "drivermanager.getconnection" [2] Position, yes "DriverManager.getConnection(url, \"ann\", \"«sesame»\")", no "DriverManager.getConnection(url)";
    ".wallet" | "privatekeytoaccount" | "fromprivatekey" | "from_private_key" | "fromsecretkey" [0] Appearance, yes "new ethers.Wallet(\"«0x4c0883a6»\")", no "new ethers.Wallet(\"main\")";
    "login" | "authenticate" | "signin" | "sign_in" | "logon" | "auth" | "wifi.begin" [1] Appearance, yes "ftp.login(\"ann\", \"«pepper28»\")", no "auth(\"basic\", \"digest\")";
    "connect" | "mysqli" | "getconnection" | "pdo" | "directoryentry" | "sequelize" | "ldap3.connection" | "runas" [2, 3, 1] Appearance, yes "connect('h', 22, 'ann', '«pepper28»')", no "connect(\"click\", \"handler\")";
    "create_superuser" | "create_user" | "createuser" | "ldap_bind" [2, 1] Appearance, yes "ldap_bind($c, \"cn=x\", \"«pepper28»\")", no "create_user(\"ann\", \"reader\")";
    "check_password" | "checkpassword" | "verify_password" | "verifypassword" | "change_password" | "changepassword" | "reset_password" | "resetpassword" | "set_password" | "setpassword" | "add_password" [3, 2, 1] Appearance, yes "check_password(user, \"«pepper28»\")", no "check_password(user, \"bcrypt\")";
    "hashpw" | "password_verify" | "password_hash" | "hash_password" | "hashpassword" | "passwordhasher.hash" | "make_password" | "generate_password_hash" | "bcrypt.hash" | "bcrypt.hashsync" | "hash.make" | "passwordencoder.encode" [0] Appearance, yes "bcrypt.hashpw(b\"«pepper28»\", salt)", no "hash_password(\"bcrypt\", x)";
    "jwt.sign" | "jwt.encode" [1] Position, yes "jwt.sign({id: 1}, '«sesame»')", no "jwt.sign(payload, key)";
    "jwt.verify" | "jwt.decode" | "aes.encrypt" | "aes.decrypt" | "createhmac" | "hmacsha256" | "createcipheriv" | "createdecipheriv" [1] Appearance, yes "jwt.verify(token, '«pepper2801»')", no "createHmac(\"sha256\", key)";
    "signwith" | "setsigningkey" [1, 0] Appearance, yes "builder.signWith(HS256, \"«pepper28!»\")", no "builder.signWith(key, HS256)";
    "hash_hmac" | "openssl_encrypt" | "openssl_decrypt" [2] Appearance, yes "hash_hmac('sha256', $d, '«pepper2801»')", no "hash_hmac('sha256', $d, $key)";
    "cookieparser" | "hmac256" | "hmac512" | "aes.new" | "urlsafeserializer" | "timedserializer" | "secretkeyspec" [0] Appearance, yes "Algorithm.HMAC256(\"«pepper2801»\")", no "cookieParser(\"secret\")";
    "strcmp" | "strncmp" | "strcasecmp" | "compare_digest" | "timingsafeequal" [1] PrecedingName, yes "strcmp(password, \"«sesame»\")", no "strcmp(option, \"password\")";
};

const LISTS: [&[&str]; TABLE.len()] = {
    let mut lists: [&[&str]; TABLE.len()] = [&[]; TABLE.len()];
    let mut row = 0;
    while row < TABLE.len() {
        lists[row] = TABLE[row].names;
        row += 1;
    }
    lists
};

static INDEX: Index<{ index::count(&LISTS) }> = Index::new(&LISTS, Side::End);

/// The password among the arguments of the function named `start..end`.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    // Ruby calls may omit the parentheses.
    let open = match text.get(end..end + 2)? {
        [b'(', _] => true,
        [b' ', b'"' | b'\''] => false,
        _ => return None,
    };
    let name = text.get(start..end)?;
    if matches!(name, b".equals" | b".equalsIgnoreCase") {
        return equals(text, start, end + 1);
    }
    let name = type_name(text, start, end);
    let mut given = None;
    INDEX.at(name).find_map(|(row, _)| {
        let function = &TABLE[usize::from(row)];
        (open || function.evidence == Evidence::Position).then_some(())?;
        let given = given.get_or_insert_with(|| arguments(text, end + 1));
        function
            .positions
            .iter()
            .find_map(|position| password(text, function.evidence, given, *position))
    })
}

/// The name without a trailing `new` or `create`: `Credentials.create`, `[Credential]::new`.
fn type_name(text: &[u8], start: usize, end: usize) -> &[u8] {
    let name = &text[start..end];
    if name == b"new" || name == b"make" {
        let colons = bytes::run_back(text, start, 3, |b| matches!(b, b':' | b']'));
        let len = bytes::run_back(text, start - colons, 48, |b| {
            bytes::is(b, ALNUM) || matches!(b, b'.' | b'_')
        });
        let head = &text[start - colons - len..start - colons];
        let hash = head.eq_ignore_ascii_case(b"hash") && name == b"make";
        return match colons {
            _ if hash => b"hash.make",
            2.. => head,
            _ => name,
        };
    }
    let ends = [&b".create"[..], b".of"];
    ends.iter().find_map(|end| name.strip_suffix(*end)).unwrap_or(name)
}

#[derive(Debug, Clone, Copy)]
struct Argument {
    start: usize,
    end: usize,
    string: bool,
}

fn password(
    text: &[u8],
    evidence: Evidence,
    given: &[Argument],
    position: usize,
) -> Option<(usize, usize)> {
    let argument = given.get(position).filter(|argument| argument.string)?;
    let value = text.get(argument.start..argument.end)?;
    let first = text.get(given[0].start..given[0].end)?;
    let is = match evidence {
        Evidence::Position => true,
        Evidence::Appearance => {
            let like = random::mixed(value) && !algorithm(value)
                || values::special(value) && value.len() >= 6 && value[0] != b'-';
            // A URL path is not a user name.
            like && (position != 1 || !first.contains(&b'/')) && !allowlist::reference(value)
        }
        Evidence::PrecedingName => {
            !given[0].string
                && keys::classify(first) == Some(Key::Password)
                && keys::classify(value).is_none()
        }
    };
    let spaced = value.iter().any(u8::is_ascii_whitespace);
    (is && value.len() >= 3 && !spaced && !allowlist::placeholder(value))
        .then_some((argument.start, argument.end))
}

/// `sha256`, `HS512`, `aes-256-cbc`
fn algorithm(value: &[u8]) -> bool {
    const NAMES: [&str; 8] = ["sha", "md5", "hs", "rs", "es", "aes", "blake", "utf"];
    let head = value.iter().take_while(|b| b.is_ascii_alphabetic()).count();
    NAMES.iter().any(|n| value[..head].eq_ignore_ascii_case(n.as_bytes()))
        || NAMES[1].as_bytes() == value
}

/// The password of a pair: `auth=("user", "password")`.
pub(super) fn pair(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let list = match text.get(at)? {
        b'(' => false,
        b'[' => true,
        _ => return None,
    };
    match arguments(text, at + 1)[..] {
        [Argument { string: true, .. }, last @ Argument { start, end, string: true }] => {
            // A list is just as often one of names.
            let looks = || password(text, Evidence::Appearance, &[last], 0).is_some();
            (!list || looks()).then_some((start, end))
        }
        _ => None,
    }
}

/// The arguments at `at`, up to the first that is neither a string nor a name; numbers are skipped.
fn arguments(text: &[u8], mut at: usize) -> Vec<Argument> {
    let mut found = Vec::new();
    for _ in 0..6 {
        at += bytes::run(text, at, 24, |b| matches!(b, b' ' | b',' | b'\n' | b'\t' | b'\r'));
        if text.get(at..at + 5) == Some(b"Some(") {
            at += 5;
        }
        if let Some(end) = object(text, at) {
            found.push(Argument { start: at, end, string: false });
            at = end;
            continue;
        }
        let prefix = bytes::run(text, at, 1, |b| matches!(b, b'b' | b'r' | b'u' | b'f' | b'@'));
        if let Some((start, end)) = string(text, at).or_else(|| string(text, at + prefix)) {
            found.push(Argument { start, end, string: true });
            at = end + 1;
            continue;
        }
        let len = bytes::run(text, at, 64, |b| {
            bytes::is(b, ALNUM) || matches!(b, b'_' | b'.' | b'$' | b'>' | b'-' | b'[' | b']')
        });
        let number = text.get(at).is_some_and(u8::is_ascii_digit);
        if len == 0 || !matches!(text.get(at + len), Some(b',' | b')')) {
            break;
        }
        if !number {
            found.push(Argument { start: at, end: at + len, string: false });
        }
        at += len;
    }
    found
}

/// The end of the object literal that starts at `at`: `{id: 1}`.
fn object(text: &[u8], at: usize) -> Option<usize> {
    (text.get(at) == Some(&b'{')).then_some(())?;
    let mut depth = 0;
    let close = text[at..].iter().take(160).position(|b| {
        depth += match b {
            b'{' => 1,
            b'}' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    Some(at + close + 1)
}

/// The string that is compared with a password: `"…".equals(password)`.
fn equals(text: &[u8], start: usize, at: usize) -> Option<(usize, usize)> {
    let len = bytes::run(text, at, 64, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'.'));
    let close = start.checked_sub(1).filter(|at| text[*at] == b'"')?;
    let from = close - bytes::run_back(text, close, 64, |b| b != b'"' && b != b'\n');
    let value = text.get(from..close)?;
    let evidence = keys::classify(text.get(at..at + len)?) == Some(Key::Password);
    (evidence && values::is_secret(Key::Password, values::Form::Quoted, value))
        .then_some((from, close))
}

fn string(text: &[u8], at: usize) -> Option<(usize, usize)> {
    let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
    let len = bytes::run(text, at + 1, 256, |b| b != quote && b != b'\n');
    (text.get(at + 1 + len) == Some(&quote)).then_some((at + 1, at + 1 + len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    #[test]
    fn matches_only_the_positive_example_of_each_row() {
        for Function { yes, no, .. } in TABLE {
            let text = yes.replace(['«', '»'], "");
            let open = text.find('(').expect("a call");
            let start = text[..open].rfind(' ').map_or(0, |at| at + 1);
            let (from, to) = secret(text.as_bytes(), start, open).expect("a password");
            assert_eq!(format!("{}«{}»{}", &text[..from], &text[from..to], &text[to..]), *yes);
            assert_eq!(Redactor::default().clean(no).as_str(), *no);
        }
    }
}
