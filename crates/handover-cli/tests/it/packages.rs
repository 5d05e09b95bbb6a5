//! The life of a package.

use serde_json::{Value, json};

use crate::project;

#[test]
fn registers_supersedes_and_finds_packages() {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\n## Summary\nTokens rotate on every use.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"]).ok();
    env.write(
        "docs/oauth-2.md",
        "# OAuth again\n## Summary\nTokens rotate after a grace period.\n",
    );
    let two = env
        .run([
            "package",
            "add",
            "docs/oauth-2.md",
            "--kind",
            "research",
            "--supersedes",
            "1",
            "--json",
        ])
        .ok()
        .json();
    assert_eq!((&two["package"]["version"], &two["package"]["supersedes"]), (&json!(2), &json!(1)));
    let found = env.run(["search", "token rotation", "--json"]).ok().json();
    let paths: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|r| &r["path"]).collect();
    assert_eq!(paths, ["docs/oauth-2.md"]);
    let error = env
        .run([
            "package",
            "add",
            "docs/oauth.md",
            "--kind",
            "research",
            "--supersedes",
            "1",
            "--json",
        ])
        .fails(2)
        .error();
    assert_eq!(error["code"], "conflict");
    assert!(error["hint"].as_str().unwrap().contains('2'));
}

#[test]
fn reports_changed_and_missing_files() {
    let env = project();
    env.write("a.md", "one two");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    let state =
        || env.run(["package", "show", "1", "--json"]).ok().json()["package"]["file"].clone();
    let searched =
        || env.run(["search", "two", "--json"]).ok().json()["results"][0]["file"].clone();
    assert_eq!((state(), searched()), (json!("current"), json!("current")));
    env.write("a.md", "one owt");
    assert_eq!((state(), searched()), (json!("changed"), json!("changed")));
    fs_err::remove_file(env.path("a.md")).unwrap();
    assert_eq!((state(), searched()), (json!("vanished"), json!("vanished")));
    std::os::unix::fs::symlink("/etc/passwd", env.path("a.md")).unwrap();
    assert_eq!(state(), "vanished");
}

#[test]
fn warns_when_flags_for_known_content_are_ignored() {
    let env = project();
    env.write("a.md", "text");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    let again =
        env.run(["package", "add", "a.md", "--kind", "research", "--priority", "critical"]).ok();
    assert!(again.stderr.contains("package update 1"), "{again}");
    let updated =
        env.run(["package", "update", "1", "a.md", "--priority", "critical", "--json"]).ok().json();
    assert_eq!(
        (&updated["package"]["version"], &updated["package"]["priority"]),
        (&json!(2), &json!("critical"))
    );
    let same = env.run(["package", "update", "2", "a.md", "--json"]).ok().json();
    assert_eq!((&same["package"]["id"], &same["package"]["created"]), (&json!(2), &json!(false)));
}

#[test]
fn a_new_session_registers_existing_files() {
    let env = project();
    env.write(".handover/artifacts/s2/context/decisions-P1-adapters.md", "Use adapters.");
    let new = env.run(["session", "new", "s2", "--json"]).ok().json();
    assert_eq!(new["session"]["packages_found"], 1);
    let list = env.run(["package", "list", "--session", "s2", "--json"]).ok().json();
    assert_eq!(list["packages"][0]["group"], "P1");
    let other = env.run(["package", "list", "--session", "s1", "--json"]).ok().json();
    assert_eq!(other["packages"], json!([]));
}

#[test]
fn secrets_in_files_reach_neither_store_nor_search() {
    let env = project();
    let text = "# Deploy\nUse password=correct-horse-battery here.\nexport API_KEY=0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c\n";
    env.write("deploy.md", text);
    env.run(["package", "add", "deploy.md", "--kind", "decisions"]).ok();
    let body = env.run(["package", "show", "1", "--body", "--json"]).ok().stdout;
    let search = env.run(["search", "deploy password", "--json"]).ok().stdout;
    for secret in ["correct-horse-battery", "0f9e8d7c6b5a4f3e2d1c0b9a8f7e6d5c"] {
        assert!(!body.contains(secret) && !search.contains(secret));
        let mut stored = fs_err::read(env.path(".handover/store.db")).unwrap();
        stored.extend(fs_err::read(env.path(".handover/store.db-wal")).unwrap_or_default());
        assert!(
            !stored.windows(secret.len()).any(|w| w == secret.as_bytes()),
            "{secret} is in the store"
        );
    }
    assert_eq!(
        fs_err::read_to_string(env.path("deploy.md")).unwrap(),
        text,
        "files are never altered"
    );
}

