//! Passwords in command lines: one table row per group of commands, with examples.
//!
//! A pattern is a line of shell words: `_` matches any word, `…` any number of words, `.` the end,
//! `!` the secret, `?` a secret that must also look like a password. Text attached to these must
//! match too: `-p!`, `_:!`. The first word may end in `*`; `-*b*` is a bundle of options that
//! includes `b`.

use super::allowlist;
use super::bytes;
use super::index::{self, Index, Letters, Side};
use super::keys;
use super::random;
use super::values;

/// How many bytes of a command are read.
const LINE: usize = 256;
/// How many words of a command are read.
const WORDS: usize = 32;
/// The most parts of a pattern after the name of its command.
const PARTS: usize = 8;

/// Patterns of commands that take a password in the same way.
#[derive(Debug)]
struct Command {
    patterns: &'static [&'static str],
    /// Commands with a password, marked with «».
    #[cfg(test)]
    yes: &'static str,
    /// Commands without one.
    #[cfg(test)]
    no: &'static str,
}

macro_rules! commands {
    ($($($pattern:literal)|+, yes $yes:literal, no $no:literal;)*) => {
        &[$(Command {
            patterns: &[$($pattern),+],
            #[cfg(test)]
            yes: $yes,
            #[cfg(test)]
            no: $no,
        }),*]
    };
}

