//! What stands beside a hidden secret and completes it: the id of the account, the part of a host's name that
//! says whose account it is, and the secret itself once more on the same line. Alone, none of them is a secret.

use memchr::memmem;

use super::Hit;
use super::allowlist;
use super::bytes::{self, ALNUM};
use super::index::{self, Index, Side};
use super::lexicon;
use super::random;
use super::services;
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
    "weaviate.cloud", "qdrant.io", "pinecone.io", "duosecurity.com", "online.tableau.com", "azure-api.net",
    "scm.azure-api.net", "management.azure-api.net", "metabaseapp.com", "zulipchat.com", "freshservice.com",
    "user.com", "fibery.io", "hasura.app", "ladesk.com", "invoiceocean.com", "as.deputy.com", "signalwire.com",
    "kanbantool.com", "loggly.com", "api.openvpn.com", "table.cosmos.azure.com", "batch.azure.com", "okta-emea.com",
    "cloud.couchbase.com", "clickhelp.co", "aha.io", "table.core.windows.net", "queue.core.windows.net",
    "file.core.windows.net", "dfs.core.windows.net", "b2clogin.com", "onmicrosoft.com", "powerplatform.com",
];

/// Names below such a domain that belong to no customer.
#[rustfmt::skip]
const COMMON: [&str; 25] = [
    "www", "api", "app", "login", "docs", "support", "status", "help", "community", "dev", "developer",
    "developers", "admin", "auth", "accounts", "portal", "cdn", "blog",
    "console", "dashboard", "manage", "my", "web", "cloud", "registry",
];

static INDEX: Index<{ index::count(&[DOMAINS]) }> = Index::new(&[DOMAINS], Side::Start);

/// A hidden secret beside which its account may be named.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether its name or format says that it is one: others only look random.
    pub(super) sure: bool,
}

/// A secret and the service that is named before it.
#[derive(Debug, Clone, Copy)]
struct Owned {
    start: usize,
    end: usize,
    service: Option<&'static [u8]>,
}

/// The length of the key of an Azure storage account without its padding.
const STORAGE_KEY: usize = 86;

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

/// Adds what says whose these secrets are.
pub(super) fn accounts(text: &[u8], mut secrets: Vec<Found>, hits: &mut Vec<Hit<'_>>) {
    secrets.sort_unstable_by_key(|secret| (secret.start, secret.end));
    hosts(text, &secrets, hits);
    let mut read = 0;
    for (at, secret) in secrets.iter().enumerate() {
        let next = secrets.get(at + 1).map_or(text.len(), |next| next.start);
        let &Found { start, end, sure } = secret;
        let service = services::of(text, start);
        if (sure || service.is_some()) && start >= read {
            let secret = Owned { start, end, service };
            let first =
                usernames::lines_before(text, start.saturating_sub(BEFORE), start).max(read);
            let last = usernames::lines_after(text, end, text.len().min(end + AFTER)).min(next);
            for (from, to) in [(first, start), (end, last.max(end))] {
                let named = usernames::words(text, from, to)
                    .filter_map(|word| account(text, word, &secret))
                    .filter(|(from, to)| *to <= start || *from >= end);
                hits.extend(named.map(|(from, to)| Hit::new(ID, from, to)));
                let signs = memchr::memchr_iter(b'@', &text[from..to]).map(|at| from + at);
                hits.extend(
                    signs
                        .filter_map(|sign| address(text, sign, &secret))
                        .map(|(from, to)| Hit::new(usernames::RULE, from, to)),
                );
            }
        }
        read = read.max(end);
    }
}

