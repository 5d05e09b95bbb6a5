//! What redaction promises for every text: no panic, no damage, no second opinion, no blow-up.

use handover_model::RedactionMode;
use handover_model::config::{ExtraRule, RedactionConfig};
use handover_text::Redactor;
use proptest::prelude::*;
use serde_json::json;

/// Pieces that detectors care about; glued together at random they make hard texts.
const PIECES: &[&str] = &[
    "password",
    "=",
    ": ",
    "\"",
    "'",
    "`",
    "hunter2",
    "API_KEY",
    "token",
    " ",
    "\n",
    "://",
    "user:pw1x@host",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END ",
    "eyJhbGciOiJIUzI1NiJ9.",
    "eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
    "ghp_",
    "a1B2c3D4e5F6g7H8i9",
    "[REDACTED-1]",
    "[REDACTED-",
    "]",
    "%3D",
    "%",
    "\\n",
    "\\u0041",
    "é",
    "漢字",
    "🦀",
    "-p",
    "mysql ",
    "curl -u ",
    "sk-ant-",
    "IDENTIFIED BY ",
    "<secret>",
    "</secret>",
    "&",
    "?",
    "machine x login y ",
    "Bearer ",
    "Authorization: ",
    "0f1e2d3c4b5a6978",
    "cGFzc3dvcmQ9aHVudGVyMmFiYw==",
    "/",
    ".",
    "_",
    "-",
    "~",
    "8Q~",
    "@tcp(",
    "Private-Lines: ",
    "xoxb-",
    "AKIA",
    "Q7R8S9T0",
    "user",
    "user=ann ",
    "username: \"ann\"\n",
    "-u ann ",
    "net use ",
    " /user:ann",
    "echo ",
    " | passwd",
    "htpasswd -b a b ",
    "login(",
    "strcmp(password, ",
    ".equals(",
    ", ",
    "contraseña",
    "密码",
    " is ",
    "mot de passe",
    "kind: Secret\n",
    "data:\n  ",
    "(a, password) VALUES (",
    "expect password\nsend ",
    ":5432:",
    "-----END ",
    "CERTIFICATE-----\n",
    "default=",
    "== ",
    "{",
    "}",
    "\nuser,password\nann,",
    "| login | password |\n| ann | ",
    "creds: ann / ",
    " log in with ann/",
    "seed phrase: ",
    "ember hornet tundra eclipse bramble lantern ",
    "passwords = [",
    "PIN: 4711",
    " as the password",
    "\" into \"password\"",
    "ann * \"",
    "\" *\n",
    "ann:s3same@h.org:80/",
    "Basic YW5uOnNlc2FtZQ==",
    "CURLOPT_USERPWD, \"ann:",
    "ENV DB_PASSWORD ",
    "<password><![CDATA[",
    "]]></password>",
    "\" | ConvertTo-SecureString",
    "LS0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVk",
    "jwt.sign({",
    "@/",
    ":: ",
];

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        8 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => "[A-Za-z0-9+/=_-]{1,40}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn findings_are_sorted_apart_and_on_characters(text in texts()) {
        let mut end = 0;
        for finding in Redactor::default().find(&text) {
            prop_assert!(finding.start >= end && finding.start < finding.end);
            prop_assert!(text.get(finding.start..finding.end).is_some());
            end = finding.end;
        }
    }

    #[test]
    fn redacting_twice_is_redacting_once(text in texts()) {
        let redactor = Redactor::default();
        let once = redactor.clean(&text);
        let twice = redactor.clean(once.as_str());
        prop_assert_eq!(twice.as_str(), once.as_str());
        prop_assert_eq!(twice.redactions(), 0);
    }

    #[test]
    fn what_stays_is_what_was_there(text in texts()) {
        let clean = Redactor::default().clean(&text);
        // Between the marks of the output, every piece stands in the input, in order.
        let mut rest = text.as_str();
        for piece in unmarked(clean.as_str()) {
            let at = rest.find(piece);
            prop_assert!(at.is_some(), "{piece:?} is not in {rest:?}");
            rest = &rest[at.unwrap_or(0) + piece.len()..];
        }
    }

    #[test]
    fn json_keeps_its_shape(text in texts(), key in "[a-z_]{1,12}") {
        let value = json!({ key.as_str(): [text, 7, null, true], "nested": { "password": text } });
        let clean = Redactor::default().clean_json(value);
        let list = clean.value().get(&key).and_then(|v| v.as_array()).map(Vec::len);
        prop_assert_eq!(list, Some(4));
        let again = Redactor::default().clean_json(clean.value().clone());
        prop_assert_eq!(again.value(), clean.value());
    }
}

/// `cargo test` runs this for a moment; with `BOLERO_RANDOM_TEST_TIME_MS`, or under
/// `cargo bolero test`, it runs for as long as wanted.
#[test]
fn fuzz_redaction() {
    let redactor = Redactor::default();
    bolero::check!().with_max_len(96).for_each(|bytes: &[u8]| {
        // Random bytes seldom make a secret, so each input is read as a list of pieces too.
        let pieces: String = bytes.iter().map(|b| PIECES[usize::from(*b) % PIECES.len()]).collect();
        for text in [pieces, String::from_utf8_lossy(bytes).into_owned()] {
            let once = redactor.clean(&text);
            assert_eq!(redactor.clean(once.as_str()).as_str(), once.as_str());
            let mut end = 0;
            for finding in redactor.find(&text) {
                assert!(finding.start >= end && finding.start < finding.end);
                assert!(text.get(finding.start..finding.end).is_some());
                end = finding.end;
            }
        }
    });
}

