//! What the tools do, seen from both sides: the answer, and what the command line finds afterwards.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use super::{BOTH, Client, Generation};
use crate::project;

fn cli(env: &TestEnv, args: &[&str]) -> Value {
    env.run(args.iter().chain(&["--json"])).ok().json()
}

#[test]
fn a_text_becomes_a_file_and_a_package() {
    for generation in BOTH {
        let env = project();
        let mut client = Client::new(&env, generation);
        let arguments = json!({
            "text": "# OAuth tokens\n\n## Summary\nTokens live ten minutes.\n\n## Detail\npassword=hunter2sEcret\n",
            "kind": "research", "producer": "requirements_engineer", "group": "P1",
            "consumers": ["developer"], "priority": "high",
        });
        let saved = client.call("save_package", arguments.clone());
        assert_eq!(
            saved,
            json!({
                "id": 1, "path": ".handover/artifacts/s1/context/research-P1-oauth-tokens.md",
                "version": 1, "created": true, "redactions": 1, "warnings": [],
            })
        );
        let file = fs_err::read_to_string(env.path(saved["path"].as_str().unwrap())).unwrap();
        assert!(file.contains("password=[REDACTED-1]") && !file.contains("hunter2"), "{file}");
        let package = cli(&env, &["package", "show", "1", "--body"])["package"].clone();
        assert_eq!(package["summary"], "Tokens live ten minutes.");
        assert_eq!((&package["group"], &package["scope"]), (&json!("P1"), &json!("group")));
        assert_eq!(package["consumers"], json!(["developer"]));
        assert_eq!(package["file"], "current");
        // The index can be rebuilt from the file.
        cli(&env, &["package", "validate", saved["path"].as_str().unwrap()]);

        let again = client.call("save_package", arguments);
        assert_eq!((&again["id"], &again["created"]), (&json!(1), &json!(false)));
        let next = client.call(
            "save_package",
            json!({"text": "# OAuth tokens\nTwenty minutes now.", "supersedes": 1}),
        );
        assert_eq!((&next["id"], &next["version"]), (&json!(2), &json!(2)));
        assert_ne!(next["path"], saved["path"]);
        let package = cli(&env, &["package", "show", "2"])["package"].clone();
        assert_eq!(
            (&package["kind"], &package["group"], &package["producer"], &package["priority"]),
            (&json!("research"), &json!("P1"), &json!("requirements_engineer"), &json!("high"))
        );
        assert_eq!(client.leave(), (Some(0), String::new()));
    }
}

#[test]
fn an_existing_file_stays_where_it_is() {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\nTen minutes.\n");
    let mut client = Client::new(&env, Generation::Inline);
    let saved = client.call("save_package", json!({"path": "docs/oauth.md", "kind": "research"}));
    assert_eq!((&saved["id"], &saved["path"]), (&json!(1), &json!("docs/oauth.md")));
    env.write("docs/oauth.md", "# OAuth\nTwenty minutes.\n");
    let found = client.call("search", json!({"query": "oauth"}));
    assert_eq!(found["results"][0]["file"], "changed");
    let saved = client.call("save_package", json!({"path": "docs/oauth.md"}));
    assert_eq!((&saved["id"], &saved["version"]), (&json!(2), &json!(2)));
    let found = client.call("search", json!({"query": "twenty oauth", "limit": 1}));
    assert_eq!(found["results"][0]["id"], 2);
    assert_eq!(found["results"][0]["file"], "current");
}

#[test]
fn a_path_means_the_worktree_of_the_client() {
    let env = project();
    env.git("", &["init", "-q"]);
    env.write("docs/a.md", "# Main\nmain");
    env.git("", &["add", "docs"]);
    env.git("", &["commit", "-qm", "x"]);
    env.git("", &["worktree", "add", "-q", "../tree"]);
    let tree = env.folder().join("tree");
    fs_err::write(tree.join("docs/a.md"), "# Tree\ntree").unwrap();
    let mut client =
        Client::silent(env.command().arg("mcp").current_dir(tree.join("docs")), Generation::Inline);
    let saved = client.call("save_package", json!({"path": "docs/a.md", "kind": "research"}));
    let read = client.call("read_package", json!({"id": saved["id"]}));
    assert_eq!(read["text"], "# Tree\ntree");
    let mut client = Client::new(&env, Generation::Inline);
    let saved = client.call("save_package", json!({"path": "docs/a.md", "kind": "research"}));
    assert_eq!((&saved["id"], &saved["path"]), (&json!(2), &json!("docs/a.md")));
}

