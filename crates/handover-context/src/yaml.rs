//! YAML in which every scalar is the text that was written.
//!
//! People and agents write `group_id: 1.10`, `010`, `no` and `summary: y` and mean text; YAML's own rules would
//! make numbers and truth values of them. Only what stands for nothing (`~`, `null`, an empty value) is null.
//! Code that needs a number parses the text. In `{text: slow, and it leaks}` the comma is part of the sentence.

use std::collections::BTreeMap;

use granit_parser::{Event, Parser, ScalarStyle, StructureStyle};
use serde_json::{Map, Value};

/// How deep lists and maps may be nested.
const MAX_DEPTH: usize = 64;

/// How many values there may be, repeated ones included.
const MAX_VALUES: usize = 20_000;

/// Why a text is not YAML, or not the part of it that is read here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct YamlError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Reads one document. An empty one is null.
pub fn read(text: &str) -> Result<Value, YamlError> {
    let mut tree = Tree::default();
    for next in Parser::new_from_str(text) {
        let (event, span) = next.map_err(|error| YamlError {
            line: error.marker().line(),
            message: error.kind().to_string(),
        })?;
        tree.take(event).map_err(|message| YamlError { line: span.start.line(), message })?;
    }
    Ok(tree.root.unwrap_or_default())
}

/// A list or map that is not complete yet.
enum Open {
    List(Vec<Value>),
    Map(OpenMap),
}

struct OpenMap {
    entries: Map<String, Value>,
    /// The key whose value comes next.
    key: Option<String>,
    /// Whether it is written in braces.
    in_braces: bool,
    /// The key of the last entry.
    last: Option<String>,
}

impl OpenMap {
    /// Adds the value of the key that waits for it. In braces, several words are no key, but the rest of the
    /// sentence before them.
    fn insert(&mut self, value: Value) {
        let name = self.key.take().unwrap_or_default();
        let last = self.last.as_ref().filter(|_| self.in_braces && name.contains(' '));
        let said = last.and_then(|last| self.entries.get_mut(last));
        match (said, &value) {
            (Some(Value::String(said)), Value::Null) => {
                said.push_str(", ");
                said.push_str(&name);
                return;
            }
            (Some(Value::String(said)), Value::String(rest)) => {
                for part in [", ", name.as_str(), ": ", rest.as_str()] {
                    said.push_str(part);
                }
                return;
            }
            _ => {}
        }
        self.last = Some(name.clone());
        self.entries.insert(name, value);
    }
}

#[derive(Default)]
struct Tree {
    root: Option<Value>,
    /// With the number of the anchor, or 0.
    open: Vec<(Open, usize)>,
    anchors: BTreeMap<usize, Value>,
    values: usize,
}