/// The account in the value of the name `start..end`, or in that word itself if it is a host.
fn account(text: &[u8], (start, end): (usize, usize), secret: &Owned) -> Option<(usize, usize)> {
    let word = &text[start..end];
    if let Some(service) = secret.service {
        if let Some(dot) = label_of(word, service) {
            let common = COMMON.iter().any(|c| word[..dot].eq_ignore_ascii_case(c.as_bytes()));
            return (dot >= 2 && !common).then_some((start, start + dot));
        }
        if word.eq_ignore_ascii_case(service) {
            let operator = |b: u8| matches!(b, b' ' | b'=' | b':' | b'-' | b'"' | b'\'');
            let at = end + bytes::run(text, end, 5, operator);
            return given(text, end).or_else(|| own_host(text, at, service));
        }
        if is_host_name(word, service) {
            let (from, _) = usernames::value(text, end)?;
            return own_host(text, from, service);
        }
    }
    if start > 0 && text[start - 1] == b'{' && text.get(end) == Some(&b' ') {
        return given(text, end).filter(|(_, to)| text.get(*to) == Some(&b'}'));
    }
    let name = trim_digits(word);
    let storage = secret.end - secret.start >= STORAGE_KEY && is_storage_name(name);
    let is_id = || match name {
        [head @ .., b'I' | b'i', b'd'] | [head @ .., b'I', b'D'] => {
            let head = if head.is_empty() { word_before(text, start) } else { head };
            is_of_account(head, secret)
        }
        _ => false,
    };
    (storage || is_id()).then_some(())?;
    let (from, to) = usernames::value(text, end).or_else(|| next_argument(text, end))?;
    let value = &text[from..to];
    let fits = if storage {
        (3..=24).contains(&value.len())
            && value.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
    } else {
        is_id_value(value)
    };
    fits.then_some((from, to))
}

/// Where the customer's part of a host ends whose next label is a service: `shop` in `shop.loggly.com`.
fn label_of(word: &[u8], service: &[u8]) -> Option<usize> {
    let dot = word
        .windows(service.len() + 1)
        .position(|w| w[0] == b'.' && w[1..].eq_ignore_ascii_case(service))?;
    let rest = &word[dot + 1 + service.len()..];
    let label = bytes::run(rest, 0, 16, |b| b.is_ascii_lowercase());
    let top = rest.get(label..)?.strip_prefix(b".")?;
    ((2..=5).contains(&top.len()) && top.iter().all(u8::is_ascii_lowercase)).then_some(dot)
}

/// `CONFLUENCE_URL`, `jira host`: a name for the address of a service's own installation.
fn is_host_name(word: &[u8], service: &[u8]) -> bool {
    const ENDS: [&[u8]; 8] =
        [b"url", b"uri", b"host", b"hostname", b"endpoint", b"server", b"domain", b"instance"];
    let ends = ENDS.iter().any(|end| {
        let at = word.len().checked_sub(end.len());
        at.is_some_and(|at| word[at..].eq_ignore_ascii_case(end))
    });
    ends && (starts_with(word, service) || ENDS.iter().any(|end| word.eq_ignore_ascii_case(end)))
}

/// The host in the URL at `from`, unless it is a public one of the service.
fn own_host(text: &[u8], from: usize, service: &[u8]) -> Option<(usize, usize)> {
    let value = &text[from..text.len().min(from + 120)];
    let scheme = [&b"https://"[..], b"http://"].into_iter().find(|s| value.starts_with(s))?.len();
    let host = bytes::run(value, scheme, 100, |b| bytes::is(b, ALNUM) || matches!(b, b'.' | b'-'));
    let host = &value[scheme..scheme + host];
    let first = host.split(|b| *b == b'.').next().unwrap_or_default();
    let local = !host.contains(&b'.') || host.starts_with(b"127.");
    let public = COMMON.iter().any(|c| first.eq_ignore_ascii_case(c.as_bytes()))
        || bytes::contains_ignore_case(host, service) && label_of(host, service).is_some()
        || starts_with(host, service) && host.split(|b| *b == b'.').count() == 2;
    (!local && !public).then_some((from + scheme, from + scheme + host.len()))
}

