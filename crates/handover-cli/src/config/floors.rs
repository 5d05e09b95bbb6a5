//! What the user's own file says and no project can lower, however much it is trusted: how strict redaction
//! and guard are, which programs, stores and collectors a project may name.

use std::path::Path;

use handover_agents::split_command;
use handover_model::Trust;
use handover_model::config::TrustConfig;
use serde_json::Value as Json;
use toml::Value;

use super::project_file::strictness;
use super::{Loaded, Setting, Source};
use crate::store::StoreLocation;

impl Loaded {
    /// A setting of the project as far as the user's own file leaves room for it.
    pub(super) fn within_floors(
        &mut self,
        mut setting: Setting,
        limits: &TrustConfig,
        root: &Path,
    ) -> Option<Setting> {
        let key = setting.key.name;
        let user = self.set.iter().rev().find(|below| below.key.name == key);
        let user = user.filter(|below| matches!(below.source, Source::UserFile(_)));
        let user = user.map(|below| below.value.clone());
        match (key, user) {
            ("redaction.mode" | "guard.mode", Some(floor)) => {
                let strict = |value: &Value| {
                    strictness(key, &serde_json::to_value(value).unwrap_or(Json::Null))
                };
                if strict(&setting.value) < strict(&floor) {
                    return self.refused(&setting, "your own configuration is stricter");
                }
            }
            ("assembly.min_trust", Some(floor)) => {
                let class =
                    |value: &Value| value.as_str().and_then(|word| word.parse::<Trust>().ok());
                if class(&setting.value) < class(&floor) {
                    return self.refused(&setting, "your own configuration is stricter");
                }
            }
            ("redaction.allow", Some(floor)) => {
                let (floor, more) = (list(&floor), list(&setting.value));
                if more.iter().any(|text| !floor.contains(text)) {
                    return self.refused(&setting, "your own configuration has another list");
                }
            }
            // The user's rules stay, whatever a project adds.
            ("redaction.rules", Some(Value::Array(mut rules))) => {
                if let Value::Array(more) = &setting.value {
                    rules.extend(more.iter().cloned());
                }
                setting.value = Value::Array(rules);
            }
            (_, _) => {}
        }
        if let Some(allowed) = &limits.programs
            && programs(key, &setting.value).iter().any(|program| !allowed.contains(program))
        {
            self.forbidden.push(key);
            return self.refused(&setting, "`trust.programs` does not list its program");
        }
        if let (Some(allowed), "store.location", Some(location)) =
            (&limits.stores, key, setting.value.as_str())
            && !allowed.iter().any(|allowed| is_within(location, allowed, root))
        {
            self.forbidden.push(key);
            return self.refused(&setting, "`trust.stores` does not list it");
        }
        if let (Some(allowed), "telemetry.endpoint", Some(endpoint)) =
            (&limits.collectors, key, setting.value.as_str())
            && !allowed.iter().any(|allowed| same_address(allowed, endpoint))
        {
            return self.refused(&setting, "`trust.collectors` does not list it");
        }
        Some(setting)
    }

    fn refused(&mut self, setting: &Setting, why: &str) -> Option<Setting> {
        let Setting { key, source, .. } = setting;
        self.ignored_keys.push(format!("{source}: `{}` is ignored: {why}", key.name));
        None
    }
}

fn same_address(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

fn list(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The programs that a value names. What cannot be understood is not on anybody's list.
fn programs(key: &str, value: &Value) -> Vec<String> {
    let of_command = |command: &Value| {
        let words = command.as_str().and_then(|command| split_command(command).ok());
        words.map(|(program, _)| program.display().to_string()).unwrap_or_default()
    };
    match key {
        "agents.programs" => {
            value.as_table().into_iter().flatten().map(|(_, c)| of_command(c)).collect()
        }
        "runs.command" => vec![of_command(value)],
        "gates.commands" => {
            let first = |gate: &Value| {
                let word = gate.get("argv").and_then(|argv| argv.get(0));
                word.and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            value.as_array().into_iter().flatten().map(first).collect()
        }
        "uat.allow" => list(value).into_iter().map(ToOwned::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Whether a store is one that the user allows: the same URL, the same file, or a file below a folder.
fn is_within(location: &str, allowed: &str, root: &Path) -> bool {
    match (StoreLocation::parse(location), StoreLocation::parse(allowed)) {
        (Ok(StoreLocation::File(file)), Ok(StoreLocation::File(allowed))) => {
            let whole = |path: &Path| {
                let path = root.join(path);
                // The file itself may not exist yet.
                let above = path.parent().and_then(|above| fs_err::canonicalize(above).ok());
                fs_err::canonicalize(&path).ok().or_else(|| Some(above?.join(path.file_name()?)))
            };
            match (whole(&file), whole(&allowed)) {
                (Some(file), Some(allowed)) => file.starts_with(allowed),
                (_, _) => false,
            }
        }
        (Ok(StoreLocation::Service(one)), Ok(StoreLocation::Service(other))) => one == other,
        (Ok(StoreLocation::Shared(one)), Ok(StoreLocation::Shared(other))) => {
            // Parameters may lead elsewhere, such as another address for the same host.
            let parameters = |text: &str| text.split_once('?').map(|(_, rest)| rest.to_owned());
            let plain = [None, parameters(allowed)].contains(&parameters(location));
            plain && one.to_string() == other.to_string()
        }
        (_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        format!("v = {text}").parse::<toml::Table>().unwrap().remove("v").unwrap()
    }

    #[test]
    fn finds_the_programs_that_a_value_names() {
        let of = |key: &str, text: &str| programs(key, &value(text));
        assert_eq!(of("agents.programs", "{claude = \"./evil.sh -x\"}"), ["./evil.sh"]);
        assert_eq!(of("runs.command", "\"make agent\""), ["make"]);
        assert_eq!(of("gates.commands", "[{name = \"t\", argv = [\"sh\", \"-c\"]}]"), ["sh"]);
        assert_eq!(of("uat.allow", "[\"curl\", \"./x\"]"), ["curl", "./x"]);
        // Not understood is not allowed.
        assert_eq!(of("runs.command", "\"'open\""), [""]);
        assert_eq!(of("gates.commands", "[{name = \"t\"}]"), [""]);
        assert_eq!(of("brief.small", "3"), Vec::<String>::new());
    }

    #[test]
    fn a_store_is_allowed_by_url_file_or_folder() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("project");
        fs_err::create_dir_all(root.join("data")).unwrap();
        let within = |location: &str, allowed: &str| is_within(location, allowed, &root);
        let inside = root.display().to_string();
        assert!(within("data/store.db", &inside) && within("data/store.db", "data/store.db"));
        assert!(!within("../other/store.db", &inside) && !within("../other.db", &inside));
        assert!(!within("data/../../other.db", &inside));
        assert!(within("https://team.example", "https://team.example/"));
        assert!(!within("https://evil.example", "https://team.example"));
        assert!(!within("https://team.example", &inside));
        assert!(within("postgres://a:one@db/x", "postgres://a@db/x"));
        assert!(!within("postgres://a@db/y", "postgres://a@db/x"));
        assert!(!within("postgres://a@db/x?hostaddr=10.0.0.1", "postgres://a@db/x"));
    }
}
