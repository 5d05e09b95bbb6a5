//! Words before a string that hint at what it is.

use super::bytes::{self, LOWER, UPPER};
use super::index::{self, Index, Side};

/// Words that indicate a secret.
#[rustfmt::skip]
const SECRET: &[&str] = &[
    "key", "token", "secret", "passw", "passphrase", "pwd", "auth", "cred", "bearer", "apikey",
    "webhook", "private", "signature", "signing", "jenkins-crumb", "\"crumb\"", "reporter_id", "jwt", "oauth", "x-api", "sasl",
    "salt", "sonar.login", "sonarlogin", "sonar_login", "2fa seed", "accounts: [", "encrypt = ", "totp", "mfa_",
];

/// Words near which random strings are mostly secrets, but ids and hashes are not.
const MILD: &[&str] = &["cookie", "session", "login", "client", "account", "access"];

/// Words that indicate a hash, an id or an image.
#[rustfmt::skip]
const HASH: &[&str] = &[
    "sha1", "sha-1", "sha2", "sha3", "sha5", "sha-2", "sha-5", "md5", "blake", "integrity",
    "checksum", "chksum", "digest", "hash", "commit", "h1:", "fingerprint", "etag", "thumbprint",
    "changeset", "revision", "sourcemap", "recv-key", "gpg ", "base64,", "crc32", "merge",
    "revert", "cherry", "tree", "blob", "parent", "pubkey", "public", "ssh-rsa", "ssh-ed25519",
    "ecdsa-sha2", "snapshot", "rev =", "rev:", "rev=", "uuid", "guid", "nonce", "trace", "span",
    "artifact", "secure:", "resolved", "build-id", "buildid", "submodule", "arn:",
];

