//! What people type instead of whole ids and right names: parts of ids, `latest`, paths, typos, files.

use handover_testkit::TestEnv;
use serde_json::json;

use crate::hooks::{answer, prompt_of};
use crate::project;

const PACKAGE: &str = "---\ntype: research\nconsumers: [developer]\n---\nRefresh tokens rotate.\n";

fn with_package() -> TestEnv {
    let env = project();
    env.write("docs/oauth.md", PACKAGE);
    env.run(["package", "add", "docs/oauth.md"]).ok();
    env
}

fn brief(env: &TestEnv, role: &str) -> String {
    let brief = ["brief", "--role", role, "--group", "login", "--task", "Rotate", "--json"];
    env.run(brief).ok().json()["receipt"].as_str().unwrap().to_owned()
}

#[test]
fn a_role_one_typo_away_is_refused_before_anything_is_written() {
    let env = project();
    for command in ["brief", "assemble", "specialize"] {
        let refused = env.run([command, "--role", "devloper", "--task", "x"]).fails(2);
        assert!(refused.stderr.contains("there is no role `devloper`"), "{refused}");
        assert!(refused.stderr.contains("Did you mean `developer`?"), "{refused}");
    }
    env.run(["reasoning", "add", "--role", "qa-expert", "--phase", "decisions", "x"]).fails(2);
    env.write("docs/oauth.md", "Refresh tokens rotate.");
    let add = ["package", "add", "docs/oauth.md", "--kind", "research", "--consumer", "tech_laed"];
    assert!(env.run(add).fails(2).stderr.contains("`tech_lead`"));
    assert_eq!(env.run(["receipt", "list", "--json"]).ok().json()["receipts"], json!([]));
}

#[test]
fn any_other_unknown_role_is_warned_of_once() {
    let env = project();
    let brief = ["brief", "--role", "gardener", "--task", "Plant trees"];
    let first = env.run(brief).ok();
    assert_eq!(first.stderr.lines().count(), 1, "{first}");
    assert!(first.stderr.contains("`gardener` is not a known role"), "{first}");
    assert_eq!(env.run(brief).ok().stderr, "");
    // A copy of a known role is no typo, and a configured role is known.
    assert!(
        env.run(["brief", "--role", "developer2", "--task", "x"])
            .ok()
            .stderr
            .contains("not a known role")
    );
    let known =
        ["brief", "--role", "florist", "--task", "x", "--config", "assembly.roles.florist.limit=2"];
    assert_eq!(env.run(known).ok().stderr, "");
    let json = env.run(["assemble", "--role", "plumber", "--json"]).ok();
    assert!(json.stderr.starts_with("{\"schema\":1,\"warning\""), "{json}");
}

#[test]
fn models_are_checked_by_name() {
    let env = project();
    let with =
        |model: &'static str| ["brief", "--role", "developer", "--task", "x", "--model", model];
    let refused = env.run(with("sonet")).fails(2);
    assert!(refused.stderr.contains("Did you mean `sonnet`?"), "{refused}");
    let warned = env.run(with("gpt-99")).ok();
    assert!(warned.stderr.contains("`gpt-99` is not a model that Handover knows"), "{warned}");
    assert_eq!(env.run(with("opus")).ok().stderr, "");
    env.run_with("x", ["tokens", "--model", "claud"]).fails(2);
    let refused = env.run(with("gpt5")).fails(2);
    assert!(refused.stderr.contains("Did you mean `gpt-5`?"), "{refused}");
}

#[test]
fn kinds_hosts_sessions_groups_and_keys_get_suggestions() {
    let env = with_package();
    for (command, meant) in [
        (&["package", "add", "docs/oauth.md", "--kind", "reserch"][..], "research"),
        (&["spawn", "--host", "cluade", "--role", "developer", "--task", "x"], "claude"),
        (&["host", "install", "cluade"], "claude"),
        (&["config", "show", "--config", "redaction.mod=off"], "redaction.mode"),
        (&["receit", "list"], "receipt"),
    ] {
        let refused = env.run(command).fails(2);
        assert!(refused.stderr.contains(meant), "{command:?}: {refused}");
    }
    env.run(["session", "new", "login-rework"]).ok();
    let refused = env.run(["--session", "login-rewrok", "package", "list"]).fails(2);
    assert!(refused.stderr.contains("Did you mean `login-rework`?"), "{refused}");
    let refused = env.run(["session", "close", "logn-rework", "--json"]).fails(2);
    assert!(refused.stderr.contains("Did you mean `login-rework`?"), "{refused}");
}