#[test]
fn bad_arguments_are_reported_to_the_agent() {
    let env = project();
    env.write("docs/a.md", "text");
    let mut client = Client::new(&env, Generation::Handshake);
    let long = "x".repeat(4_001);
    for (tool, arguments, expected) in [
        ("save_package", json!({"kind": "research"}), "either `text` or `path`"),
        ("save_package", json!({"text": "x", "path": "y"}), "either `text` or `path`"),
        ("save_package", json!({"text": "x"}), "`kind` is missing"),
        ("save_package", json!({"text": " ", "kind": "research"}), "the text is empty"),
        ("save_package", json!({"text": "x", "kind": "gossip"}), "`gossip` is not a package kind"),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "group": "a b"}),
            "`a b` is not a valid group id",
        ),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "colour": "red"}),
            "unknown field `colour`",
        ),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "supersedes": 99}),
            "there is no package `99`",
        ),
        ("save_package", json!({"path": "../x.md", "kind": "research"}), "contains `..`"),
        ("save_package", json!({"path": "/etc/passwd", "kind": "research"}), "outside the project"),
        ("save_package", json!({"path": "docs", "kind": "research"}), "a folder, not a file"),
        ("save_package", json!({"path": "docs/none.md", "kind": "research"}), "there is no file"),
        ("save_package", json!({"path": "docs/a.md"}), "the kind of package"),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "producer": "Q A"}),
            "not a valid role",
        ),
        (
            "save_package",
            json!({"text": "x", "kind": "research", "group": "AKIAIOSFODNN7EXAMPL3"}),
            "looks like a secret",
        ),
        ("search", json!({}), "missing field `query`"),
        ("search", json!({"query": " "}), "`query` is empty"),
        ("search", json!({"query": "x", "limit": 0}), "1 to 50"),
        ("search", json!({"query": long}), "4000 are allowed"),
        ("read_package", json!({"id": 99}), "there is no package `99`"),
        ("read_package", json!({"id": -1}), "invalid value"),
        (
            "record_reasoning",
            json!({"role": "developer", "phase": "doubts", "content": "x"}),
            "`doubts` is not a reasoning phase",
        ),
        (
            "record_reasoning",
            json!({"role": "developer", "phase": "risks", "content": ""}),
            "`content` is empty",
        ),
        ("report_error", json!({"message": ""}), "`message` is empty"),
        ("brief", json!({"task": "x"}), "missing field `role`"),
        (
            "debrief",
            json!({"role": "developer", "verdict": "great", "summary": "x"}),
            "`great` is not a verdict",
        ),
        (
            "debrief",
            json!({"role": "developer", "verdict": "complete", "summary": "x", "reasoning": {"doubts": "x"}}),
            "`doubts` is not a reasoning phase",
        ),
        ("status", json!({"session": "nope"}), "there is no session `nope`"),
    ] {
        let message = client.refused(tool, arguments.clone());
        assert!(message.contains(expected), "{tool} {arguments}: {message}");
    }
    let (code, message) = client.error("tools/call", json!({"name": "nope"}));
    assert_eq!(code, -32602);
    assert!(message.contains("there is no tool `nope`"), "{message}");
    // None of it left a trace.
    let counts = cli(&env, &["session", "show"])["session"]["counts"].clone();
    assert_eq!((&counts["packages"], &counts["reasoning"]), (&json!(0), &json!(0)));
    assert!(fs_err::read_dir(env.path(".handover/artifacts/s1/context")).unwrap().next().is_none());
}