/// Vendors whose keys have no recognisable format: a random string near the name is a key.
#[rustfmt::skip]
const VENDORS: &[&str] = &[
    "abbysale", "abstractapi", "abuseipdb", "abyssale", "accuweather", "activecampaign",
    "adafruit", "adyen", "adzuna", "aeroworkflow", "aftership", "agilitycms", "airbrake",
    "aircall", "airship", "airtable", "airvisual", "aiven", "alchemy", "alconost", "alegra",
    "aletheia", "algolia", "alibaba", "alienvault", "aliyun", "allsports", "alpaca", "amadeus",
    "amazonpay", "ambee", "amplitude", "anypoint", "anyrun", "anyscale", "apacta", "api2cart",
    "apideck", "apiflash", "apifonica", "apify", "apilayer", "apimatic", "appcenter", "appcircle",
    "appcues", "appdynamics", "appetize", "appfollow", "applitools", "appointedd", "appoptics",
    "appsflyer", "appsynergy", "apptivo", "arbiscan", "artsy", "asana", "assembly_ai",
    "assemblyai", "atera", "auth0", "authorize.net", "authorizenet", "autoklose", "avalara",
    "avaza", "aviationstack", "aweber", "axonaut", "aylien", "ayrshare", "baichuan", "bamboo",
    "bandsintown", "bandwidth.com", "bannerbear", "baremetrics", "basescan", "baseten",
    "bazaarvoice", "beamer", "beds24", "beebole", "benchmarkemail", "besnappy", "besttime",
    "better_uptime", "betterstack", "betteruptime", "bigcommerce", "billomat", "binance",
    "binaryedge", "bitbar", "bitcoinaverage", "bitfinex", "bitly", "bitmex", "bitpanda",
    "bitquery", "bitrise", "bitstamp", "bittrex", "blackduck", "blazemeter", "blitapp",
    "blockchair", "blockcypher", "blockfrost", "blocknative", "bluesnap", "bombbomb", "boostnote",
    "borgbase", "braintree", "brandfetch", "braze", "brightcove", "browserless", "browserstack",
    "browshot", "bscscan", "buddyns", "budibase", "bugfender", "bugherd", "bugsnag", "bulksms",
    "bunnycdn", "burstsms", "buttercms", "bybit", "bynder", "caflou", "calendarific", "calendly",
    "calorieninja", "campaignmonitor", "campayn", "cannyio", "capsulecrm", "captaindata",
    "carboninterface", "cashboard", "cashfree", "caspio", "censys", "centralstationcrm", "cexio",
    "chargebee", "chargeover", "chargify", "chartio", "chartmogul", "chatfuel", "chatfule",
    "checkmarx", "checkvist", "chronosphere", "cirrusci", "clarifai", "clearbit", "clevertap",
    "clickatell", "clickhelp", "clickhouse", "clicksend", "clicksign", "clickup", "cliengo",
    "clinchpad", "clockify", "clockworksms", "cloudamqp", "cloudcannon", "cloudconvert",
    "cloudelements", "cloudflare", "cloudimage", "cloudinary", "cloudmersive", "cloudplan",
    "cloudsmith", "cloverly", "cloze", "clustdoc", "codeclimate", "codefresh", "codemagic",
    "codequiry", "codeship", "cohereapi", "coinapi", "coinbase", "coingecko",
    "coinlayer", "coinlib", "coinmarketcap", "commercejs", "companyhub", "configcat", "confluent",
    "constantcontact", "contentful", "contentstack", "conversiontools", "convertapi",
    "convertflow", "convertkit", "convier", "copyscape", "countrylayer", "craftmypdf", "cronitor",
    "crossbrowsertesting", "crowdin", "crowdstrike", "cryptocompare", "currencycloud",
    "currencyfreaks", "currencylayer", "currencyscoop", "currentsapi", "customer.io",
    "customerguru", "customerio", "cybersource", "d7network", "d7sms", "dacast", "dailyco",
    "dailymotion", "dareboost", "dashscope", "databox", "databricks", "datafire", "datagov",
    "dato_cms", "datocms", "deadmanssnitch", "debounce.io", "deepai", "deepgram", "deepinfra",
    "deepl", "deepseek", "deezer", "dehashed", "demio", "denodeploy", "deribit", "detectify",
    "detectlanguage", "devcycle", "dfuse", "dialpad", "diffbot", "diggernaut", "digicert",
    "digitalocean", "discogs", "disqus", "dnscheck", "docparser", "documo", "docuseal", "docusign",
    "doppler", "dotdigital", "dovico", "dronahq", "duffel", "duply", "dwolla", "dynatrace",
    "dyspatch", "eagleeye", "easyinsight", "easypost", "easyship", "ecostruxure", "ecwid",
    "edamam", "edenai", "eightxeight", "elasticemail", "elasticmail", "elevenlabs", "env0",
    "envoyapi", "eppo", "etherscan", "ethplorer", "etsy", "eventbrite", "everhour", "exchangerate",
    "exotel", "exportsdk", "extractorapi", "faceplusplus", "facepp", "fast2sms", "fastbill",
    "fastforex", "fastly", "fastspring", "feedier", "fetchrss", "fibery", "filestack", "finage",
    "financialmodeling", "finicity", "finnhub", "fireworksai", "fivetran", "fixer", "flagsmith",
    "flatio", "fleetbase", "flexport", "flickr", "flightapi", "flightlabs", "flightstats",
    "flowflu", "flutterwave", "formbucket", "formcraft", "formio", "formsite",
    "foursquare", "freeagent", "freshbooks", "freshdesk", "freshping", "frontapp", "frontegg",
    "fullstory", "fusionauth", "fxmarket", "gateio", "geckoboard", "gengo", "geoapify", "geocod",
    "geocodeapi", "geoipifi", "geonames", "getgeoapi", "getresponse", "ghostinspector",
    "giantbomb", "giphy", "glassnode", "gocanvas", "gocardless", "godaddy", "goodday", "gorgias",
    "gotify", "graphcms", "graphhopper", "greynoise", "groovehq", "groq", "growthbook", "gtmetrix",
    "guardianapi", "gumroad", "gupshup", "gyazo", "happyscribe", "haveibeenpwned", "hellofax",
    "hellosign", "helpcrunch", "helpscout", "heroku", "hetzner", "heygen", "hibp", "highnote",
    "hightouch", "hiveage", "hockeyapp", "hootsuite", "hostaway", "hotelbeds", "hotjar", "hubspot",
    "huggingface", "humio", "hunterio", "huobi", "hybiscus", "hybrid-analysis", "hybridanalysis",
    "hypertrack", "iconfinder", "ideogram", "iexapis", "iexcloud", "igdb", "imagekit", "imagga",
    "imgix", "imgur", "infobip", "infracost", "infura", "insightly", "instabot", "instaclustr",
    "instamojo", "instana", "intelx", "intercom", "interseller", "intrinio", "invoiceocean",
    "ip2location", "ipapi", "ipdata", "ipgeolocation", "ipinfo", "ipquality", "ipqualityscore",
    "ipstack", "jawg", "joesandbox", "jotform", "jumpcloud", "jumpseller", "justcall", "jwplayer",
    "kaggle", "kaiko", "kaleyra", "kanbantool", "karix", "karmacrm", "keboola", "keenio", "keycdn",
    "keygen", "kickbox", "kissmetrics", "klaviyo", "klipfolio", "knapsackpro", "kobiton",
    "kontent", "kraken", "kucoin", "kustomer", "kylas", "lacework", "lambdatest", "langsmith",
    "languagelayer", "lastfm", "leadfeeder", "leakcheck", "leanplum", "lemlist", "lemonsqueezy",
    "lendflow", "leonardoai", "lessannoyingcrm", "lexigram", "lexoffice", "lightspeed",
    "lightstep", "linemessaging", "linenotify", "linode", "lithic", "liveagent", "livekit",
    "livestorm", "loadimpact", "loadmill", "locationiq", "lodgify", "logdna", "loggly",
    "loginradius", "logrocket", "logz", "lokalise", "looker", "loyverse", "lunchmoney", "madkudu",
    "magicbell", "mailboxlayer", "mailchimp", "mailcoach", "mailerlite", "mailersend", "mailgun",
    "mailjet", "mailmodo", "mailsac", "mailtrap", "maltiverse", "mandrill", "mapbox", "mapquest",
    "maptiler", "marketstack", "marqeta", "mavenlink", "maxmind", "meaningcloud", "mediastack",
    "meistertask", "meraki", "mesibo", "message-bird", "message_bird", "messagebird", "messari",
    "messente", "metaapi", "metadefender", "metrilo", "mezmo", "mindmeister", "mistral", "mixmax",
    "mixpanel", "mockaroo", "mode_analytics", "modeanalytics", "modern_treasury", "moderntreasury",
    "moengage", "mollie", "monzo", "moonclerk", "moonshot", "moosend", "moralis", "mrticktock",
    "msg91", "musixmatch", "myexperiment", "myfreshworks", "myintervals", "nansen", "nasa",
    "nessus", "nethunt", "netsuite", "neutrinoapi", "new-relic", "new_relic", "newrelic",
    "newsapi", "newscatcher", "nexmo", "nftport", "ngrok", "nicereply", "nightfall", "nomics",
    "nordigen", "novita", "nozbe", "ntfy", "numverify", "nutritionix", "nylas", "nytimes", "oanda",
    "octopusdeploy", "okendo", "okta", "omnisend", "onedesk", "onelogin", "onepagecrm",
    "onesignal", "onwater", "onyphe", "oopspam", "opencage", "openphone", "openrouter",
    "openrouteservice", "opensea", "opentripmap", "openuv", "openweather", "opsgenie", "opswat",
    "optidash", "optimizely", "overloop", "packagecloud", "packlink", "pagarme", "pagerduty",
    "pandadoc", "pandascore", "paperform", "papertrail", "paralleldots", "parcelmonkey",
    "parsehub", "parseur", "partnerstack", "paydirt", "paymo", "payoneer", "paypal", "paystack",
    "paytm", "payu", "pdflayer", "pdfshift", "peopledatalabs", "pepipost", "pexels", "phonepe",
    "photoroom", "phraseaccess", "pinata", "pinecone", "pingdom", "pipedream", "pipedrive",
    "pivotaltracker", "pixabay", "plaid", "planetscale", "planyo", "playht", "plivo", "podio",
    "pollsapi", "poloniex", "polygonscan", "polyswarm", "positionstack", "postageapp", "posthog",
    "postman", "postmark", "powrbot", "prefect", "prestashop", "printful", "printify", "probely",
    "prodpad", "propelauth", "prospectcrm", "prospectio", "protocolsio", "proxycrawl", "pubnub",
    "pulsedive", "purestake", "pushbullet", "pusher", "pushover", "pushwoosh", "qase", "qualaroo",
    "qualtrics", "qualys", "qubole", "quickbooks", "quicknode", "rabbitmq", "rapid7", "rapidapi",
    "rawg", "raygun", "razorpay", "reachmail", "reallysimplesystems", "rebrandly",
    "rechargepayments", "recurly", "redislabs", "rentman", "repairshopr", "replicate", "replyio",
    "requestfinance", "resend", "restpack", "revampcrm", "reviewsio", "ringcentral", "ringover",
    "ritekit", "robinhood", "rocketreach", "rollbar", "rome2rio", "roninapp", "route4me", "rownd",
    "rudderstack", "runrunit", "runwayml", "saladcloud", "salesblink", "salescookie", "salesflare",
    "salesforce", "salesmate", "satismeter", "saucelabs", "scaleway", "scalr", "scalyr",
    "scrapeowl", "scraper", "scrapestack", "scrapfly", "scrapingant", "scrapingbee",
    "screenshotapi", "screenshotlayer", "seatgeek", "securitytrails", "selectpdf", "semaphoreci",
    "sendbird", "sendcloud", "sendgrid", "sendinblue", "sendle", "sendpulse", "serpapi", "serper",
    "serphouse", "serpstack", "sevdesk", "sheety", "sherpadesk", "shipday", "shippo",
    "shipstation", "shodan", "shopify", "shortio", "shotstack", "shutterstock", "sidekiq",
    "signalwire", "signnow", "sigopt", "siliconflow", "simfin", "simplynoted", "simvoly", "sinch",
    "sisense", "site24x7", "siteleaf", "skrapp", "skybiometry", "skyscanner", "smartsheet",
    "smartystreets", "smooch", "smsglobal", "smtp2go", "snipcart", "snovio", "snowtrace",
    "socketlabs", "sonatype", "songkick", "soundcloud", "sourcegraph", "spacelift", "sparkpost",
    "speechify", "split_io", "splunk", "spoonacular", "sportradar", "sportsmonk", "spotify",
    "squadcast", "squarespace", "squareup", "sslmate", "stability.ai", "stabilityai", "stackhawk",
    "stackpath", "stadiamaps", "statsig", "statuscake", "statuspage", "statuspal", "stitchdata",
    "storecove", "stormboard", "stormglass", "storyblok", "storychief", "strava", "stripo",
    "stytch", "sugester", "sumo", "sumologic", "supernotes", "supertokens", "surveyanyplace",
    "surveybot", "surveymonkey", "surveysparrow", "survicate", "swiftype", "synthesia", "talenox",
    "tallyfy", "tatum", "taxamo", "taxjar", "teamgate", "tefter", "telesign",
    "teletype", "telnyx", "tenderly", "testingbot", "text2data", "textbelt", "textlocal",
    "textmagic", "theoddsapi", "thinkific", "thousandeyes", "threatfox", "thunderforest",
    "ticketmaster", "tickettailor", "tiingo", "timecamp", "timezoneapi", "tinify", "tinypng",
    "tmdb", "tmetric", "todoist", "togetherai", "toggltrack", "tokeet",
    "tomtom", "trackingmore", "trackjs", "tradier", "transferwise", "transifex", "transloadit",
    "travelpayouts", "travelport", "trello", "truelayer", "trustpilot", "turbosms", "twelvedata",
    "twilio", "twitch", "tyntec", "typeform", "typetalk", "ubidots", "uclassify", "unifyid",
    "unisender", "unsplash", "upcdatabase", "uplead", "upstash", "upwave", "urlhaus", "urlscan",
    "userfront", "userstack", "vagrantcloud", "vatlayer", "vbout", "veracode", "verimail",
    "veriphone", "versioneye", "vertexinc", "victorops", "viewneo", "vimeo", "virustotal",
    "visualcrossing", "voicegain", "vonage", "voodoosms", "vouchery", "vpnapi", "vultr",
    "wakatime", "walkscore", "wandb", "waveapps", "weatherbit", "weatherstack", "webengage",
    "webex", "webflow", "websitepulse", "wellsaid", "wepay", "wercker", "what3words",
    "whitesource", "whoisxml", "whoxy", "wistia", "wit.ai", "witai", "woopra", "workday", "workos",
    "worksnaps", "workstack", "worldcoinindex", "worldweather", "wrike", "xero", "xmatters",
    "yandex", "yelp", "yodlee", "yotpo", "youneedabudget", "yousign", "zapier", "zendesk",
    "zenduty", "zenefits", "zenkit", "zenrows", "zenscrape", "zenserp", "zenvia", "zeplin",
    "zeptomail", "zerobounce", "zerotier", "zhipu", "zilliz", "zipapi", "zipbooks", "zipcodeapi",
    "zipcodebase", "zitadel", "zoho", "zonka", "zoomeye", "zuora",
    "agilecrm", "alphavantage", "apimetrics", "apitemplate", "bamboohr", "bigdatacloud", "blynk",
    "boxoauth", "checio", "checklyhq", "clientary", "closecrm", "cloudsight", "collect2",
    "deepsource", "dependencytrack", "dnsimple", "dnsmadeeasy", "dynalist", "endorlabs", "fileio",
    "flyio", "formstack", "frameio", "fullcontact", "getgist", "getsandbox", "gitguardian",
    "hcaptcha", "hereapi", "honeycomb", "ibmcloud", "intra42", "ipregistry", "ipwhois",
    "jupiterone", "langfuse", "larksuite", "leakix", "mailboxvalidator", "microsoftteams",
    "monkeylearn", "mouseflow", "namesilo", "neverbounce", "onfleet", "personio", "pganalyze",
    "porkbun", "portainer", "postbacks", "pulumi", "purpleair", "recaptcha", "rockset", "rootly",
    "salesloft", "shipengine", "shopware", "signable", "signaturit", "signupgenius", "simplesat",
    "smartlook", "solarwinds", "spectralops", "speechtextai", "stockdata", "tailscale",
    "technicalanalysis", "thingsboard", "truenas", "trufflehog", "uptimerobot", "userflow",
    "voiceflow", "weatherapi", "web3storage", "webscraping", "weightsandbiases", "wolframalpha",
    "woocommerce",
];

