//! Redacted text, as types that only a redactor can produce.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::redact::Marks;
use crate::{Redactor, cut, short};

/// Text without known secrets. Only [`Redactor::clean`] produces it, also when deserializing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Clean {
    text: String,
    rules: BTreeMap<String, u32>,
}

impl Clean {
    pub(crate) fn new(text: String, rules: BTreeMap<String, u32>) -> Self {
        Self { text, rules }
    }

    /// The redacted text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// How many secrets were removed.
    pub fn redactions(&self) -> u32 {
        self.rules.values().sum()
    }

    /// How many secrets each rule removed.
    pub fn redactions_by_rule(&self) -> &BTreeMap<String, u32> {
        &self.rules
    }

    /// The text shortened to at most `max` characters, cut at a word.
    pub fn cut(&self, max: usize) -> Self {
        Self { text: cut::cut(&self.text, max), rules: self.rules.clone() }
    }

    /// The text on one line, with white space collapsed.
    pub fn one_line(&self) -> Self {
        Self { text: cut::one_line(&self.text), rules: self.rules.clone() }
    }
}

impl fmt::Display for Clean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A JSON value with every string redacted. Only [`Redactor::clean_json`] produces it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CleanJson {
    value: Value,
    rules: BTreeMap<String, u32>,
}

impl CleanJson {
    /// The redacted value.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How many secrets were removed.
    pub fn redactions(&self) -> u32 {
        self.rules.values().sum()
    }

    /// How many secrets each rule removed.
    pub fn redactions_by_rule(&self) -> &BTreeMap<String, u32> {
        &self.rules
    }
}

/// A message that is so long quotes a whole input, and is shortened before it is redacted.
const LONG_MESSAGE: usize = 64 << 10;

/// Redacts a message, whatever the configuration says: messages quote what was given to us, and end up
/// in logs.
pub fn redact_message(text: &str) -> String {
    static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::default);
    let text = if text.len() > LONG_MESSAGE { short(text) } else { Cow::Borrowed(text) };
    REDACTOR.clean(&text).text
}

thread_local! {
    /// The redactor for values that are being deserialized on this thread.
    static READER: RefCell<Option<Redactor>> = const { RefCell::new(None) };
}

impl Redactor {
    /// Runs `read` with this redactor in effect: every [`Clean`] text it deserializes is redacted, because
    /// input from outside is never trusted to be clean.
    pub fn reading<T>(&self, read: impl FnOnce() -> T) -> T {
        let former = READER.replace(Some(self.clone()));
        let value = read();
        READER.set(former);
        value
    }
}

/// Redacts with the redactor in effect.
fn read_clean<T, E: serde::de::Error>(read: impl FnOnce(&Redactor) -> T) -> Result<T, E> {
    READER.with_borrow(|reader| match reader {
        Some(redactor) => Ok(read(redactor)),
        None => Err(E::custom("`Clean` can only be deserialized inside `Redactor::reading`")),
    })
}

impl Serialize for Clean {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

/// Fails outside [`Redactor::reading`].
impl<'de> Deserialize<'de> for Clean {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        read_clean(|redactor| redactor.clean(&text))
    }
}

impl Serialize for CleanJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// Fails outside [`Redactor::reading`].
impl<'de> Deserialize<'de> for CleanJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        read_clean(|redactor| redactor.clean_json(value))
    }
}

impl Redactor {
    /// Redacts a text.
    pub fn clean(&self, text: &str) -> Clean {
        let mut marks = Marks::default();
        marks.reserve(text);
        let clean = self.replace(text, &mut marks).into_owned();
        Clean::new(clean, marks.into_rules())
    }

    /// Redacts every string of a parsed value. A key such as `password` makes its value a secret, and the
    /// numbers of the marks are shared by the whole value.
    pub fn clean_json(&self, value: Value) -> CleanJson {
        let mut walk = Walk { redactor: self, marks: Marks::default() };
        walk.reserve(&value);
        let value = walk.value(None, value);
        CleanJson { value, rules: walk.marks.into_rules() }
    }
}

struct Walk<'r> {
    redactor: &'r Redactor,
    marks: Marks,
}

