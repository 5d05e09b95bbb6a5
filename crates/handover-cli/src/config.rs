//! Merges the layers of the configuration and remembers where each value comes from.
//!
//! Built-in defaults < user file < project file < environment < flags. A layer is a set of
//! `section.key = value`; the highest layer that sets a key wins.

use std::fmt;
use std::path::PathBuf;

use handover_files::{FileError, Folder, read_text_bounded};
use handover_model::config::Config;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::env;
use crate::error::CommandError;
use crate::store::StorePlace;

/// The name of a configuration file.
pub(crate) const FILE: &str = "config.toml";

/// The most that is read of one.
pub(crate) const MAX_BYTES: u64 = 1024 * 1024;

/// Every key, in the order of `config show`.
const KEYS: &[&str] = &[
    "project.id",
    "store.location",
    "store.allow_http",
    "store.services",
    "packages.warn_bytes",
    "packages.max_bytes",
    "redaction.mode",
    "redaction.allow",
    "redaction.rules",
    "learning.ttl_days",
    "assembly.enabled",
    "assembly.roles_disabled",
    "assembly.routing",
    "assembly.safety_margin",
    "assembly.prior",
    "assembly.weights",
    "assembly.roles",
    "specialization.enabled",
    "specialization.roles_disabled",
    "specialization.testing_mode",
    "brief.small",
    "brief.medium",
    "brief.large",
    "brief.specialization_percent",
    "brief.roles",
    "guard.mode",
    "agents.timeout",
    "agents.idle_timeout",
    "agents.environment",
    "agents.programs",
    "runs.pipeline",
    "runs.host",
    "runs.command",
    "runs.model",
    "runs.profile",
    "runs.env",
    "runs.parallel",
    "runs.remote",
    "runs.lease",
    "runs.phase_timeout",
    "runs.idle_timeout",
    "runs.max_fixes",
    "runs.retro",
    "runs.analysis",
    "runs.max_retries",
    "runs.max_file_bytes",
    "runs.max_commit_bytes",
    "party.phases",
    "party.agents",
    "party.solo",
    "party.cross_talk",
    "party.consensus",
    "party.mend_medium_above",
    "party.personas",
    "gates.detect",
    "gates.commands",
    "gates.timeout",
    "uat.allow",
    "uat.gate",
    "uat.heal",
    "uat.blocking",
    "budget.phase",
    "budget.story",
    "budget.run",
    "hooks.enabled",
    "hooks.roles",
    "hooks.roles_disabled",
    "hooks.sessions_disabled",
    "hooks.debrief_required",
    "hooks.deadline_ms",
];

/// Keys that a project file cannot set: a cloned project must not decide where the user's token goes.
const USER_ONLY: [&str; 2] = ["store.allow_http", "store.services"];

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
    /// Messages about unknown or ignored keys.
    pub(crate) warnings: Vec<String>,
    set: Vec<(&'static str, Value, Source)>,
}

/// One line of `config show`.
#[derive(Debug, Serialize)]
pub(crate) struct Entry {
    pub(crate) key: &'static str,
    pub(crate) value: serde_json::Value,
    pub(crate) source: Source,
}

impl Loaded {
    /// Reads all layers. `project_folder` is `.handover/`, if there is a project.
    pub(crate) fn read(
        project_folder: Option<&Folder>,
        flags: &[String],
    ) -> Result<Self, CommandError> {
        let mut loaded = Self::default();
        if let Some(path) = env::user_config_file() {
            let text = read_text_bounded(&path, MAX_BYTES);
            loaded.file(text, Source::UserFile(path))?;
        }
        if let Some(folder) = project_folder {
            let text = folder.read_text(FILE, MAX_BYTES);
            loaded.file(text, Source::ProjectFile(folder.path().join(FILE)))?;
        }
        loaded.environment()?;
        for flag in flags {
            loaded.flag(flag)?;
        }
        loaded.config = parse(&loaded.set, "the configuration")?;
        Ok(loaded)
    }

