//! The words that the rule knows: what says little, what does something, what changes something, and what excludes
//! each other.

use std::sync::LazyLock;

use foldhash::{HashMap, HashSet};

use super::{Stem, stem_of};

/// Words that say nothing about the subject of a statement.
const GENERAL: &str = "a about after all also an and any are as at be been before but by can could did do does for \
    from had has have he her his how i if in into is it its just may me more my no not of on or our out she should \
    so some such than that the their them then there these they this to up us was we were what when where which \
    while who why will with would you your \
    use go let keep make set put need want allow ok okay please now new every each one two three first per most \
    least always never only must cannot decide decision agree agreed policy rule everything everywhere nothing \
    anything something thing way well much many too enough still yet already again really old older newer next \
    last previous current currently later longer because since otherwise instead rather without until unless \
    during same other another different own both either get give take come bring become stay remain live stand \
    say tell talk see look find know think mean like good better best bad right wrong simple small large larger \
    big bigger long short fast slow faster slower today day week month year hour minute second time people person \
    nobody somebody anybody everyone anyone between through within beyond above below over under around against \
    behind beside goes went going kept made done isn aren wasn weren don doesn didn won t s re ve ll d m lot bit \
    kind sort part else maybe perhaps here plain default via ago soon whole entire single several few fine sure \
    yes further final finally even though although however therefore thus anyway actually simply directly away \
    minimum maximum min max daily";

/// Words that are verbs where a verb can stand.
const VERBS: &str = "accept add allow answer apply approve archive ask assign attach back backoff base begin block \
    build bump cache calculate call cap change charge check choose clean clear close collect come commit compare \
    compile compute configure confirm contain copy count cover create cut deal decline decrease define delete \
    deliver demand depend deploy describe disable display drop emit enable encode encrypt end enforce ensure exceed \
    expect expire export expose extend fail fetch fill filter find finish fix flip follow forbid format freeze \
    generate get give grant guard handle happen hold import include increase index insert install introduce \
    invalidate issue join keep last leave let limit link list load lock log look lose lower mark match measure \
    merge migrate mount move name need notify offer open order overlap own parse pass pay pick pin place poll post \
    prefer prepare print process produce prompt protect prune publish pull purge push put raise reach read rebuild \
    receive record reduce refer refresh refuse register reject release rely remain remember remind remove rename \
    render replace report request require reset resolve respond restart restore restrict retain retire retry return \
    revert review rotate round route run save scale schedule search see seed select send separate serve set share \
    ship show sign skip sleep slow sort split start stay stop store stream strip submit suffice support switch sync \
    take talk test throttle throw track treat trigger trim trust try turn type update upload use validate verify \
    wait want warn watch wrap write written took sent kept made done shown held";

/// After these a verb can stand.
const BEFORE_VERBS: &[&str] = &[
    "also",
    "always",
    "and",
    "are",
    "be",
    "been",
    "being",
    "can",
    "cannot",
    "could",
    "everybody",
    "everyone",
    "had",
    "has",
    "have",
    "i",
    "is",
    "it",
    "lets",
    "may",
    "must",
    "never",
    "nobody",
    "not",
    "now",
    "only",
    "or",
    "people",
    "please",
    "shall",
    "should",
    "that",
    "then",
    "they",
    "to",
    "was",
    "we",
    "were",
    "which",
    "who",
    "will",
    "would",
    "you",
];

/// Words of change; they are not what the change is about.
const OF_CHANGE: &str = "longer anymore instead replace replaced gone switch switched moved move dropped drop retired \
    removed remove superseded reverted revert becomes became become deprecated obsolete raise raised lower lowered \
    bump bumped increase increased reduce reduced change changed revised update updated turn turned shorten \
    shortened extend extended old new now former formerly upgrade upgraded migrated migrate left leave abandoned \
    stop stopped deleted delete frozen rename";

