//! Later beats earlier: replacements that are declared, found, confirmed and rejected.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::mcp::{Client, Generation};
use crate::project;

const EARLIER: &str = "Map tiles are cached on the device for 7 days.";
const LATER: &str = "Map tiles are cached on the device for 30 days, 7 days was too short.";
const TASK: &str = "Evict cached map tiles on the device";

fn note(env: &TestEnv, args: &[&str]) -> Value {
    let all: Vec<&str> = ["note"].iter().chain(args).chain(&["--json"]).copied().collect();
    env.run(all).ok().json()["note"].clone()
}

fn assembled(env: &TestEnv) -> Value {
    env.run(["assemble", "--role", "developer", "--task", TASK, "--explain", "--json"]).ok().json()
}

/// The candidate of this id.
fn candidate(assembly: &Value, id: &str) -> Value {
    let all = assembly["candidates"].as_array().unwrap();
    all.iter().find(|one| one["id"].to_string().contains(id)).cloned().unwrap()
}

fn is_unmarked(text: &str) -> bool {
    text.lines().any(|line| line.contains("for 7 days.") && !line.starts_with("[outdated]"))
}

fn markdown(assembly: &Value) -> &str {
    assembly["markdown"].as_str().unwrap()
}

#[test]
fn a_found_replacement_is_explained_and_can_be_rejected() {
    let env = project();
    let earlier = note(&env, &["add", EARLIER]);
    let later = note(&env, &["add", LATER]);
    let (old, new) = (earlier["id"].as_str().unwrap(), later["id"].as_str().unwrap());
    let assembly = assembled(&env);
    assert!(markdown(&assembly).contains("for 30 days"), "{assembly}");
    assert!(!is_unmarked(markdown(&assembly)), "{}", markdown(&assembly));
    let by = &candidate(&assembly, old)["amended_by"];
    assert_eq!((&by["kind"], &by["id"]), (&json!("note"), &json!(new)));

    // Both count once a person says so, and that is kept.
    note(&env, &["reject", old]);
    for _ in 0..2 {
        let assembly = assembled(&env);
        assert!(is_unmarked(markdown(&assembly)), "{}", markdown(&assembly));
        assert_eq!(candidate(&assembly, old)["amended_by"], Value::Null);
    }
}

#[test]
fn a_confirmed_replacement_stays_out() {
    let env = project();
    let earlier = note(&env, &["add", EARLIER]);
    note(&env, &["add", LATER]);
    let old = earlier["id"].as_str().unwrap();
    let confirmed = note(&env, &["confirm", old]);
    assert_eq!(confirmed["state"], "amended");
    let assembly = assembled(&env);
    assert!(!markdown(&assembly).contains("for 7 days."));
    let out = candidate(&assembly, old);
    assert_eq!((&out["included"], &out["reason"]), (&json!(false), &json!("amended since")));
    assert_eq!(out["amended_by"]["confirmed"], true);
}

#[test]
fn a_declared_replacement_needs_no_rule() {
    let env = project();
    let earlier = note(&env, &["add", EARLIER]);
    let old = earlier["id"].as_str().unwrap();
    note(&env, &["add", "Eviction is up to the operating system.", "--supersedes", old]);
    assert_eq!(note(&env, &["show", old])["state"], "amended");
    assert!(!markdown(&assembled(&env)).contains("for 7 days."));
}

#[test]
fn a_note_that_nothing_replaces_cannot_be_confirmed() {
    let env = project();
    let only = note(&env, &["add", EARLIER]);
    let refused = env.run(["note", "confirm", only["id"].as_str().unwrap()]).fails(2);
    assert!(refused.stderr.contains("--by"), "{}", refused.stderr);
}

#[test]
fn decisions_in_packages_replace_each_other_unless_a_person_says_no() {
    let env = project();
    env.write("old.md", format!("# Cache of map tiles\n\n{EARLIER}\n"));
    env.write("new.md", format!("# Cache of map tiles\n\n{LATER}\n"));
    for file in ["old.md", "new.md"] {
        env.run(["package", "add", file, "--kind", "decisions", "--producer", "tech_lead"]).ok();
    }
    assert!(!is_unmarked(markdown(&assembled(&env))), "the later one has another value");
    let made = env.run(["package", "confirm", "1", "--json"]).ok().json();
    assert_eq!(made["amendment"]["later"]["id"], "2");
    assert!(!markdown(&assembled(&env)).contains("for 7 days."));
    env.run(["package", "reject", "1", "--by", "2"]).ok();
    assert!(is_unmarked(markdown(&assembled(&env))));
}

#[test]
fn what_an_agent_judges_is_logged_and_can_be_undone() {
    let env = project();
    let earlier = note(&env, &["add", EARLIER]);
    let later = note(&env, &["add", LATER]);
    let (old, new) = (earlier["id"].as_str().unwrap(), later["id"].as_str().unwrap());
    let mut client = Client::new(&env, Generation::Inline);
    let arguments = json!({"kind": "note", "id": old, "by": new, "replaces": true});
    let judged = client.call("judge_replacement", arguments);
    assert_eq!(judged["decision"], "confirmed");
    let logged = env.run(["undo", "--list", "--json"]).ok().json()["operations"][0].clone();
    assert_eq!((&logged["id"], &logged["action"]), (&judged["operation"], &json!("confirm")));
    assert_eq!(note(&env, &["show", old])["state"], "amended");
    env.run(["undo", judged["operation"].as_str().unwrap()]).ok();
    assert_eq!(note(&env, &["show", old])["state"], "live");
    assert_eq!(candidate(&assembled(&env), old)["amended_by"]["confirmed"], Value::Null);

    for (path, text) in [("docs/a.md", EARLIER), ("docs/b.md", LATER)] {
        env.write(path, format!("# Tiles\n\n{text}\n"));
        env.run(["package", "add", path, "--kind", "decisions"]).ok();
    }
    let arguments = json!({"kind": "package", "id": "1", "by": "2", "replaces": true});
    let judged = client.call("judge_replacement", arguments);
    let logged = env.run(["undo", "--list", "--json"]).ok().json()["operations"][0].clone();
    assert_eq!((&logged["id"], &logged["action"]), (&judged["operation"], &json!("confirm")));
}

#[test]
fn an_agent_cannot_replace_what_documents_say() {
    let env = project();
    env.git("", &["init", "--quiet"]);
    env.write("docs/tiles.md", format!("# Tiles\n\n## Cache\n\n{EARLIER} They are compressed.\n"));
    env.git("", &["add", "docs"]);
    env.git("", &["commit", "--quiet", "--message", "rules"]);
    env.run(["learn", "docs"]).ok();
    let notes = env.run(["note", "list", "--kind", "doc", "--json"]).ok().json();
    let old = notes["notes"][0]["id"].as_str().unwrap();
    assert_eq!(note(&env, &["show", old])["trust"], "project");
    let later = note(&env, &["add", LATER]);
    let mut client = Client::new(&env, Generation::Inline);
    let judge = |replaces: bool| json!({"kind": "note", "id": old, "by": later["id"], "replaces": replaces});
    let refused = client.refused("judge_replacement", judge(true));
    assert!(refused.contains("only a person can confirm that something replaces it"), "{refused}");
    assert!(refused.contains(&format!("handover note confirm {old}")), "{refused}");
    assert_eq!(note(&env, &["show", old])["state"], "live");
    // That both count takes nothing away.
    assert_eq!(client.call("judge_replacement", judge(false))["decision"], "rejected");
}
