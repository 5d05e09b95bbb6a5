//! Words near a string that tell what it is.

use super::bytes::{self, LOWER, UPPER};
use super::index::{self, Index, Side};

/// Words that announce a secret.
#[rustfmt::skip]
const SECRET: &[&str] = &[
    "key", "token", "secret", "passw", "passphrase", "pwd", "auth", "cred", "bearer", "apikey",
    "webhook", "private", "signature", "signing", "license", "jwt", "oauth", "x-api", "sasl",
    "salt",
];

/// Words near which random strings are secrets more often than not, but ids and hashes are not.
const MILD: &[&str] = &["cookie", "session", "login", "client", "account", "access"];

/// Words that announce a hash, an id or a picture.
#[rustfmt::skip]
const HASH: &[&str] = &[
    "sha1", "sha-1", "sha2", "sha3", "sha5", "sha-2", "sha-5", "md5", "blake", "integrity",
    "checksum", "chksum", "digest", "hash", "commit", "h1:", "fingerprint", "etag", "thumbprint",
    "changeset", "revision", "sourcemap", "recv-key", "gpg ", "base64,", "crc32", "merge",
    "revert", "cherry", "tree", "blob", "parent", "pubkey", "public", "ssh-rsa", "ssh-ed25519",
    "ecdsa-sha2", "snapshot", "rev =", "rev:", "rev=", "uuid", "guid", "nonce", "trace", "span",
    "artifact", "resolved", "build-id", "buildid",
];

/// Vendors whose keys have no form of their own: near their names a random string is a key.
#[rustfmt::skip]
const VENDORS: &[&str] = &[
    "abuseipdb", "accuweather", "adafruit", "airbrake", "airship", "airtable", "aiven", "alchemy",
    "algolia", "alibaba", "aliyun", "alpaca", "amadeus", "amplitude", "apideck", "apify",
    "appcenter", "appfollow", "appsflyer", "asana", "auth0", "aviationstack", "axonaut", "bamboo",
    "beamer", "betterstack", "billomat", "binance", "bitcoinaverage", "bitfinex", "bitly",
    "bitmex", "bittrex", "braze", "browserstack", "bugsnag", "bugherd", "calendly", "censys",
    "chargebee", "clearbit", "clickup", "clickhouse", "clockify", "cloudflare", "cloudinary",
    "cloudmersive", "codeclimate", "coinapi", "coinbase", "coinlayer", "coinmarketcap",
    "confluent", "contentful", "crowdin", "crowdstrike", "currencylayer", "customer.io", "dailyco",
    "databricks", "deepgram", "deepl", "deepseek", "detectify", "digicert", "digitalocean",
    "disqus", "dnscheck", "docusign", "doppler", "dwolla", "dynatrace", "easypost", "edamam",
    "eightxeight", "elevenlabs", "etherscan", "etsy", "eventbrite", "exchangerate", "facepp",
    "fastly", "fibery", "finage", "finicity", "finnhub", "fixer", "flickr", "flutterwave",
    "foursquare", "freshbooks", "freshdesk", "frontapp", "fullstory", "gengo", "geocod",
    "getresponse", "giphy", "gocardless", "godaddy", "graphcms", "groq", "gumroad", "helpscout",
    "heroku", "hetzner", "hootsuite", "hotjar", "hubspot", "huggingface", "iexcloud", "imagekit",
    "imgur", "infura", "intercom", "ipapi", "ipinfo", "ipstack", "jotform", "jumpcloud", "kaggle",
    "keygen", "klaviyo", "kontent", "kraken", "kucoin", "langsmith", "lightspeed", "linode",
    "livekit", "loggly", "logz", "lokalise", "looker", "mailchimp", "mailgun", "mailjet",
    "mailerlite", "mailmodo", "mandrill", "mapbox", "mapquest", "marketstack", "maxmind",
    "mediastack", "meraki", "messagebird", "message_bird", "message-bird", "mistral", "mixpanel",
    "moralis", "nasa", "newrelic", "new-relic", "new_relic", "newsapi", "nexmo", "ngrok",
    "nightfall", "nylas", "nytimes", "okta", "omnisend", "onelogin", "onesignal", "opencage",
    "openuv", "openweather", "optimizely", "opsgenie", "packagecloud", "pagerduty", "pandadoc",
    "papertrail", "paypal", "pexels", "pinata", "pinecone", "pipedrive", "plaid", "planetscale",
    "plivo", "positionstack", "posthog", "postman", "postmark", "prefect", "pubnub", "pusher",
    "qualtrics", "rabbitmq", "rapidapi", "razorpay", "rechargepayments", "recurly", "replicate",
    "resend", "rollbar", "salesforce", "scaleway", "scrapingbee", "scraper", "sendbird",
    "sendgrid", "sendinblue", "serpapi", "shodan", "shopify", "shortio", "shutterstock", "sidekiq",
    "signalwire", "skybiometry", "smartsheet", "smooch", "sourcegraph", "sparkpost", "splunk",
    "spotify", "squareup", "squarespace", "stackhawk", "statuspage", "storyblok", "stormglass",
    "strava", "sumo", "surveymonkey", "tatum", "telnyx", "text2data", "ticketmaster", "tiingo",
    "tmdb", "todoist", "tomtom", "transifex", "trello", "twelvedata", "twilio", "twitch",
    "typeform", "ubidots", "unsplash", "uplead", "upstash", "verimail", "virustotal",
    "visualcrossing", "vonage", "vultr", "wakatime", "wandb", "weatherbit", "weatherstack",
    "webex", "webflow", "whoisxml", "woopra", "workday", "workos", "worldweather", "wepay", "xero",
    "yandex", "yelp", "zapier", "zendesk", "zenscrape", "zerobounce", "zeplin", "zoho", "zonka",
];

