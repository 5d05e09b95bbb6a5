//! Parses scenarios from JSON written by an agent or a person. Strict: whatever cannot be parsed is a
//! problem with its path and the violated rule, and all problems are reported at once.

use std::collections::BTreeSet;
use std::fmt;

use handover_model::ScenarioKind;
use serde_json::{Map, Value};

use super::{Document, Expect, MAX_TIMEOUT, Scenario};

/// The largest file.
pub(crate) const MAX_BYTES: usize = 256 << 10;
const MAX_SCENARIOS: usize = 100;
const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 4_096;
const MAX_STEPS: usize = 30;
const MAX_COMMANDS: usize = 10;
const MAX_TEXT: usize = 1_000;
const TIMEOUT: u64 = 30;
/// How many problems are listed one by one.
const MAX_PROBLEMS: usize = 20;

/// One problem with a file of scenarios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScenarioProblem {
    /// The path in the JSON, such as `scenarios[2].timeout`.
    pub place: String,
    /// What is wrong and what is expected.
    pub rule: String,
}

impl fmt::Display for ScenarioProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.rule)
    }
}

/// A file without usable scenarios.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` has no usable scenarios: {}", list(problems))]
pub struct UatError {
    /// The file.
    pub path: String,
    /// All problems.
    pub problems: Vec<ScenarioProblem>,
}

fn list(problems: &[ScenarioProblem]) -> String {
    let texts: Vec<String> = problems.iter().map(ScenarioProblem::to_string).collect();
    texts.join("; ")
}

/// Reads a file.
pub fn parse(text: &str) -> Result<Document, Vec<ScenarioProblem>> {
    let whole = |rule: String| vec![ScenarioProblem { place: "the file".to_owned(), rule }];
    if text.len() > MAX_BYTES {
        let size = text.len();
        return Err(whole(format!("it has {size} bytes, and {MAX_BYTES} are allowed")));
    }
    let value = serde_json::from_str(text).map_err(|error| whole(format!("no JSON: {error}")))?;
    from_value(&value)
}

/// Reads an object with `scenarios`, or the list of them alone.
pub fn from_value(value: &Value) -> Result<Document, Vec<ScenarioProblem>> {
    let mut reader = ScenarioReader::default();
    let (epic, scenarios) = match value {
        Value::Array(list) => (String::new(), list.as_slice()),
        Value::Object(whole) => {
            reader.unknown("", whole, &["schema", "epic", "scenarios"]);
            if whole.get("schema").is_some_and(|schema| *schema != 1) {
                reader.wrong("schema", "1 is expected; a newer file needs a newer handover");
            }
            let word = |epic: &Value| match epic.as_u64() {
                Some(number) => number.to_string(),
                None => epic.as_str().unwrap_or_default().to_owned(),
            };
            let epic = whole.get("epic").map(word);
            let list = whole.get("scenarios").and_then(Value::as_array);
            if list.is_none() {
                reader.wrong("scenarios", "a list of scenarios is expected");
            }
            (epic.unwrap_or_default(), list.map(Vec::as_slice).unwrap_or_default())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            reader.wrong("the file", "an object with `scenarios` is expected");
            (String::new(), [].as_slice())
        }
    };
    if scenarios.is_empty() && reader.problems.is_empty() {
        reader.wrong("scenarios", "at least one scenario is expected");
    }
    if scenarios.len() > MAX_SCENARIOS {
        reader.wrong("scenarios", &format!("at most {MAX_SCENARIOS} are allowed"));
    }
    let mut ids = BTreeSet::new();
    let mut read = Vec::new();
    for (n, value) in scenarios.iter().take(MAX_SCENARIOS).enumerate() {
        let at = format!("scenarios[{n}]");
        let Some(fields) = value.as_object() else {
            reader.wrong(&at, "an object is expected");
            continue;
        };
        let scenario = reader.scenario(&at, fields);
        if !ids.insert(scenario.id.clone()) {
            reader.wrong(&format!("{at}.id"), &format!("`{}` is used twice", scenario.id));
        }
        read.push(scenario);
    }
    if reader.problems.is_empty() {
        return Ok(Document { schema: 1, epic, scenarios: read });
    }
    let more = reader.problems.len().saturating_sub(MAX_PROBLEMS);
    reader.problems.truncate(MAX_PROBLEMS);
    if more > 0 {
        reader.wrong("the file", &format!("more problems: {more}"));
    }
    Err(reader.problems)
}

