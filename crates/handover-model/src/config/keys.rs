//! Every configuration key, and what a project's file could do with it.
//!
//! A checkout's files can come from anyone. A key's [`Risk`] decides whether it takes effect before the
//! user has agreed to it; every key has one, because this table is the list of keys.

use Risk::{
    Harmless, Instructs, NamesRecords, OpensEnvironment, RunsProgram, SendsData, Spends, UserOnly,
    WeakensProtection, WithholdsContext,
};

/// What a value could do in the file of an unreviewed project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Risk {
    /// It can neither run, weaken nor send anything, so it needs no trust.
    Harmless,
    /// Harmless, unless the user's own file limits the same thing.
    Spends,
    /// Harmless while the project has a store of its own; in a shared one it selects whose records are
    /// read and written.
    NamesRecords,
    /// It names a program that is started, or makes one start.
    RunsProgram,
    /// It lets programs see more of the user's environment.
    OpensEnvironment,
    /// It weakens redaction, the guard, permissions, reviews or a limit.
    WeakensProtection,
    /// It can leave agents without the context that they should have.
    WithholdsContext,
    /// It decides where records or code are stored or sent.
    SendsData,
    /// Agents read it as instructions.
    Instructs,
    /// Always ignored in a project's file, trusted or not.
    UserOnly,
}

impl Risk {
    /// Why a value needs trust, for the user.
    pub const fn why(self) -> &'static str {
        match self {
            Harmless => "harmless",
            Spends => "replaces a limit of your own configuration",
            NamesRecords => "decides whose records are used in the shared store",
            RunsProgram => "runs a program",
            OpensEnvironment => "shows programs more of your environment",
            WeakensProtection => "weakens a protection",
            WithholdsContext => "can leave agents without context",
            SendsData => "decides where records or code are stored or sent",
            Instructs => "tells agents what to do",
            UserOnly => "only works in your own configuration",
        }
    }
}

/// A configuration key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// `section.name`
    pub name: &'static str,
    /// What a project's file could do with it.
    pub risk: Risk,
}

impl Key {
    /// A key by its name.
    pub fn find(name: &str) -> Option<&'static Self> {
        KEYS.iter().find(|key| key.name == name)
    }
}

const fn key(name: &'static str, risk: Risk) -> Key {
    Key { name, risk }
}

