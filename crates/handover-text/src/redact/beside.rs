//! What stands beside a hidden secret and completes it: the id of the account, the part of a host's name that
//! says whose account it is, and the secret itself once more on the same line. Alone, none of them is a secret.

use memchr::memmem;

use super::Hit;
use super::allowlist;
use super::bytes::{self, ALNUM};
use super::index::{self, Index, Side};
use super::lexicon;
use super::random;
use super::usernames;
use super::values;

/// The rules' names in findings.
pub(super) const ID: &str = "account-id";
pub(super) const HOST: &str = "account-host";

/// How far before and after its secret an id or a host may be.
const BEFORE: usize = 240;
const AFTER: usize = 160;

/// Words before `id` in names of ids that belong to a secret.
const OWNERS: [&str; 11] = [
    "client",
    "app",
    "application",
    "account",
    "tenant",
    "access",
    "key",
    "token",
    "consumer",
    "oauth",
    "role",
];

/// Settings of connection strings that name an account.
const ACCOUNTS: [&str; 4] = ["accountname", "sharedaccesskeyname", "account", "id"];

/// Domains below which every customer has a name.
#[rustfmt::skip]
const DOMAINS: &[&str] = &[
    "okta.com", "oktapreview.com", "auth0.com", "us.auth0.com", "eu.auth0.com", "au.auth0.com", "onelogin.com",
    "mongodb.net", "azconfig.io", "database.windows.net", "azure-devices.net", "servicebus.windows.net",
    "documents.azure.com", "openai.azure.com", "search.windows.net", "blob.core.windows.net", "azurecr.io",
    "redis.cache.windows.net", "vault.azure.net", "cognitiveservices.azure.com", "azurewebsites.net",
    "cloud.databricks.com", "azuredatabricks.net", "gcp.databricks.com", "atlassian.net", "jfrog.io",
    "myshopify.com", "snowflakecomputing.com", "my.salesforce.com", "apps.googleusercontent.com", "lightning.force.com", "zendesk.com",
    "freshdesk.com", "firebaseio.com", "firebaseapp.com", "supabase.co", "rds.amazonaws.com",
    "redshift.amazonaws.com", "cache.amazonaws.com", "s3.amazonaws.com", "es.amazonaws.com", "planetscale.com",
    "psdb.cloud", "neon.tech", "upstash.io", "redis-cloud.com", "redislabs.com", "elastic-cloud.com",
    "found.io", "cloudant.com", "appdomain.cloud", "octopus.app", "service-now.com", "my.workfront.com",
    "sharepoint.com", "workers.dev", "hashicorp.cloud", "grafana.net", "live.dynatrace.com", "sumologic.com",
    "splunkcloud.com", "algolia.net", "algolianet.com", "pubnubapi.com", "launchdarkly.com", "chargebee.com",
    "recurly.com", "bamboohr.com", "teamwork.com", "cockroachlabs.cloud", "aivencloud.com", "ondigitalocean.com",
    "timescaledb.io", "timescale.com", "confluent.cloud", "hivemq.cloud", "cloudamqp.com", "weaviate.network",
    "weaviate.cloud", "qdrant.io", "pinecone.io",
];

/// Names below such a domain that belong to no customer.
#[rustfmt::skip]
const COMMON: [&str; 18] = [
    "www", "api", "app", "login", "docs", "support", "status", "help", "community", "dev", "developer",
    "developers", "admin", "auth", "accounts", "portal", "cdn", "blog",
];

static INDEX: Index<{ index::count(&[DOMAINS]) }> = Index::new(&[DOMAINS], Side::Start);

/// The id that belongs to the secret `from..to` of the name at `start..end`; `read` is the end of the
/// previous secret.
pub(super) fn id(
    text: &[u8],
    (start, end): (usize, usize),
    (from, to): (usize, usize),
    read: usize,
) -> Option<(usize, usize)> {
    let is_quote = |at: usize| at > 0 && matches!(text[at - 1], b'"' | b'\'');
    let name = text.get(start..end)?;
    let first =
        usernames::lines_before(text, start.saturating_sub(BEFORE).max(read.min(start)), start);
    let last = usernames::lines_after(text, to, text.len().min(to + AFTER));
    let value = |(begin, end): (usize, usize)| {
        let account = ACCOUNTS.iter().any(|a| text[begin..end].eq_ignore_ascii_case(a.as_bytes()));
        (account || is_id_name(&text[begin..end], name)).then_some(())?;
        let value = usernames::value(text, end)?;
        // In a connection string any word is a value.
        let listed = text.get(value.1) == Some(&b';') || begin > 0 && text[begin - 1] == b';';
        let named = account && listed && value.1 > value.0 + 3;
        let is = named || !account && is_id(&text[value.0..value.1]);
        (is && is_quote(value.0) == is_quote(from)).then_some(value)
    };
    let before = usernames::words(text, first, start).filter_map(value).filter(|v| v.1 <= start);
    before.last().or_else(|| usernames::words(text, to, last).find_map(value))
}

