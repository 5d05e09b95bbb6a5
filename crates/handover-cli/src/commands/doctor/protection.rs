//! Whether the configuration weakens what protects agents and secrets.

use handover_model::{GuardMode, RedactionMode};

use super::Check;
use crate::config::{Loaded, Source};

/// Settings that weaken a protection. What the user's own file says is the user's decision.
pub(super) fn check(loaded: &Loaded) -> Check {
    let config = &loaded.config;
    let settings = [
        (
            "redaction.mode",
            config.redaction.mode.as_str(),
            config.redaction.mode == RedactionMode::Off,
        ),
        ("guard.mode", config.guard.mode.as_str(), config.guard.mode != GuardMode::Strict),
    ];
    let weak: Vec<(&str, &str)> =
        settings.iter().filter(|(.., weak)| *weak).map(|(key, value, _)| (*key, *value)).collect();
    let by_others = |key: &str| !matches!(loaded.source(key), Source::UserFile(_));
    let list = |weak: &[(&str, &str)]| {
        let parts: Vec<String> = weak
            .iter()
            .map(|(key, value)| format!("{key} = {value} ({})", loaded.source(key)))
            .collect();
        parts.join(", ")
    };
    if weak.is_empty() {
        return Check::fine("protection", "redaction and guard are on");
    }
    let foreign: Vec<(&str, &str)> =
        weak.iter().filter(|(key, _)| by_others(key)).copied().collect();
    match foreign.is_empty() {
        true => Check::fine("protection", format!("weakened by your own file: {}", list(&weak))),
        false => Check::wrong(
            "protection",
            format!("weakened: {}", list(&foreign)),
            "Remove the setting, or put it into your user configuration if you mean it.",
        ),
    }
}