const FIELDS: &[&str] = &[
    "id",
    "title",
    "criterion",
    "kind",
    "argv",
    "expect",
    "timeout",
    "setup",
    "cleanup",
    "steps",
    "expected",
];

/// Collects problems while parsing continues.
#[derive(Default)]
struct ScenarioReader {
    problems: Vec<ScenarioProblem>,
}

impl ScenarioReader {
    fn wrong(&mut self, place: &str, rule: &str) {
        self.problems.push(ScenarioProblem { place: place.to_owned(), rule: rule.to_owned() });
    }

    fn unknown(&mut self, at: &str, fields: &Map<String, Value>, known: &[&str]) {
        for name in fields.keys().filter(|name| !known.contains(&name.as_str())) {
            let name: String = name.chars().take(60).collect();
            let place = if at.is_empty() { name } else { format!("{at}.{name}") };
            self.wrong(&place, &format!("there is no such field; one of {}", known.join(", ")));
        }
    }

    fn scenario(&mut self, at: &str, fields: &Map<String, Value>) -> Scenario {
        self.unknown(at, fields, FIELDS);
        let id = self.id(at, fields);
        let kind = self.kind(at, fields);
        let argv = match fields.get("argv") {
            Some(value) => self.argv(&format!("{at}.argv"), value),
            None => Vec::new(),
        };
        let scenario = Scenario {
            title: self.text(at, fields, "title", false),
            criterion: self.text(at, fields, "criterion", true),
            expect: fields.get("expect").map(|value| self.expect(&format!("{at}.expect"), value)),
            timeout: self.timeout(at, fields),
            setup: self.commands(at, fields, "setup"),
            cleanup: self.commands(at, fields, "cleanup"),
            steps: self.texts(&format!("{at}.steps"), fields.get("steps")),
            expected: self.text(at, fields, "expected", false),
            id,
            kind: kind.unwrap_or(ScenarioKind::Manual),
            argv,
        };
        match kind {
            Some(ScenarioKind::Auto) if !fields.contains_key("argv") => {
                self.wrong(&format!("{at}.argv"), "an automatic scenario needs a program");
            }
            Some(ScenarioKind::Manual) if fields.contains_key("argv") => {
                self.wrong(&format!("{at}.argv"), "a manual scenario starts no program");
            }
            Some(ScenarioKind::Semi | ScenarioKind::Manual) if scenario.steps.is_empty() => {
                self.wrong(&format!("{at}.steps"), "what the person does is expected");
            }
            Some(_) | None => {}
        }
        if scenario.argv.is_empty() {
            for name in ["expect", "setup", "cleanup"] {
                if fields.contains_key(name) && !fields.contains_key("argv") {
                    self.wrong(&format!("{at}.{name}"), "it makes no sense without `argv`");
                }
            }
        }
        scenario
    }

    fn id(&mut self, at: &str, fields: &Map<String, Value>) -> String {
        let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if id.is_empty() || id.len() > 64 || !id.chars().all(plain) {
            let rule = "1 to 64 letters, digits, `-`, `_` or `.` are expected";
            self.wrong(&format!("{at}.id"), rule);
        }
        id.to_owned()
    }

    fn kind(&mut self, at: &str, fields: &Map<String, Value>) -> Option<ScenarioKind> {
        let word = fields.get("kind").and_then(Value::as_str).unwrap_or_default();
        match word.parse() {
            Ok(kind) => Some(kind),
            Err(_) => {
                let word: String = word.chars().take(60).collect();
                let words = ScenarioKind::WORDS.join(", ");
                self.wrong(&format!("{at}.kind"), &format!("`{word}` is not one of {words}"));
                None
            }
        }
    }

    fn timeout(&mut self, at: &str, fields: &Map<String, Value>) -> u64 {
        match fields.get("timeout") {
            None => TIMEOUT,
            Some(value) => match value.as_u64().filter(|n| (1..=MAX_TIMEOUT).contains(n)) {
                Some(seconds) => seconds,
                None => {
                    let rule = format!("whole seconds from 1 to {MAX_TIMEOUT} are expected");
                    self.wrong(&format!("{at}.timeout"), &rule);
                    TIMEOUT
                }
            },
        }
    }

