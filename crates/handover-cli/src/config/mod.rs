//! Merges the layers of the configuration and remembers where each value comes from.
//!
//! Built-in defaults < user file < project file < environment < flags. A layer is a set of
//! `section.key = value`; the highest layer that sets a key wins.

mod edit;
mod floors;
mod project_file;
mod protection;
mod unknown;

use std::fmt;
use std::path::PathBuf;

use handover_files::{FileError, read_text_bounded};
use handover_model::config::{Config, KEYS, Key, Risk};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::env;
use crate::error::{CommandError, Exit};
use crate::store::StoreLocation;
use crate::trust::{Trust, Want};

pub(crate) use edit::{ConfigFile, KeyPath};
pub(crate) use project_file::own_id;
use unknown::{UnknownKey, did_you_mean, place_of, unread};

/// The name of a configuration file.
pub(crate) const FILE: &str = "config.toml";

/// The most that is read of one.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", content = "name", rename_all = "snake_case")]
pub(crate) enum Source {
    Default,
    UserFile(PathBuf),
    ProjectFile(PathBuf),
    Environment(String),
    Flag,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("built-in default"),
            Self::UserFile(path) | Self::ProjectFile(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "environment {name}"),
            Self::Flag => f.write_str("flag --config"),
        }
    }
}

/// The effective configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Loaded {
    pub(crate) config: Config,
    /// Messages about ignored keys.
    ignored_keys: Vec<String>,
    /// Keys of files that nothing reads.
    unknown: Vec<UnknownKey>,
    /// What the project's file wants, whether the user has agreed to it or not.
    pub(crate) wants: Vec<Want>,
    /// Keys that name a program which the user's own file does not allow.
    pub(crate) forbidden: Vec<&'static str>,
    set: Vec<Setting>,
}

/// A key that a layer sets.
#[derive(Debug, Clone)]
struct Setting {
    key: &'static Key,
    /// The place in the key's table, if a flag sets just one entry of it.
    within: Vec<String>,
    value: Value,
    source: Source,
}

/// One line of `config show`.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    pub(crate) value: serde_json::Value,
    pub(crate) source: Source,
}

impl Loaded {
    /// Reads all layers. Without a project there is no project file.
    pub(crate) fn read(trust: Option<&Trust>, flags: &[String]) -> Result<Self, CommandError> {
        let mut loaded = Self::default();
        if let Some(path) = env::user_config_file() {
            let text = read_text_bounded(&path, MAX_BYTES);
            let source = Source::UserFile(path);
            let layer = loaded.file(text, &source)?;
            loaded.add(layer, &source)?;
        }
        if let Some(trust) = trust {
            loaded.project_file(trust)?;
        }
        loaded.environment()?;
        for flag in flags {
            loaded.flag(flag)?;
        }
        loaded.config = parse(&loaded.set, "the configuration")?;
        if let Some(trust) = trust {
            loaded.check_project_id(trust)?;
        }
        Ok(loaded)
    }