#[test]
fn a_long_package_is_read_in_pages() {
    let env = project();
    let text: String = (0..12_000).map(|n| format!("line {n} of the \"log\"\n")).collect();
    env.write("docs/log.md", format!("# Log\n{text}"));
    let mut client = Client::new(&env, Generation::Inline);
    client.call("save_package", json!({"path": "docs/log.md", "kind": "investigation"}));
    let (mut read, mut offset, mut pages) = (String::new(), json!(0), 0);
    while !offset.is_null() {
        let page = client.call("read_package", json!({"id": 1, "offset": offset}));
        read.push_str(page["text"].as_str().unwrap());
        offset = page["next_offset"].clone();
        pages += 1;
        let count = env.run_with(page.to_string(), ["tokens", "--json"]).ok().json();
        assert!(count["tokens"].as_u64().unwrap() <= 25_000, "{count}");
    }
    assert_eq!(read, format!("# Log\n{text}"));
    assert!(pages > 3);
    let message = client.refused("read_package", json!({"id": 1, "offset": 10_000_000}));
    assert!(message.contains("behind the end"), "{message}");
    let read = client.result("resources/read", json!({"uri": "handover://package/1"}));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.ends_with("longer than 25,000 tokens.]"));
}

#[test]
fn stores_reasoning_errors_and_solutions() {
    let env = project();
    let mut client = Client::with(&env, Generation::Handshake, &["--group", "P1"]);
    let kept = client.call(
        "record_reasoning",
        json!({"role": "developer", "phase": "decisions", "confidence": "high",
               "content": "Adapter per provider. token=ghp_0123456789abcdefABCDEF0123456789abcd"}),
    );
    assert_eq!(kept, json!({"id": 1, "redactions": 1}));
    let listed = cli(&env, &["reasoning", "list"])["reasoning"][0].clone();
    assert_eq!((&listed["group"], &listed["phase"]), (&json!("P1"), &json!("decisions")));
    assert!(!listed["content"].as_str().unwrap().contains("ghp_"));

    let error = json!({"message": "Cannot find module '@app/db' at line 7", "command": "npm test"});
    let reported = client.call("report_error", error);
    assert_eq!(reported["pattern"]["occurrences"], 1);
    assert!(reported["pattern"].get("solution").is_none());
    let solved =
        json!({"message": "Cannot find module '@app/web' at line 9", "solution": "build first"});
    let reported = client.call("report_error", solved);
    assert_eq!(
        (&reported["pattern"]["occurrences"], &reported["pattern"]["solution"]),
        (&json!(2), &json!("build first"))
    );
    let listed = cli(&env, &["error", "list"])["errors"][0].clone();
    assert_eq!(listed["solution"], "build first");
}

#[test]
fn a_brief_counts_as_delivered() {
    let env = project();
    let mut client = Client::new(&env, Generation::Inline);
    let save = |text: &str, priority: &str| json!({"text": text, "kind": "research", "priority": priority});
    client.call(
        "save_package",
        save("# Gateway\nThe gateway times out after 30 seconds.", "critical"),
    );
    let status = client.call("status", json!({}));
    assert_eq!(status["undelivered_critical"][0]["id"], 1);
    let brief =
        client.call("brief", json!({"role": "developer", "task": "mend the gateway timeout"}));
    let text = brief["text"].as_str().unwrap();
    assert!(
        text.contains("**[CRITICAL]**") && text.contains("times out after 30 seconds"),
        "{text}"
    );
    assert_eq!(brief["iteration"], 0);
    let receipt = brief["receipt"].as_str().unwrap();
    assert!(text.contains(&format!("<!-- handover:receipt {receipt} -->")));
    let shown = cli(&env, &["receipt", "show", receipt])["receipt"].clone();
    assert_eq!((&shown["state"], &shown["role"]), (&json!("delivered"), &json!("developer")));
    assert_eq!(client.call("status", json!({}))["undelivered_critical"], json!([]));
    assert_eq!(shown["provided"]["specialization"]["state"], "present", "{shown}");
    let named =
        json!({"role": "developer", "verdict": "complete", "summary": "x", "receipt": receipt});
    assert_eq!(client.call("debrief", named.clone())["confirmed"], true);
    let shown = cli(&env, &["receipt", "show", receipt])["receipt"].clone();
    assert_eq!(shown["state"], "confirmed");
    let mut other = named;
    other["role"] = json!("qa_expert");
    let message = client.refused("debrief", other);
    assert!(message.contains("was given to a developer"), "{message}");
    // The next developer is a retry and gets everything again.
    let brief = client.call("brief", json!({"role": "developer"}));
    assert_eq!(brief["iteration"], 1);
    assert!(brief["text"].as_str().unwrap().contains("times out"));
    let prompt = client.result(
        "prompts/get",
        json!({"name": "brief", "arguments": {"role": "qa_expert", "task": "Test the gateway"}}),
    );
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(
        text.contains("times out") && text.ends_with("## Your Task\n\nTest the gateway\n"),
        "{text}"
    );
}

