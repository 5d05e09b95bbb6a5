//! Tools with the project, worktree and session of the command line. The tools themselves are tested in
//! handover-mcp.

use serde_json::json;

use super::{BOTH, Client, Generation};
use crate::project;

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

#[test]
fn files_are_those_of_the_worktree() {
    let env = project();
    let mut client = Client::new(&env, Generation::Inline);
    let message = client.refused("where_to_look", json!({"task": "refresh tokens"}));
    assert!(message.contains("not in a git repository"), "{message}");
    env.git("", &["init", "-q"]);
    env.write("src/auth.rs", "pub fn refresh_token() {}\n");
    env.write("src/cart.rs", "pub fn total() {}\n");
    env.git("", &["add", "src"]);
    env.git("", &["commit", "-qm", "x"]);
    let found = client.call("where_to_look", json!({"task": "refresh tokens"}));
    assert_eq!(found["places"][0]["path"], "src/auth.rs");
    assert_eq!(found["places"][0]["why"], "defines `refresh_token`");
    assert_eq!(found["complete"], true);
    env.git("", &["worktree", "add", "-q", "../tree"]);
    let tree = env.folder().join("tree");
    fs_err::write(tree.join("src/cart.rs"), "pub fn refresh_token_of_tree() {}\n").unwrap();
    let mut there = Client::silent(env.command().arg("mcp").current_dir(&tree), Generation::Inline);
    let task = json!({"task": "refresh_token_of_tree", "limit": 1});
    assert_eq!(there.call("where_to_look", task.clone())["places"][0]["path"], "src/cart.rs");
    assert_eq!(client.call("where_to_look", task)["places"][0]["path"], "src/auth.rs");
}
