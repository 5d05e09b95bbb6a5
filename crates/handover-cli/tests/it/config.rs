//! The layers of the configuration.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{empty, project};

fn entry(output: &Value, key: &str) -> (Value, String) {
    let all = output["config"].as_array().unwrap();
    let entry = all.iter().find(|entry| entry["key"] == key).unwrap();
    (entry["value"].clone(), entry["source"]["kind"].as_str().unwrap().to_owned())
}

#[test]
fn higher_layers_win_and_values_name_their_source() {
    let mut env = empty();
    env.run(["init"]).ok();
    let show = |env: &TestEnv, args: &[&str]| {
        let mut all = vec!["config", "show", "--json"];
        all.extend(args);
        env.run(all).ok().json()
    };
    let warn = "packages.warn_bytes";
    assert_eq!(entry(&show(&env, &[]), warn), (json!(50_000), "default".into()));
    assert_eq!(entry(&show(&env, &[]), "project.id"), (json!("project"), "project_file".into()));
    let user = env.folder().join("home/.config/handover/config.toml");
    fs_err::create_dir_all(user.parent().unwrap()).unwrap();
    fs_err::write(&user, "[packages]\nwarn_bytes = 1\nmax_bytes = 9\n").unwrap();
    assert_eq!(entry(&show(&env, &[]), warn), (json!(1), "user_file".into()));
    env.write(".handover/config.toml", "[packages]\nwarn_bytes = 2\n");
    assert_eq!(entry(&show(&env, &[]), warn), (json!(2), "project_file".into()));
    assert_eq!(entry(&show(&env, &[]), "packages.max_bytes"), (json!(9), "user_file".into()));
    env.set("HANDOVER_PACKAGES_WARN_BYTES", "3");
    assert_eq!(entry(&show(&env, &[]), warn), (json!(3), "environment".into()));
    let flagged = show(&env, &["--config", "packages.warn_bytes=4"]);
    assert_eq!(entry(&flagged, warn), (json!(4), "flag".into()));
}

