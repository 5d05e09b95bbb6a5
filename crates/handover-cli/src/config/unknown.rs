//! Keys that nothing reads: what they are called, where they are, and what was probably meant.

use std::fmt;

use handover_model::config::{Config, KEYS, Key};
use serde_json::Value as Json;
use toml::Value;

use super::{Setting, Source, pointer};

/// A key that does not exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnknownKey {
    pub(crate) name: String,
    pub(crate) source: Source,
    /// What was probably meant.
    pub(crate) hint: String,
}

impl UnknownKey {
    pub(super) fn new(name: &str, hint: String, source: &Source) -> Self {
        Self { name: name.to_owned(), source: source.clone(), hint }
    }
}

impl fmt::Display for UnknownKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: unknown key `{}`", self.source, self.name)
    }
}

/// The key that a dotted name belongs to, and the place in its table:
/// `assembly.roles.developer.limit` is `developer.limit` in `assembly.roles`.
pub(super) fn place_of(name: &str) -> Option<(&'static Key, Vec<String>)> {
    if let Some(key) = Key::find(name) {
        return Some((key, Vec::new()));
    }
    let mut names = name.splitn(3, '.');
    let (section, key, within) = (names.next()?, names.next()?, names.next()?);
    let key = Key::find(&format!("{section}.{key}"))?;
    let within: Vec<String> = within.split('.').map(str::to_owned).collect();
    within.iter().all(|name| !name.is_empty()).then_some((key, within))
}

/// The names inside the tables of a layer that are not in the configuration that was read from it.
pub(super) fn unread(layer: &[Setting], read: &Config) -> Vec<UnknownKey> {
    let is_nested = |setting: &&Setting| {
        !setting.within.is_empty() || matches!(setting.value, Value::Table(_) | Value::Array(_))
    };
    let nested: Vec<&Setting> = layer.iter().filter(is_nested).collect();
    if nested.is_empty() {
        return Vec::new();
    }
    // Everything that was read is written again, defaults included.
    let read = serde_json::to_value(read).unwrap_or_default();
    let mut unknown = Vec::new();
    for setting in nested {
        let mut given = serde_json::to_value(&setting.value).unwrap_or_default();
        for name in setting.within.iter().rev() {
            given = Json::Object([(name.clone(), given)].into_iter().collect());
        }
        let known = read.pointer(&pointer(setting.key.name)).unwrap_or(&Json::Null);
        compare(&given, known, setting.key.name, &mut |name, siblings| {
            unknown.push(UnknownKey::new(name, nearest(name, siblings), &setting.source));
        });
    }
    unknown
}

/// Calls back for every name that is given and not known, with the names that are known beside it.
fn compare(given: &Json, known: &Json, name: &str, unknown: &mut dyn FnMut(&str, &[String])) {
    match (given, known) {
        (Json::Object(given), Json::Object(known)) => {
            for (key, value) in given {
                let name = format!("{name}.{key}");
                match known.get(key) {
                    Some(known) => compare(value, known, &name, unknown),
                    None => unknown(&name, &known.keys().cloned().collect::<Vec<_>>()),
                }
            }
        }
        (Json::Array(given), Json::Array(known)) => {
            for (given, known) in given.iter().zip(known) {
                compare(given, known, name, unknown);
            }
        }
        _ => {}
    }
}

/// What was probably meant by a name inside a table.
fn nearest(name: &str, siblings: &[String]) -> String {
    let (table, last) = name.rsplit_once('.').unwrap_or(("", name));
    match best(last, siblings.iter().map(String::as_str)) {
        Some(meant) => format!("Did you mean `{table}.{meant}`?"),
        None => format!("Known keys of `{table}`: {}.", siblings.join(", ")),
    }
}

/// What was probably meant by the name of a key.
pub(super) fn did_you_mean(name: &str) -> String {
    match best(name, KEYS.iter().map(|key| key.name)) {
        Some(meant) => format!("Did you mean `{meant}`?"),
        None => known_keys(name),
    }
}

fn best<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let scored = known.map(|known| (strsim::jaro_winkler(known, name), known));
    let best = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    best.filter(|(score, _)| *score > 0.8).map(|(_, known)| known)
}

/// The keys of the section that a name is in, or the sections if there is none.
fn known_keys(name: &str) -> String {
    let section = name.split('.').next().unwrap_or_default();
    let all = || KEYS.iter().filter_map(|key| key.name.split_once('.'));
    let keys: Vec<&str> = all().filter(|(of, _)| *of == section).map(|(_, key)| key).collect();
    if !keys.is_empty() {
        return format!("Keys of `{section}`: {}.", keys.join(", "));
    }
    let mut sections: Vec<&str> = all().map(|(section, _)| section).collect();
    sections.dedup();
    format!("Sections: {}.", sections.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn unknown(given: &Json, known: &Json) -> Vec<String> {
        let mut names = Vec::new();
        compare(given, known, "a.b", &mut |name, _| names.push(name.to_owned()));
        names
    }

    #[test]
    fn finds_names_at_any_depth() {
        let known = json!({"dev": {"limit": null, "task": 1}, "list": [{"x": 1}]});
        assert_eq!(unknown(&json!({"dev": {"limit": 3}}), &known), [""; 0]);
        assert_eq!(unknown(&json!({"dev": {"limt": 3}}), &known), ["a.b.dev.limt"]);
        assert_eq!(unknown(&json!({"list": [{"y": 1}]}), &known), ["a.b.list.y"]);
    }

    #[test]
    fn suggests_the_nearest_sibling() {
        let siblings = ["limit".to_owned(), "task".to_owned()];
        assert_eq!(nearest("a.b.limt", &siblings), "Did you mean `a.b.limit`?");
        assert_eq!(nearest("a.b.zzz", &siblings), "Known keys of `a.b`: limit, task.");
    }

    #[test]
    fn without_a_near_name_the_choice_is_shown() {
        assert_eq!(did_you_mean("packages.warn_byte"), "Did you mean `packages.warn_bytes`?");
        assert_eq!(did_you_mean("guard.zzzzzzzz"), "Keys of `guard`: mode.");
        assert!(did_you_mean("colour").starts_with("Sections: project, store, packages,"));
    }

    #[test]
    fn names_lead_into_tables() {
        let (key, within) = place_of("assembly.roles.developer.limit").unwrap();
        assert_eq!((key.name, within.join("/")), ("assembly.roles", "developer/limit".to_owned()));
        assert_eq!(place_of("packages.warn_bytes").unwrap().1, [""; 0]);
        for wrong in ["packages", "packages.x", "packages.x.y", "assembly.roles.", "a.b.c"] {
            assert!(place_of(wrong).is_none(), "{wrong}");
        }
    }
}