#[test]
fn a_new_version_inherits_what_is_not_given() {
    let env = project();
    env.write("a.md", "one");
    let add = [
        "package",
        "add",
        "a.md",
        "--kind",
        "failures",
        "--priority",
        "critical",
        "--consumer",
        "developer",
        "--producer",
        "qa_expert",
        "--group",
        "P1",
    ];
    env.run(add).ok();
    env.write("a.md", "two");
    let two = env.run(["package", "add", "a.md", "--json"]).ok().json()["package"].clone();
    assert_eq!(
        (&two["version"], &two["kind"], &two["group"]),
        (&json!(2), &json!("failures"), &json!("P1"))
    );
    assert_eq!((&two["priority"], &two["producer"]), (&json!("critical"), &json!("qa_expert")));
    assert_eq!(two["consumers"], json!(["developer"]));
    env.write("b.md", "three");
    let three =
        env.run(["package", "add", "b.md", "--supersedes", "2", "--json"]).ok().json()["package"]
            .clone();
    assert_eq!(
        (&three["version"], &three["priority"], &three["group"]),
        (&json!(3), &json!("critical"), &json!("P1"))
    );
}

#[test]
fn warns_about_a_second_package_of_one_file() {
    let env = project();
    env.write("a.md", "one");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.write("a.md", "two");
    let other = env.run(["package", "add", "a.md", "--kind", "decisions"]).ok();
    assert!(other.stderr.contains("--supersedes 1"), "{other}");
}

#[test]
fn packages_do_not_cross_sessions() {
    let env = project();
    env.write("a.md", "one");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    env.run(["session", "new", "s2"]).ok();
    for args in [vec!["package", "update", "1", "a.md"], vec!["package", "show", "1"]] {
        let mut all = args.clone();
        all.extend(["--session", "s2", "--json"]);
        assert_eq!(env.run(all).fails(2).error()["code"], "conflict");
    }
}

#[test]
fn imported_bodies_are_redacted_before_they_become_files() {
    let env = project();
    let line = r#"{"kind":"research","producer":"developer","priority":"low","summary":"S","body":"password=correct-horse-battery","name":"a"}"#;
    env.run_with(line, ["package", "import", "-"]).ok();
    let text = fs_err::read_to_string(env.path(".handover/artifacts/s1/context/a.md")).unwrap();
    assert!(text.contains("[REDACTED-1]") && !text.contains("correct-horse"), "{text}");
}

#[test]
fn warns_about_a_secret_in_a_registered_file() {
    let env = project();
    env.write("a.md", "password=correct-horse-battery");
    let added = env.run(["package", "add", "a.md", "--kind", "research", "--json"]).ok();
    assert_eq!(added.json()["package"]["redactions"], 1);
    let warning: Value = serde_json::from_str(&added.stderr).unwrap();
    assert!(warning["warning"]["message"].as_str().unwrap().contains("a.md"));
}

#[test]
fn a_scan_in_a_worktree_includes_the_worktree() {
    let env = crate::empty();
    env.git("", &["init", "-q", "main"]);
    env.write("main/x", "x");
    env.git("main", &["add", "."]);
    env.git("main", &["commit", "-qm", "x"]);
    env.git("main", &["worktree", "add", "-q", "../tree"]);
    env.run_in("main", ["init"]).ok();
    env.run_in("main", ["session", "new", "s1"]).ok();
    env.write("tree/qa_failures_group_P1.md", "failed");
    let scan = env.run_in("tree", ["package", "scan", "--json"]).ok().json();
    assert_eq!(scan["packages"].as_array().unwrap().len(), 1);
}

#[test]
fn a_group_finds_its_own_and_global_packages() {
    let env = project();
    for (name, group) in [("a", Some("P1")), ("b", Some("P2")), ("c", None)] {
        env.write(&format!("{name}.md"), "zebra");
        let mut args = vec![
            "package".to_owned(),
            "add".into(),
            format!("{name}.md"),
            "--kind".into(),
            "research".into(),
        ];
        if let Some(group) = group {
            args.extend(["--group".to_owned(), group.to_owned()]);
        }
        env.run(args).ok();
    }
    let found = |args: &[&str]| {
        let mut all = vec!["search", "zebra", "--json"];
        all.extend(args);
        env.run(all).ok().json()["results"].as_array().unwrap().len()
    };
    assert_eq!((found(&[]), found(&["--group", "P1"]), found(&["--group", "P3"])), (3, 2, 1));
    assert_eq!(found(&["--group", "P1", "--limit", "1"]), 1);
}