#[test]
fn a_debrief_is_stored_all_or_nothing() {
    let env = project();
    let mut client = Client::new(&env, Generation::Inline);
    let debrief = |packages: Value| {
        json!({
            "role": "developer", "verdict": "complete", "group": "P1",
            "summary": "Refresh is in. password=hunter2sEcret",
            "reasoning": {"decisions": "Rotate on use.", "risks": "Clock skew."},
            "packages": packages,
            "errors": [{"message": "TypeError: x is undefined", "solution": "await it"}],
        })
    };
    let good = json!({"text": "# Refresh\nRotates on use.", "kind": "handoff", "consumers": ["qa_expert"]});
    let message = client
        .refused("debrief", debrief(json!([good, {"path": "docs/none.md", "kind": "research"}])));
    assert!(message.contains("there is no file"), "{message}");
    let counts = |env: &TestEnv| cli(env, &["session", "show"])["session"]["counts"].clone();
    assert_eq!((&counts(&env)["reasoning"], &counts(&env)["packages"]), (&json!(0), &json!(0)));

    let folder = env.path(".handover/artifacts/s1/context");
    assert!(fs_err::read_dir(folder).unwrap().next().is_none());

    let stored = client.call("debrief", debrief(json!([good])));
    assert_eq!((&stored["confirmed"], &stored["warnings"]), (&json!(false), &json!([])));
    assert_eq!((&stored["reasoning"], &stored["packages"]), (&json!(3), &json!([1])));
    let reasoning = cli(&env, &["reasoning", "list"])["reasoning"].clone();
    let texts: Vec<&str> =
        reasoning.as_array().unwrap().iter().map(|r| r["content"].as_str().unwrap()).collect();
    assert!(texts.contains(&"Refresh is in. password=[REDACTED-1]"), "{texts:?}");
    let package = cli(&env, &["package", "show", "1"])["package"].clone();
    assert_eq!(package["path"], ".handover/artifacts/s1/context/handoff-developer-qa_expert-P1.md");
    let events = cli(&env, &["event", "list"])["events"].clone();
    let kinds: Vec<&str> =
        events.as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"debrief") && kinds.contains(&"verdict"), "{kinds:?}");
    assert!(!events.to_string().contains("hunter2"));
    // The next role sees it.
    let brief = client.call("brief", json!({"role": "qa_expert", "group": "P1"}));
    let text = brief["text"].as_str().unwrap();
    assert!(
        text.contains("handoff-developer-qa_expert-P1.md") && text.contains("Rotate on use."),
        "{text}"
    );
}

#[test]
fn resolves_the_session_like_other_commands() {
    let mut env = crate::empty();
    env.run(["init"]).ok();
    for generation in BOTH {
        let mut client = Client::new(&env, generation);
        let message = client.refused("status", json!({}));
        assert!(
            message.contains("no active session") && message.contains("handover session new"),
            "{message}"
        );
        // The project learns without a session.
        client.call("report_error", json!({"message": "boom"}));
    }
    env.run(["session", "new", "a"]).ok();
    let mut client = Client::new(&env, Generation::Inline);
    assert_eq!(client.call("status", json!({}))["session"], "a");
    env.run(["session", "new", "b"]).ok();
    let message = client.refused("status", json!({}));
    assert!(message.contains("2 active sessions") && message.contains("--session"), "{message}");
    assert_eq!(client.call("status", json!({"session": "b"}))["session"], "b");
    let (code, message) = client.error("resources/list", json!({}));
    assert!(code == -32602 && message.contains("2 active sessions"), "{message}");

    let mut bound = Client::with(&env, Generation::Handshake, &["--session", "a"]);
    assert_eq!(bound.call("status", json!({}))["session"], "a");
    let message = bound.refused("status", json!({"session": "b"}));
    assert!(message.contains("this server is for session `a`"), "{message}");
    env.set("HANDOVER_SESSION", "b");
    let mut bound = Client::new(&env, Generation::Handshake);
    assert_eq!(bound.call("status", json!({}))["session"], "b");
    assert!(bound.refused("status", json!({"session": "a"})).contains("session `b`"));
}