    /// Every key with its effective value and source.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let config = serde_json::to_value(&self.config).unwrap_or_default();
        KEYS.iter()
            .map(|key| {
                let pointer = format!("/{}", key.replace('.', "/"));
                let mut value = config.pointer(&pointer).cloned().unwrap_or_default();
                if let ("store.location", Some(location)) = (*key, value.as_str()) {
                    value = shown_location(location).into();
                }
                Entry { key, value, source: self.source(key).clone() }
            })
            .collect()
    }

    /// The layer that set a key.
    pub(crate) fn source(&self, key: &str) -> &Source {
        let winner = self.set.iter().rev().find(|(set, ..)| *set == key);
        winner.map_or(&Source::Default, |(.., source)| source)
    }

    fn file(
        &mut self,
        text: Result<Option<String>, FileError>,
        source: Source,
    ) -> Result<(), CommandError> {
        let text = match text {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(()),
            Err(error) if error.is_irregular() => return Err(error.into()),
            Err(error) => return Err(bad(&error, &source)),
        };
        let table: Table = text.parse().map_err(|error| bad(&error, &source))?;
        let mut layer = Vec::new();
        for (section, value) in table {
            // Shorthand: `guard = "warn"` sets the section's main key.
            let alone = match section.as_str() {
                "guard" => Some("guard.mode"),
                "store" => Some("store.location"),
                _ => None,
            };
            if let Some(key) = alone.filter(|_| value.is_str()) {
                self.entry(key, value, &source, &mut layer);
                continue;
            }
            let Value::Table(keys) = value else {
                self.unknown(&section, &source);
                continue;
            };
            for (key, value) in keys {
                self.entry(&format!("{section}.{key}"), value, &source, &mut layer);
            }
        }
        self.add(layer, &source)
    }

    fn environment(&mut self) -> Result<(), CommandError> {
        for key in KEYS {
            let name = format!("HANDOVER_{}", key.replace('.', "_").to_uppercase());
            let found = match *key {
                "store.location" => {
                    env::var(env::STORE).map(|value| (env::STORE.to_owned(), value))
                }
                _ => env::var(&name).map(|value| (name, value)),
            };
            if let Some((name, text)) = found {
                let source = Source::Environment(name);
                self.add(vec![(*key, value_of(key, &text), source.clone())], &source)?;
            }
        }
        Ok(())
    }

    fn flag(&mut self, flag: &str) -> Result<(), CommandError> {
        let Some((key, text)) = flag.split_once('=') else {
            return Err(CommandError::invalid(format!("`--config {flag}` is missing `=`"))
                .hinted("Write it as `--config redaction.mode=off`."));
        };
        let Some(known) = KEYS.iter().find(|known| **known == key) else {
            let error = CommandError::invalid(format!("unknown configuration key `{key}`"));
            return Err(error.hinted(did_you_mean(key)));
        };
        self.add(vec![(known, value_of(known, text), Source::Flag)], &Source::Flag)
    }

    fn entry(
        &mut self,
        key: &str,
        value: Value,
        source: &Source,
        layer: &mut Vec<(&'static str, Value, Source)>,
    ) {
        match KEYS.iter().find(|known| **known == key) {
            Some(known)
                if USER_ONLY.contains(known) && matches!(source, Source::ProjectFile(_)) =>
            {
                let message = format!(
                    "{source}: `{key}` is ignored here; it only works in the user configuration"
                );
                self.warnings.push(message);
            }
            Some(known) => layer.push((known, value, source.clone())),
            None => self.unknown(key, source),
        }
    }

    fn unknown(&mut self, key: &str, source: &Source) {
        self.warnings.push(format!("{source}: unknown key `{key}`. {}", did_you_mean(key)));
    }

    /// Validates a layer on its own, so that an error names its source, and adds it.
    fn add(
        &mut self,
        layer: Vec<(&'static str, Value, Source)>,
        source: &Source,
    ) -> Result<(), CommandError> {
        parse(&layer, &source.to_string())?;
        self.set.extend(layer);
        Ok(())
    }
}

/// The store's location without a password, even if it cannot be parsed.
fn shown_location(location: &str) -> String {
    match StorePlace::parse(location) {
        Ok(place) => place.to_string(),
        Err(_) => match location.split_once("://") {
            Some((scheme, _)) => format!("{scheme}://…"),
            None => location.to_owned(),
        },
    }
}

fn parse(set: &[(&'static str, Value, Source)], place: &str) -> Result<Config, CommandError> {
    let mut table = Table::new();
    for (key, value, _) in set {
        if let Some((section, key)) = key.split_once('.') {
            let section = table.entry(section).or_insert_with(|| Value::Table(Table::new()));
            if let Value::Table(section) = section {
                section.insert(key.to_owned(), value.clone());
            }
        }
    }
    Config::deserialize(table).map_err(|error| bad(&error, &place))
}

fn bad(error: &dyn fmt::Display, place: &dyn fmt::Display) -> CommandError {
    let message = error.to_string();
    let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
    // The offending line may contain the store's password.
    let message = handover_text::Redactor::default().clean(&message);
    CommandError::new(crate::error::Exit::Usage, "invalid_config", format!("{place}: {message}"))
        .hinted(format!("Fix {place}. Known keys: {}.", KEYS.join(", ")))
}

/// Converts text from the environment or a flag: TOML if it parses and the key is not a string, else a
/// string.
fn value_of(key: &str, text: &str) -> Value {
    let is_text = matches!(
        key,
        "project.id"
            | "store.location"
            | "redaction.mode"
            | "assembly.routing"
            | "specialization.testing_mode"
            | "guard.mode"
            | "runs.host"
            | "runs.command"
            | "runs.model"
            | "runs.remote"
            | "party.consensus"
    );
    let parsed = format!("value = {text}").parse::<Table>().ok();
    match parsed.and_then(|mut table| table.remove("value")) {
        Some(value) if !is_text => value,
        Some(_) | None => Value::String(text.to_owned()),
    }
}

fn did_you_mean(key: &str) -> String {
    let nearest = KEYS.iter().max_by(|a, b| {
        let distance = |known: &str| strsim::jaro_winkler(known, key);
        distance(a).total_cmp(&distance(b))
    });
    match nearest {
        Some(known) if strsim::jaro_winkler(known, key) > 0.8 => format!("Did you mean `{known}`?"),
        Some(_) | None => format!("Known keys: {}.", KEYS.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_match_the_fields_of_the_configuration() {
        let config = serde_json::to_value(Config::default()).unwrap();
        let mut fields = Vec::new();
        for (section, keys) in config.as_object().unwrap() {
            fields.extend(keys.as_object().unwrap().keys().map(|key| format!("{section}.{key}")));
        }
        assert_eq!(KEYS, fields);
    }

    #[test]
    fn converts_values_to_the_type_of_their_key() {
        assert_eq!(value_of("packages.warn_bytes", "12"), Value::Integer(12));
        assert_eq!(value_of("project.id", "12"), Value::String("12".into()));
        assert_eq!(value_of("redaction.allow", "[\"a\"]"), Value::Array(vec!["a".into()]));
    }
}
