//! Names of values: which of them indicate a secret.

use super::bytes::{self, LOWER, UPPER};
use super::index::{self, Index, Letters, Side};

/// What a name implies about its value, from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// An id that belongs to a secret: public, but some vendors' ids look like keys.
    Id,
    /// Often a secret, just as often the key of a map.
    Weak,
    /// Often a secret, sometimes a token of a grammar.
    Token,
    /// A key or token that grants access.
    Secret,
    /// A password: chosen by people, so any text can be one.
    Password,
}

#[rustfmt::skip]
const PASSWORD: &[&str] = &[
    "password", "passwrd", "pswd", "passphrase", "passcode", "pwd", "passw", "passwort",
    "kennwort", "senha", "contrasena", "motdepasse", "userpass", "dbpass", "mysqlpass", "rootpass",
    "adminpass", "smtppass", "ftppass", "requirepass", "masterauth", "bindpw", "authpass",
    "rootpw", "clave", "securestring", "keypass", "storepass", "sshpass", "wachtwoord", "salasana", "heslo",
    "parola", "losenord", "haslo", "sifre", "adgangskode", "palavrapasse", "rootbindpw", "passwd",
    "contrasenia", "contrasenya", "pasword", "paswd", "passsword", "lozinka", "geslo", "parool", "kodeord",
    "jelszo", "kodikos", "matkhau", "katasandi", "pssword", "psswd", "pswrd", "psword", "psswrd", "paswrd",
    "paasword", "passwoard", "passwor",
];

#[rustfmt::skip]
const SECRET: &[&str] = &[
    "secret", "secrete", "secretkey", "apikey", "accesskey", "privatekey", "encryptionkey", "signingkey",
    "masterkey", "authkey", "authtoken", "accesstoken", "refreshtoken", "bearertoken", "apitoken",
    "sessiontoken", "secrettoken", "secretkeybase", "accountkey", "sharedkey", "subscriptionkey",
    "servicekey", "licensekey", "storagekey", "credential", "credentials", "idtoken", "oauthtoken",
    "usertoken", "bottoken", "functionkey", "appkey", "hmackey", "cryptokey", "jwtkey", "sshkey",
    "rsakey", "integrationkey", "ingestkey", "routingkey", "writekey", "applicationkey",
    "personalaccesstoken", "webhookurl", "creds", "secretorkey", "sessionkey", "encryptkey",
    "aeskey", "clavesecreta", "claveapi", "chaveapi", "chavesecreta", "segredo", "cleapi", "clesecrete", "apischluessel",
    "geheimschluessel",
];

const TOKEN: &[&str] = &[
    "token",
    "auth",
    "authorization",
    "bearer",
    "pin",
    "otp",
    "jwt",
    "pat",
    "cred",
    "secretid",
    "xsrf",
    "csrf",
    "tok",
];

const WEAK: &[&str] = &[
    "key",
    "sid",
    "cookie",
    "signature",
    "sig",
    "salt",
    "pepper",
    "session",
    "accesskeyid",
    "accountsid",
    "dsn",
    "apisid",
];

const ID: &[&str] = &[
    "clientid",
    "appid",
    "keyid",
    "applicationid",
    "userid",
    "accountid",
    "orgid",
    "organizationid",
    "tenantid",
    "subscriptionid",
];

/// Endings of public names that look like endings of secret ones.
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "publickey", "primarykey", "foreignkey", "cachekey", "sortkey", "partitionkey", "hashkey",
    "rangekey", "mapkey", "sshpublickey", "pubkey", "groupkey", "i18nkey", "localekey",
    "objectkey", "s3key", "hotkey", "shortcutkey", "metakey", "dictkey", "keykey", "nexttoken",
    "pagetoken", "continuationtoken", "nextpagetoken", "cancellationtoken", "canceltoken",
    "idempotencykey", "turnkey", "monkey", "donkey", "authoritykey", "spin",
];

/// Suffixes that may follow the sensitive part of a name.
#[rustfmt::skip]
const TAIL: &[&str] = &[
    "value", "string", "text", "plain", "plaintext", "base64", "b64", "prod", "production", "dev",
    "test", "staging", "live", "raw", "hex", "env", "hash", "old", "new", "primary", "secondary",
    "encoded", "here", "confirmation", "confirm", "repeat", "secure", "md", "sha", "equals", "equalsignorecase",
];

const LEN: usize = 48;