/// Vendors that texts about software name for many other reasons: hashes and ids near them are none.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "abstract", "adobe", "aha", "apollo", "appveyor", "artifactory", "assembly", "atlassian",
    "autodesk", "aws", "azure", "bing", "bitbucket", "blogger", "box", "buildkite", "chatbot",
    "circleci", "codacy", "codecov", "confluence", "copper", "coveralls", "datadog", "delighted",
    "deputy", "discord", "discourse", "docker", "droneci", "dropbox", "duo", "elastic", "facebook",
    "figma", "firebase", "gemini", "gitea", "github", "gitlab", "gitter", "google", "grafana",
    "guardian", "harvest", "here.com", "holiday", "hunter", "ibm", "instagram", "jenkins", "jfrog",
    "jira", "launchdarkly", "line_", "linear", "linkedin", "mattermost", "monday", "mux",
    "netlify", "notion", "npm", "nuget", "openai", "polygon", "readme", "reddit", "rubygems",
    "sauce", "screenshot", "segment", "semaphore", "sentry", "slack", "snyk", "sonar", "square",
    "stripe", "supabase", "telegram", "terraform", "tomorrow", "travis", "twitter", "uploadcare",
    "vault", "vercel", "youtube", "zipcode", "zoom", "zulip",
];

/// What the words before a string say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hint {
    /// A word announces a secret.
    pub(super) secret: bool,
    /// The name of a vendor stands there, or a word that goes with accounts.
    pub(super) vendor: bool,
    /// The name of a vendor that is named for its keys alone.
    pub(super) api: bool,
    /// A word announces a hash or another public string.
    pub(super) hash: bool,
}

/// Reads the hints of a short text.
pub(super) fn hint(window: &[u8]) -> Hint {
    let mut hint = Hint::default();
    for at in 0..window.len() {
        let rest = &window[at..];
        for (list, _) in INDEX.at(rest) {
            let word_start =
                at == 0 || !bytes::is(window[at - 1], LOWER) || bytes::is(rest[0], UPPER);
            match list {
                0 => hint.secret |= !other_word(rest),
                1 => hint.vendor = true,
                2 => hint.hash |= word_start,
                3 => hint.vendor |= word_start,
                _ => {
                    hint.vendor |= word_start;
                    hint.api |= word_start;
                }
            }
        }
    }
    hint
}

/// Longer words that only start like a telling one.
#[rustfmt::skip]
const OTHER: &[&str] = &[
    "author", "keyword", "keyboard", "keyserver", "keysym", "keymap", "keypad", "keyframe", "tokeniz", "accessib",
    "accessor", "privatel",
];

/// `Author:` announces nobody's secret, `Authorization:` does.
fn other_word(text: &[u8]) -> bool {
    let starts = |word: &str| {
        text.get(..word.len())
            .is_some_and(|t| t.eq_ignore_ascii_case(word.as_bytes()))
    };
    OTHER.iter().any(|w| starts(w)) && !starts("authoriz")
}

const LISTS: &[&[&str]] = &[SECRET, MILD, HASH, COMMON, VENDORS];

static INDEX: Index<{ index::count(LISTS) }> = Index::new(LISTS, Side::Start);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_spelling() {
        assert!(hint(b"ADAFRUIT_IO = ").vendor);
        assert!(hint(b"myApiKey: ").secret);
        assert!(hint(b"integrity sha512-").hash);
        assert_eq!(hint(b"the quick brown fox"), Hint::default());
    }
}
