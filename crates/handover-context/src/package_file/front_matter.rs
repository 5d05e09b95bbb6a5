//! YAML front matter.

use std::collections::BTreeSet;

use handover_model::{InvalidId, PackageKind, Priority, Role, UnknownWord};
use serde_json::Value;

use crate::yaml::{self, YamlError};

/// The size limit of front matter.
const MAX_BYTES: usize = 64 * 1024;

/// The metadata in a file. Unknown keys are ignored: they belong to other programs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// `type`
    pub kind: Option<PackageKind>,
    /// `group_id`; may be `global`.
    pub group: Option<String>,
    /// `session_id`
    pub session: Option<String>,
    /// `producer`
    pub producer: Option<Role>,
    /// `consumers`
    pub consumers: Option<Vec<Role>>,
    /// `priority`
    pub priority: Option<Priority>,
    /// `summary`
    pub summary: Option<String>,
    /// `iteration`
    pub iteration: Option<u32>,
    /// `files`
    pub files: Vec<String>,
    /// `version`, if it is a whole number; versions such as `1.2` are the file's own.
    pub version: Option<u32>,
    /// Unknown keys that resemble one of ours, with the key they resemble.
    pub typos: Vec<(String, &'static str)>,
}

/// Why front matter could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrontMatterError {
    /// The closing line is missing.
    #[error("it starts with `---` and is never closed; expected another line `---`")]
    Open,
    /// Larger than the limit.
    #[error("it has {size} bytes; the limit is {MAX_BYTES}")]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
    /// Invalid YAML, or a value of the wrong type.
    #[error("{message}")]
    Yaml {
        /// The parser's message, on one line.
        message: String,
    },
    /// An unknown kind or priority.
    #[error(transparent)]
    Word(#[from] UnknownWord),
    /// An invalid role or group.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// Not a non-negative integer.
    #[error("`{value}` is not a valid {key}; expected a whole number")]
    Number {
        /// The key that needs a number.
        key: &'static str,
        /// The text that was given.
        value: String,
    },
}

/// Splits a text into front matter, if any, and body.
pub(super) fn split(text: &str) -> Result<(Option<FrontMatter>, &str), FrontMatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next() else {
        return Ok((None, text));
    };
    if first.trim_end() != "---" {
        return Ok((None, text));
    }
    let start = first.len();
    let mut at = start;
    for line in lines {
        if matches!(line.trim_end(), "---" | "...") {
            let yaml = &text[start..at];
            if yaml.len() > MAX_BYTES {
                return Err(FrontMatterError::TooLarge { size: yaml.len() });
            }
            return Ok((Some(parse(yaml)?), &text[at + line.len()..]));
        }
        at += line.len();
    }
    Err(FrontMatterError::Open)
}

fn parse(yaml: &str) -> Result<FrontMatter, FrontMatterError> {
    if yaml.trim().is_empty() {
        return Ok(FrontMatter::default());
    }
    let fields = match yaml::read(yaml).map_err(|error| yaml_error(&error))? {
        Value::Object(fields) => fields,
        Value::Null => return Ok(FrontMatter::default()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let message = "it is not a list of `key: value` lines".to_owned();
            return Err(FrontMatterError::Yaml { message });
        }
    };
    let words = |key: &'static str| Words::of(key, fields.get(key));
    Ok(FrontMatter {
        kind: words("type")?.one().map(|w| w.to_lowercase().parse()).transpose()?,
        group: words("group_id")?.one().or(words("group")?.one()),
        session: words("session_id")?.one(),
        producer: words("producer")?.one().map(|w| Role::new(w.to_lowercase())).transpose()?,
        consumers: words("consumers")?
            .list()
            .map(|names| names.iter().map(|n| Role::new(n.to_lowercase())).collect())
            .transpose()?,
        priority: words("priority")?.one().map(|w| w.to_lowercase().parse()).transpose()?,
        summary: words("summary")?.one(),
        iteration: words("iteration")?
            .one()
            .map(|value| {
                value.parse().map_err(|_| FrontMatterError::Number { key: "iteration", value })
            })
            .transpose()?,
        files: words("files")?.list().unwrap_or_default(),
        version: words("version")?.one().and_then(|value| value.parse().ok()),
        typos: sorted(fields.keys()).into_iter().filter_map(typo).collect(),
    })
}

fn sorted<'a>(keys: impl Iterator<Item = &'a String>) -> BTreeSet<String> {
    keys.cloned().collect()
}

/// The message with the line number in the file.
fn yaml_error(error: &YamlError) -> FrontMatterError {
    // The parser does not see the opening `---`.
    FrontMatterError::Yaml { message: format!("line {}: {}", error.line + 1, error.message) }
}

const KEYS: &[&str] = &[
    "type",
    "group_id",
    "group",
    "session_id",
    "producer",
    "consumers",
    "priority",
    "summary",
    "iteration",
    "files",
    "version",
];

/// The key that an unknown key resembles. Very different keys belong to other programs.
fn typo(key: String) -> Option<(String, &'static str)> {
    if KEYS.contains(&key.as_str()) {
        return None;
    }
    let near = KEYS
        .iter()
        .max_by(|a, b| strsim::jaro_winkler(a, &key).total_cmp(&strsim::jaro_winkler(b, &key)))?;
    (strsim::jaro_winkler(near, &key) > 0.87).then_some((key, near))
}

/// A value or a list of values as text, because people write `consumers: developer, qa_expert`.
struct Words(Option<Vec<String>>);

