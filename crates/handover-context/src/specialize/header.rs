//! The front matter of a template: its name, and for whom and what it is.
//!
//! The build script includes this file too, to index the built-in templates.

use handover_model::Category;
use serde::Deserialize;

/// The front matter of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The name; equal to the file name.
    pub name: String,
    /// What it is about.
    pub category: Category,
    /// 1 is the highest.
    pub priority: u8,
    /// The technologies that select it; empty: only by choice or for a role.
    pub detect: Vec<String>,
    /// The roles it is for; empty: every role.
    pub compatible_with: Vec<String>,
    /// Technologies that must be present for it to be selected.
    pub requires: Vec<String>,
}

/// The lowest priority.
pub(crate) const LAST_PRIORITY: u8 = 9;

/// The size limit of a header.
const MOST_BYTES: usize = 8 * 1024;

/// A problem in a header, and its line in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HeaderError {
    /// The line in the file.
    pub(crate) line: usize,
    /// A description for the author.
    pub(crate) message: String,
}

impl HeaderError {
    fn new(line: usize, message: impl Into<String>) -> Self {
        Self { line, message: message.into() }
    }
}

/// The header as written. Lists may be a single word.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: Option<String>,
    r#type: Option<String>,
    priority: Option<i64>,
    detect: Option<Words>,
    compatible_with: Option<Words>,
    requires: Option<Words>,
    /// Used by older templates; the cost of a template is counted instead.
    #[serde(rename = "token_estimate")]
    _token_estimate: Option<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Words {
    One(String),
    Many(Vec<String>),
}

impl Words {
    fn list(self) -> Vec<String> {
        let words = match self {
            Self::One(word) => word.split(',').map(str::to_owned).collect(),
            Self::Many(words) => words,
        };
        words
            .iter()
            .map(|word| word.trim().to_lowercase())
            .filter(|word| !word.is_empty())
            .collect()
    }
}

/// Splits a template into header and body, and returns the line on which the body begins.
pub(crate) fn parse<'t>(
    file_name: &str,
    text: &'t str,
) -> Result<(Header, &'t str, usize), HeaderError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, body, line) = split(text)?;
    let raw: Raw = serde_saphyr::from_str(yaml).map_err(|error| {
        let at = error.location().map_or(0, |place| place.line() as usize);
        HeaderError::new(at + 1, plain(&error.without_snippet().to_string()))
    })?;
    let name = raw.name.unwrap_or_else(|| file_name.to_owned());
    if !is_name(&name) {
        let rule = "lower-case letters, digits and `-` are allowed, at most 64";
        return Err(HeaderError::new(2, format!("`{}` is no name: {rule}", shown(&name))));
    }
    if name != file_name {
        let message = format!("the name is `{name}`, the file's is `{}`", shown(file_name));
        return Err(HeaderError::new(2, message));
    }
    let Some(category) = raw.r#type else {
        return Err(HeaderError::new(2, "`type` is missing"));
    };
    let category = category
        .trim()
        .to_lowercase()
        .parse()
        .map_err(|error: handover_model::UnknownWord| HeaderError::new(2, error.to_string()))?;
    let priority = raw.priority.unwrap_or(2);
    let priority = u8::try_from(priority)
        .ok()
        .filter(|priority| (1..=LAST_PRIORITY).contains(priority))
        .ok_or_else(|| {
            HeaderError::new(2, format!("priority {priority} is not between 1 and {LAST_PRIORITY}"))
        })?;
    let list = |words: Option<Words>| words.map(Words::list);
    let header = Header {
        detect: list(raw.detect).unwrap_or_else(|| vec![name.clone()]),
        compatible_with: list(raw.compatible_with).unwrap_or_default(),
        requires: list(raw.requires).unwrap_or_default(),
        name,
        category,
        priority,
    };
    Ok((header, body, line))
}

fn split(text: &str) -> Result<(&str, &str, usize), HeaderError> {
    let mut at = 0;
    let mut start = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_rule = line.trim_end() == "---";
        if number == 0 {
            if !is_rule {
                return Err(HeaderError::new(1, "a line `---` is expected, then the header"));
            }
            start = line.len();
        } else if is_rule {
            return Ok((&text[start..at], &text[at + line.len()..], number + 2));
        }
        at += line.len();
        if at > MOST_BYTES {
            break;
        }
    }
    Err(HeaderError::new(1, "the header has no end; a line `---` is expected after it"))
}

/// The parser's message on one line, without hints for programmers.
fn plain(text: &str) -> String {
    let text = text.trim_start_matches("error: ");
    let text = text.split(['\n', ';']).next().unwrap_or(text);
    let text = text.split(" at line ").next().unwrap_or(text);
    match text.split_once(": ") {
        Some((place, rest)) if place.starts_with("line ") => rest.trim().to_owned(),
        _ => text.trim().to_owned(),
    }
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(allowed) && !name.starts_with('-')
}

fn shown(text: &str) -> String {
    text.chars().take(64).collect()
}