/// What says that something is no longer as it was. `|` separates alternatives of one word.
const CHANGES: &[&str] = &[
    "no longer",
    "any longer",
    "any more",
    "anymore",
    "instead",
    "after all",
    "replace|replaces|replaced|replacing",
    "is|are|was|were gone|out|retired|removed|dropped|frozen|deleted|abandoned|deprecated|closed|superseded|discontinued|lost|over",
    "from now on",
    "going forward",
    "switch|switched|switches|switching to|from|over|off|back",
    "turned off",
    "move|moves|moved|moving to|from|over|off|back",
    "migrate|migrated|migrates to|from",
    "we|i|they drop|dropped|removed|retire|retired|left|abandon|scrap|ditch",
    "drop|drops|dropped",
    "back to",
    "revert|reverts|reverted",
    "undo",
    "second thought",
    "our|my mind|minds",
    "give in",
    "stop|stops|stopped",
    "rather than",
    "not allowed|accepted",
    "becomes|become|became",
    "used to",
    "in place|favour|favor of",
    "phased out",
    "goes|went away",
    "supersede|supersedes",
    "scrap|scrapped|scratch|forget|unlike|unmaintained|correction|shorten|lifted",
    "was|were|got|is|are too",
    "it was",
    "of hand",
    "keep up",
    "nobody wants|calls|needs|uses",
    "up|down from",
    "new policy|rule",
    "no need",
    "lowered|raised|reduced|increased|bumped|extended|shortened|doubled|tightened|relaxed",
];

/// What denies, forbids or limits.
const DENIALS: &[&str] = &[
    "aren",
    "avoid",
    "cannot",
    "disable",
    "disabled",
    "doesn",
    "don",
    "drop",
    "dropped",
    "forbidden",
    "gone",
    "isn",
    "mustn",
    "never",
    "no",
    "nobody",
    "none",
    "nor",
    "not",
    "nothing",
    "off",
    "only",
    "reject",
    "rejected",
    "rejects",
    "removed",
    "shouldn",
    "stop",
    "unsigned",
    "without",
    "won",
];

/// What one of these words is about, another of its line is not.
const EXCLUSIVE: &[&str] = &[
    "staging production prod development dev local sandbox preview",
    "admin dispatcher technician customer guest operator manager partner support editor viewer reviewer owner buyer seller supplier merchant",
    "ios android web desktop mobile browser",
    "read write",
    "import export",
    "upload download",
    "inbound outbound incoming outgoing",
    "frontend backend",
    "client server",
    "unit integration e2e smoke load",
    "email mail sms push",
    "hourly nightly weekly monthly quarterly yearly",
    "internal external public private",
    "eu us uk europe",
    "backup restore",
    "request response",
    "create delete update",
    "get post put patch",
    "primary replica",
    "input output",
    "free paid",
    "access refresh",
    "retail wholesale",
    "b2b b2c",
    "domestic international",
];

/// A text that starts with one of these reports work that was done; it seldom says how things are done here.
const WORK: &str = "add allow apply bump chore clarify clean convert correct create delete deprecate disable docs \
    document drop enable expose extract fix handle ignore implement improve introduce make mention merge move note \
    propagate publish refactor reformat release rename replace simplify support test update upgrade";