    fn text(&mut self, at: &str, fields: &Map<String, Value>, name: &str, must: bool) -> String {
        let place = format!("{at}.{name}");
        match fields.get(name) {
            None if must => {
                self.wrong(&place, "a text is expected");
                String::new()
            }
            None => String::new(),
            Some(value) => self.checked(&place, value, must),
        }
    }

    fn checked(&mut self, place: &str, value: &Value, must: bool) -> String {
        let Some(text) = value.as_str() else {
            self.wrong(place, "a text is expected");
            return String::new();
        };
        if must && text.trim().is_empty() {
            self.wrong(place, "a text is expected, and it is empty");
        }
        if text.chars().count() > MAX_TEXT {
            self.wrong(place, &format!("at most {MAX_TEXT} characters are allowed"));
        }
        text.trim().to_owned()
    }

    /// A text, or a list of texts.
    fn texts(&mut self, place: &str, value: Option<&Value>) -> Vec<String> {
        match value {
            None => Vec::new(),
            Some(Value::Array(list)) => {
                if list.len() > MAX_STEPS {
                    self.wrong(place, &format!("at most {MAX_STEPS} are allowed"));
                }
                let list = list.iter().take(MAX_STEPS).enumerate();
                list.map(|(n, text)| self.checked(&format!("{place}[{n}]"), text, true)).collect()
            }
            Some(text) => vec![self.checked(place, text, true)],
        }
    }

    fn commands(&mut self, at: &str, fields: &Map<String, Value>, name: &str) -> Vec<Vec<String>> {
        let place = format!("{at}.{name}");
        let Some(value) = fields.get(name) else { return Vec::new() };
        let Some(list) = value.as_array().filter(|list| list.iter().all(Value::is_array)) else {
            let rule = "a list of commands is expected, each a list of words";
            self.wrong(&place, rule);
            return Vec::new();
        };
        if list.len() > MAX_COMMANDS {
            self.wrong(&place, &format!("at most {MAX_COMMANDS} commands are allowed"));
        }
        let list = list.iter().take(MAX_COMMANDS).enumerate();
        list.map(|(n, command)| self.argv(&format!("{place}[{n}]"), command)).collect()
    }

    fn argv(&mut self, place: &str, value: &Value) -> Vec<String> {
        let Some(list) = value.as_array() else {
            let rule = "a list of words is expected: no shell splits a command line";
            self.wrong(place, rule);
            return Vec::new();
        };
        if list.is_empty() || list.len() > MAX_WORDS {
            self.wrong(place, &format!("1 to {MAX_WORDS} words are expected"));
        }
        let mut words = Vec::new();
        for (n, word) in list.iter().take(MAX_WORDS).enumerate() {
            match word.as_str() {
                Some(word) if word.len() <= MAX_WORD && !word.contains('\0') => {
                    words.push(word.to_owned());
                }
                Some(_) | None => {
                    let rule = format!("a text of at most {MAX_WORD} bytes is expected");
                    self.wrong(&format!("{place}[{n}]"), &rule);
                }
            }
        }
        if words.first().is_some_and(|program| program.trim().is_empty()) {
            self.wrong(&format!("{place}[0]"), "the name of a program is expected");
        }
        words
    }

    fn expect(&mut self, at: &str, value: &Value) -> Expect {
        let Some(fields) = value.as_object() else {
            self.wrong(at, "an object with `exit`, `text` or `json` is expected");
            return Expect::default();
        };
        self.unknown(at, fields, &["exit", "text", "json"]);
        let exit = match fields.get("exit").map(Value::as_i64) {
            None => 0,
            Some(Some(code)) if (0..=255).contains(&code) => code as i32,
            Some(_) => {
                self.wrong(&format!("{at}.exit"), "an exit code from 0 to 255 is expected");
                0
            }
        };
        let text = self.texts(&format!("{at}.text"), fields.get("text"));
        Expect { exit, text, json: fields.get("json").cloned() }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
