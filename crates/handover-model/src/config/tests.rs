//! The configuration as a whole: defaults, partial files, unknown keys.

use serde_json::json;

use super::*;
use crate::{GuardMode, PartyPhase, Profile, RedactionMode, Routing};

fn read(value: serde_json::Value) -> Result<Config, serde_json::Error> {
    serde_json::from_value(value)
}

#[test]
fn an_empty_file_is_the_default() {
    assert_eq!(read(json!({})).unwrap(), Config::default());
    let sections = serde_json::to_value(Config::default()).unwrap();
    for section in sections.as_object().unwrap().keys() {
        assert_eq!(read(json!({section.as_str(): {}})).unwrap(), Config::default(), "{section}");
    }
}

#[test]
fn the_default_survives_a_round_trip() {
    let written = serde_json::to_value(Config::default()).unwrap();
    assert_eq!(read(written).unwrap(), Config::default());
}

#[test]
fn defaults_are_those_of_the_documentation() {
    let config = Config::default();
    assert_eq!((config.packages.warn_bytes, config.packages.max_bytes), (50_000, 5_000_000));
    assert_eq!(config.redaction.mode, RedactionMode::PatternAndEntropy);
    assert_eq!(config.learning.ttl_days, 90);
    assert_eq!(config.assembly.routing, Routing::Strict);
    assert_eq!((config.assembly.safety_margin, config.assembly.prior), (0.15, 0.1));
    let weights = config.assembly.weights;
    assert_eq!(
        [weights.title, weights.summary, weights.files, weights.body, weights.context],
        [3.0, 3.0, 2.0, 1.0, 1.3]
    );
    assert_eq!(config.guard.mode, GuardMode::Strict);
    assert_eq!((config.agents.timeout, config.agents.idle_timeout), (3_600, 900));
    assert_eq!((config.runs.profile, config.runs.parallel), (Profile::Edit, 1));
    assert_eq!((config.runs.max_fixes, config.runs.max_retries), (3, 1));
    assert_eq!((config.runs.lease, config.runs.phase_timeout), (60, 3_600));
    assert_eq!((config.hooks.enabled, config.hooks.deadline_ms), (true, 5_000));
    assert!(config.hooks.debrief_required && config.gates.detect && config.party.cross_talk);
    assert!(!config.runs.retro && !config.runs.analysis && !config.uat.blocking);
    assert_eq!(config.gates.timeout, 1_800);
    assert_eq!(config.uat.gate, None);
    assert_eq!(config.budget.run, Allowance::default());
}

#[test]
fn setting_one_value_keeps_the_others() {
    let config = read(json!({"runs": {"max_fixes": 7}, "assembly": {"weights": {"title": 9.0}}}));
    let config = config.unwrap();
    assert_eq!(config.runs.max_fixes, 7);
    assert_eq!(config.runs.max_retries, 1);
    assert_eq!((config.assembly.weights.title, config.assembly.weights.body), (9.0, 1.0));
}

#[test]
fn words_and_ids_are_validated() {
    for wrong in [
        json!({"guard": {"mode": "loose"}}),
        json!({"assembly": {"routing": "closed"}}),
        json!({"assembly": {"roles_disabled": ["QA Expert"]}}),
        json!({"project": {"id": "a/b"}}),
        json!({"hooks": {"sessions_disabled": ["../x"]}}),
        json!({"hooks": {"on_missing": "ignore"}}),
        json!({"runs": {"profile": "root"}}),
        json!({"runs": {"parallel": -1}}),
        json!({"party": {"phases": ["lunch"]}}),
    ] {
        assert!(read(wrong.clone()).is_err(), "{wrong}");
    }
}

#[test]
fn gate_commands_need_a_name_and_arguments() {
    let gates = |command: serde_json::Value| read(json!({"gates": {"commands": [command]}}));
    let config = gates(json!({"name": "lint", "argv": ["make", "lint"]})).unwrap();
    let command = &config.gates.commands[0];
    assert_eq!(command.format, crate::GateFormat::None);
    assert_eq!((command.argv.len(), command.report.as_deref()), (2, None));
    assert!(gates(json!({"argv": ["make"]})).is_err());
    assert!(gates(json!({"name": "lint"})).is_err());
}

#[test]
fn participants_are_looked_up_by_phase() {
    let config = read(json!({"party": {"agents": {"kickoff": ["ann"], "retro": []}}})).unwrap();
    let agents = &config.party.agents;
    assert_eq!(agents.of(PartyPhase::Kickoff).unwrap()[0].as_str(), "ann");
    assert_eq!(agents.of(PartyPhase::Retro), Some(&[][..]));
    assert_eq!(agents.of(PartyPhase::Review), None);
    assert_eq!(agents.of(PartyPhase::Failure), None);
}

