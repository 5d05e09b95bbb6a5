//! The project's file: which of its settings count.
//!
//! Anyone can have written it. A setting that could do harm counts if the user has agreed to exactly this
//! value, and as far as the user's own file leaves room for it (`floors.rs`).

use handover_model::config::Risk;
use handover_model::{GuardMode, ProjectId, RedactionMode};
use serde_json::Value as Json;
use toml::Value;

use super::{FILE, Loaded, MAX_BYTES, Setting, Source, parse, pointer};
use crate::error::CommandError;
use crate::store::StoreLocation;
use crate::trust::{Trust, Want};

impl Loaded {
    /// Adds those settings of the project's file that count.
    pub(super) fn project_file(&mut self, trust: &Trust) -> Result<(), CommandError> {
        let folder = trust.project().folder();
        let source = Source::ProjectFile(folder.path().join(FILE));
        let layer = self.file(folder.read_text(FILE, MAX_BYTES), &source)?;
        // What most projects have: nothing to compare with the layers below.
        let is_plain =
            |setting: &Setting| matches!(setting.key.risk, Risk::Harmless | Risk::NamesRecords);
        if layer.iter().all(is_plain) {
            return self.add(layer, &source);
        }
        let below = parse(&self.set, "the configuration")?;
        let values = serde_json::to_value(&below).unwrap_or_default();
        let mut counts = Vec::new();
        for setting in layer {
            if self.needs_trust(&setting, &values) {
                let want = want(trust, &setting);
                let agreed = want.agreed;
                self.wants.push(want);
                if !agreed {
                    continue;
                }
            }
            counts.extend(self.within_floors(setting, &below.trust, &trust.project().root));
        }
        self.add(counts, &source)
    }

    /// Whether a setting of the project could do harm. One that changes nothing, or only makes things
    /// stricter, could not.
    fn needs_trust(&self, setting: &Setting, below: &Json) -> bool {
        let key = setting.key;
        match key.risk {
            // Whether records are shared is known once all layers are.
            Risk::Harmless | Risk::NamesRecords => return false,
            Risk::Spends if *self.source(key.name) == Source::Default => return false,
            Risk::Spends
            | Risk::RunsProgram
            | Risk::OpensEnvironment
            | Risk::WeakensProtection
            | Risk::WithholdsContext
            | Risk::SendsData
            | Risk::Instructs
            | Risk::UserOnly => {}
        }
        let before = below.pointer(&pointer(key.name)).unwrap_or(&Json::Null);
        let stricter =
            match (strictness(key.name, &json(&setting.value)), strictness(key.name, before)) {
                (Some(now), Some(before)) => now >= before,
                (_, _) => false,
            };
        !stricter && json(&setting.value) != *before
    }

    /// In a shared store, the id of a project selects whose records are read and written.
    pub(super) fn check_project_id(&mut self, trust: &Trust) -> Result<(), CommandError> {
        let location = self.config.store.location.as_deref();
        let is_shared = location
            .is_some_and(|text| StoreLocation::parse(text).is_ok_and(|place| place.is_shared()));
        let last = self.set.iter().rposition(|setting| setting.key.name == "project.id");
        let Some(at) = last.filter(|_| is_shared) else { return Ok(()) };
        let setting = &self.set[at];
        if !matches!(setting.source, Source::ProjectFile(_)) {
            return Ok(());
        }
        let want = want(trust, setting);
        if !want.agreed {
            self.set.remove(at);
            self.config = parse(&self.set, "the configuration")?;
        }
        self.wants.push(want);
        Ok(())
    }

    /// What the project's file wants and does not get.
    pub(crate) fn ignored(&self) -> impl Iterator<Item = &Want> {
        self.wants.iter().filter(|want| !want.agreed)
    }
}

/// The id that `init` writes, as a want.
pub(crate) fn own_id(trust: &Trust, id: &ProjectId) -> Want {
    let value = Value::from(id.as_str());
    let bytes = serde_json::to_vec(&value).unwrap_or_default();
    Want::new(trust, "project.id", &bytes, json(&value), Risk::NamesRecords.why())
}

fn want(trust: &Trust, setting: &Setting) -> Want {
    let Setting { key, value, .. } = setting;
    let bytes = serde_json::to_vec(value).unwrap_or_default();
    let shown = match value.as_str().filter(|_| key.name == "store.location") {
        Some(location) => without_password(location).into(),
        None => json(value),
    };
    // A secret is no reason to show one.
    let shown = handover_text::Redactor::default().clean_json(shown).value().clone();
    Want::new(trust, key.name, &bytes, shown, key.risk.why())
}

/// A location with everything that decides where data goes, and nothing that gives access to it.
fn without_password(location: &str) -> String {
    let Some((scheme, rest)) = location.split_once("://") else { return location.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let shown = match authority.rsplit_once('@') {
        Some((user, host)) => {
            let user = user.split(':').next().unwrap_or_default();
            format!("{scheme}://{user}@{host}{path}")
        }
        None => location.to_owned(),
    };
    match shown.split_once("password=") {
        Some((before, after)) => {
            let rest = after.split_once('&').map(|(_, rest)| rest).unwrap_or_default();
            format!("{before}password=…&{rest}")
        }
        None => shown,
    }
}

fn json(value: &Value) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}

/// How strict a mode is, for keys whose values can be compared in that respect.
pub(super) fn strictness(key: &str, value: &Json) -> Option<u8> {
    let text = value.as_str()?;
    match key {
        "redaction.mode" => Some(match text.parse().ok()? {
            RedactionMode::Off => 0,
            RedactionMode::PatternOnly => 1,
            RedactionMode::PatternAndEntropy => 2,
        }),
        "guard.mode" => Some(match text.parse().ok()? {
            GuardMode::Off => 0,
            GuardMode::Warn => 1,
            GuardMode::Strict => 2,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_shown_with_its_parameters_and_without_its_password() {
        for (location, shown) in [
            ("../other/store.db", "../other/store.db"),
            ("https://team.example:4747", "https://team.example:4747"),
            (
                "postgres://ann:s3cret@db/x?hostaddr=10.0.0.1",
                "postgres://ann@db/x?hostaddr=10.0.0.1",
            ),
            ("postgres://ann:p@ss@db/x", "postgres://ann@db/x"),
            ("postgres://db/x?password=s3cret&user=ann", "postgres://db/x?password=…&user=ann"),
        ] {
            assert_eq!(without_password(location), shown);
        }
    }

    #[test]
    fn modes_are_compared_by_how_strict_they_are() {
        let of = |key: &str, text: &str| strictness(key, &Json::from(text));
        assert!(of("redaction.mode", "off") < of("redaction.mode", "pattern_only"));
        assert!(of("redaction.mode", "pattern_only") < of("redaction.mode", "pattern_and_entropy"));
        assert!(of("guard.mode", "off") < of("guard.mode", "warn"));
        assert!(of("guard.mode", "warn") < of("guard.mode", "strict"));
        assert_eq!(of("guard.mode", "loose"), None);
        assert_eq!(of("runs.host", "claude"), None);
    }
}