#[rustfmt::skip]
const TABLE: &[Command] = commands! {
    // Databases
    "mysql* … -p!" | "mysql* … -p ?" | "mariadb* … -p!" | "mariadb* … -p ?", yes "mysqldump -u root -p«sesame» shop", no "mysql -u root -p shop";
    "mysqladmin … password !", yes "mysqladmin -u root password «sesame»", no "mysqladmin -u root password";
    "sqlplus … _/!@_" | "expdp _/!@_" | "impdp _/!@_" | "sqlldr _/!@_", yes "sqlplus -s scott/«tiger»@orcl", no "sqlplus / as sysdba";
    "mongo* … -p !" | "mongo* … -p!", yes "mongosh -u root -p «sesame»", no "mongodump -p --db shop";
    "redis-cli … -a !" | "redis-cli … AUTH !", yes "redis-cli -h h AUTH «sesame»", no "redis-cli -a $PASSWORD ping";
    "sqlcmd … -P !" | "sqlcmd … -P!" | "bcp … -P !" | "bcp … -P!" | "isql … -P !" | "isql … -P!", yes "sqlcmd -S h -U sa -P «sesame»", no "sqlcmd -S h -E";
    "wandb login ?" | "conan user … -p !", yes "conan user -p «sesame» -r x ann", no "conan user -c";
    "rabbitmqadmin … -p !", yes "rabbitmqadmin -u x -p «sesame» list", no "rabbitmqadmin list queues";
    "rabbitmqctl add_user _ ! ." | "rabbitmqctl change_password _ ! .", yes "rabbitmqctl add_user worker «sesame»", no "rabbitmqctl add_user worker";
    // Directories and shares
    "ldap* … -w !" | "ldap* … -w!", yes "ldapsearch -x -D cn=x -w «sesame» -b dc=x", no "ldapsearch -x -W -D cn=x";
    "smbclient … -U _%!" | "rpcclient … -U _%!" | "winexe … -U _%!", yes "rpcclient -U ann%«sesame» h", no "smbclient //h/s -U ann%";
    "net user _ ?" | "net user _ ! /add" | "net user _ ! /domain", yes "net user ann «sesame» /add", no "net user ann /delete";
    "net use … ! /user:_" | "net use … /user:_ !", yes "net use Z: \\\\h\\s «sesame» /user:ann", no "net use Z: \\\\h\\s /user:ann";
    // Other machines
    "sshpass … -p !" | "sshpass … -p!", yes "sshpass -p «sesame» ssh h", no "usage: sshpass [-f file|-p password] command";
    "plink … -pw !" | "pscp … -pw !" | "psftp … -pw !" | "putty … -pw !", yes "plink -l ann -pw «sesame» h", no "plink -pw";
    "psexec* … -p !", yes "psexec \\\\h -u ann -p «sesame» cmd", no "psexec \\\\h cmd";
    "winrs … -p:!" | "winrs … /p:!" | "xfreerdp … /p:!", yes "xfreerdp /u:ann /p:«sesame» /v:h", no "winrs -r:h cmd";
    "rdesktop … -p !", yes "rdesktop -u ann -p «sesame» h", no "rdesktop -p - h";
    "ipmitool … -P !", yes "ipmitool -U ann -P «sesame» chassis", no "ipmitool chassis status";
    "lftp … -u _,!", yes "lftp -u ann,«sesame» h", no "lftp -u ann h";
    "http … -a _:!" | "https … -a _:!" | "ab … -A _:!", yes "http -a ann:«sesame» h/x", no "http -a ann: h/x";
    // Registries and clouds
    "docker login … -p !" | "podman login … -p !" | "helm registry login … -p !" | "cf login … -p !", yes "docker login -u x -p «sesame»", no "docker run -p 8080:80 nginx";
    "az login … -p !" | "oc login … -p !", yes "az login -u x -p «sesame»", no "az login -p $SECRET";
    "mc alias set _ _ _ !" | "mc config host add _ _ _ !", yes "mc alias set s http://h ann «sesame»", no "mc alias set s";
    // Files and keys
    "zip … -P !" | "unzip … -P !", yes "zip -P «sesame» a.zip b", no "zip -r a.zip b";
    "7z … -p!" | "7za … -p!" | "7zr … -p!" | "rar … -p!" | "unrar … -p!", yes "7z x -p«sesame» a.7z", no "7z x a.7z";
    "openssl … -k !", yes "openssl enc -k «sesame» -in a", no "openssl req -key server.key";
    "ssh-keygen … -N !", yes "ssh-keygen -t rsa -N «sesame»", no "ssh-keygen -t rsa -N ''";
    "signtool sign … /p !", yes "signtool sign /f a.pfx /p «sesame» a.exe", no "signtool verify /pa a.exe";
    "gpg* … --passphrase !", yes "gpg --batch --passphrase «sesame» -c a", no "gpg --passphrase-fd 0";
    // Accounts
    "htpasswd … -*b* _ _ ! .", yes "htpasswd -cb users ann «sesame»", no "htpasswd -c users ann";
    "schtasks … /rp !", yes "schtasks /create /ru ann /rp «sesame»", no "schtasks /query";
    "echo _:! | chpasswd" | "echo _:! | sudo chpasswd", yes "echo 'ann:«sesame»' | sudo chpasswd", no "echo ann: | chpasswd";
    "echo … ! | passwd" | "echo … ! | sudo passwd" | "echo … ! | kinit" | "echo … ! | cryptsetup", yes "echo «sesame» | passwd --stdin ann", no "echo $WORD | passwd --stdin ann";
    "echo … ! | sudo -S", yes "echo «sesame» | sudo -S ls", no "echo done | sudo tee log";
    "sudo … -S <<< !" | "rootpw --plaintext !" | "AUTH default ?", yes "sudo -S <<< «sesame»", no "sudo -S ls";
    "vncpasswd <<< !", yes "vncpasswd <<< «sesame»", no "vncpasswd file";
    "wpa_passphrase _ !" | "nmcli … password !", yes "nmcli dev wifi connect home password «sesame»", no "nmcli dev wifi";
    // Networks
    "snmp* … -c !", yes "snmpwalk -v2c -c «sesame» h .1", no "snmpget -v2c -c public h .1";
    "snmp-server community !" | "rocommunity !" | "rwcommunity !" | "com2sec _ _ !", yes "snmp-server community «sesame» RO", no "rocommunity public";
    "crypto isakmp key !" | "tacacs-server … key !" | "radius-server … key !" | "pre-shared-key ascii-text !" | "set snmp community !", yes "tacacs-server host h key «sesame»", no "tacacs-server host h";
    "enable secret ?" | "enable password ?" | "enable secret level _ _ ?" | "key-string ?" | "ip ospf message-digest-key _ md5 ?" | "standby _ authentication ?" | "neighbor _ password ?", yes "enable secret «pepper2801»", no "enable secret rotation";
    "peer _ password cipher !" | "peer _ password simple !" | "XAUTH _ ?" | "EAP ?", yes "peer 10.0.0.1 password cipher «sesame»", no "peer 10.0.0.1 group x";
    // More accounts
    "stats auth _:!" | "user _ on >!" | "ACL SETUSER _ on >!", yes "stats auth ann:«sesame»", no "stats auth $USER";
    "bw login _ ?" | "bw unlock !" | "kinit _ <<< !", yes "bw login ann@x.net «pepper28!»", no "bw login ann@x.net";
    "poetry config _ _ ?" | "composer config _ _ ?" | "rclone config create … pass !", yes "poetry config http-basic.x ann «pepper2801»", no "composer config platform.php 8.1";
    // Tools that keep secrets
    "gh secret set … --body !" | "gh secret set … -b !", yes "gh secret set X --body «sesame»", no "gh secret set X --body-file f";
    "az keyvault secret set … --value !" | "aws secretsmanager … --secret-string !", yes "az keyvault secret set -n x --value «sesame»", no "az keyvault secret show -n x";
    "fly secrets set _=!" | "flyctl secrets set _=!" | "supabase secrets set _=!" | "vault kv put _ _=!" | "vault write _ _=?", yes "fly secrets set X=«sesame»", no "fly secrets list";
    "doppler secrets set _ !" | "pulumi config set … --secret _ !" | "cargo login !" | "ngrok authtoken !" | "ngrok config add-authtoken !", yes "doppler secrets set X «sesame»", no "cargo login";
    "echo … ! | docker secret create" | "printf … ! | docker secret create" | "printf … ! | sudo passwd" | "printf … ! | passwd", yes "printf «sesame» | docker secret create db -", no "printf done | tee log";
    "htpasswd … -nb _ ! ." | "htpasswd … -bn _ ! ." | "htpasswd … -nbB _ ! ." | "htpasswd … -nBb _ ! ." | "htpasswd … -Bbn _ ! .", yes "htpasswd -nbB ann «sesame»", no "htpasswd -n ann";
    "mosquitto_pub … -P !" | "mosquitto_sub … -P !" | "cqlsh … -p !" | "twine upload … -p !" | "vsce publish … -p !" | "ldappasswd … -s !" | "doveadm pw … -p !", yes "cqlsh h -u ann -p «sesame»", no "cqlsh h 9042";
    "cmdkey … /pass:!" | "wmic … /password:!" | "nuget push … -k !" | "dotnet nuget push … -k !" | "radtest _ ! _" | "samba-tool user add _ !", yes "cmdkey /add:h /user:ann /pass:«sesame»", no "cmdkey /list";
    "wpa_cli … psk !" | "nmcli … wifi-sec.psk !" | "iwconfig _ key ?" | "chpasswd <<< _:!" | "passwd … <<< !", yes "chpasswd <<< ann:«sesame»", no "iwconfig wlan0 key off";
    "open -u _,!", yes "lftp -c \"open -u ann,«sesame» h\"", no "open -u ann";
};