/// Vendors that are often mentioned for other reasons: hashes and ids near them are not keys.
#[rustfmt::skip]
const COMMON: &[&str] = &[
    "abstract", "adobe", "agora", "aha", "airbyte", "apollo", "appveyor", "artifactory",
    "assembly", "atlassian", "authy", "autodesk", "autopilot", "aws", "azure", "bing", "bitbucket",
    "blogger", "box", "buildkite", "chatbot", "cicero", "circleci", "coda", "codacy", "codecov",
    "commodities", "confluence", "copper", "covalent", "coveralls", "crisp", "datadog",
    "delighted", "deputy", "discord", "discourse", "dixa", "docker", "droneci", "dropbox", "duo",
    "elastic", "facebook", "fathom", "figma", "firebase", "ftx", "gemini", "gitea", "github",
    "gitlab", "gitter", "google", "grafana", "guardian", "guru", "harvest", "hasura", "here.com",
    "holiday", "html2pdf", "hunter", "ibm", "influxdb", "instagram", "iterable", "jenkins",
    "jfrog", "jira", "juro", "kairos", "kentico", "launchdarkly", "line_", "linear", "linkedin",
    "linkpreview", "luno", "magento", "mattermost", "meilisearch", "milvus", "miro",
    "monday", "mux", "nasdaq", "neo4j", "netlify", "notion", "npm", "nuget", "openai",
    "paddle", "percy", "perplexity", "planview", "polygon", "prismic", "qdrant", "questdb",
    "readme", "redash", "reddit", "ronin", "rubygems", "sauce", "screenshot", "scrutinizer",
    "scylla", "segment", "semaphore", "sentry", "sirv", "slack", "snyk", "sonar", "square",
    "stripe", "supabase", "teamcity", "teamwork", "telegram", "tenable", "terraform",
    "testflight", "timescale", "tomorrow", "travis", "twitter", "typesense", "uploadcare", "vault",
    "vercel", "vyte", "wati", "weaviate", "webscraper", "youtube", "zipcode", "zoom",
    "zulip",
];