/// The pieces of a text between redaction marks.
fn unmarked(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("[REDACTED-") {
        let tail = &rest[at + 10..];
        let digits = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 && tail[digits..].starts_with(']') {
            pieces.push(&rest[..at]);
            rest = &tail[digits + 1..];
        } else {
            pieces.push(&rest[..at + 10]);
            rest = tail;
        }
    }
    pieces.push(rest);
    pieces
}

#[test]
fn takes_linear_time_on_hostile_text() {
    let redactor = Redactor::default();
    for unit in [
        "://",
        "a://b",
        "http://u:p",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----\n",
        "=",
        "password=",
        "password='",
        "password=\"x",
        "sk-ant-",
        "EAAA-",
        "pa-",
        "sl.",
        "eyJ",
        "eyJa.",
        "%41",
        "%",
        "[REDACTED-1]",
        "[REDACTED-",
        "Private-Lines: ",
        "@tcp(",
        "a:b@tcp(",
        "a:b1b1b1@h.org:",
        "user,password\n",
        "| user | password |\n",
        "passwords=[\"a1b2c3\",",
        "creds: a ",
        "jwt.sign({",
        "seed phrase: abc abd abe ",
        "\\n",
        "xoxb-",
        "-p ",
        "mysql -p",
        "curl -u ",
        "token ",
        "a1B2",
        "/a1",
        "x",
        "é",
        "IDENTIFIED BY ",
        "password=x ",
        "user=a password=b1x!\n",
        "password \"x1y2z3\" ",
        "mysql ",
        "net use x ",
        "echo a | ",
        "kind: Secret\n",
        "kind: Secret\ndata:\n  a: b\n---\n",
        "data:\n  a: bcd\n",
        "(password) VALUES ('x') ",
        "password) VALUES (",
        "expect password send \"a\" ",
        "contraseña",
        "contraseña es ",
        "密码：",
        "password a ",
        "login(\"a\",",
        "strcmp(password,",
        "x:5432:",
        "-----BEGIN X-----\n",
        "-----END X-----\n",
        "AAAA\n-----END RSA PRIVATE KEY-----\n",
        "password:\n  x: y\n",
        "<password>",
        "key: ",
        "AAECAwQF",
        "0x",
        "ghp_ghp_",
        "sb.",
        "-----END ",
        "login(\"",
        "{\"a\":",
        "hf_",
        "00",
        "1//0",
        "b_",
    ] {
        // No clock here: what takes quadratic time runs into the time limit of the test runner.
        let text = unit.repeat(192_000 / unit.len());
        let clean = redactor.clean(&text);
        assert!(clean.as_str().len() <= text.len() + 40 * text.len() / unit.len());
    }
}

fn configured(mode: RedactionMode, allow: &[&str], rules: &[(&str, &str)]) -> Redactor {
    let rules = rules.iter().map(|(name, pattern)| ExtraRule {
        name: (*name).to_owned(),
        pattern: (*pattern).to_owned(),
    });
    let config = RedactionConfig {
        mode,
        allow: allow.iter().map(|a| (*a).to_owned()).collect(),
        rules: rules.collect(),
    };
    Redactor::new(&config).expect("valid rules")
}

#[test]
fn modes_select_the_detectors() {
    let text = "x 9tK2mQ7vLp4RzX8cWn3bYh6J and DB_PASSWORD=hunter2";
    let all = configured(RedactionMode::PatternAndEntropy, &[], &[]);
    assert_eq!(all.clean(text).as_str(), "x [REDACTED-1] and DB_PASSWORD=[REDACTED-2]");
    let patterns = configured(RedactionMode::PatternOnly, &[], &[]);
    assert_eq!(
        patterns.clean(text).as_str(),
        "x 9tK2mQ7vLp4RzX8cWn3bYh6J and DB_PASSWORD=[REDACTED-1]"
    );
    let off = configured(RedactionMode::Off, &[], &[("any", "x")]);
    assert_eq!(off.clean(text).as_str(), text);
}

#[test]
fn configuration_allows_values_and_adds_rules() {
    let redactor = configured(
        RedactionMode::PatternAndEntropy,
        &["hunter2"],
        &[("staff-number", r"staff (\d{4})"), ("room", "room [A-Z]+")],
    );
    let clean = redactor.clean("password=hunter2 staff 1234 in room B, staff 1234");
    assert_eq!(
        clean.as_str(),
        "password=hunter2 staff [REDACTED-1] in [REDACTED-2], staff [REDACTED-1]"
    );
    assert_eq!(clean.redactions_by_rule().get("staff-number"), Some(&2));
    assert_eq!(clean.redactions_by_rule().get("room"), Some(&1));
}

#[test]
fn rejects_an_invalid_rule() {
    let config = RedactionConfig {
        rules: vec![ExtraRule { name: "broken".to_owned(), pattern: "(".to_owned() }],
        ..RedactionConfig::default()
    };
    let error = Redactor::new(&config).expect_err("not a regular expression");
    assert_eq!(error.name, "broken");
}

#[test]
fn continues_numbering_after_existing_marks() {
    let clean = Redactor::default().clean("[REDACTED-4] then PASSWORD=hunter2");
    assert_eq!(clean.as_str(), "[REDACTED-4] then PASSWORD=[REDACTED-5]");
}
