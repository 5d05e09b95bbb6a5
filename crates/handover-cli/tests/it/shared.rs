//! A shared store: two homes, two checkouts, one PostgreSQL.

use handover_testkit::{OwnPostgres, TestEnv, Writers, assert_kept};
use serde_json::{Value, json};

use crate::mcp::{BOTH, Client};
use crate::{empty, on_postgres, shared_project};

const PASSWORD: &str = "kX9-never-shown-4711";

/// The same URL with a password, which the tests' server does not check.
fn with_password(url: &str) -> String {
    url.replace("handover@", &format!("handover:{PASSWORD}@"))
}

/// Another machine with the same configuration, but its own home and checkout.
fn another(project: &str, url: &str) -> TestEnv {
    let mut env = empty();
    env.set("HANDOVER_STORE", url);
    env.set("HANDOVER_PROJECT_ID", project);
    env.run(["init"]).ok();
    env
}

#[test]
fn another_machine_reads_what_this_one_wrote() {
    let project = format!("t{}", uuid::Uuid::now_v7().simple());
    let url = handover_testkit::postgres();
    let (here, there) = (another(&project, &url), another(&project, &url));
    here.run(["session", "new", "s1"]).ok();
    here.write("docs/oauth.md", "# OAuth\n\nRefresh tokens rotate.\npassword=correct-horse\n");
    here.run(["package", "add", "docs/oauth.md", "--kind", "research"]).ok();

    let found = there.run(["search", "refresh token", "--json"]).ok().json();
    assert_eq!(found["results"][0]["file"], "elsewhere", "{found}");
    let shown = there.run(["package", "show", "1", "--body", "--json"]).ok().json();
    let body = shown["package"]["body"].as_str().unwrap();
    assert!(body.contains("Refresh tokens rotate") && !body.contains("horse"), "{body}");
    let block = there.run(["assemble", "--role", "developer"]).ok().stdout;
    assert!(block.contains("docs/oauth.md"), "{block}");
    assert!(block.contains("handover package show 1 --body"), "{block}");
    there.run(["doctor"]).ok();
    // On the machine that has the file there is no hint.
    let block = here.run(["assemble", "--role", "developer"]).ok().stdout;
    assert!(!block.contains("another machine"), "{block}");
    let own = here.run(["search", "refresh token", "--json"]).ok().json();
    assert_eq!(own["results"][0]["file"], "current");
}

#[test]
fn an_agent_on_another_machine_reads_a_package_over_mcp() {
    let project = format!("t{}", uuid::Uuid::now_v7().simple());
    let url = handover_testkit::postgres();
    let (here, there) = (another(&project, &url), another(&project, &url));
    here.run(["session", "new", "s1"]).ok();
    here.write("docs/oauth.md", "# OAuth\n\nRefresh tokens rotate.\n");
    here.run(["package", "add", "docs/oauth.md", "--kind", "research"]).ok();
    for generation in BOTH {
        let mut client = Client::new(&there, generation);
        let read = client.call("read_package", json!({"id": 1}));
        assert_eq!(read["file"], "elsewhere");
        assert!(read["text"].as_str().unwrap().contains("Refresh tokens rotate."), "{read}");
    }
}

#[test]
fn another_project_sees_nothing() {
    let one = shared_project();
    let two = shared_project();
    one.write("a.md", "zebra");
    one.run(["package", "add", "a.md", "--kind", "research"]).ok();
    let found = two.run(["search", "zebra", "--json"]).ok().json();
    assert_eq!(found["results"], json!([]));
}