#[test]
fn unknown_keys_are_errors_with_a_suggestion() {
    let env = crate::project();
    for (text, unknown, meant) in [
        ("[packages]\nwarn_byte = 2\n", "`packages.warn_byte`", "`packages.warn_bytes`?"),
        (
            "[assembly.roles.developer]\nlimt = 6\n",
            "`assembly.roles.developer.limt`",
            "`assembly.roles.developer.limit`?",
        ),
        ("[assembly.weights]\ntitel = 1.0\n", "`assembly.weights.titel`", "weights.title`?"),
        (
            "[brief.roles.developer]\nidentiy = \"x\"\n",
            "developer.identiy`",
            "developer.identity`?",
        ),
        ("[party.agents]\nreviews = []\n", "`party.agents.reviews`", "`party.agents.review`?"),
        (
            "[[gates.commands]]\nname = \"t\"\nargv = [\"x\"]\nformt = \"tap\"\n",
            "`gates.commands.formt`",
            "`gates.commands.format`?",
        ),
        ("[budget.run]\neur = 3\n", "`budget.run.eur`", "Known keys of `budget.run`: "),
        ("[colour]\nx = 1\n", "`colour.x`", "Sections: project, store"),
        ("colour = 1\n", "`colour`", "Sections: project, store"),
    ] {
        env.write(".handover/config.toml", text);
        let error = env.run(["session", "list", "--json"]).fails(2).error();
        assert_eq!(error["code"], "invalid_config", "{text}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(unknown) && message.contains("config.toml"), "{text}: {error}");
        assert!(error["hint"].as_str().unwrap().contains(meant), "{text}: {error}");
        // An agent gets its context all the same, and the user a warning.
        let output = env.run(["assemble", "--role", "developer"]).ok();
        assert!(output.stdout.contains("### Relevant Packages (0/0)"), "{output}");
        assert!(output.stderr.contains(unknown), "{output}");
        let event = json!({
            "hook_event_name": "SessionStart", "session_id": "c", "source": "startup",
            "cwd": env.path(""), "transcript_path": "/none",
        });
        env.run_with(event.to_string(), ["hook", "claude"]).ok();
        assert!(env.run(["doctor"]).stdout.contains(unknown), "{text}");
    }
}

#[test]
fn flags_reach_into_tables() {
    let env = crate::project();
    env.write(
        ".handover/config.toml",
        "[assembly.roles.developer]\nlimit = 2\ncontext = 7\n\n[assembly.roles.qa_expert]\nlimit = 9\n",
    );
    let flag = |flag: &str| env.run(["config", "show", "--json", "--config", flag]);
    let shown = flag("assembly.roles.developer.limit=6").ok().json();
    let (roles, source) = entry(&shown, "assembly.roles");
    assert_eq!(
        (&roles["developer"]["limit"], &roles["developer"]["context"]),
        (&json!(6), &json!(7))
    );
    assert_eq!((&roles["qa_expert"]["limit"], source.as_str()), (&json!(9), "flag"));
    for (wrong, named) in [
        ("assembly.roles.developer.limt=6", "`assembly.roles.developer.limt`"),
        ("assembly.roles.developer.limit=many", "many"),
        ("packages.warn_bytes.x=1", "warn_bytes"),
        ("assembly.roles.=1", "`assembly.roles.`"),
    ] {
        let error = flag(wrong).fails(2).error();
        assert!(error["message"].as_str().unwrap().contains(named), "{wrong}: {error}");
    }
}

/// A value for every key that can be given as a flag.
const VALUES: &[(&str, &str)] = &[
    ("project.id", "shop"),
    ("store.location", "other.db"),
    ("store.allow_http", "true"),
    ("store.services", r#"["https://y.example"]"#),
    ("packages.warn_bytes", "1"),
    ("packages.max_bytes", "2"),
    ("learning.ttl_days", "7"),
    ("learn.share", "true"),
    ("learn.docs", "false"),
    ("learn.git", "false"),
    ("learn.transcripts", "false"),
    ("learn.memories", "false"),
    ("forget.after_days", "365"),
    ("forget.unused_days", "90"),
    ("forget.keep_days", "7"),
    ("assembly.enabled", "false"),
    ("assembly.roles_disabled", r#"["qa_expert"]"#),
    ("assembly.routing", "open"),
    ("assembly.safety_margin", "0.5"),
    ("assembly.prior", "0.25"),
    ("assembly.weights", "{title = 1.5}"),
    ("assembly.min_trust", "agent"),
    ("assembly.learn_from_use", "false"),
    ("assembly.roles", "{developer = {limit = 5}}"),
    ("specialization.enabled", "false"),
    ("specialization.roles_disabled", r#"["developer"]"#),
    ("specialization.testing_mode", "minimal"),
    ("brief.small", "301"),
    ("brief.medium", "302"),
    ("brief.large", "303"),
    ("brief.specialization_floor", "5"),
    ("brief.notes", "false"),
    ("brief.beside", "false"),
    ("brief.roles", r#"{developer = {identity = "i"}}"#),
    ("agents.timeout", "1"),
    ("agents.idle_timeout", "2"),
    ("agents.environment", r#"["X*"]"#),
    ("agents.programs", r#"{codex = "/bin/codex"}"#),
    ("runs.pipeline", "team"),
    ("runs.host", "codex"),
    ("runs.command", "12"),
    ("runs.model", "m"),
    ("runs.stories", r#"["work"]"#),
    ("runs.epics", r#"["plans"]"#),
    ("runs.profile", "full"),
    ("runs.env", r#"["X"]"#),
    ("runs.parallel", "2"),
    ("runs.remote", "origin"),
    ("runs.lease", "3"),
    ("runs.phase_timeout", "4"),
    ("runs.idle_timeout", "5"),
    ("runs.max_fixes", "6"),
    ("runs.retro", "true"),
    ("runs.analysis", "true"),
    ("runs.max_retries", "7"),
    ("runs.max_file_bytes", "8"),
    ("runs.max_commit_bytes", "9"),
    ("party.phases", r#"["review"]"#),
    ("party.agents", r#"{review = ["bob"]}"#),
    ("party.solo", "true"),
    ("party.cross_talk", "false"),
    ("party.consensus", "unanimous"),
    ("party.fix_medium_above", "1"),
    ("party.personas", r#"{ann = {name = "Ann"}}"#),
    ("gates.detect", "false"),
    ("gates.commands", r#"[{name = "lint", argv = ["make"]}]"#),
    ("gates.timeout", "1"),
    ("uat.allow", r#"["curl"]"#),
    ("uat.gate", "full"),
    ("uat.heal", "2"),
    ("uat.blocking", "true"),
    ("budget.phase", "{usd = 1.5}"),
    ("budget.story", "{tokens = 2}"),
    ("budget.run", "{minutes = 3}"),
    ("hooks.enabled", "false"),
    ("hooks.roles", r#"{Explore = "investigator"}"#),
    ("hooks.roles_disabled", r#"["developer"]"#),
    ("hooks.exempt", r#"{Plan = "it only plans"}"#),
    ("hooks.exempt_marker", "true"),
    ("hooks.on_missing", "refuse"),
    ("hooks.sessions_disabled", r#"["s1"]"#),
    ("hooks.debrief_required", "false"),
    ("hooks.return_tokens", "500"),
    ("hooks.deadline_ms", "1"),
    ("telemetry.endpoint", "http://localhost:4318"),
    ("telemetry.signals", r#"["traces"]"#),
];

#[test]
fn every_key_can_be_given_as_a_flag() {
    let env = empty();
    let all = env.run(["config", "show", "--json"]).ok().json();
    let keys: Vec<&str> =
        all["config"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
    let is_listed =
        |key: &&&str| !["redaction.", "guard.", "trust."].iter().any(|s| key.starts_with(s));
    let given: Vec<&str> = VALUES.iter().map(|(key, _)| *key).collect();
    assert_eq!(keys.iter().filter(is_listed).copied().collect::<Vec<_>>(), given);
    let flags: Vec<String> = VALUES.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let mut args = vec!["config", "show", "--json"];
    args.extend(flags.iter().flat_map(|flag| ["--config", flag]));
    let shown = env.run(args).ok().json();
    for key in given {
        let (value, source) = entry(&shown, key);
        assert_eq!(source, "flag", "{key}");
        assert_ne!(value, entry(&all, key).0, "{key}");
    }
    assert_eq!(entry(&shown, "runs.command").0, "12");
}

#[test]
fn names_a_broken_file() {
    let env = empty();
    env.run(["init"]).ok();
    for text in
        ["[packages", "[packages]\nwarn_bytes = \"many\"\n", "[redaction]\nmode = \"maybe\"\n"]
    {
        env.write(".handover/config.toml", text);
        let error = env.run(["session", "list", "--json"]).fails(2).error();
        assert_eq!(error["code"], "invalid_config");
        assert!(error["message"].as_str().unwrap().contains(".handover/config.toml"), "{error}");
    }
}

#[test]
fn redaction_follows_the_configuration() {
    let mut env = crate::project();
    assert_eq!(removed(&env), 1);
    env.set("HANDOVER_REDACTION_ALLOW", "[\"correct-horse\"]");
    assert_eq!(removed(&env), 0);
    env.set("HANDOVER_REDACTION_ALLOW", "[]");
    env.set("HANDOVER_REDACTION_MODE", "off");
    assert_eq!(removed(&env), 0);
}

/// How many secrets were removed from a reasoning with one.
fn removed(env: &TestEnv) -> Value {
    let text = "password=correct-horse";
    let add = ["reasoning", "add", "--role", "developer", "--phase", "risks", text, "--json"];
    env.run(add).ok().json()["reasoning"]["redactions"].clone()
}

/// Agents type commands, too.
#[test]
fn no_flag_weakens_a_protection() {
    let mut env = crate::project();
    for flag in [
        "redaction.mode=off",
        "redaction.mode=pattern_only",
        "redaction.allow=[\"correct-horse\"]",
        "guard.mode=warn",
        "trust.programs=[\"./agent.sh\"]",
    ] {
        let key = flag.split('=').next().unwrap();
        let error = env.run(["config", "show", "--config", flag, "--json"]).fails(2).error();
        assert_eq!(
            error["message"],
            format!("`--config` cannot weaken `{key}`, so that no agent can")
        );
        assert!(error["hint"].as_str().unwrap().contains("config set --user"), "{error}");
    }
    for flag in ["redaction.mode=pattern_and_entropy", "redaction.allow=[]", "guard.mode=strict"] {
        env.run(["config", "show", "--config", flag]).ok();
    }
    // What the user's own file says is the measure, not the default.
    env.write("../home/.config/handover/config.toml", "[redaction]\nmode = \"off\"\n");
    env.run(["config", "show", "--config", "redaction.mode=pattern_only"]).ok();
    assert_eq!(removed(&env), 0);
    env.write("../home/.config/handover/config.toml", "");
    // A variable of an agent is ignored with a warning, and its hooks go on.
    env.set("HANDOVER_REDACTION_MODE", "off");
    env.set("CLAUDECODE", "1");
    assert_eq!(removed(&env), 1);
    let warned = env.run(["session", "list"]).ok().stderr;
    assert!(warned.contains("HANDOVER_REDACTION_MODE is ignored: an agent cannot"), "{warned}");
}

#[test]
fn an_agent_neither_trusts_nor_changes_what_is_its_users() {
    for name in [
        "CLAUDECODE",
        "CODEX_THREAD_ID",
        "COPILOT_AGENT_SESSION_ID",
        "GEMINI_CLI",
        "OPENCODE",
        "QWEN_CODE",
        "HANDOVER_SPAWN",
    ] {
        let mut env = crate::project();
        env.set(name, "1");
        let trusting = env.run(["trust", "--yes", "--json"]).fails(3).error();
        assert_eq!(trusting["code"], "agent", "{name}");
        env.run(["trust", "--list"]).ok();
        let set = ["config", "set", "--user", "guard.mode", "off", "--json"];
        assert_eq!(env.run(set).fails(3).error()["code"], "agent", "{name}");
        assert!(!env.path("../home/.config/handover/config.toml").exists(), "{name}");
    }
}

#[test]
fn set_changes_one_value_and_keeps_the_rest_of_the_file() {
    let env = project();
    let text = "# ours\n[packages]\n# large ones\nwarn_bytes = 1 # bytes\n";
    env.write(".handover/config.toml", text);
    env.run(["config", "set", "packages.warn_bytes", "2000"]).ok();
    env.run(["config", "set", "assembly.roles.developer.limit", "7"]).ok();
    let file = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    assert!(file.starts_with(&text.replace("= 1 #", "= 2000 #")), "{file}");
    assert_eq!(env.run(["config", "get", "packages.warn_bytes"]).ok().stdout, "2000\n");
    assert_eq!(env.run(["config", "get", "assembly.roles.developer.limit"]).ok().stdout, "7\n");
    let again = env.run(["config", "set", "packages.warn_bytes", "2000", "--json"]).ok().json();
    assert_eq!(again["config"]["changed"], false);
    env.run(["config", "set", "packages.warn_bytes", "--unset"]).ok();
    let source = env.run(["config", "get", "packages.warn_bytes", "--json"]).ok().json();
    assert_eq!(source["config"]["source"]["kind"], "default", "{source}");
}

#[test]
fn set_refuses_what_could_not_be_read_again() {
    let env = project();
    let before = fs_err::read_to_string(env.path(".handover/config.toml")).unwrap();
    for (key, value, part) in [
        ("packages.warn_byte", "1", "Did you mean `packages.warn_bytes`?"),
        ("packages.warn_bytes", "many", "expected a whole number"),
        ("assembly.roles.developer.limt", "1", "limit"),
        ("guard.mode", "sometimes", "strict"),
        ("trust.programs", "[]", "--user"),
    ] {
        let refused = env.run(["config", "set", key, value]).fails(2);
        assert!(refused.stderr.contains(part), "{key}: {refused}");
    }
    assert_eq!(fs_err::read_to_string(env.path(".handover/config.toml")).unwrap(), before);
    env.run(["config", "get", "guard.mod"]).fails(2);
}

#[test]
fn a_value_that_needs_trust_counts_after_trust_and_an_agent_cannot_change_the_users_file() {
    let mut env = project();
    env.trust_nothing();
    let set = env.run(["config", "set", "redaction.mode", "off"]).ok();
    assert!(set.stderr.contains("handover trust"), "{set}");
    assert_ne!(env.run(["config", "get", "redaction.mode", "--quiet"]).ok().stdout, "off\n");
    env.run(["config", "set", "agents.timeout", "77", "--user"]).ok();
    assert_eq!(env.run(["config", "get", "agents.timeout", "--quiet"]).ok().stdout, "77\n");
    env.set("HANDOVER_SPAWN", "r_1");
    env.run(["config", "set", "agents.timeout", "78", "--user"]).fails(3);
}

#[test]
fn edit_keeps_a_broken_draft_out_of_the_file() {
    let mut env = project();
    let file = env.path(".handover/config.toml");
    let before = fs_err::read_to_string(&file).unwrap();
    env.write("editor.sh", "echo '[guard]' >> \"$1\"; echo 'mode = \"strict\"' >> \"$1\"");
    env.set("EDITOR", &format!("sh {}", env.path("editor.sh").display()));
    env.run(["config", "edit"]).ok();
    let after = fs_err::read_to_string(&file).unwrap();
    assert_eq!(after, format!("{before}[guard]\nmode = \"strict\"\n"));
    env.write("editor.sh", "echo '[guard' > \"$1\"");
    let refused = env.run(["config", "edit"]).fails(2);
    assert!(refused.stderr.contains("what you wrote is in"), "{refused}");
    assert_eq!(fs_err::read_to_string(&file).unwrap(), after);
    env.set("EDITOR", "no-such-editor");
    env.run(["config", "edit"]).fails(5);
}