/// Vendors whose names are prefixes of other words: matched as whole words.
#[rustfmt::skip]
const WHOLE: &[&str] = &[
    "cohere", "countly", "descope", "exa", "fmfw", "kinde", "matomo", "okx", "revolut", "strapi",
    "tawk", "toggl", "unplugg", "vwo", "ynab",
];

/// What the words before a string say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Hint {
    /// A word indicates a secret.
    pub(super) secret: bool,
    /// A vendor, or a word related to accounts, is mentioned.
    pub(super) vendor: bool,
    /// A vendor is mentioned that appears only with its keys.
    pub(super) api: bool,
    /// A word indicates a hash or another public string.
    pub(super) hash: bool,
    /// The string is the value of an id.
    pub(super) id: bool,
}

/// Collects the hints in the window before a string.
pub(super) fn hint(window: &[u8]) -> Hint {
    let mut hint = Hint { id: given_to_id(window), secret: beside_mark(window), ..Hint::default() };
    for at in 0..window.len() {
        let rest = &window[at..];
        for (list, word) in INDEX.at(rest) {
            let word_start =
                at == 0 || !bytes::is(window[at - 1], LOWER) || bytes::is(rest[0], UPPER);
            match list {
                0 => hint.secret |= !other_word(rest) && !odd_case(&rest[..word.len()]),
                1 => hint.vendor = true,
                2 => hint.hash |= word_start && !starts_ignoring_case(rest, b"hashicorp"),
                3 => hint.vendor |= word_start,
                5 if !whole(window, at, word.len()) => {}
                _ => {
                    hint.vendor |= word_start;
                    hint.api |= word_start;
                }
            }
        }
    }
    hint
}

