//! Errors and strategies.

use serde_json::json;

use crate::project;

#[test]
fn recognizes_an_error_with_other_paths_and_numbers() {
    let env = project();
    let record = |message: &str| {
        let args = [
            "error",
            "record",
            "--message",
            message,
            "--command",
            "cargo test",
            "--lang",
            "Rust",
            "--json",
        ];
        env.run(args).ok().json()["error"].clone()
    };
    let first = record("cannot open /a/b.txt at 0x7f3a, line 12");
    assert_eq!((&first["confidence"], &first["occurrences"]), (&json!(0.5), &json!(1)));
    assert_eq!(first["solution"], json!(null));
    assert_eq!(first["signature"]["message"], "cannot open <path> at <hex>, line <n>");
    let second = record("cannot open /other/place.rs at 0x11, line 99");
    assert_eq!((&second["hash"], &second["occurrences"]), (&first["hash"], &json!(2)));
}

#[test]
fn solutions_gain_and_lose_confidence() {
    let env = project();
    let resolve = [
        "error",
        "resolve",
        "--message",
        "TypeError: x is undefined",
        "--solution",
        "import x",
        "--json",
    ];
    let first = env.run(resolve).ok().json()["error"].clone();
    assert_eq!((&first["confidence"], &first["solution"]), (&json!(0.5), &json!("import x")));
    assert_eq!(env.run(resolve).ok().json()["error"]["confidence"], 0.6);
    let hash = first["hash"].as_str().unwrap();
    let confirmed = env.run(["error", "confirm", &hash[..8], "--json"]).ok().json();
    assert_eq!(confirmed["error"]["confidence"], 0.7);
    let rejected = env.run(["error", "reject", hash, "--json"]).ok().json();
    assert_eq!(rejected["error"]["confidence"], 0.5);
    env.run(["error", "confirm", "ffffffffffff", "--json"]).fails(2).error();

    let found =
        env.run(["error", "match", "npm ERR TypeError: y is undefined", "--json"]).ok().json();
    assert_eq!(found["errors"][0]["hash"], hash);
    assert_eq!(
        env.run(["error", "match", "all is well", "--json"]).ok().json()["errors"],
        json!([])
    );
    assert_eq!(
        env.run(["error", "list", "--json"]).ok().json()["errors"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn errors_need_no_session_and_are_shared_by_sessions() {
    let env = project();
    env.run(["session", "close", "s1"]).ok();
    env.run(["error", "resolve", "--message", "boom", "--solution", "restart"]).ok();
    env.run(["session", "new", "s2"]).ok();
    let list = env.run(["error", "list", "--session", "s2", "--json"]).ok().json();
    assert_eq!(list["errors"][0]["solution"], "restart");
    env.run(["error", "record", "--message", "boom", "--session", "nobody", "--json"])
        .fails(2)
        .error();
}

#[test]
fn strategies_come_from_a_finished_group() {
    let env = project();
    for (phase, text) in [
        ("completion", "Lock the refresh"),
        ("decisions", "Adapters per provider"),
        ("approach", "Write the failing test first"),
        ("risks", "Not a strategy"),
    ] {
        env.run([
            "reasoning",
            "add",
            "--role",
            "developer",
            "--phase",
            phase,
            "--group",
            "P1",
            text,
        ])
        .ok();
    }
    let extract =
        ["strategy", "extract", "--group", "P1", "--lang", "rust", "--framework", "axum", "--json"];
    let first = env.run(extract).ok().json();
    let topics: Vec<&str> = first["strategies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|s| s["topic"].as_str().unwrap())
        .collect();
    assert_eq!(topics, ["implementation", "architecture", "methodology"]);
    assert_eq!(first["strategies"][0]["insight"], "Lock the refresh");
    assert_eq!(first["strategies"][0]["helpfulness"], 1);
    assert_eq!(env.run(extract).ok().json(), first);
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "completion",
        "--group",
        "P2",
        "lock  the refresh",
    ])
    .ok();
    let again = env.run(["strategy", "extract", "--group", "P2", "--json"]).ok().json();
    assert_eq!(again["strategies"][0]["helpfulness"], 2);
    let list = env.run(["strategy", "list", "--limit", "1", "--json"]).ok().json();
    assert_eq!(list["strategies"][0]["insight"], "Lock the refresh");
    env.run(["strategy", "extract", "--json"]).fails(2).error();
    env.run(["strategy", "extract", "--group", "none", "--json"]).fails(2).error();
}

#[test]
fn errors_go_to_the_project_of_the_session() {
    let mut env = crate::empty();
    env.run(["init"]).ok();
    env.run(["session", "new", "s1", "--project-id", "shop"]).ok();
    env.run(["error", "record", "--message", "boom", "--group", "G9"]).ok();
    env.run(["group", "show", "G9"]).ok();
    env.run([
        "reasoning",
        "add",
        "--role",
        "developer",
        "--phase",
        "completion",
        "--group",
        "G9",
        "Locked the refresh",
    ])
    .ok();
    env.run(["strategy", "extract", "--group", "G9"]).ok();
    for args in [vec![], vec!["--session", "s1"]] {
        let list = |noun: &str| {
            let mut all = vec![noun, "list", "--json"];
            all.extend(&args);
            env.run(all).ok().json()
        };
        assert_eq!(list("error")["errors"].as_array().unwrap().len(), 1);
        assert_eq!(list("strategy")["strategies"].as_array().unwrap().len(), 1);
    }
    env.set("HANDOVER_SESSION", "a/b");
    env.run(["error", "record", "--message", "boom"]).fails(2);
}

/// QA rejects with a reason, the developer fixes it, QA passes: the next agent knows the solution.
#[test]
fn learns_from_work_that_was_rejected_and_then_passed() {
    let env = project();
    env.run(["group", "set", "login"]).ok();
    let end = |role: &str, verdict: &str, summary: &str, completion: &str| {
        let block = format!(
            "```handover\nverdict: {verdict}\nsummary: {summary}\nreasoning:\n  completion: {completion}\n```\n"
        );
        let args = ["debrief", "--role", role, "--group", "login", "--json"];
        env.run_with(block, args).ok().json()
    };
    let errors = || env.run(["error", "list", "--json"]).ok().json()["errors"].clone();
    end("developer", "complete", "built", "the first attempt");
    end("qa_expert", "failed", "Login with an expired token answers 500", "tested");
    // The tech lead rejected nothing, so its verdict does not count.
    end("tech_lead", "passed", "fine", "read");
    assert_eq!(errors(), json!([]));
    end("developer", "complete", "fixed", "Expired tokens are refreshed before the call");
    let kept = end("qa_expert", "passed", "all green", "tested again");
    assert_eq!(kept["kept"]["errors"].as_array().unwrap().len(), 1, "{kept}");
    let known = errors();
    assert_eq!(known[0]["solution"], "Expired tokens are refreshed before the call", "{known}");
    assert_eq!(known.as_array().unwrap().len(), 1, "{known}");
    let found =
        env.run(["error", "match", "Login with an expired token answers 500", "--json"]).ok();
    assert!(found.stdout.contains("refreshed before the call"), "{found}");
    // Passing twice counts as one solution.
    end("qa_expert", "passed", "still green", "tested again");
    assert_eq!(errors()[0]["occurrences"], known[0]["occurrences"]);
}
