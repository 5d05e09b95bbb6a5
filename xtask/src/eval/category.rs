//! What a labeled "secret" is. Scanners also label user names, hosts, public ids and placeholders; counted together,
//! these say little about how many credentials are found.

/// Sorted by the value, and by the name of the scanner's rule where the value does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Credential,
    /// `abcdef1234567890`, `a1b2c3d4`
    Sequence,
    /// No part of the text is labeled.
    Unmarked,
    PublicId,
    UserName,
    Address,
    /// `xxxx`, `aaaa`
    Repeated,
    /// `password`, `your-key`, `…EXAMPLE`
    Placeholder,
}

/// Names of rules for what is no secret.
const IDS: &[&str] = &[
    "account id",
    "account name",
    "app id",
    "application id",
    "org id",
    "org name",
    "organization",
    "tenant",
    "bucket",
    "product id",
    "project id",
    "site id",
    "client id",
    "client_id",
    "resource name",
    "publishable",
    "public key",
    "subscription key",
    "uuid",
    "bot id",
    "clientid",
];
const USERS: &[&str] = &["user name", "username", "email"];
const ADDRESSES: &[&str] = &["domain", "host", "endpoint", " url"];

/// Words that stand for a value, alone or as a part of one.
const WORDS: &[&str] = &[
    "example",
    "xxxx",
    "your",
    "placeholder",
    "dummy",
    "changeme",
    "sample",
    "fake",
    "secret",
    "password",
    "test",
    "foo",
    "qwerty",
    "username",
    "mypass",
];

impl Category {
    pub fn of(secret: &str, rule: &str) -> Self {
        let (rule, value) = (rule.to_lowercase(), secret.to_lowercase());
        let rule_is = |names: &[&str]| names.iter().any(|name| rule.contains(name));
        if value.is_empty() {
            Self::Unmarked
        } else if is_address(&value) {
            Self::Address
        } else if is_email(&value) {
            Self::UserName
        } else if is_repeated(&value) {
            Self::Repeated
        } else if is_sequence(secret) {
            Self::Sequence
        } else if matches!(value.as_str(), "user" | "admin" | "root" | "token" | "key")
            || WORDS.iter().any(|word| value.contains(word))
        {
            Self::Placeholder
        } else if rule_is(USERS) || rule.ends_with("client id") && secret.len() < 24 {
            Self::UserName
        } else if rule_is(ADDRESSES) {
            Self::Address
        } else if rule_is(IDS) || value.len() < 6 {
            Self::PublicId
        } else {
            Self::Credential
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Credential => "credential",
            Self::Sequence => "sequence",
            Self::Unmarked => "unmarked",
            Self::PublicId => "public id",
            Self::UserName => "user name",
            Self::Address => "address",
            Self::Repeated => "repeated",
            Self::Placeholder => "placeholder",
        }
    }
}

fn is_address(value: &str) -> bool {
    const ENDS: [&str; 9] =
        [".com", ".net", ".io", ".org", ".co", ".aws", ".local", ".dev", ".app"];
    let host = value.trim_start_matches("//").split(['/', ':']).next().unwrap_or_default();
    let named = host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'))
        && (ENDS.iter().any(|end| host.ends_with(end)) || host == "localhost");
    let numbers = host.split('.').filter(|part| part.parse::<u8>().is_ok()).count() == 4;
    value.contains("://") && !value.contains('@') || value.starts_with("arn:") || named || numbers
}

fn is_email(value: &str) -> bool {
    let Some((local, host)) = value.split_once('@') else { return false };
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-".contains(c));
    !local.is_empty() && plain(local) && plain(host) && host.contains('.')
}

/// Half of it or more is one character.
fn is_repeated(value: &str) -> bool {
    let letters: Vec<char> = value.chars().filter(char::is_ascii_alphanumeric).collect();
    let most = letters.iter().map(|a| letters.iter().filter(|b| *b == a).count()).max();
    letters.len() >= 6 && most.is_some_and(|most| most * 2 >= letters.len())
}

/// Whether most characters count up or down from one of the two before them, or repeat a few.
fn is_sequence(value: &str) -> bool {
    let bytes: Vec<u8> = value.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let follows = |a: u8, b: u8| {
        a.abs_diff(b) <= 1 || matches!((a, b), (b'9', b'0') | (b'0', b'9') | (b'z' | b'Z', _))
    };
    let steps = |apart: usize| {
        bytes.iter().zip(bytes.iter().skip(apart)).filter(|(a, b)| follows(**a, **b)).count()
    };
    let periodic = (1..=10).any(|period| {
        bytes.len() >= 2 * period + 4
            && bytes.iter().zip(bytes.iter().skip(period)).all(|(a, b)| a == b)
    });
    bytes.len() >= 6 && (steps(1) * 2 > bytes.len() || steps(2) * 3 > bytes.len() * 2 || periodic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_tell_what_they_are() {
        for (category, value, rule) in [
            (Category::Credential, "Zk8vXq2LmN5pR7wT", "api key"),
            (Category::Credential, "hunter2", "password"),
            (Category::Sequence, "abcdef1234567890", "api key"),
            (Category::Sequence, "a1b2c3d4e5f6", "api key"),
            (Category::Repeated, "aaaaaaaaaaaa", "api key"),
            (Category::Placeholder, "your-key-here", "api key"),
            (Category::Placeholder, "password", "password"),
            (Category::Address, "https://example.org/x", "webhook"),
            (Category::Address, "db.internal.com:5432", "password"),
            (Category::Address, "10.0.0.7", "password"),
            (Category::UserName, "ann@firm.org", "password"),
            (Category::UserName, "scott", "database client id"),
            (Category::PublicId, "324320755747", "AWS Account ID"),
            (Category::Unmarked, "", "api key"),
        ] {
            assert_eq!(Category::of(value, rule), category, "{value}");
        }
    }
}
