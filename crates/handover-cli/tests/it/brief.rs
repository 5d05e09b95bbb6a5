//! `brief`, `receipt verify` and `debrief`: the whole prompt, its verification, and the report.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::project;

/// A Rust project with a package and some reasoning.
fn rust_project() -> TestEnv {
    let env = project();
    env.write(
        "Cargo.toml",
        "[package]\nname = \"x\"\nversion = \"0.1.0\"\nrust-version = \"1.85\"\n[dependencies]\naxum = \"0.8\"\n",
    );
    env.write("docs/oauth.md", "# OAuth\n\n## Summary\nRefresh tokens rotate.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--producer", "developer"])
        .ok();
    env
}

fn brief(env: &TestEnv, args: &[&str]) -> Value {
    let mut all = vec!["brief", "--json", "--role", "developer", "--task", "Refresh the tokens"];
    all.extend(args);
    env.run(all).ok().json()
}

#[test]
fn orders_its_parts_under_one_receipt() {
    let env = rust_project();
    let document = brief(&env, &[]);
    let text = document["text"].as_str().unwrap();
    let places: Vec<usize> = [
        "## Context for developer",
        "docs/oauth.md",
        "<!-- handover:receipt",
        "## SPECIALIZATION GUIDANCE (Advisory)",
        "## Your Role",
        "```handover",
        "## Your Task\n\nRefresh the tokens",
    ]
    .iter()
    .map(|part| text.find(part).unwrap_or_else(|| panic!("{part} is not in:\n{text}")))
    .collect();
    assert!(places.is_sorted(), "{places:?}\n{text}");
    let sections = document["sections"].as_object().unwrap();
    let names: Vec<&str> = sections.keys().map(String::as_str).collect();
    assert_eq!(names, ["context", "role", "specialization", "task"]);
    let preface =
        sections["context"].as_u64().unwrap() + sections["specialization"].as_u64().unwrap();
    assert!((1..=1_200).contains(&preface), "{preface}");

    let id = document["receipt"].as_str().unwrap();
    let shown = env.run(["receipt", "show", id, "--json"]).ok().json();
    assert_eq!(shown["receipt"]["provided"]["specialization"]["state"], "present");
    assert!(shown["receipt"]["text"].as_str().unwrap().contains("## Your Role"));
    assert!(!shown["receipt"]["text"].as_str().unwrap().contains("Refresh the tokens"), "no task");
    let kept = env.run(["skill-output", "latest", "specialization", "--json"]).ok().json();
    let templates = &kept["skill_output"]["output"]["templates_used"];
    assert_eq!(templates, &json!(["rust", "axum"]));
}

#[test]
fn verifies_a_prompt() {
    let env = rust_project();
    let document = brief(&env, &[]);
    let (id, text) = (document["receipt"].as_str().unwrap(), document["text"].as_str().unwrap());
    let verify = |text: String| env.run_with(text, ["receipt", "verify", id, "-", "--json"]);
    let same = verify(text.to_owned()).ok().json();
    assert_eq!(same["verification"]["verified"], true);
    let changed = verify(text.replace("Refresh the", "Delete the")).fails(1).json();
    assert_eq!(changed["verification"]["verified"], false);
    assert_eq!(changed["verification"]["marker"], true);
    verify("something else".to_owned()).fails(1);
    env.run_with(text, ["receipt", "verify", "r_none", "-"]).fails(2);
}

#[test]
fn reports_disabled_parts() {
    let env = rust_project();
    env.write(".handover/config.toml", "[specialization]\nenabled = false\n");
    let document = brief(&env, &[]);
    assert_eq!(
        document["provided"]["specialization"],
        json!({"state": "disabled", "by": "specialization.enabled"})
    );
    assert!(!document["text"].as_str().unwrap().contains("SPECIALIZATION"));
    assert_eq!(document["sections"]["specialization"], 0);
}

#[test]
fn shares_unused_budget_between_parts() {
    let env = rust_project();
    let alone = brief(&env, &["--context", "off", "--model", "haiku"]);
    let both = brief(&env, &["--model", "haiku"]);
    let of = |document: &Value| document["sections"]["specialization"].as_u64().unwrap();
    assert!(of(&both) > 540, "the context leaves most of its share: {}", of(&both));
    assert!(of(&alone) >= of(&both));
    for n in 0..8 {
        let text =
            format!("# Note {n}\n\n## Summary\n{}\n", "refresh tokens at length ".repeat(15));
        env.write(&format!("docs/n{n}.md"), text);
        let file = format!("docs/n{n}.md");
        env.run(["package", "add", &file, "--kind", "research", "--producer", "developer"]).ok();
    }
    let full = brief(&env, &["--model", "haiku", "--limit", "9"]);
    let preface = full["sections"]["context"].as_u64().unwrap() + of(&full);
    assert!(preface <= 900, "{preface}");
    assert!(!full["trimmed"].as_array().unwrap().is_empty(), "{}", full["trimmed"]);
}