/// Whether a word has no letters before or after it; `fooBar` is two words.
fn whole(window: &[u8], at: usize, len: usize) -> bool {
    let joined = |a: Option<&u8>, b: Option<&u8>| match (a, b) {
        (Some(a), Some(b)) => {
            a.is_ascii_alphabetic()
                && b.is_ascii_alphabetic()
                && (a.is_ascii_uppercase() || b.is_ascii_lowercase())
        }
        (None, _) | (_, None) => false,
    };
    let before = at.checked_sub(1).and_then(|i| window.get(i));
    !joined(before, window.get(at)) && !joined(window.get(at + len - 1), window.get(at + len))
}

/// `Client("[REDACTED-1]", "`: the argument after a secret is one too.
fn beside_mark(window: &[u8]) -> bool {
    let Some(head) = window.strip_suffix(b"\"").or_else(|| window.strip_suffix(b"'")) else {
        return false;
    };
    let head = head.trim_ascii_end();
    let Some([head @ .., b'"' | b'\'']) = head.strip_suffix(b",") else {
        return false;
    };
    let mark = head.len().min(20);
    let mark = &head[head.len() - mark..];
    mark.ends_with(b"]")
        && [&b"(\"[REDACTED-"[..], b"('[REDACTED-"]
            .iter()
            .any(|m| mark.windows(m.len()).any(|w| w == *m))
}

