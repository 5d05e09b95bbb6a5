//! What a flag or a variable may say about redaction, the guard and trust.
//!
//! Agents type commands, too, so a flag that switches redaction off would be theirs to use. `--config` can
//! only make a protection stricter, and so can a variable that an agent program passes on.

use handover_model::config::Config;
use serde_json::Value as Json;
use toml::Value;

use super::project_file::strictness;
use super::{Loaded, Setting, Source, parse, pointer};
use crate::env;
use crate::error::CommandError;

impl Loaded {
    /// Whether a value of a flag or a variable counts. A variable of an agent that weakens a protection is
    /// ignored, because hooks must not fail on it; a flag is an error.
    pub(super) fn may_override(&mut self, setting: &Setting) -> Result<bool, CommandError> {
        let name = setting.key.name;
        if !["redaction.", "guard.", "trust."].iter().any(|section| name.starts_with(section)) {
            return Ok(true);
        }
        if !weakens(setting, &parse(&self.set, "the configuration")?) {
            return Ok(true);
        }
        match &setting.source {
            Source::Environment(variable) if env::is_agent() => {
                self.ignored_keys.push(format!(
                    "{variable} is ignored: an agent cannot weaken `{name}` of its user"
                ));
                Ok(false)
            }
            Source::Flag => Err(CommandError::invalid(format!(
                "`--config` cannot weaken `{name}`, so that no agent can"
            ))
            .hinted(format!(
                "For yourself and every project: `handover config set --user {name} VALUE`."
            ))),
            Source::Default
            | Source::UserFile(_)
            | Source::ProjectFile(_)
            | Source::Environment(_) => Ok(true),
        }
    }
}

/// Whether a value protects less than those of the layers below. One that is not valid fails elsewhere.
fn weakens(setting: &Setting, below: &Config) -> bool {
    let name = setting.key.name;
    let all = serde_json::to_value(below).unwrap_or_default();
    let before = all.pointer(&pointer(name)).unwrap_or(&Json::Null);
    let now = serde_json::to_value(&setting.value).unwrap_or_default();
    let has_all = |list: &Json, of: &Json| {
        let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
        of.as_array().into_iter().flatten().all(|one| list.contains(one))
    };
    match name {
        "redaction.mode" | "guard.mode" => {
            let (now, before) = (strictness(name, &now), strictness(name, before));
            now.is_some() && now < before
        }
        "redaction.allow" => matches!(setting.value, Value::Array(_)) && !has_all(before, &now),
        "redaction.rules" => matches!(setting.value, Value::Array(_)) && !has_all(&now, before),
        _ => true,
    }
}