/// Words that the manuals of these commands use in place of a secret.
const SHOWN: [&str; 4] = ["public", "private", "string", "community"];

const LISTS: [&[&str]; TABLE.len()] = {
    let mut lists: [&[&str]; TABLE.len()] = [&[]; TABLE.len()];
    let mut row = 0;
    while row < TABLE.len() {
        lists[row] = TABLE[row].patterns;
        row += 1;
    }
    lists
};

static INDEX: Index<{ index::count(&LISTS) }> = Index::new(&LISTS, Side::Start);

static STARTS: Letters = Letters::new(&LISTS, Side::Start);

/// The secret passed to the command named `start..end`.
pub(super) fn secret(text: &[u8], start: usize, end: usize) -> Option<(usize, usize)> {
    let after = match text.get(end)? {
        b' ' => end,
        // `["mysql", "-psesame"]`
        b'"' | b'\'' if text.get(end + 1) == Some(&b',') => end + 2,
        _ => return None,
    };
    let start = match text[start] {
        b'/' | b'.' => start + text[start..end].iter().rposition(|b| *b == b'/')? + 1,
        _ => start,
    };
    let name = text.get(start..end)?;
    let &[a, b, ref rest @ ..] = name else {
        return None;
    };
    STARTS.has(a, b, rest.first().copied().unwrap_or(b' ')).then_some(())?;
    let mut words = None;
    INDEX.near(a, b).find_map(|pattern| {
        let space = pattern.iter().position(|b| *b == b' ')?;
        let named = match &pattern[..space] {
            [head @ .., b'*'] => {
                name.get(..head.len()).is_some_and(|n| n.eq_ignore_ascii_case(head))
            }
            first => name.eq_ignore_ascii_case(first),
        };
        named.then_some(())?;
        let rest = std::str::from_utf8(&pattern[space + 1..]).ok()?;
        let words = words.get_or_insert_with(|| split(text, after));
        let mut parts = [""; PARTS];
        let count = parts.iter_mut().zip(rest.split(' ')).map(|(part, p)| *part = p).count();
        matches(text, &parts[..count], words)
    })
}