/// Every key, in the order of `config show`.
pub const KEYS: &[Key] = &[
    key("project.id", NamesRecords),
    key("store.location", SendsData),
    key("store.allow_http", UserOnly),
    key("store.services", UserOnly),
    key("packages.warn_bytes", Harmless),
    // A higher limit makes us read larger files.
    key("packages.max_bytes", WeakensProtection),
    key("redaction.mode", WeakensProtection),
    key("redaction.allow", WeakensProtection),
    // They replace the user's own rules, and a rule that matches everything erases the text it is applied to.
    key("redaction.rules", WeakensProtection),
    key("learning.ttl_days", Harmless),
    // Conversations of the user would leave the machine.
    key("learn.share", SendsData),
    key("learn.docs", WithholdsContext),
    key("learn.git", WithholdsContext),
    // Whether what the user said to an agent is read at all is theirs to say.
    key("learn.transcripts", WeakensProtection),
    key("learn.memories", WeakensProtection),
    key("forget.after_days", WithholdsContext),
    key("forget.unused_days", WithholdsContext),
    // What is deleted early cannot be looked at or undone.
    key("forget.keep_days", WeakensProtection),
    key("assembly.enabled", WithholdsContext),
    key("assembly.roles_disabled", WithholdsContext),
    key("assembly.routing", Harmless),
    // A margin of 1 leaves no room for context; neither does a limit of 0 for a role.
    key("assembly.safety_margin", WithholdsContext),
    key("assembly.prior", Harmless),
    key("assembly.weights", Harmless),
    key("assembly.min_trust", WithholdsContext),
    // It moves an item by at most a fifth of its score.
    key("assembly.learn_from_use", Harmless),
    key("assembly.roles", WithholdsContext),
    key("specialization.enabled", WithholdsContext),
    key("specialization.roles_disabled", WithholdsContext),
    // It decides whether a team tests at all.
    key("specialization.testing_mode", WeakensProtection),
    key("brief.small", Harmless),
    key("brief.medium", Harmless),
    key("brief.large", Harmless),
    // At 100 nothing is left for the context.
    key("brief.specialization_floor", WithholdsContext),
    key("brief.notes", WithholdsContext),
    key("brief.beside", WithholdsContext),
    key("brief.roles", Instructs),
    key("guard.mode", WeakensProtection),
    key("agents.timeout", Harmless),
    key("agents.idle_timeout", Harmless),
    key("agents.environment", OpensEnvironment),
    key("agents.programs", RunsProgram),
    key("runs.pipeline", Harmless),
    // Host and model decide who reads the code.
    key("runs.host", SendsData),
    key("runs.command", RunsProgram),
    key("runs.model", SendsData),
    // Stories are instructions.
    key("runs.stories", Instructs),
    key("runs.epics", Instructs),
    key("runs.profile", WeakensProtection),
    key("runs.env", OpensEnvironment),
    key("runs.parallel", Harmless),
    key("runs.remote", SendsData),
    key("runs.lease", Harmless),
    key("runs.phase_timeout", Harmless),
    key("runs.idle_timeout", Harmless),
    key("runs.max_fixes", Harmless),
    key("runs.retro", Harmless),
    key("runs.analysis", Harmless),
    key("runs.max_retries", Harmless),
    key("runs.max_file_bytes", Harmless),
    key("runs.max_commit_bytes", Harmless),
    key("party.phases", Harmless),
    // Who reviews, how independently, and which findings are fixed.
    key("party.agents", WeakensProtection),
    key("party.solo", WeakensProtection),
    key("party.cross_talk", Harmless),
    key("party.consensus", WeakensProtection),
    key("party.fix_medium_above", WeakensProtection),
    key("party.personas", Instructs),
    key("gates.detect", WeakensProtection),
    key("gates.commands", RunsProgram),
    key("gates.timeout", Harmless),
    key("uat.allow", RunsProgram),
    key("uat.gate", RunsProgram),
    key("uat.heal", Harmless),
    key("uat.blocking", Harmless),
    key("budget.phase", Spends),
    key("budget.story", Spends),
    key("budget.run", Spends),
    key("hooks.enabled", WithholdsContext),
    key("hooks.roles", WithholdsContext),
    key("hooks.roles_disabled", WithholdsContext),
    key("hooks.exempt", WithholdsContext),
    // A model must not exempt its own subagents.
    key("hooks.exempt_marker", UserOnly),
    key("hooks.on_missing", WithholdsContext),
    key("hooks.sessions_disabled", WithholdsContext),
    key("hooks.debrief_required", WeakensProtection),
    // The lead of a project would read less than its agents report.
    key("hooks.return_tokens", WithholdsContext),
    // A hook without time returns no brief; one with too much of it stalls its host.
    key("hooks.deadline_ms", WithholdsContext),
    key("telemetry.endpoint", SendsData),
    key("telemetry.signals", Harmless),
    key("trust.programs", UserOnly),
    key("trust.stores", UserOnly),
    key("trust.collectors", UserOnly),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    #[test]
    fn every_field_of_the_configuration_is_in_the_table() {
        let config = serde_json::to_value(Config::default()).unwrap();
        let mut fields = Vec::new();
        for (section, keys) in config.as_object().unwrap() {
            fields.extend(keys.as_object().unwrap().keys().map(|key| format!("{section}.{key}")));
        }
        fields.sort();
        let mut names: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
        names.sort_unstable();
        assert_eq!(names, fields);
    }

    #[test]
    fn every_key_is_documented_with_its_default() {
        let page =
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md"));
        let config = serde_json::to_value(Config::default()).unwrap();
        let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
        let documented: Vec<[&str; 3]> = rows
            .map(|row| {
                let mut cells = row.split(" | ");
                [(); 3].map(|()| cells.next().unwrap_or_default())
            })
            .collect();
        assert_eq!(documented.len(), KEYS.len());
        for (key, [name, default, project]) in KEYS.iter().zip(documented) {
            assert_eq!(name, format!("{}`", key.name));
            let value = config.pointer(&format!("/{}", key.name.replace('.', "/"))).unwrap();
            let default: serde_json::Value = match default {
                "–" => serde_json::Value::Null,
                text => serde_json::from_str(text.trim_matches('`')).unwrap(),
            };
            assert_eq!(default, *value, "{}", key.name);
            let counts = match key.risk {
                Harmless | Spends | NamesRecords => "yes",
                UserOnly => "no",
                RunsProgram | OpensEnvironment | WeakensProtection | WithholdsContext
                | SendsData | Instructs => "trust",
            };
            assert_eq!(project, counts, "{}", key.name);
        }
    }

    #[test]
    fn whatever_starts_or_sends_needs_trust() {
        let risk = |name: &str| Key::find(name).map(|key| key.risk);
        for name in ["agents.programs", "runs.command", "gates.commands", "uat.allow"] {
            assert_eq!(risk(name), Some(RunsProgram), "{name}");
        }
        for name in ["agents.environment", "runs.env"] {
            assert_eq!(risk(name), Some(OpensEnvironment), "{name}");
        }
        for name in
            ["store.location", "runs.host", "runs.remote", "learn.share", "telemetry.endpoint"]
        {
            assert_eq!(risk(name), Some(SendsData), "{name}");
        }
        for name in ["redaction.mode", "redaction.allow", "guard.mode", "runs.profile"] {
            assert_eq!(risk(name), Some(WeakensProtection), "{name}");
        }
        assert_eq!(risk("brief.roles"), Some(Instructs));
        assert_eq!(risk("brief.small"), Some(Harmless));
        assert_eq!(risk("nothing.here"), None);
    }

    #[test]
    fn risks_that_need_trust_have_distinct_reasons() {
        let risks = [
            Spends,
            NamesRecords,
            RunsProgram,
            OpensEnvironment,
            WeakensProtection,
            WithholdsContext,
            SendsData,
            Instructs,
            UserOnly,
        ];
        let words: std::collections::BTreeSet<&str> = risks.map(Risk::why).into();
        assert_eq!(words.len(), risks.len());
    }
}