/// Of the things on one line, somebody chooses one: who names another chose anew. Words that mean something else in
/// most texts are not here.
const CHOICES: &[&str] = &[
    "postgres postgresql mysql mariadb sqlite oracle mssql cockroachdb redis valkey memcached dynamodb mongodb mongo \
     couchdb cassandra scylladb influxdb timescaledb clickhouse duckdb bigquery redshift elasticsearch opensearch solr \
     meilisearch typesense algolia lucene tantivy neo4j rocksdb leveldb sled lmdb firestore firebase supabase etcd \
     memory disk cookie cookies profile localstorage",
    "s3 minio gcs nas disk filesystem ftp sftp nfs blob blobs",
    "kafka rabbitmq nats jetstream sqs pubsub activemq zeromq mqtt redpanda pulsar kinesis",
    "celery sidekiq resque bullmq airflow dagster cron jenkins kubernetes systemd supervisord nomad ecs lambda fargate",
    "rest graphql grpc soap trpc odata oai",
    "poll polls polling websocket websockets sse webhook webhooks push stream",
    "json yaml toml xml csv tsv protobuf avro parquet msgpack cbor ini plain html pdf docx xlsx excel table tables",
    "markdown asciidoc rst html latex typst prosemirror wysiwyg",
    "gzip zstd brotli lz4 zip bzip2 xz deflate snappy",
    "png jpeg jpg webp avif gif svg canvas tiff webgl",
    "ean qr aztec code128 datamatrix rfid nfc",
    "md5 sha1 sha256 sha512 blake3 blake2 argon2 argon2id bcrypt scrypt pbkdf2 crc32 xxhash",
    "aes chacha20 rsa ed25519 ecdsa gpg pgp age hmac",
    "uuid uuidv4 uuidv7 ulid nanoid snowflake autoincrement cuid sequence sequences",
    "jest vitest mocha jasmine karma cypress playwright selenium puppeteer testcafe webdriverio nightwatch",
    "pytest unittest nose junit testng spock rspec minitest",
    "factory factories fixture fixtures dump dumps mock mocks",
    "react vue angular svelte ember preact jquery htmx stimulus elm blazor",
    "redux zustand mobx recoil jotai pinia vuex xstate",
    "tailwind bootstrap sass scss css bulma chakra mui",
    "webpack vite rollup esbuild parcel turbopack rspack gulp grunt",
    "npm yarn pnpm bun pip pipenv poetry uv conda",
    "maven gradle bazel buck sbt ant cmake meson ninja makefile nix",
    "eslint biome prettier tslint ruff flake8 pylint black",
    "jenkins travis circleci github gitlab bitbucket buildkite teamcity drone",
    "aws gcp azure heroku vercel netlify hetzner digitalocean ovh cloudflare linode",
    "docker podman containerd compose tilt vagrant devcontainer",
    "terraform pulumi ansible puppet chef cloudformation cdk helm kustomize",
    "prometheus datadog newrelic grafana nagios zabbix sentry rollbar bugsnag jaeger zipkin tempo honeycomb",
    "loki splunk graylog kibana syslog journald stdout stderr",
    "vault dotenv sops kms keychain",
    "stripe paypal adyen mollie braintree klarna worldpay",
    "sendgrid mailgun postmark mailchimp sparkpost mandrill",
    "slack teams discord mattermost zulip irc matrix opsgenie pagerduty rootly twilio mail email sms phone chat",
    "password passwords pin passkey passkeys totp saml ldap webauthn",
    "cookie cookies jwt bearer oauth oidc",
    "python ruby java kotlin scala golang rust typescript javascript php perl swift dart elixir erlang haskell",
    "german english french spanish italian dutch portuguese polish japanese chinese",
    "utc local gmt",
    "squash rebase",
    "develop master main trunk",
    "moment luxon dayjs fns",
    "axios fetch ky superagent requests httpx aiohttp reqwest ureq",
    "sqlalchemy prisma typeorm sequelize diesel sqlx hibernate jooq knex drizzle seaorm",
    "express fastify koa nestjs django flask fastapi rails sinatra laravel symfony axum actix rocket warp",
    "d3 vega chartjs plotly highcharts recharts echarts",
    "wkhtmltopdf typst latex weasyprint puppeteer",
    "jinja mustache handlebars mjml erb ejs liquid tera askama pug",
    "leaflet mapbox maplibre openlayers cesium",
    "launchdarkly unleash growthbook flagsmith optimizely",
    "mutex rwlock lock locks atomic channel actor optimistic pessimistic sharded",
    "thread threads async process processes fork pool",
    "float floats floating integer integers decimal decimals cent cents",
    "linear exponential exponentially constant",
    "offset cursor keyset",
    "kilometre kilometer mile",
    "celsius fahrenheit kelvin",
    "millimetre millimeter centimetre centimeter inch",
    "hourly daily nightly weekly monthly quarterly yearly immediately instantly continuous continuously",
    "hour morning noon evening night nightly",
    "browser server client device",
    "random consecutive sequential alphabetical chronological lot",
    "tabs spaces",
    "snake camelcase kebab pascalcase",
    "manual manually automatic automatically hand",
    "optional required mandatory forbidden guest guests",
    "encrypted unencrypted plaintext",
    "signed unsigned",
    "monorepo submodule submodules registry vendor vendored",
    "stable nightly beta",
];