/// What stands after the name of a service in quotes or braces, or after a dash: `pusher - '4870172'`.
fn given(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let operator = |b: u8| matches!(b, b' ' | b'=' | b':' | b'-');
    let at = end + bytes::run(text, end, 4, operator);
    let quote = bytes::run(text, at, 1, |b| matches!(b, b'"' | b'\''));
    let from = at + quote;
    let len = bytes::run(text, from, 64, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-'));
    let next = text.get(from + len);
    let closed = if quote > 0 { next == text.get(at) } else { next == Some(&b'}') };
    (at > end && closed && is_id_value(&text[from..from + len])).then_some((from, from + len))
}

/// The literal after a name in an argument list, or its fallback: `("StorageAccount", "shop")`.
fn next_argument(text: &[u8], end: usize) -> Option<(usize, usize)> {
    let (quote, from) = match text.get(end..)? {
        [a @ (b'"' | b'\''), b',', b' ', b, ..] if a == b => (*b, end + 4),
        // `process.env.ACCOUNT_NAME || "…"`
        [b' ', b'|' | b'?', b'|' | b'?', b' ', quote @ (b'"' | b'\''), ..] => (*quote, end + 5),
        _ => return None,
    };
    Some((from, from + bytes::run(text, from, 64, |b| b != quote && b != b'\n')))
}

/// The e-mail address around this sign, if it is given to a user or a service or follows the secret at once.
fn address(text: &[u8], sign: usize, secret: &Owned) -> Option<(usize, usize)> {
    let part = |b: u8| bytes::is(b, ALNUM) || matches!(b, b'.' | b'-' | b'_' | b'+');
    let from = sign - bytes::run_back(text, sign, 64, part);
    let to = sign + 1 + bytes::run(text, sign + 1, 64, |b| part(b) && b != b'+');
    let to = to - bytes::run_back(text, to, 2, |b| matches!(b, b'.' | b'-'));
    let between = match (secret.end <= from, to <= secret.start) {
        (true, _) => &text[secret.end..from],
        (_, true) => &text[to..secret.start],
        (false, false) => return None,
    };
    let separator = |b: &u8| matches!(b, b' ' | b'/' | b':' | b'|' | b',' | b'"' | b'\'' | b'\n');
    // `user:password@host` is no address.
    let joined =
        (1..=6).contains(&between.len()) && between != b":" && between.iter().all(separator);
    let operators = bytes::run_back(text, from, 6, |b| {
        matches!(b, b' ' | b'=' | b':' | b'"' | b'\'' | b'-' | b'<' | b'>')
    });
    let name = word_before(text, from - operators + 1);
    let named = operators > 0
        && secret.service.is_some()
        && (usernames::is_name(name)
            || secret.service.is_some_and(|service| starts_with(name, service)));
    ((joined || named) && allowlist::email(&text[from..to])).then_some((from, to))
}

/// The word that ends one byte before `at`.
fn word_before(text: &[u8], at: usize) -> &[u8] {
    let end = at.saturating_sub(1);
    let len = bytes::run_back(text, end, 32, |b| bytes::is(b, ALNUM) || matches!(b, b'_' | b'-'));
    &text[end - len..end]
}

fn starts_with(name: &[u8], word: &[u8]) -> bool {
    name.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
}

fn trim_digits(name: &[u8]) -> &[u8] {
    let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
    &name[..name.len() - digits]
}

/// Whether an id with this before it in its name is that of an account.
fn is_of_account(head: &[u8], secret: &Owned) -> bool {
    let separated = matches!(head.last(), Some(b'_' | b'-' | b'.'));
    let head = if separated { &head[..head.len() - 1] } else { head };
    let owned = OWNERS.iter().any(|owner| {
        let at = head.len().checked_sub(owner.len());
        at.is_some_and(|at| head[at..].eq_ignore_ascii_case(owner.as_bytes()))
    });
    owned || secret.service.is_some_and(|service| starts_with(head, service))
}

/// `AccountName`, `storage_account`
fn is_storage_name(name: &[u8]) -> bool {
    let mut flat = [0u8; 14];
    let mut from = flat.len();
    for b in name.iter().rev().filter(|b| b.is_ascii_alphabetic()) {
        if from == 0 {
            break;
        }
        from -= 1;
        flat[from] = b.to_ascii_lowercase();
    }
    flat[from..].ends_with(b"accountname") || &flat == b"storageaccount"
}

/// An id of digits, or one that looks like a key.
fn is_id_value(value: &[u8]) -> bool {
    let digits = value.len() >= 5 && value.iter().all(u8::is_ascii_digit);
    let letters = value.len() >= 12
        && value.iter().all(u8::is_ascii_alphabetic)
        && random::classes(value) & (bytes::UPPER | bytes::LOWER) == bytes::UPPER | bytes::LOWER
        && random::scattered(value);
    (digits || letters || is_id(value)) && !allowlist::placeholder(value)
}

/// Adds the names of customers in the hosts around the secrets at these places.
fn hosts(text: &[u8], secrets: &[Found], hits: &mut Vec<Hit<'_>>) {
    let mut read = 0;
    for &Found { start, end, .. } in secrets {
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
    fn accounts_beside_the_key_of_a_service_are_hidden() {
        let key = "9tk2mq7vlp4rzx8cwn3byh6jf5gd1s0a";
        for text in [
            "accuweather key=KEY\naccuweather ID=«678436»",
            "accuweather_id: \"«qCRbiIy1NJaW»\"\naccuweather_key: \"KEY\"",
            "<id>{accuweather «m2o8fqf8»}</id>\n<secret>{accuweather AQAAABAAA KEY}</secret>",
            "accuweather - '«4870172»'\naccuweather - 'KEY'",
            "accuweather 'KEY' accuweather 'https://«shop7».accuweather.com'",
            "ACCUWEATHER_URL=https://«wiki.corp.example»:8443\naccuweather_token=KEY",
            "accuweather: KEY / «ann@corp.example.org»",
            "accuweather «ann@corp.example.org» accuweather KEY",
        ] {
            let (text, expected) = (text.replace("KEY", key), text.replace("KEY", "#"));
            let plain = text.replace(['«', '»'], "");
            let clean = Redactor::default().clean(&plain);
            let secret = text.split(['«', '»']).nth(1).unwrap();
            assert!(!clean.as_str().contains(secret), "{clean:?} of {expected}");
            assert!(!clean.as_str().contains(key), "{clean:?}");
        }
    }

    #[test]
    fn names_of_storage_accounts_belong_to_a_key_of_their_length() {
        let key = "9tK2mQ7vLp4RzX8cWn3b".repeat(5)[..86].to_owned() + "==";
        for text in [
            "storageAccountName: shop9833\nstorageAccountKey: KEY",
            "Add(\"StorageAccount\", \"shop9833\");\nAdd(\"AccountKey\", \"KEY\");",
            "env.ACCOUNT_NAME || \"shop9833\"; env.ACCOUNT_KEY || \"KEY\"",
        ] {
            let clean = Redactor::default().clean(&text.replace("KEY\"", &format!("{key}\"")));
            let clean = Redactor::default().clean(&clean.as_str().replace("KEY", &key));
            assert!(!clean.as_str().contains("shop9833"), "{clean:?}");
        }
        let alone = "storageAccountName: shop9833\nregion: europe\n";
        assert_eq!(Redactor::default().clean(alone).as_str(), alone);
    }

    #[test]
    fn public_hosts_and_other_addresses_are_kept_beside_a_key() {
        let key = "9tk2mq7vlp4rzx8cwn3byh6jf5gd1s0a";
        for text in [
            "see https://api.accuweather.com/v1 with accuweather_key=KEY",
            "ACCUWEATHER_URL=https://localhost:8443\naccuweather_token=KEY",
            "accuweather_token=KEY\nreported by <ann@corp.example.org>",
            "accuweather_token=KEY\nversion 12345",
        ] {
            let clean = Redactor::default().clean(&text.replace("KEY", key));
            assert_eq!(clean.as_str(), text.replace("KEY", "[REDACTED-1]"));
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
