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
    "abstract", "abuseipdb", "accuweather", "adafruit", "adobe", "aha", "airbrake", "airship",
    "airtable", "aiven", "alchemy", "algolia", "alibaba", "aliyun", "alpaca", "amadeus",
    "amplitude", "apideck", "apify", "apollo", "appcenter", "appfollow", "appsflyer", "appveyor",
    "artifactory", "asana", "assembly", "atlassian", "autodesk", "auth0", "aviationstack", "aws",
    "axonaut", "azure", "bamboo", "beamer", "betterstack", "billomat", "binance", "bing",
    "bitbucket", "bitcoinaverage", "bitfinex", "bitly", "bitmex", "bittrex", "blogger", "box",
    "braze", "browserstack", "bugsnag", "buildkite", "bugherd", "calendly", "censys", "chargebee",
    "chatbot", "circleci", "clearbit", "clickup", "clickhouse", "clockify", "cloudflare",
    "cloudinary", "cloudmersive", "codacy", "codeclimate", "codecov", "coinapi", "coinbase",
    "coinlayer", "coinmarketcap", "confluence", "confluent", "contentful", "copper", "coveralls",
    "crowdin", "crowdstrike", "currencylayer", "customer.io", "dailyco", "databricks", "datadog",
    "deepgram", "deepl", "deepseek", "delighted", "deputy", "detectify", "digicert",
    "digitalocean", "discord", "discourse", "disqus", "dnscheck", "docker", "docusign", "doppler",
    "droneci", "dropbox", "duo", "dwolla", "dynatrace", "easypost", "edamam", "eightxeight",
    "elastic", "elevenlabs", "etherscan", "etsy", "eventbrite", "exchangerate", "facebook",
    "facepp", "fastly", "fibery", "figma", "finage", "finicity", "finnhub", "firebase", "fixer",
    "flickr", "flutterwave", "foursquare", "freshbooks", "freshdesk", "frontapp", "fullstory",
    "gemini", "gengo", "geocod", "getresponse", "giphy", "gitea", "github", "gitlab", "gitter",
    "gocardless", "godaddy", "google", "grafana", "graphcms", "groq", "gumroad", "guardian",
    "harvest", "helpscout", "here.com", "heroku", "hetzner", "holiday", "hootsuite", "hotjar",
    "hubspot", "huggingface", "hunter", "ibm", "iexcloud", "imagekit", "imgur", "infura",
    "instagram", "intercom", "ipapi", "ipinfo", "ipstack", "jenkins", "jfrog", "jira", "jotform",
    "jumpcloud", "kaggle", "keygen", "klaviyo", "kontent", "kraken", "kucoin", "langsmith",
    "launchdarkly", "lightspeed", "line_", "linear", "linkedin", "linode", "livekit", "loggly",
    "logz", "lokalise", "looker", "mailchimp", "mailgun", "mailjet", "mailerlite", "mailmodo",
    "mandrill", "mapbox", "mapquest", "marketstack", "mattermost", "maxmind", "mediastack",
    "meraki", "messagebird", "message_bird", "message-bird", "mistral", "mixpanel", "monday",
    "moralis", "mux", "nasa", "netlify", "newrelic", "new-relic", "new_relic", "newsapi", "nexmo",
    "ngrok", "nightfall", "notion", "npm", "nuget", "nylas", "nytimes", "okta", "omnisend",
    "onelogin", "onesignal", "openai", "opencage", "openuv", "openweather", "optimizely",
    "opsgenie", "packagecloud", "pagerduty", "pandadoc", "papertrail", "paypal", "pexels",
    "pinata", "pinecone", "pipedrive", "plaid", "planetscale", "plivo", "polygon", "positionstack",
    "posthog", "postman", "postmark", "prefect", "pubnub", "pusher", "qualtrics", "rabbitmq",
    "rapidapi", "razorpay", "readme", "rechargepayments", "recurly", "reddit", "replicate",
    "resend", "rollbar", "rubygems", "salesforce", "sauce", "scaleway", "scrapingbee", "scraper",
    "screenshot", "segment", "semaphore", "sendbird", "sendgrid", "sendinblue", "sentry",
    "serpapi", "shodan", "shopify", "shortio", "shutterstock", "sidekiq", "signalwire",
    "skybiometry", "slack", "smartsheet", "smooch", "snyk", "sonar", "sourcegraph", "sparkpost",
    "splunk", "spotify", "square", "squareup", "squarespace", "stackhawk", "statuspage",
    "storyblok", "stormglass", "strava", "stripe", "sumo", "supabase", "surveymonkey", "tatum",
    "telegram", "telnyx", "terraform", "text2data", "ticketmaster", "tiingo", "tmdb", "todoist",
    "tomorrow", "tomtom", "transifex", "travis", "trello", "twelvedata", "twilio", "twitch",
    "twitter", "typeform", "ubidots", "unsplash", "uplead", "uploadcare", "upstash", "vault",
    "vercel", "verimail", "virustotal", "visualcrossing", "vonage", "vultr", "wakatime", "wandb",
    "weatherbit", "weatherstack", "webex", "webflow", "whoisxml", "woopra", "workday", "workos",
    "worldweather", "wepay", "xero", "yandex", "yelp", "youtube", "zapier", "zendesk", "zenscrape",
    "zerobounce", "zeplin", "zipcode", "zoho", "zonka", "zoom", "zulip",
];

/// What the words before a string say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hint {
    /// A word announces a secret.
    pub(super) secret: bool,
    /// The name of a vendor stands there, or a word that goes with accounts.
    pub(super) vendor: bool,
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
                _ => hint.vendor |= word_start,
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

const LISTS: &[&[&str]] = &[SECRET, MILD, HASH, VENDORS];

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