/// Every key, with a value that is not its default.
fn everything() -> serde_json::Value {
    json!({
        "project": {"id": "shop"},
        "store": {"location": "https://x.example", "allow_http": true, "services": ["https://y.example"]},
        "packages": {"warn_bytes": 1, "max_bytes": 2},
        "redaction": {"mode": "off", "allow": ["x"], "rules": [{"name": "n", "pattern": "p"}]},
        "learning": {"ttl_days": 7},
        "forget": {"after_days": 365, "unused_days": 90, "keep_days": 7},
        "learn": {"share": true, "docs": false, "git": false, "transcripts": false, "memories": false},
        "assembly": {
            "min_trust": "agent", "learn_from_use": false,
            "enabled": false, "roles_disabled": ["qa_expert"], "routing": "open", "safety_margin": 0.5,
            "prior": 0.25, "weights": {"title": 1.5, "summary": 2.5, "files": 3.5, "body": 4.5, "context": 5.5},
            "roles": {"developer": {"context": 1, "errors": 2, "specialization": 3, "task": 4, "limit": 5, "min_trust": "project"}},
        },
        "specialization": {"enabled": false, "roles_disabled": ["developer"], "testing_mode": "minimal"},
        "brief": {
            "small": 1, "medium": 2, "large": 3, "specialization_floor": 5,
            "notes": false, "beside": false,
            "roles": {"developer": {"identity": "i", "focus": "f", "rules": ["r"]}},
        },
        "guard": {"mode": "warn"},
        "agents": {"timeout": 1, "idle_timeout": 2, "environment": ["X*"], "programs": {"codex": "/bin/codex"}},
        "runs": {
            "pipeline": "team", "host": "codex", "command": "c", "model": "m", "stories": ["s"], "epics": ["e"],
            "profile": "full", "env": ["X"], "parallel": 2, "remote": "r", "lease": 3, "phase_timeout": 4, "idle_timeout": 5, "max_fixes": 6,
            "retro": true, "analysis": true, "max_retries": 7, "max_file_bytes": 8, "max_commit_bytes": 9,
        },
        "party": {
            "phases": ["review"],
            "agents": {"kickoff": ["ann"], "review": ["bob"], "failure": ["cat"], "retro": ["dan"]},
            "solo": true, "cross_talk": false, "consensus": "unanimous", "fix_medium_above": 1,
            "personas": {"ann": {
                "name": "Ann", "title": "t", "role": "developer", "focus": "f", "style": "s", "model": "m",
                "permissions": "read_only",
            }},
        },
        "gates": {
            "detect": false, "timeout": 1,
            "commands": [{"name": "lint", "argv": ["make"], "format": "tap", "report": "r.xml"}],
        },
        "uat": {"allow": ["curl"], "gate": "full", "heal": 2, "blocking": true},
        "budget": {
            "phase": {"usd": 1.5, "tokens": 2, "turns": 3, "minutes": 4.5},
            "story": {"usd": 1.0, "tokens": null, "turns": null, "minutes": null},
            "run": {"usd": null, "tokens": 1, "turns": null, "minutes": null},
        },
        "hooks": {
            "enabled": false, "roles": {"Explore": "investigator"}, "roles_disabled": ["developer"],
            "exempt": {"Plan": "it only plans"}, "exempt_marker": true, "on_missing": "refuse",
            "sessions_disabled": ["s1"], "debrief_required": false, "return_tokens": 500, "deadline_ms": 1,
        },
        "telemetry": {"endpoint": "http://localhost:4318", "signals": ["traces"]},
        "trust": {
            "programs": ["make"], "stores": ["https://team.example"], "collectors": ["https://otel.example"],
        },
    })
}

#[test]
fn every_key_is_read_and_written() {
    let config = read(everything()).unwrap();
    assert_eq!(serde_json::to_value(&config).unwrap(), everything());
}

#[test]
fn no_key_of_the_sample_is_a_default() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    let sample = everything();
    for (section, keys) in defaults.as_object().unwrap() {
        for (key, default) in keys.as_object().unwrap() {
            assert_ne!(&sample[section][key], default, "{section}.{key}");
        }
        let count = |value: &serde_json::Value| value.as_object().unwrap().len();
        assert_eq!(count(&sample[section]), count(keys), "{section}");
    }
}

#[test]
fn each_key_changes_nothing_but_itself() {
    let defaults = serde_json::to_value(Config::default()).unwrap();
    for (section, keys) in everything().as_object().unwrap() {
        for (key, value) in keys.as_object().unwrap() {
            let config = read(json!({section.as_str(): {key.as_str(): value}})).unwrap();
            let mut expected = defaults.clone();
            expected[section][key] = value.clone();
            assert_eq!(serde_json::to_value(&config).unwrap(), expected, "{section}.{key}");
        }
    }
}

#[test]
fn values_of_another_type_are_rejected() {
    for (section, keys) in everything().as_object().unwrap() {
        for key in keys.as_object().unwrap().keys() {
            let wrong = json!({section.as_str(): {key.as_str(): [[1]]}});
            assert!(read(wrong).is_err(), "{section}.{key}");
        }
    }
}