    /// Unknown keys are an error, unless somebody is better off without one.
    pub(crate) fn check_keys(&self, tolerant: bool) -> Result<(), CommandError> {
        match self.unknown.as_slice() {
            [first, others @ ..] if !tolerant => {
                let others: Vec<String> =
                    others.iter().map(|other| format!(", `{}`", other.name)).collect();
                let message = format!("{first}{}", others.concat());
                Err(CommandError::new(Exit::Usage, "invalid_config", message)
                    .hinted(first.hint.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Messages about unknown and ignored keys.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let unknown = self.unknown.iter().map(|one| format!("{one}. {}", one.hint));
        unknown.chain(self.ignored_keys.iter().cloned()).collect()
    }

    /// Every key with its effective value and source.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let config = serde_json::to_value(&self.config).unwrap_or_default();
        KEYS.iter()
            .map(|key| {
                let mut value = config.pointer(&pointer(key.name)).cloned().unwrap_or_default();
                if let ("store.location", Some(location)) = (key.name, value.as_str()) {
                    value = shown_location(location).into();
                }
                Entry { key: key.name, value, source: self.source(key.name).clone() }
            })
            .collect()
    }

    /// The layer that set a key.
    pub(crate) fn source(&self, key: &str) -> &Source {
        let winner = self.set.iter().rev().find(|setting| setting.key.name == key);
        winner.map_or(&Source::Default, |setting| &setting.source)
    }

    /// The settings of a file; none if it does not exist.
    fn file(
        &mut self,
        text: Result<Option<String>, FileError>,
        source: &Source,
    ) -> Result<Vec<Setting>, CommandError> {
        let text = match text {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Vec::new()),
            Err(error) if error.is_irregular() => return Err(error.into()),
            Err(error) => return Err(bad(&error, source)),
        };
        let table: Table = text.parse().map_err(|error| bad(&error, source))?;
        let mut layer = Vec::new();
        for (section, value) in table {
            // Shorthand: `guard = "warn"` sets the section's main key.
            let alone = match section.as_str() {
                "guard" => Some("guard.mode"),
                "store" => Some("store.location"),
                _ => None,
            };
            if let Some(key) = alone.filter(|_| value.is_str()) {
                self.entry(key, value, source, &mut layer);
                continue;
            }
            let Value::Table(keys) = value else {
                self.unknown.push(UnknownKey::new(&section, did_you_mean(&section), source));
                continue;
            };
            for (key, value) in keys {
                self.entry(&format!("{section}.{key}"), value, source, &mut layer);
            }
        }
        Ok(layer)
    }

    fn environment(&mut self) -> Result<(), CommandError> {
        for key in KEYS {
            let name = format!("HANDOVER_{}", key.name.replace('.', "_").to_uppercase());
            let found = match key.name {
                "store.location" => {
                    env::var(env::STORE).map(|value| (env::STORE.to_owned(), value))
                }
                _ => env::var(&name).map(|value| (name, value)),
            };
            if let Some((name, text)) = found {
                self.one(key, Vec::new(), &text, Source::Environment(name))?;
            }
        }
        Ok(())
    }

    fn flag(&mut self, flag: &str) -> Result<(), CommandError> {
        let Some((name, text)) = flag.split_once('=') else {
            return Err(CommandError::invalid(format!("`--config {flag}` is missing `=`"))
                .hinted("Write it as `--config packages.warn_bytes=100000`."));
        };
        let unknown = |name: &str, hint: String| {
            CommandError::invalid(format!("unknown configuration key `{name}`")).hinted(hint)
        };
        let Some((key, within)) = place_of(name) else {
            return Err(unknown(name, did_you_mean(name)));
        };
        self.one(key, within, text, Source::Flag)?;
        match self.unknown.iter().find(|one| one.source == Source::Flag) {
            Some(one) => Err(unknown(&one.name, one.hint.clone())),
            None => Ok(()),
        }
    }

    /// Adds a value that is given as text: TOML if it has the type of the key, else a string.
    fn one(
        &mut self,
        key: &'static Key,
        within: Vec<String>,
        text: &str,
        source: Source,
    ) -> Result<(), CommandError> {
        let setting =
            |value| Setting { key, within: within.clone(), value, source: source.clone() };
        let parsed = format!("value = {text}").parse::<Table>().ok();
        let parsed = parsed.and_then(|mut table| table.remove("value")).map(setting);
        let string = setting(Value::String(text.to_owned()));
        let setting = match parsed {
            Some(parsed) if parse(std::slice::from_ref(&string), "").is_err() => parsed,
            Some(_) | None => string,
        };
        match self.may_override(&setting)? {
            true => self.add(vec![setting], &source),
            false => Ok(()),
        }
    }

    fn entry(&mut self, name: &str, value: Value, source: &Source, layer: &mut Vec<Setting>) {
        match Key::find(name) {
            Some(key) if key.risk == Risk::UserOnly && matches!(source, Source::ProjectFile(_)) => {
                let message = format!(
                    "{source}: `{name}` is ignored here; it only works in the user configuration"
                );
                self.ignored_keys.push(message);
            }
            Some(key) => {
                layer.push(Setting { key, within: Vec::new(), value, source: source.clone() });
            }
            None => self.unknown.push(UnknownKey::new(name, did_you_mean(name), source)),
        }
    }

    /// Validates a layer on its own, so that an error names its source, and adds it.
    fn add(&mut self, layer: Vec<Setting>, source: &Source) -> Result<(), CommandError> {
        let read = parse(&layer, &source.to_string())?;
        self.unknown.extend(unread(&layer, &read));
        self.set.extend(layer);
        Ok(())
    }
}

/// The store's location without a password, even if it cannot be parsed.
fn shown_location(location: &str) -> String {
    match StoreLocation::parse(location) {
        Ok(place) => place.to_string(),
        Err(_) => match location.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://…"),
            None => location.to_owned(),
        },
    }
}

/// Where a key is in the configuration as JSON.
fn pointer(key: &str) -> String {
    format!("/{}", key.replace('.', "/"))
}

fn parse(set: &[Setting], place: &str) -> Result<Config, CommandError> {
    let mut table = Table::new();
    for setting in set {
        let names = setting.key.name.split('.').chain(setting.within.iter().map(String::as_str));
        insert(&mut table, &names.collect::<Vec<_>>(), setting.value.clone());
    }
    Config::deserialize(table).map_err(|error| bad(&error, &place))
}

/// Puts a value into nested tables, which are created if necessary.
fn insert(table: &mut Table, names: &[&str], value: Value) {
    match names {
        [] => {}
        [name] => {
            table.insert((*name).to_owned(), value);
        }
        [name, rest @ ..] => {
            let inner = table.entry(*name).or_insert_with(|| Value::Table(Table::new()));
            if !inner.is_table() {
                *inner = Value::Table(Table::new());
            }
            if let Value::Table(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// How the parser names what it expects, and how people do.
const TYPES: [(&str, &str); 7] = [
    ("expected u64", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected u16", "expected a whole number"),
    ("expected usize", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a boolean", "expected true or false"),
    ("expected a sequence", "expected a list"),
];

fn bad(error: &dyn fmt::Display, place: &dyn fmt::Display) -> CommandError {
    let message = error.to_string();
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message =
        TYPES.iter().fold(message, |message, (theirs, ours)| message.replace(theirs, ours));
    // The offending line may contain the store's password.
    let message = handover_text::Redactor::default().clean(&message);
    CommandError::new(Exit::Usage, "invalid_config", format!("{place}: {message}"))
        .hinted(format!("Fix {place}; docs/configuration.md describes every key."))
}