/// A shell word, without surrounding quotes.
#[derive(Debug, Clone, Copy)]
struct ShellWord {
    start: usize,
    end: usize,
}

/// The remaining words of a command, from `at`.
fn split(text: &[u8], mut at: usize) -> Vec<ShellWord> {
    let stop = text.len().min(at + LINE);
    let mut words = Vec::new();
    while at < stop && words.len() < WORDS {
        match text[at] {
            b' ' | b'\t' => at += 1,
            // `["mysql", "-psesame"]`
            b',' if matches!(text[at - 1], b'"' | b'\'') => at += 1,
            b'\\' if text.get(at + 1) == Some(&b'\n') => at += 2,
            b'\n' | b'\r' | b';' | b'&' | b')' | b'`' => break,
            b'|' => {
                words.push(ShellWord { start: at, end: at + 1 });
                at += 1;
            }
            _ => {
                let (word, next) = word(text, at);
                words.push(word);
                at = next;
            }
        }
    }
    words
}

/// The word at `at`, and where the next one may start.
fn word(text: &[u8], at: usize) -> (ShellWord, usize) {
    let quoted = |at: usize| {
        let quote = *text.get(at).filter(|b| matches!(b, b'"' | b'\''))?;
        let len = bytes::run(text, at + 1, LINE, |b| b != quote && b != b'\n');
        (text.get(at + 1 + len) == Some(&quote)).then_some(at + 1 + len)
    };
    if let Some(close) = quoted(at) {
        return (ShellWord { start: at + 1, end: close }, close + 1);
    }
    let len = bytes::run(text, at, LINE, |b| {
        !b.is_ascii_whitespace() && !matches!(b, b'"' | b'\'' | b'`' | b';' | b'|' | b')')
    });
    let end = at + len;
    // `-p"…"`: the quotes belong to the word.
    if len > 0
        && let Some(close) = quoted(end)
    {
        return (ShellWord { start: at, end: close + 1 }, close + 1);
    }
    (ShellWord { start: at, end }, end.max(at + 1))
}

/// The position of the secret, if the words match the parts of a pattern.
fn matches(text: &[u8], pattern: &[&str], words: &[ShellWord]) -> Option<(usize, usize)> {
    let (&part, rest) = pattern.split_first()?;
    if part == "…" {
        let piped = rest.contains(&"|");
        let pipe = words.iter().position(|w| text[w.start..w.end] == *b"|");
        if pipe.is_none() && piped {
            return None;
        }
        // The secret of `echo … ! | x` comes before the pipe.
        let reach = if piped { words.len() } else { pipe.unwrap_or(words.len()) };
        return (0..reach).find_map(|skip| matches(text, rest, &words[skip..]));
    }
    let (word, tail) = words.split_first()?;
    let content = text.get(word.start..word.end)?;
    if part == "_" {
        let option = content.starts_with(b"-");
        return matches(text, if option { pattern } else { rest }, tail);
    }
    match part.find(['!', '?']) {
        Some(mark) => {
            let (head, sure) = (&part[..mark], part.as_bytes()[mark] == b'!');
            let from = match head.strip_prefix('_') {
                Some(separator) => content.iter().position(|b| [*b] == *separator.as_bytes())? + 1,
                None => content.starts_with(head.as_bytes()).then_some(head.len())?,
            };
            // `ann/sesame@host`
            let to = match part.ends_with("@_") {
                true => content.iter().rposition(|b| *b == b'@').filter(|to| *to > from)?,
                false => content.len(),
            };
            // Comparing words costs less than judging a value.
            end_of(text, rest, tail)?;
            let span = unquoted(text, word.start + from, word.start + to);
            is_secret(text.get(span.0..span.1)?, sure).then_some(span)
        }
        None => literal(part, content).then(|| matches(text, rest, tail)).flatten(),
    }
}