/// Whether a name is that of an id which belongs to the secret: `client_id`, or `hive_id` beside `hive_secret`.
fn is_id_name(name: &[u8], secret: &[u8]) -> bool {
    let head = match name {
        [head @ .., b'I', b'd'] | [head @ .., b'I', b'D'] => head,
        [head @ .., b'_' | b'-' | b'.', b'i', b'd'] => head,
        _ if usernames::is_name(name) => name,
        _ => return false,
    };
    let head = match head {
        [head @ .., b'_' | b'-' | b'.'] => head,
        _ => head,
    };
    let owned = OWNERS.iter().any(|owner| {
        let at = head.len().checked_sub(owner.len());
        at.is_some_and(|at| head[at..].eq_ignore_ascii_case(owner.as_bytes()))
    });
    owned && head.len() < name.len() || shares_prefix(name, secret)
}

/// Whether a value is the id of an account at a vendor that its name begins with: `aws_account_id`.
pub(super) fn is_vendors_id(name: &[u8], value: &[u8]) -> bool {
    let end = name.iter().position(|b| matches!(b, b'_' | b'-' | b'.')).unwrap_or(name.len());
    let word = &name[..end];
    // `AWSAccountId`, `spotifyClientId`
    let hump = word
        .windows(2)
        .skip(1)
        .position(|w| w[0].is_ascii_uppercase() && w[1].is_ascii_lowercase());
    let vendor = &word[..hump.map_or(word.len(), |at| at + 1)];
    let looks = value.iter().all(u8::is_ascii_digit)
        || random::hex(value)
        || random::uuid(value)
        || random::typed_key(value);
    (12..=64).contains(&value.len())
        && looks
        && vendor.len() < name.len()
        && lexicon::hint(vendor).vendor
        && !OWNERS.iter().any(|owner| vendor.eq_ignore_ascii_case(owner.as_bytes()))
        && !allowlist::placeholder(value)
}