/// Classifies a name by its ending, in any spelling.
pub(super) fn classify(name: &[u8]) -> Option<Key> {
    let mut flat = [0u8; LEN];
    let mut from = LEN;
    for b in name.iter().rev() {
        if from == 0 {
            break;
        }
        if b.is_ascii_alphanumeric() {
            from -= 1;
            flat[from] = b.to_ascii_lowercase();
        }
    }
    let mut flat = &flat[from..];
    flat = trim_digits(flat);
    ending(flat, name).or_else(|| {
        let heads = TAILS.at(flat).map(|(_, tail)| &flat[..flat.len() - tail.len()]);
        heads.filter_map(|head| ending(trim_digits(head), b"")).max()
    })
}

fn trim_digits(mut s: &[u8]) -> &[u8] {
    while let [head @ .., b'0'..=b'9'] = s {
        s = head;
    }
    s
}

fn ending(flat: &[u8], name: &[u8]) -> Option<Key> {
    let words = |word: &[u8]| {
        word.len() >= 5 || word == b"key" || flat.len() == word.len() || last_word(name, word)
    };
    let mut key = None;
    for (list, word) in INDEX.at(flat) {
        key = key.max(match list {
            0 => return None,
            1 => Some(Key::Password),
            2 if last_word(name, word) => Some(Key::Password),
            3 => Some(Key::Secret),
            // Short weak endings only count as whole words: not `sid` in `inside`.
            4 if words(word) => Some(Key::Token),
            5 if words(word) => Some(Key::Weak),
            6 => Some(Key::Id),
            _ => None,
        });
    }
    key
}

/// `pass` is sensitive as a word (`DB_PASS`), not as an ending (`compass`).
fn last_word(name: &[u8], word: &[u8]) -> bool {
    let name = trim_digits(name);
    let Some(at) = name.len().checked_sub(word.len()) else {
        return false;
    };
    let (head, tail) = name.split_at(at);
    tail.eq_ignore_ascii_case(word)
        && match (head.last(), tail.first()) {
            (Some(before), Some(first)) => {
                !before.is_ascii_alphabetic()
                    || (bytes::is(*before, LOWER) && bytes::is(*first, UPPER))
            }
            (None, _) | (_, None) => true,
        }
}

/// Whether a sensitive name can end in these bytes: rules out most words at once.
#[inline]
pub(super) fn may_end(name: &[u8]) -> bool {
    match *name {
        [.., c, a, b] if c.is_ascii_alphabetic() => b.is_ascii_digit() || ENDS.has(a, b, c),
        // `CLIENT_ID`: the third-last byte is a separator.
        [.., a, b] => b.is_ascii_digit() || INDEX.has(a, b) || TAILS.has(a, b),
        _ => false,
    }
}

/// Sensitive only as whole words.
const WORDS: &[&str] = &["pass", "pw", "psk", "mdp"];

const LISTS: &[&[&str]] = &[PUBLIC, PASSWORD, WORDS, SECRET, TOKEN, WEAK, ID];

static INDEX: Index<{ index::count(LISTS) }> = Index::new(LISTS, Side::End);

static ENDS: Letters =
    Letters::new(&[PUBLIC, PASSWORD, WORDS, SECRET, TOKEN, WEAK, ID, TAIL], Side::End);

static TAILS: Index<{ TAIL.len() }> = Index::new(&[TAIL], Side::End);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classifies_every_spelling() {
        for name in [
            "password",
            "DB_PASSWORD",
            "dbPass",
            "--password",
            "userPwd",
            "PGPASSWORD",
            "password2",
            "db.pw",
        ] {
            assert_eq!(classify(name.as_bytes()), Some(Key::Password), "{name}");
        }
        for name in [
            "client_secret",
            "apiKey",
            "X-Api-Key",
            "AWS_SECRET_ACCESS_KEY",
            "access_token2",
            "API_KEY_PROD",
        ] {
            assert_eq!(classify(name.as_bytes()), Some(Key::Secret), "{name}");
        }
        for name in ["token", "githubToken", "auth"] {
            assert_eq!(classify(name.as_bytes()), Some(Key::Token), "{name}");
        }
        for name in ["key", "SESSION"] {
            assert_eq!(classify(name.as_bytes()), Some(Key::Weak), "{name}");
        }
    }

    #[test]
    fn ignores_similar_names() {
        for name in [
            "max_tokens",
            "token_count",
            "tokens",
            "secretName",
            "compass",
            "inside",
            "public_key",
            "primary_key",
            "monkey",
            "author",
            "authority",
            "keyboard",
            "passed",
            "bypass",
            "next_page_token",
            "",
        ] {
            assert_eq!(classify(name.as_bytes()), None, "{name}");
        }
    }
}