impl Walk<'_> {
    fn reserve(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.marks.reserve(text),
            Value::Array(items) => items.iter().for_each(|item| self.reserve(item)),
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.marks.reserve(name);
                    self.reserve(field);
                }
            }
            Value::Number(_) | Value::Bool(_) | Value::Null => {}
        }
    }

    fn value(&mut self, key: Option<&str>, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.string(key, &text)),
            Value::Array(items) => items.into_iter().map(|item| self.value(key, item)).collect(),
            Value::Object(fields) => {
                // `{"name": "DB_PASSWORD", "value": "…"}` splits a key and its value.
                let named = fields
                    .get("name")
                    .or_else(|| fields.get("key"))
                    .and_then(Value::as_str)
                    .map(str::to_owned);
                let password = fields.iter().any(|(name, field)| {
                    field.as_str().is_some_and(|text| self.redactor.hides_password(name, text))
                });
                let mut clean = Map::with_capacity(fields.len());
                for (name, field) in fields {
                    let key = match &named {
                        Some(named) if name == "value" => named,
                        Some(_) | None => &name,
                    };
                    let user = field
                        .as_str()
                        .filter(|_| password)
                        .and_then(|text| self.redactor.replace_user(&name, text, &mut self.marks));
                    let field = match user {
                        Some(mark) => Value::String(mark),
                        None => self.value(Some(key), field),
                    };
                    clean.insert(self.string(None, &name), field);
                }
                Value::Object(clean)
            }
            // A number under a sensitive key ("pin": 4711) is a secret too.
            Value::Number(number) => {
                let digits = number.to_string();
                let mark =
                    key.and_then(|key| self.redactor.replace_number(key, &digits, &mut self.marks));
                mark.map_or(Value::Number(number), Value::String)
            }
            Value::Bool(_) | Value::Null => value,
        }
    }

    fn string(&mut self, key: Option<&str>, text: &str) -> String {
        let clean = match key {
            Some(key) => self.redactor.replace_value(key, text, &mut self.marks),
            None => self.redactor.replace(text, &mut self.marks),
        };
        clean.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn redactor() -> Redactor {
        Redactor::default()
    }

    #[test]
    fn redacts_json_by_text_and_by_key() {
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
        assert_eq!(clean.as_str(), "password=[REDACTED-1] then PASSWD=[REDACTED-1]");
        assert_eq!(clean.redactions(), 2);
    }

    #[test]
    fn leaves_clean_text_unchanged() {
        let text = "The secret management module\n\tkeeps   its white space.";
        assert_eq!(redactor().clean(text).as_str(), text);
    }

    #[test]
    fn deserializes_only_through_a_redactor() {
        let secret = "\"password=hunter2sEcret\"";
        let read = || serde_json::from_str::<Clean>(secret);
        assert!(read().is_err());
        assert_eq!(redactor().reading(read).unwrap().as_str(), "password=[REDACTED-1]");
        assert!(read().is_err());
        let value = || serde_json::from_str::<CleanJson>("{\"password\": \"hunter2\"}");
        assert_eq!(
            redactor().reading(value).unwrap().value(),
            &json!({"password": "[REDACTED-1]"})
        );
    }

    #[test]
    fn a_reader_is_in_effect_only_inside() {
        let secret = "\"staff 1234\"";
        let read = || serde_json::from_str::<Clean>(secret).map(|clean| clean.text);
        let rule = handover_model::config::ExtraRule {
            name: "staff".to_owned(),
            pattern: r"staff (\d+)".to_owned(),
        };
        let config = handover_model::config::RedactionConfig {
            rules: vec![rule],
            ..handover_model::config::RedactionConfig::default()
        };
        let strict = Redactor::new(&config).unwrap();
        let (outer, inner, after) = strict.reading(|| (read(), redactor().reading(read), read()));
        assert_eq!(outer.unwrap(), "staff [REDACTED-1]");
        assert_eq!(inner.unwrap(), "staff 1234", "the inner one has no such rule");
        assert_eq!(after.unwrap(), "staff [REDACTED-1]", "the outer one is back");
        // Other threads have none.
        strict.reading(|| {
            std::thread::scope(|scope| assert!(scope.spawn(read).join().unwrap().is_err()));
        });
        read().unwrap_err();
    }

    /// The number of values of a document, by kind.
    fn shape(value: &Value) -> Vec<usize> {
        let mut counts = vec![0; 4];
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            match value {
                Value::Array(items) => {
                    counts[0] += 1 + items.len();
                    open.extend(items);
                }
                Value::Object(fields) => {
                    counts[1] += 1 + fields.len();
                    open.extend(fields.values());
                }
                Value::Bool(_) | Value::Null => counts[2] += 1,
                // A number can become a mark.
                Value::String(_) | Value::Number(_) => counts[3] += 1,
            }
        }
        counts
    }

    fn documents() -> impl Strategy<Value = Value> {
        let text = prop::sample::select(vec![
            "password=hunter2sEcret",
            "nothing",
            "[REDACTED-7]",
            "postgres://ann:sesame1@db/x",
            "ann",
            "4711",
            "",
            "é\u{0}\n",
            "ghp_0123456789abcdefghijABCDEFGHIJ012345",
        ]);
        let name = prop::sample::select(vec![
            "password", "user", "name", "value", "key", "note", "pin", "tokens", "api_key", "",
        ]);
        let leaf = prop_oneof![
            text.prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..4).prop_map(|fields| {
                    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn documents_keep_their_shape_and_lose_their_secrets(document in documents()) {
            let clean = redactor().clean_json(document.clone());
            prop_assert_eq!(shape(clean.value()), shape(&document));
            let text = clean.value().to_string();
            for secret in ["hunter2sEcret", "sesame1", "ghp_0123"] {
                prop_assert!(!text.contains(secret), "{}", text);
            }
            let again = redactor().clean_json(clean.value().clone());
            prop_assert_eq!(again.value(), clean.value(), "a second time");
            prop_assert_eq!(again.redactions(), 0);
        }
    }
}