/// After these a number is part of a name: `level 1`, `phase 2`.
pub(super) const NUMBERED: &[&str] = &[
    "class", "group", "level", "phase", "priority", "sev", "severity", "stage", "step", "team",
    "tier", "type", "zone",
];

/// Numbers in words.
pub(super) const NUMBERS: &[(&str, &str)] = &[
    ("zero", "0"),
    ("one", "1"),
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("fifteen", "15"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("sixty", "60"),
    ("twice", "2"),
    ("half", "0.5"),
];

/// Units by their short forms and adverbs.
pub(super) const UNITS: &[(&str, &str)] = &[
    ("s", "second"),
    ("sec", "second"),
    ("secs", "second"),
    ("ms", "millisecond"),
    ("min", "minute"),
    ("mins", "minute"),
    ("h", "hour"),
    ("hr", "hour"),
    ("hourly", "hour"),
    ("daily", "day"),
    ("nightly", "day"),
    ("weekly", "week"),
    ("monthly", "month"),
    ("d", "day"),
    ("percent", "%"),
];

/// Units of time.
pub(super) const DURATIONS: &[&str] =
    &["millisecond", "second", "minute", "hour", "day", "week", "month", "year"];

/// The lists, stemmed.
pub(super) struct Lexicon {
    pub(super) general: HashSet<Stem>,
    pub(super) verbs: HashSet<Stem>,
    pub(super) of_change: HashSet<Stem>,
    pub(super) exclusive: Vec<HashSet<Stem>>,
    pub(super) work: HashSet<Stem>,
    /// The lines of choices that a word is on.
    pub(super) choices: HashMap<Stem, Vec<usize>>,
    pub(super) durations: HashSet<Stem>,
    /// By the first word of each.
    changes: HashMap<&'static str, Vec<Vec<Vec<&'static str>>>>,
}

pub(super) static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut changes: HashMap<&'static str, Vec<Vec<Vec<&'static str>>>> = HashMap::default();
    for change in CHANGES {
        let words: Vec<Vec<&str>> =
            change.split(' ').map(|word| word.split('|').collect()).collect();
        for first in &words[0] {
            changes.entry(*first).or_default().push(words[1..].to_vec());
        }
    }
    let mut choices: HashMap<Stem, Vec<usize>> = HashMap::default();
    for (line, words) in CHOICES.iter().enumerate() {
        for word in stems(words) {
            choices.entry(word).or_default().push(line);
        }
    }
    Lexicon {
        choices,
        work: stems(WORK),
        general: stems(GENERAL),
        verbs: stems(VERBS),
        of_change: stems(OF_CHANGE),
        exclusive: EXCLUSIVE.iter().map(|line| stems(line)).collect(),
        durations: DURATIONS.iter().map(|word| stem_of(word)).collect(),
        changes,
    }
});

fn stems(words: &str) -> HashSet<Stem> {
    words.split_whitespace().map(stem_of).collect()
}

impl Lexicon {
    /// How many of the words at the beginning say that something changed; 0 if they do not.
    pub(super) fn change(&self, words: &[&str]) -> usize {
        let Some(first) = words.first() else { return 0 };
        let matches = |rest: &&Vec<Vec<&str>>| {
            rest.len() < words.len()
                && rest.iter().zip(&words[1..]).all(|(any, word)| any.contains(word))
        };
        let found = self.changes.get(first).into_iter().flatten().filter(matches);
        found.map(|rest| rest.len() + 1).max().unwrap_or(0)
    }
}

/// Whether a verb can stand after this word.
pub(super) fn precedes_verb(word: &str) -> bool {
    BEFORE_VERBS.binary_search(&word).is_ok()
}

pub(super) fn denies(word: &str) -> bool {
    DENIALS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_searched_are_sorted() {
        for list in [BEFORE_VERBS, DENIALS, NUMBERED] {
            assert!(list.is_sorted(), "{list:?}");
        }
    }

    #[test]
    fn changes_are_known_by_their_words() {
        let change = |text: &str| LEXICON.change(&text.split(' ').collect::<Vec<_>>());
        assert_eq!(change("no longer sent by mail"), 2);
        assert_eq!(change("were retired in june"), 2);
        assert_eq!(change("were sent in june"), 0);
        assert_eq!(change("no"), 0);
    }
}