#[test]
fn a_scan_does_not_change_registered_files() {
    let env = project();
    let path = ".handover/artifacts/s1/context/n.md";
    env.write(path, "---\ntype: decisions\n---\none");
    let add = [
        "package",
        "add",
        path,
        "--priority",
        "critical",
        "--group",
        "P1",
        "--consumer",
        "developer",
    ];
    env.run(add).ok();
    env.run(["session", "new", "s1"]).ok();
    let list = env.run(["package", "list", "--json"]).ok().json();
    assert_eq!(list["packages"].as_array().unwrap().len(), 1);
    env.write(path, "---\ntype: decisions\n---\ntwo");
    env.run(["package", "scan"]).ok();
    let list = env.run(["package", "list", "--json"]).ok().json();
    let package = &list["packages"][0];
    assert_eq!(
        (&package["version"], &package["group"], &package["priority"]),
        (&json!(2), &json!("P1"), &json!("critical"))
    );
}

#[test]
fn group_variable_works_like_the_flag() {
    let mut env = project();
    env.write("n.md", "one");
    env.set("HANDOVER_GROUP", "A");
    env.run(["package", "add", "n.md", "--kind", "research"]).ok();
    env.write("n.md", "two");
    env.set("HANDOVER_GROUP", "B");
    let other = env.run(["package", "add", "n.md", "--kind", "research", "--json"]).ok().json();
    assert_eq!(
        (&other["package"]["group"], &other["package"]["version"]),
        (&json!("B"), &json!(1))
    );
    let line =
        r#"{"kind":"research","producer":"developer","priority":"low","summary":"S","body":"x"}"#;
    env.run_with(line, ["package", "import", "-"]).ok();
    let list = env.run(["package", "list", "--group", "B", "--json"]).ok().json();
    assert_eq!(list["packages"].as_array().unwrap().len(), 2);
}

#[test]
fn repeating_a_supersession_is_not_an_error() {
    let env = project();
    env.write("a.md", "one");
    env.write("b.md", "two");
    env.run(["package", "add", "a.md", "--kind", "research"]).ok();
    let first = env.run(["package", "add", "b.md", "--supersedes", "1", "--json"]).ok().json();
    let again = env.run(["package", "add", "b.md", "--supersedes", "1", "--json"]).ok().json();
    assert_eq!(
        (&again["package"]["id"], &again["package"]["created"]),
        (&first["package"]["id"], &json!(false))
    );
}

#[test]
fn an_import_replaces_only_its_own_packages() {
    let env = project();
    let line = |body: &str| {
        format!(
            r#"{{"kind":"research","producer":"developer","priority":"low","summary":"S","body":"{body}","name":"a","consumers":null}}"#
        )
    };
    let path = ".handover/artifacts/s1/context/a.md";
    env.run_with(line("one"), ["package", "import", "-"]).ok();
    env.run_with(line("two"), ["package", "import", "-"]).ok();
    env.write(path, "somebody's own words");
    env.run_with(line("three"), ["package", "import", "-"]).fails(2);
    assert_eq!(fs_err::read_to_string(env.path(path)).unwrap(), "somebody's own words");
    fs_err::remove_file(env.path(path)).unwrap();
    std::os::unix::fs::symlink(env.folder().join("outside.md"), env.path(path)).unwrap();
    env.run_with(line("four"), ["package", "import", "-"]).fails(2);
    assert!(!env.folder().join("outside.md").exists());
}

#[test]
fn rejects_secrets_as_ids_without_repeating_them() {
    let env = project();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    env.write(&format!("{token}.md"), "x");
    for args in [
        vec!["session", "new", token.as_str()],
        vec!["group", "set", token.as_str()],
        vec![
            "reasoning",
            "add",
            "--role",
            "developer",
            "--phase",
            "risks",
            "--agent-id",
            token.as_str(),
            "x",
        ],
        vec!["package", "add", &format!("{token}.md"), "--kind", "research"],
    ] {
        let output = env.run(&args).fails(2);
        assert!(!output.stderr.contains(&token), "{output}");
    }
    env.run(["session", "new", "RC873tawaxByieX6OjEqHbCV"]).ok();
}