#[test]
fn stores_a_debrief_for_the_next_role() {
    let env = rust_project();
    let document = brief(&env, &["--group", "login", "--deliver"]);
    let id = document["receipt"].as_str().unwrap();
    env.write("docs/lock.md", "# Lock\n\n## Summary\nOne refresh at a time.\n");
    let message = format!(
        "Done.\n\n```handover\nreceipt: {id}\nverdict: complete\nsummary: Refreshes are serialised.\nreasoning:\n  \
         decisions: a lock per user, DB_PASSWORD=tr0ub4dor-and-3\n  completion: all tests pass\npackages:\n  - {{path: \
         docs/lock.md, kind: decisions, summary: One refresh at a time, consumers: [qa_expert]}}\n  - {{path: \
         ../../etc/passwd, kind: research}}\nerrors:\n  - {{message: 'ECONNREFUSED: connect 127.0.0.1:5432', solution: \
         start the database}}\n```\n"
    );
    let debrief = env.run_with(message, ["debrief", "--receipt", id, "--json"]).ok().json();
    assert_eq!(debrief["debrief"]["verdict"], "complete");
    assert_eq!(debrief["missing"], json!([]));
    assert_eq!(debrief["kept"]["reasoning"], 2);
    assert_eq!(debrief["kept"]["packages"].as_array().unwrap().len(), 1);
    assert_eq!(debrief["kept"]["refused"].as_array().unwrap().len(), 1, "{}", debrief["kept"]);
    assert_eq!(debrief["kept"]["confirmed"], true);
    let receipt = env.run(["receipt", "show", id, "--json"]).ok().json();
    assert_eq!(receipt["receipt"]["state"], "confirmed");
    let qa = env
        .run(["brief", "--role", "qa_expert", "--group", "login", "--task", "Test it"])
        .ok()
        .stdout;
    assert!(qa.contains("**[developer] completion:** all tests pass (attempt 1)"), "{qa}");
    assert!(qa.contains("docs/lock.md"), "{qa}");
    assert!(!qa.contains("tr0ub4dor"), "{qa}");
    let errors = env.run(["error", "list", "--json"]).ok().json();
    assert_eq!(errors["errors"][0]["solution"], "start the database");
    let verdicts = env.run(["event", "list", "--type", "verdict", "--json"]).ok().json();
    assert_eq!(verdicts["events"][0]["payload"]["verdict"], "complete");
}

#[test]
fn a_debrief_is_kept_only_for_the_agent_that_got_the_receipt() {
    let env = project();
    env.run(["session", "new", "other"]).ok();
    let args = ["brief", "--role", "developer", "--task", "x", "--session", "s1", "--json"];
    let document = env.run(args).ok().json();
    let id = document["receipt"].as_str().unwrap();
    let refused = |more: &[&str]| {
        let args = [&["debrief", "--receipt", id, "--json"][..], more].concat();
        env.run_with("Done.", args).fails(2).error()["message"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        refused(&["--role", "qa_expert"]),
        format!("receipt {id} was given to role `developer`, not `qa_expert`")
    );
    assert_eq!(
        refused(&["--session", "other"]),
        format!("receipt {id} belongs to session `s1`, not `other`")
    );
    let events = env.run(["event", "list", "--type", "debrief", "--session", "s1", "--json"]);
    assert_eq!(events.ok().json()["events"], json!([]), "nothing was kept");
    let same = ["debrief", "--receipt", id, "--role", "developer", "--session", "s1"];
    env.run_with("Done.", same).ok();
}

#[test]
fn records_a_missing_debrief() {
    let env = project();
    let debrief = env
        .run_with("I am done, believe me.", ["debrief", "--role", "developer", "--json"])
        .ok()
        .json();
    assert_eq!(debrief["debrief"]["verdict"], Value::Null);
    assert_eq!(debrief["missing"][0], "block");
    let events = env.run(["event", "list", "--type", "debrief", "--json"]).ok().json();
    assert_eq!(events["events"][0]["payload"]["missing"], json!(["block"]));
    env.run_with("x", ["debrief"]).fails(2);
    let schema: Value =
        serde_json::from_str(&env.run(["debrief", "--schema"]).ok().stdout).unwrap();
    assert_eq!(schema["title"], "Debrief");
}

#[test]
fn one_part_of_a_brief_is_what_its_own_command_prints() {
    let env = rust_project();
    let rest = ["--role", "developer", "--task", "Refresh tokens"];
    // All but the receipt's id.
    let print = |words: &[&str]| {
        let text = env.run([words, &rest].concat()).ok().stdout;
        assert!(text.len() > 100, "{text}");
        let kept = text.lines().filter(|line| !line.contains("handover:receipt"));
        kept.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(print(&["brief", "--only", "context"]), print(&["assemble"]));
    assert_eq!(print(&["brief", "--only", "specialization"]), print(&["specialize"]));
    env.run(["brief", "--role", "developer", "--only", "task"]).fails(2);
}