/// Whether the words match a pattern without a secret.
fn end_of(text: &[u8], pattern: &[&str], words: &[ShellWord]) -> Option<()> {
    let mut words = words.iter();
    for part in pattern {
        if *part == "." {
            return words.next().is_none().then_some(());
        }
        let word = words.next()?;
        let content = text.get(word.start..word.end)?;
        literal(part, content).then_some(())?;
    }
    Some(())
}

/// Whether a word matches one part of a pattern. Single-letter options may be bundled, those that
/// take a value last in the bundle, and are case-sensitive.
fn literal(part: &str, word: &[u8]) -> bool {
    let bundle = match word {
        [b'-', bundle @ ..]
            if (1..=4).contains(&bundle.len()) && bundle.iter().all(u8::is_ascii_alphabetic) =>
        {
            bundle
        }
        _ => b"",
    };
    match part.as_bytes() {
        [b'-', letter] => bundle.last() == Some(letter),
        [b'-', b'*', letter, b'*'] => bundle.contains(letter),
        [b'-', ..] => part.as_bytes() == word,
        [head @ .., b'_'] => word.get(..head.len()).is_some_and(|w| w.eq_ignore_ascii_case(head)),
        _ => word.eq_ignore_ascii_case(part.as_bytes()),
    }
}

fn unquoted(text: &[u8], start: usize, end: usize) -> (usize, usize) {
    match text.get(start..end) {
        Some([b'"' | b'\'', .., b'"' | b'\'']) if end - start >= 2 => (start + 1, end - 1),
        _ => (start, end),
    }
}

pub(super) fn is_secret(value: &[u8], sure: bool) -> bool {
    // `-p 3306:3306` publishes a port, `-P 8080` names one.
    let port = value.iter().all(|b| b.is_ascii_digit() || *b == b':');
    let other = matches!(value.first(), Some(b'-' | b'/' | b'\\' | b'[' | b'<' | b'|'))
        || matches!(value.last(), Some(b']' | b'>' | b':'));
    let name = random::wordy(value) && keys::classify(value).is_some();
    let shown = SHOWN.iter().any(|w| value.eq_ignore_ascii_case(w.as_bytes()));
    value.len() >= 3
        && (sure || random::mixed(value) || values::special(value))
        && !(port || other || name || shown || allowlist::placeholder(value))
        && !allowlist::reference(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Redactor;

    /// The example with its findings in «».
    fn marked(text: &str) -> String {
        let mut out = String::new();
        let mut at = 0;
        for (start, _) in text.char_indices() {
            let end = text[start..].find([' ', '"', '\'']).map_or(text.len(), |len| start + len);
            if start >= at
                && text[..start].ends_with(|c: char| c.is_whitespace() || c == '\'' || c == '"')
                    | (start == 0)
                && let Some((from, to)) = secret(text.as_bytes(), start, end)
            {
                out.push_str(&text[at..from]);
                out.extend(["«", &text[from..to], "»"]);
                at = to;
            }
        }
        out + &text[at..]
    }

    #[test]
    fn every_pattern_fits() {
        for pattern in TABLE.iter().flat_map(|command| command.patterns) {
            assert!(pattern.split(' ').count() <= PARTS + 1, "{pattern}");
        }
    }

    #[test]
    fn matches_only_the_positive_example_of_each_row() {
        for Command { yes, no, .. } in TABLE {
            let plain = yes.replace(['«', '»'], "");
            assert_eq!(marked(&plain), *yes);
            assert_eq!(marked(no), *no);
            assert_eq!(Redactor::default().clean(no).as_str(), *no);
            assert!(Redactor::default().clean(&plain).redactions() > 0, "{plain}");
        }
    }
}
