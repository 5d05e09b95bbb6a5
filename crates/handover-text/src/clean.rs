//! Text that has passed redaction, as types that nothing else can make.

use std::fmt;

use serde_json::{Map, Value};

use crate::redact::Marks;
use crate::{Redactor, cut};

/// Text without known secrets. Made by [`Redactor::clean`] alone.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clean {
    text: String,
    redactions: u32,
}

impl Clean {
    pub(crate) fn new(text: String, redactions: u32) -> Self {
        Self { text, redactions }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many secrets were taken out.
    pub fn redactions(&self) -> u32 {
        self.redactions
    }

    /// The same text in at most `max` characters, cut at a word.
    pub fn cut(&self, max: usize) -> Self {
        Self {
            text: cut::cut(&self.text, max),
            redactions: self.redactions,
        }
    }

    /// The same text on one line.
    pub fn one_line(&self) -> Self {
        Self {
            text: cut::one_line(&self.text),
            redactions: self.redactions,
        }
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A JSON value whose every string has passed redaction. Made by [`Redactor::clean_json`] alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CleanJson {
    value: Value,
    redactions: u32,
}

impl CleanJson {
    /// The value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How many secrets were taken out.
    pub fn redactions(&self) -> u32 {
        self.redactions
    }
}

impl Redactor {
    /// Redacts a text and certifies it.
    pub fn clean(&self, text: &str) -> Clean {
        let mut marks = Marks::default();
        let (clean, count) = self.replace(text, &mut marks);
        Clean::new(clean.into_owned(), count)
    }

    /// Redacts every string of a parsed value; a key such as `password` tells about its value.
    /// Numbering of secrets runs through the whole value.
    pub fn clean_json(&self, value: Value) -> CleanJson {
        let mut walk = Walk {
            redactor: self,
            marks: Marks::default(),
            redactions: 0,
        };
        let value = walk.value(None, value);
        CleanJson {
            value,
            redactions: walk.redactions,
        }
    }
}

struct Walk<'r> {
    redactor: &'r Redactor,
    marks: Marks,
    redactions: u32,
}

impl Walk<'_> {
    fn value(&mut self, key: Option<&str>, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(key, text)),
            Value::Array(items) => items
                .into_iter()
                .map(|item| self.value(key, item))
                .collect(),
            Value::Object(fields) => {
                let mut clean = Map::with_capacity(fields.len());
                for (name, field) in fields {
                    let field = self.value(Some(&name), field);
                    clean.insert(self.string(None, name), field);
                }
                Value::Object(clean)
            }
            // A number under a telling key ("pin": 4711) is a secret too.
            Value::Number(number) => {
                let text = number.to_string();
                match key.map(|key| self.redactor.replace_value(key, &text, &mut self.marks)) {
                    Some((clean, 1..)) => {
                        self.redactions += 1;
                        Value::String(clean.into_owned())
                    }
                    Some((_, 0)) | None => Value::Number(number),
                }
            }
            Value::Bool(_) | Value::Null => value,
        }
    }

    fn string(&mut self, key: Option<&str>, text: String) -> String {
        let (clean, count) = match key {
            Some(key) => self.redactor.replace_value(key, &text, &mut self.marks),
            None => self.redactor.replace(&text, &mut self.marks),
        };
        self.redactions += count;
        clean.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redactor() -> Redactor {
        Redactor::default()
    }

    #[test]
    fn json_stays_json_and_keys_tell_about_values() {
        let clean = redactor().clean_json(json!({
            "note": "password=hunter2sEcret, see above",
            "password": "hunter2",
            "port": 8080,
            "list": [{"api_key": "abc"}],
        }));
        assert_eq!(
            clean.value(),
            &json!({
                "note": "password=[REDACTED-1], see above",
                "password": "[REDACTED-2]",
                "port": 8080,
                "list": [{"api_key": "[REDACTED-3]"}],
            })
        );
        assert_eq!(clean.redactions(), 3);
    }

    #[test]
    fn equal_secrets_get_equal_numbers() {
        let clean = redactor().clean("password=tr0ub4dor&3 then PASSWD=tr0ub4dor&3");
        assert_eq!(
            clean.as_str(),
            "password=[REDACTED-1] then PASSWD=[REDACTED-1]"
        );
        assert_eq!(clean.redactions(), 2);
    }

    #[test]
    fn clean_text_is_left_alone() {
        let text = "The secret management module\n\tkeeps   its white space.";
        assert_eq!(redactor().clean(text).as_str(), text);
    }
}