impl Tree {
    fn take(&mut self, event: Event<'_>) -> Result<(), String> {
        match event {
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(..) if self.root.is_some() => {
                Err("there is a second document".to_owned())
            }
            Event::DocumentStart(..) => Ok(()),
            Event::Scalar(text, style, anchor, _) => {
                let nothing = style == ScalarStyle::Plain
                    && matches!(&*text, "" | "~" | "null" | "Null" | "NULL");
                let value = if nothing { Value::Null } else { Value::String(text.into_owned()) };
                self.add(value, anchor)
            }
            Event::SequenceStart(_, anchor, _) => self.open(Open::List(Vec::new()), anchor),
            Event::MappingStart(style, anchor, _) => {
                let in_braces = style == StructureStyle::Flow;
                let map = OpenMap { entries: Map::new(), key: None, in_braces, last: None };
                self.open(Open::Map(map), anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some((Open::List(items), anchor)) => self.add(Value::Array(items), anchor),
                Some((Open::Map(map), anchor)) => self.add(Value::Object(map.entries), anchor),
                None => Err("a list or map ends that never began".to_owned()),
            },
            Event::Alias(anchor) => match self.anchors.get(&anchor).cloned() {
                Some(value) => {
                    self.count(size(&value))?;
                    self.add(value, 0)
                }
                None => Err("a value contains itself".to_owned()),
            },
            Event::UnresolvedAlias(name) => Err(format!("there is no anchor `{name}`")),
            // No values.
            Event::Comment(..) | Event::Anchor(..) | _ => Ok(()),
        }
    }

    fn open(&mut self, open: Open, anchor: usize) -> Result<(), String> {
        if self.open.len() >= MAX_DEPTH {
            return Err(format!("it is nested deeper than {MAX_DEPTH} levels"));
        }
        self.open.push((open, anchor));
        Ok(())
    }

    fn count(&mut self, values: usize) -> Result<(), String> {
        self.values = self.values.saturating_add(values);
        if self.values > MAX_VALUES {
            return Err(format!("it has more than {MAX_VALUES} values"));
        }
        Ok(())
    }

    fn add(&mut self, value: Value, anchor: usize) -> Result<(), String> {
        self.count(1)?;
        if anchor != 0 {
            self.count(size(&value))?;
            self.anchors.insert(anchor, value.clone());
        }
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some((Open::List(items), _)) => items.push(value),
            Some((Open::Map(map), _)) if map.key.is_some() => map.insert(value),
            Some((Open::Map(map), _)) => {
                let name = match value {
                    Value::String(name) => name,
                    Value::Null => String::new(),
                    Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                        return Err("a key is not a text".to_owned());
                    }
                };
                if map.entries.contains_key(&name) {
                    return Err(format!("the key `{name}` is there twice"));
                }
                map.key = Some(name);
            }
        }
        Ok(())
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn scalars_are_as_written() {
        let yaml = "a: 1.10\nb: 010\nc: no\nd: y\ne: 0x1F\nf: 2026-01-01\ng: 1_000\nh: .5\ni: True\nj: 1e3\n\
                    k: '~'\nl: ~\nm:\nn: null\no: !!str 7\np: 9223372036854775808999";
        let expected = json!({
            "a": "1.10", "b": "010", "c": "no", "d": "y", "e": "0x1F", "f": "2026-01-01", "g": "1_000",
            "h": ".5", "i": "True", "j": "1e3", "k": "~", "l": null, "m": null, "n": null, "o": "7",
            "p": "9223372036854775808999",
        });
        assert_eq!(read(yaml).unwrap(), expected);
    }

    #[test]
    fn lists_maps_blocks_anchors_and_json() {
        let yaml =
            "a: [1, {b: 2}]\nc: |\n  two\n  lines\nd: >-\n  one\n  line\ne: &x {f: g}\nh: *x\n";
        let expected = json!({
            "a": ["1", {"b": "2"}], "c": "two\nlines\n", "d": "one line", "e": {"f": "g"}, "h": {"f": "g"},
        });
        assert_eq!(read(yaml).unwrap(), expected);
        let json = "{\"a\": \"x\\n\\u00e9\", \"b\": [true, 1.0, null]}";
        assert_eq!(read(json).unwrap(), json!({"a": "x\né", "b": ["true", "1.0", null]}));
        assert_eq!(read("").unwrap(), Value::Null);
        assert_eq!(read("# only a comment\n").unwrap(), Value::Null);
        assert_eq!(read("- 1.0\n- x # comment\n").unwrap(), json!(["1.0", "x"]));
    }

    #[test]
    fn commas_in_braces_belong_to_the_sentence() {
        let yaml = "- {place: a.rs:3, text: slow, and it leaks: see above, severity: high}\n- {path: x, kind: }\n";
        let expected = json!([
            {"place": "a.rs:3", "text": "slow, and it leaks: see above", "severity": "high"},
            {"path": "x", "kind": null},
        ]);
        assert_eq!(read(yaml).unwrap(), expected);
        assert_eq!(read("two words:\na: b").unwrap(), json!({"two words": null, "a": "b"}));
    }

    #[test]
    fn errors_name_their_line() {
        for (yaml, line) in [
            ("a: 1\na: 2", 2),
            ("a: 1\n---\nb: 2", 2),
            ("a: 1\nb: [", 2),
            ("a: *nothing", 1),
            ("[a]: b", 1),
        ] {
            let error = read(yaml).unwrap_err();
            assert!(error.line >= line && error.line <= line + 1, "{yaml}: {error}");
            assert!(!error.message.is_empty());
        }
    }

    #[test]
    fn bombs_are_refused() {
        let level =
            |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", "));
        let levels: String = (1..30).map(level).collect();
        assert!(read(&format!("a0: &a0 [x, x, x]\n{levels}")).is_err());
        assert!(read(&format!("{}{}", "[".repeat(20_000), "]".repeat(20_000))).is_err());
        assert!(read("&a [*a]").is_err());
    }
}
