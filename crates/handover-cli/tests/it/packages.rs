//! The life of a package.

use serde_json::{Value, json};

use crate::project;

#[test]
fn register_supersede_find_again() {
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
fn what_became_of_the_file_is_told() {
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
fn saying_something_else_about_the_same_content_is_not_lost_silently() {
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
fn a_session_finds_the_files_that_wait_for_it() {
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