#[test]
fn whatever_is_typed_gets_one_suggestion() {
    let env = with_package();
    env.git("", &["init", "-q"]);
    env.write("docs/decisions.md", "Prices are integers.");
    env.run(["session", "new", "main"]).ok();
    env.run(["brief", "--session", "main", "--role", "developer", "--task", "x"]).ok();
    for (command, meant) in [
        (&["serach", "x"][..], "search"),
        (&["help", "brfe"], "brief"),
        (&["help", "package", "ad"], "add"),
        (&["package", "--quiet", "ad", "docs/oauth.md"], "add"),
        (&["search", "--type", "nots", "x"], "note"),
        (&["search", "--kind", "decison", "x"], "decisions"),
        (&["open", "recipt"], "receipt"),
        (&["report", "mian"], "main"),
        (&["run", "sttus", "--session", "main"], "handover run status"),
        (&["run", "abandn", "--session", "main"], "handover run abandon"),
        (&["receipt", "show", "lates"], "latest"),
        (&["config", "set", "guard.mode", "strct"], "strict"),
        (&["package", "add", "docs/decision.md", "--session", "main"], "docs/decisions.md"),
        (&["tokens", "docs/oath.md"], "docs/oauth.md"),
    ] {
        let refused = env.run(command).fails(2);
        let suggested = refused
            .stderr
            .lines()
            .filter(|line| line.contains("Did you mean") || line.contains("similar"))
            .flat_map(|line| line.split(['\'', '`']).nth(1));
        let suggested: Vec<&str> = suggested.collect();
        assert_eq!(suggested, [meant], "{command:?}: {refused}");
        assert!(!refused.stderr.contains("stack"), "{refused}");
    }
    // A far name is worse than none.
    for command in [&["party"][..], &["help", "party"], &["host", "party"]] {
        let refused = env.run(command).fails(2);
        assert!(refused.stderr.contains("unrecognized subcommand 'party'"), "{refused}");
        assert!(!refused.stderr.contains("similar"), "{refused}");
    }
}

#[test]
fn hooks_accept_whatever_an_agent_program_calls_its_agents() {
    let env = with_package();
    for (kind, model) in [("devloper", "opus"), ("developer", "sonet"), ("qa-expert", "gtp-5")] {
        let input = json!({
            "description": "d", "prompt": "Rotate tokens", "subagent_type": kind, "model": model,
        });
        let answer = answer(&env, "PreToolUse", json!({"tool_name": "Agent", "tool_input": input}));
        assert!(prompt_of(&answer).contains("handover:receipt"), "{kind} {model}: {answer}");
    }
    assert!(!env.path(".handover/hooks.log").exists());
}

#[test]
fn receipts_are_found_by_parts_of_their_ids_and_as_the_latest() {
    let env = with_package();
    let (first, second) = (brief(&env, "developer"), brief(&env, "developer"));
    let shown = |name: &str| {
        let shown = env.run(["receipt", "show", name, "--json"]).ok().json();
        shown["receipt"]["id"].as_str().unwrap().to_owned()
    };
    assert_eq!(shown(&first[first.len() - 6..]), first);
    assert_eq!(shown(&second[second.len() - 6..]), second);
    assert_eq!(shown("latest"), second);
    let ambiguous = env.run(["receipt", "show", &first[..6]]).fails(2);
    for id in [&first, &second] {
        assert!(ambiguous.stderr.contains(id.as_str()), "{ambiguous}");
    }
    let short = env.run(["receipt", "show", &first[first.len() - 3..]]).fails(2);
    assert!(short.stderr.contains("at least 4 characters"), "{short}");
    let debrief = ["debrief", "message.md", "--receipt", &first[first.len() - 6..], "--json"];
    env.write("message.md", "```handover\nverdict: complete\nsummary: Done.\n```\n");
    assert_eq!(env.run(debrief).ok().json()["debrief"]["verdict"], "complete");
}

#[test]
fn the_last_two_receipts_of_an_agent_are_compared_by_default() {
    let env = with_package();
    let refused = env.run(["receipt", "diff"]).fails(2);
    assert!(refused.stderr.contains("no two receipts"), "{refused}");
    let (first, second) = (brief(&env, "developer"), brief(&env, "developer"));
    brief(&env, "qa_expert");
    let diff = env.run(["receipt", "diff", "--json"]).ok().json();
    assert_eq!(
        (&diff["diff"]["from"], &diff["diff"]["to"]),
        (&json!(first), &json!(second)),
        "{diff}"
    );
}