/// Whether two names begin with the same word: `GITHUB_CLIENT_ID` and `GITHUB_SECRET`.
fn shares_prefix(a: &[u8], b: &[u8]) -> bool {
    let word = |name: &[u8]| {
        let hump =
            name.windows(2).position(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
        let end = name.iter().position(|b| matches!(b, b'_' | b'-' | b'.'));
        end.or_else(|| hump.map(|at| at + 1)).unwrap_or(name.len())
    };
    let (first, second) = (&a[..word(a)], &b[..word(b)]);
    first.len() >= 3 && first.len() < a.len() && first.eq_ignore_ascii_case(second)
}

fn is_id(value: &[u8]) -> bool {
    (6..=128).contains(&value.len())
        && value.iter().any(u8::is_ascii_digit)
        && !value
            .iter()
            .any(|b| b.is_ascii_whitespace() || matches!(b, b'(' | b'{' | b'[' | b'$' | b'/'))
        && !values::wordy_with_number(value)
        && !allowlist::placeholder(value)
        && !allowlist::version(value)
}

/// Adds the names of customers in the hosts around the secrets at these places.
pub(super) fn hosts(text: &[u8], mut secrets: Vec<(usize, usize)>, hits: &mut Vec<Hit<'_>>) {
    secrets.sort_unstable();
    let mut read = 0;
    for (start, end) in secrets {
        let from = usernames::lines_before(text, start.saturating_sub(BEFORE), start).max(read);
        let to = usernames::lines_after(text, end, text.len().min(end + AFTER));
        read = read.max(to);
        let Some(window) = text.get(from..to) else { continue };
        hits.extend(memchr::memchr_iter(b'.', window).filter_map(|at| {
            let dot = from + at;
            customer(text, dot).map(|start| Hit::new(HOST, start, dot))
        }));
    }
}

/// Where the name of a customer begins that ends at this dot.
fn customer(text: &[u8], dot: usize) -> Option<usize> {
    let rest = &text[dot + 1..];
    let (_, domain) = INDEX.at(rest).max_by_key(|(_, domain)| domain.len())?;
    let next = rest.get(domain.len()..).unwrap_or_default();
    let goes_on = match next {
        [b, ..] if bytes::is(*b, ALNUM) || matches!(b, b'-' | b'_') => true,
        [b'.', b, ..] => bytes::is(*b, ALNUM),
        _ => false,
    };
    let len =
        bytes::run_back(text, dot, 100, |b| bytes::is(b, ALNUM) || matches!(b, b'-' | b'_' | b'.'));
    let name = &text[dot - len..dot];
    let common = COMMON.iter().any(|c| name.eq_ignore_ascii_case(c.as_bytes()));
    (!goes_on && len >= 2 && bytes::is(name[0], ALNUM) && !common).then_some(dot - len)
}

/// How far around a password it is looked for once more.
const LINE: usize = 160;

/// Adds the other places of a password on its line: `root/…, root password: …`.
pub(super) fn again(text: &[u8], from: usize, to: usize, hits: &mut Vec<Hit<'_>>) {
    let Some(value) = text.get(from..to) else { return };
    // A word may well mean itself.
    if !(8..=64).contains(&value.len()) || !(random::mixed(value) || values::special(value)) {
        return;
    }
    let start = bytes::line_start(text, from, LINE);
    let end = to + bytes::run(text, to, LINE, |b| b != b'\n');
    let part = |at: usize| text.get(at).is_some_and(|b| bytes::is(*b, ALNUM));
    let places = memmem::find_iter(&text[start..end], value).map(|at| start + at);
    hits.extend(
        places
            .filter(|at| *at != from && !(*at > 0 && part(at - 1)) && !part(at + value.len()))
            .map(|at| Hit::new("assignment", at, at + value.len())),
    );
}

#[cfg(test)]
mod tests {
    use crate::Redactor;

    #[test]
    fn ids_hosts_and_repeats_beside_a_secret_are_hidden() {
        for (text, expected) in [
            (
                "GITHUB_CLIENT_ID=ac58d6da7d7a84c039b7\nGITHUB_SECRET=37d02377a3e9d849e18704c57a2ad2f2\n",
                "GITHUB_CLIENT_ID=[REDACTED-1]\nGITHUB_SECRET=[REDACTED-2]\n",
            ),
            (
                "AccountName=shop9833;AccountKey=Zk8vXq2LmN5pR7wTZk8vXq2LmN5pR7wT;x=1",
                "AccountName=[REDACTED-1];AccountKey=[REDACTED-2];x=1",
            ),
            (
                "mongodb+srv://ann:sesame9@shop.x7.mongodb.net/db",
                "mongodb+srv://[REDACTED-1]@[REDACTED-2].mongodb.net/db",
            ),
            (
                "curl https://shop.okta.com/api -H \"Authorization: SSWS 00aBcDeFgH1jKlMnOpQrStUvWxYz0123456789abcd\"",
                "curl https://[REDACTED-1].okta.com/api -H \"Authorization: SSWS [REDACTED-2]\"",
            ),
            (
                "root/Vokb54#2C4f, root password: Vokb54#2C4f",
                "root/[REDACTED-1], root password: [REDACTED-1]",
            ),
        ] {
            assert_eq!(Redactor::default().clean(text).as_str(), expected);
        }
    }

    #[test]
    fn ids_of_accounts_are_named_after_their_vendor() {
        for (name, value) in [
            ("aws_account_id", "891511536143"),
            ("AWSAccountId", "891511536143"),
            ("bitbucket.client.id", "abcdefghij1234567890klmnopqrst"),
        ] {
            assert!(super::is_vendors_id(name.as_bytes(), value.as_bytes()), "{name}");
        }
        for (name, value) in [
            ("account_id", "891511536143"),
            ("client_id", "da7da3ba-9a13-4167-856f-3899de0b0138"),
            ("user_id", "891511536143"),
            ("aws_account_id", "<account>"),
            ("aws_account_id", "000000000000"),
        ] {
            assert!(!super::is_vendors_id(name.as_bytes(), value.as_bytes()), "{name} {value}");
        }
    }

    #[test]
    fn alone_they_are_kept() {
        for text in [
            "SHOP_CLIENT_ID=ac58d6da7d7a84c039b7",
            "https://shop.okta.com/api",
            "AccountName=shop9833;EndpointSuffix=core.windows.net",
            "hosts: shop.mongodb.net, docs.mongodb.net",
        ] {
            assert_eq!(Redactor::default().clean(text).as_str(), text);
        }
        let common = "https://api.okta.com/ password=Vokb54#2C4f";
        assert_eq!(
            Redactor::default().clean(common).as_str(),
            "https://api.okta.com/ password=[REDACTED-1]"
        );
        let local = "postgres://ann:sesame9@localhost:5432/db";
        assert_eq!(
            Redactor::default().clean(local).as_str(),
            "postgres://[REDACTED-1]@localhost:5432/db"
        );
    }
}