#[test]
fn the_password_is_never_shown() {
    let project = format!("t{}", uuid::Uuid::now_v7().simple());
    let url = with_password(&handover_testkit::postgres());
    let env = another(&project, &url);
    let mut printed = String::new();
    for args in [
        &["init", "--json"][..],
        &["config", "show"],
        &["config", "show", "--json"],
        &["doctor", "--json"],
        &["session", "list"],
    ] {
        let output = env.run(args).ok();
        printed.push_str(&output.stdout);
        printed.push_str(&output.stderr);
    }
    assert!(printed.contains("postgres://handover@127.0.0.1:"), "{printed}");
    let mut broken = empty();
    broken.run(["init"]).ok();
    for url in [
        format!("postgres://u:{PASSWORD}@127.0.0.1:1/db"),
        format!("postgres://u:{PASSWORD}@127.0.0.1:nowhere/db"),
        format!("postgres://u:{PASSWORD}@127.0.0.1:1/db?what=is"),
        format!("postgres://u:{PASSWORD}@127.0.0.1:1/db?sslmode=prefer"),
        format!("mysql://u:{PASSWORD}@127.0.0.1:1/db"),
    ] {
        broken.set("HANDOVER_STORE", &url);
        for args in [
            &["session", "list"][..],
            &["session", "list", "--json"],
            &["doctor"],
            &["config", "show"],
        ] {
            let output = broken.run(args);
            printed.push_str(&output.stdout);
            printed.push_str(&output.stderr);
        }
    }
    broken.set("HANDOVER_STORE", "");
    broken.write(".handover/config.toml", format!("store = postgres://u:{PASSWORD}@h/db\n"));
    let output = broken.run(["session", "list"]).fails(2);
    printed.push_str(&output.stderr);
    assert!(!printed.contains(PASSWORD), "{printed}");
}

#[test]
fn the_location_can_come_from_the_configuration() {
    let mut env = empty();
    on_postgres(&mut env);
    env.run(["init"]).ok();
    env.set("HANDOVER_STORE", "");
    let url = handover_testkit::postgres();
    for text in [format!("store = \"{url}\"\n"), format!("[store]\nlocation = \"{url}\"\n")] {
        env.write(".handover/config.toml", text);
        env.run(["session", "new", "s1"]).ok();
        assert!(!env.path(".handover/store.db").exists());
    }
}

#[test]
fn rejects_a_project_without_an_id() {
    let mut env = empty();
    env.run(["init"]).ok();
    env.write(".handover/config.toml", "");
    env.set("HANDOVER_STORE", &handover_testkit::postgres());
    let error = env.run(["session", "list", "--json"]).fails(2).error();
    assert_eq!(error["code"], "no_project_id");
    assert!(error["hint"].as_str().unwrap().contains("project.id"));
}

fn hook(env: &TestEnv, name: &str, fields: &Value) -> handover_testkit::Output {
    let mut event = json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": name,
        "transcript_path": env.path("lead.jsonl"),
    });
    event.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    env.run_with(event.to_string(), ["hook", "claude"]).ok()
}

/// The server dies while commands write: acknowledged writes stay, hooks and prompts continue without
/// it, and everything works again when it is back.
#[test]
fn a_dead_server_blocks_nobody() {
    let server = OwnPostgres::start();
    let env = another("p", server.url());
    env.run(["session", "new", "s1"]).ok();
    let mut writers = Writers::start(&env, 4);
    writers.wait_for(10);
    server.kill();

    let block = env.run(["assemble", "--role", "developer", "--json"]).ok().json();
    assert_eq!(block["degraded"], true, "{block}");
    let input = json!({"description": "d", "prompt": "Do it.", "subagent_type": "developer"});
    for (name, fields) in [
        ("SessionStart", json!({"source": "startup"})),
        ("PreToolUse", json!({"tool_name": "Agent", "tool_input": input})),
    ] {
        let output = hook(&env, name, &fields);
        assert!(!output.stderr.contains("panicked"), "{output}");
    }
    let error = env.run(["session", "list", "--json"]).fails(5).error();
    assert_eq!(error["code"], "store_unavailable");

    server.again();
    // The writers recover without help.
    writers.wait_for(10);
    let acknowledged = writers.kill();
    assert!(acknowledged.len() >= 80);
    assert_kept(&env, &acknowledged);
    // The hook log says that they gave up; the store is sound.
    let doctor = env.run(["doctor", "--json"]).json();
    let checks = doctor["checks"].as_array().unwrap();
    let store = checks.iter().filter(|check| check["name"].as_str().unwrap().starts_with("store"));
    assert!(store.inspect(|check| assert_eq!(check["ok"], true, "{check}")).count() > 1);
}