#[test]
fn packages_are_found_by_path_from_anywhere_in_the_project() {
    let env = with_package();
    for name in ["1", "docs/oauth.md", "latest", "./docs/oauth.md"] {
        let shown = env.run(["package", "show", name, "--json"]).ok().json();
        assert_eq!(shown["package"]["id"], 1, "{name}");
    }
    let refused = env.run(["package", "show", "docs/oauht.md"]).fails(2);
    assert!(refused.stderr.contains("Did you mean `docs/oauth.md`?"), "{refused}");
    env.run(["package", "retire", "docs/oauth.md"]).ok();
    env.run(["package", "restore", "docs/oauth.md"]).ok();
}

#[test]
fn sessions_notes_strategies_and_errors_are_found_by_parts() {
    let env = project();
    let opened = env.run(["session", "new", "--json"]).ok().json();
    let id = opened["session"]["id"].as_str().unwrap().to_owned();
    let end = &id[id.len() - 6..];
    let shown = env.run(["session", "show", end, "--json"]).ok().json();
    assert_eq!(shown["session"]["id"], id.as_str());
    // The flag finds it too; a purge wants the whole id.
    env.run([
        "--session",
        end,
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "completion",
        "--group",
        "g",
        "One lock per refresh",
    ])
    .ok();
    let entries = env.run(["--session", &id, "reasoning", "list", "--json"]).ok().json();
    assert_eq!(entries["reasoning"].as_array().unwrap().len(), 1);
    env.run(["session", "purge", end, "--yes"]).fails(2);
    env.run(["--session", &id, "strategy", "extract", "--group", "g"]).ok();
    env.run(["session", "close", "latest"]).ok();
    env.run(["strategy", "retire", "latest"]).ok();

    let recorded = env
        .run(["error", "resolve", "--message", "ENOSPC: disk", "--solution", "clean", "--json"])
        .ok()
        .json();
    let hash = recorded["error"]["hash"].as_str().unwrap().to_owned();
    for part in [&hash[..8], &hash[hash.len() - 6..], "latest"] {
        let confirmed = env.run(["error", "confirm", part, "--json"]).ok().json();
        assert_eq!(confirmed["error"]["hash"], hash.as_str());
    }
    env.run(["error", "confirm", "ff"]).fails(2);
    let note = env.run(["note", "add", "Prices are stored in cents", "--json"]).ok().json();
    let latest = env.run(["note", "show", "latest", "--json"]).ok().json();
    assert_eq!(latest["note"]["id"], note["note"]["id"]);
}

#[test]
fn what_standard_input_takes_a_file_gives_too() {
    let env = project();
    env.write("text.md", "one two three DB_PASSWORD=tr0ub4dor-and-3\n");
    let text = fs_err::read_to_string(env.path("text.md")).unwrap();
    for command in ["tokens", "redact"] {
        let (named, piped) =
            (env.run([command, "text.md"]).ok(), env.run_with(&text, [command]).ok());
        assert_eq!(named.stdout, piped.stdout, "{command}");
    }
    assert!(!env.run(["redact", "text.md"]).ok().stdout.contains("tr0ub4dor"));
    env.write("lines.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    assert_eq!(env.run(["tokens", "lines.jsonl", "--jsonl"]).ok().stdout.lines().count(), 2);
    env.run(["tokens", "nosuch.md"]).fails(2);
    env.write("payload.json", "{\"verdict\": \"approved\"}");
    env.run(["event", "log", "verdict", "payload.json"]).ok();
    env.run(["skill-output", "save", "lint", "payload.json"]).ok();
    env.run(["note", "add", "--file", "text.md"]).ok();
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "decisions",
        "--file",
        "text.md",
    ])
    .ok();
    env.run(["error", "match", "--file", "text.md"]).ok();
    env.run(["note", "add", "text", "--file", "text.md"]).fails(2);
}

#[test]
fn what_is_asked_about_a_run_is_asked_below_run_too() {
    let env = project();
    for command in ["status", "journal", "report"] {
        let (below, alone) = (env.run(["run", command]).fails(2), env.run([command]).fails(2));
        assert_eq!(below.stderr, alone.stderr, "{command}");
    }
    assert!(env.run(["run", "journal", "--help"]).ok().stdout.contains("every intent and result"));
}