impl Words {
    fn of(key: &'static str, value: Option<&Value>) -> Result<Self, FrontMatterError> {
        let text = |value: &Value| match value {
            Value::String(text) => Ok(text.trim().to_owned()),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {
                let message = format!("`{key}` must be a text or a list of texts");
                Err(FrontMatterError::Yaml { message })
            }
        };
        Ok(Self(match value {
            None | Some(Value::Null) => None,
            Some(Value::Array(items)) => Some(items.iter().map(text).collect::<Result<_, _>>()?),
            Some(value) => Some(vec![text(value)?]),
        }))
    }

    /// The values as a list; a single text may contain several separated by commas.
    fn list(&self) -> Option<Vec<String>> {
        let split = |text: &String| {
            text.split(',')
                .map(|w| w.trim().to_owned())
                .filter(|w| !w.is_empty())
                .collect::<Vec<_>>()
        };
        self.0.as_ref().map(|words| words.iter().flat_map(split).collect())
    }

    /// The values as one text.
    fn one(&self) -> Option<String> {
        self.0.as_ref().map(|words| words.join(", ")).filter(|text| !text.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn front(yaml: &str) -> Result<FrontMatter, FrontMatterError> {
        split(&format!("---\n{yaml}\n---\n# Body\n")).map(|(front, _)| front.unwrap())
    }

    #[test]
    fn reads_documented_keys() {
        let front = front(
            "type: research\ngroup_id: P1\nproducer: requirements_engineer\n\
             consumers: [developer, senior_software_engineer]\npriority: high\nversion: 1\n\
             iteration: 2\nfiles:\n  - src/a.rs\n  - src/b.rs\ntags: {their: own}",
        )
        .unwrap();
        assert_eq!(front.kind, Some(PackageKind::Research));
        assert_eq!(front.group.as_deref(), Some("P1"));
        assert_eq!(front.priority, Some(Priority::High));
        assert_eq!(front.consumers.unwrap().len(), 2);
        assert_eq!((front.iteration, front.version), (Some(2), Some(1)));
        assert_eq!(front.files, ["src/a.rs", "src/b.rs"]);
    }

    #[test]
    fn accepts_informal_values() {
        let front =
            front("consumers: developer, QA_expert\ngroup_id: 7\nsummary: 'Handles 1,000, no?'\npriority:\ntype: Research")
                .unwrap();
        let roles: Vec<String> = front.consumers.unwrap().iter().map(ToString::to_string).collect();
        assert_eq!(roles, ["developer", "qa_expert"]);
        assert_eq!(front.group.as_deref(), Some("7"));
        assert_eq!(front.summary.as_deref(), Some("Handles 1,000, no?"));
        assert_eq!(front.priority, None);
    }

    #[test]
    fn values_are_as_written() {
        for value in ["1.10", "010", "no", "y", "0x1F", "1e3", "2026-01-01", "True", "1_000"] {
            let front = front(&format!("group_id: {value}\nsummary: {value}\nfiles: [{value}]"));
            let front = front.unwrap();
            assert_eq!(front.group.as_deref(), Some(value));
            assert_eq!(front.summary.as_deref(), Some(value));
            assert_eq!(front.files, [value]);
        }
        assert_eq!(front("group_id: ~\nsummary: null").unwrap(), FrontMatter::default());
    }

    #[test]
    fn handles_crlf_bom_and_missing_front_matter() {
        let (front, rest) = split("\u{feff}---\r\ntype: handoff\r\n---\r\nbody").unwrap();
        assert_eq!((front.unwrap().kind, rest), (Some(PackageKind::Handoff), "body"));
        assert!(split("# Title\n---\nx").unwrap().0.is_none());
        assert!(split("").unwrap().0.is_none());
        assert_eq!(split("---\n---\nx").unwrap(), (Some(FrontMatter::default()), "x"));
    }

    #[test]
    fn reports_invalid_front_matter() {
        assert!(matches!(split("---\ntype: x"), Err(FrontMatterError::Open)));
        assert!(matches!(front("type: rumour"), Err(FrontMatterError::Word(_))));
        assert!(matches!(front("producer: 'Q A'"), Err(FrontMatterError::Id(_))));
        assert!(matches!(front("iteration: -1"), Err(FrontMatterError::Number { .. })));
        assert!(matches!(front("type: [unclosed"), Err(FrontMatterError::Yaml { .. })));
        assert!(matches!(front("- a\n- b"), Err(FrontMatterError::Yaml { .. })));
        let long = format!("x: {}", "y".repeat(70_000));
        assert!(matches!(front(&long), Err(FrontMatterError::TooLarge { .. })));
    }

    #[test]
    fn reports_misspelt_keys_but_not_foreign_ones() {
        let front =
            front("priorty: high\nconsumer: developer\ntags: [a]\ndate: 2026-01-01").unwrap();
        let typos: Vec<&str> = front.typos.iter().map(|(_, near)| *near).collect();
        assert_eq!(typos, ["consumers", "priority"]);
    }

    #[test]
    fn error_lines_refer_to_the_file() {
        let error = front("type: research\npriority: [").unwrap_err().to_string();
        assert_eq!(error, "line 3: unclosed bracket '['");
        let error = front("files: [null]").unwrap_err().to_string();
        assert_eq!(error, "`files` must be a text or a list of texts");
    }

    #[test]
    fn rejects_a_yaml_bomb() {
        let level =
            |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
        let levels: String = (1..30).map(level).collect();
        let yaml = format!("a0: &a0 [x, x, x, x, x, x, x, x, x]\n{levels}files: *a29");
        assert!(front(&yaml).is_err());
        let deep = format!("files: {}{}", "[".repeat(20_000), "]".repeat(20_000));
        assert!(front(&deep).is_err());
    }
}