/// `[id=`, `"request_id": "`, `projectId: `: what follows is an id.
fn given_to_id(window: &[u8]) -> bool {
    let operators = bytes::run_back(window, window.len(), 6, |b| {
        matches!(b, b'=' | b':' | b'"' | b'\'' | b' ')
    });
    let name = &window[..window.len() - operators];
    let assigned = window[name.len()..].iter().any(|b| matches!(b, b'=' | b':'));
    assigned
        && match name {
            [before @ .., b'i' | b'I', b'd' | b'D'] => {
                before.last().is_none_or(|b| !b.is_ascii_alphabetic())
                    || name.ends_with(b"Id")
                    || name.ends_with(b"ID")
            }
            _ => false,
        }
}

/// Longer words that merely start like a sensitive one.
#[rustfmt::skip]
const OTHER: &[&str] = &[
    "author", "keyword", "keyboard", "keyserver", "keysym", "keymap", "keypad", "keyframe", "keybase",
    "keyed", "key_classes", "key_current", "key_local", "tokeniz", "accessib",
    "accessor", "privatel",
];

fn starts_ignoring_case(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|t| t.eq_ignore_ascii_case(word))
}

/// `Author:` indicates no secret, `Authorization:` does.
fn other_word(text: &[u8]) -> bool {
    let starts = |word: &str| starts_ignoring_case(text, word.as_bytes());
    OTHER.iter().any(|w| starts(w)) && !starts("authoriz")
}

/// `JwT` occurs in random strings; nobody writes it.
fn odd_case(word: &[u8]) -> bool {
    let tail = word.get(1..).unwrap_or_default();
    word.len() == 3
        && tail.iter().any(u8::is_ascii_uppercase)
        && word.iter().any(u8::is_ascii_lowercase)
}

const LISTS: &[&[&str]] = &[SECRET, MILD, HASH, COMMON, VENDORS, WHOLE];

static INDEX: Index<{ index::count(LISTS) }> = Index::new(LISTS, Side::Start);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_hints_in_any_spelling() {
        assert!(hint(b"ADAFRUIT_IO = ").vendor);
        assert!(hint(b"myApiKey: ").secret);
        assert!(hint(b"integrity sha512-").hash);
        assert!(hint(b"Zenserp: ").api);
        assert!(hint(b"TOGGL_KEY=").api && !hint(b"toggle = ").api);
        assert!(hint(b"const exaKey = ").api && !hint(b"HEXAGON = ").api);
        assert!(hint(b"arn:aws:kms:eu-west-1:1:key/").hash);
        assert!(hint(b"[id=").id && hint(b"\"projectId\": \"").id && !hint(b"grid: ").id);
        assert_eq!(hint(b"the quick brown fox"), Hint::default());
        assert_eq!(hint(b"U8dRfCFJwTgGG4kxu "), Hint::default());
    }
}
