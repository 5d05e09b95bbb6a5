//! Two projects behind one service: each has its own namespace.

use handover_model::{PackageId, SessionId};
use handover_store::{RunFilter, Runs, Sessions, Store, StoreError};
use handover_testkit::{Reply, Service, TestEnv};
use serde_json::json;

use super::live::Listener;
use super::mcp::call;
use super::{bearer, token};
use crate::runs::Epic;
use crate::{empty, project};

const NAMES: [&str; 2] = ["north", "south"];

/// A service of a third project, and an admin token for each of the two.
fn two_projects() -> (TestEnv, Service, [String; 2]) {
    let host = project();
    let tokens = NAMES.map(|name| token(&host, "admin", &["--project-id", name]));
    let service = Service::start(&host, &["--require-token"]);
    (host, service, tokens)
}

/// Sets an environment up as a machine of a project.
fn join_project(env: &mut TestEnv, service: &Service, name: &str, token: &str) {
    env.set("HANDOVER_STORE", &service.url);
    env.set("HANDOVER_TOKEN", token);
    env.set("HANDOVER_PROJECT_ID", name);
}

fn machine(service: &Service, name: &str, token: &str) -> TestEnv {
    let mut env = empty();
    join_project(&mut env, service, name, token);
    env.run(["init"]).ok();
    env
}

fn get(service: &Service, token: &str, path: &str) -> Reply {
    service.send("GET", path, &[("authorization", &bearer(token))], "")
}

/// Creates records with the same names in both projects, each containing a word that identifies its project.
fn fill(env: &TestEnv, word: &str) {
    env.run(["session", "new", "s1"]).ok();
    env.write("docs/plan.md", format!("# Plan of {word}\n\n{word} first.\n"));
    env.run(["package", "add", "docs/plan.md", "--kind", "research", "--group", "login"]).ok();
    env.run(["reasoning", "add", "--role", "developer", "--phase", "completion", word]).ok();
    let payload = json!({"of": word}).to_string();
    env.run_with(&payload, ["event", "log", "verdict", "--key", "once"]).ok();
    env.run_with(&payload, ["skill-output", "save", "lint"]).ok();
    env.run(["error", "resolve", "--message", "disk full", "--solution", word]).ok();
    env.run(["assemble", "--role", "developer", "--deliver"]).ok();
}

#[test]
fn same_names_mean_different_records() {
    let (host, service, tokens) = two_projects();
    let machines = [0, 1].map(|n| machine(&service, NAMES[n], &tokens[n]));
    machines.iter().zip(NAMES).for_each(|(machine, word)| fill(machine, word));
    for (n, machine) in machines.iter().enumerate() {
        let (own, other) = (NAMES[n], NAMES[1 - n]);
        // Each command shows its own records and nothing of the other's.
        for args in [
            &["session", "list"][..],
            &["package", "show", "1", "--body"],
            &["reasoning", "list"],
            &["event", "list"],
            &["skill-output", "list", "lint"],
            &["error", "list"],
            &["search", "plan"],
        ] {
            let stdout = machine.run(args.iter().chain(&["--json"])).ok().stdout;
            assert!(stdout.contains(own) && !stdout.contains(other), "{args:?}: {stdout}");
        }
        for path in [
            "/api/v1/sessions",
            "/api/v1/sessions/s1",
            "/api/v1/sessions/s1/packages",
            "/api/v1/sessions/s1/reasoning",
            "/api/v1/sessions/s1/events",
            "/api/v1/sessions/s1/search?q=plan",
            "/api/v1/packages/1?body",
            "/api/v1/errors",
            "/",
            "/sessions/s1",
        ] {
            let body = get(&service, &tokens[n], path).is(200).body;
            assert!(body.contains(own) && !body.contains(other), "{path}: {body}");
        }
        let stats = get(&service, &tokens[n], "/api/v1/stats").is(200).json();
        assert_eq!(stats["stats"]["packages"]["total"], 1, "{stats}");
        let receipts = get(&service, &tokens[n], "/api/v1/receipts").is(200).json();
        assert_eq!(receipts["receipts"].as_array().unwrap().len(), 1, "{receipts}");
        get(&service, &tokens[n], "/api/v1/packages/2").is(404);

        let found = call(&service, &tokens[n], "search", json!({"query": "plan"})).to_string();
        assert!(found.contains(own) && !found.contains(other), "{found}");
        // Agents of a project get what its other machines wrote.
        let brief = call(&service, &tokens[n], "brief", json!({"role": "tech_lead"})).to_string();
        assert!(
            brief.contains("plan.md") && brief.contains(own) && !brief.contains(other),
            "{brief}"
        );
        // A package saved over MCP is written too, although its project has no checkout here.
        let text = json!({"text": format!("# More\n{own} second"), "kind": "research"});
        let saved = call(&service, &tokens[n], "save_package", text);
        assert_eq!(saved["structuredContent"]["id"], 2, "{saved}");
    }
    // The service's own project sees neither.
    let listed = host.run(["session", "list", "--json"]).ok().stdout;
    assert!(!NAMES.iter().any(|name| listed.contains(name)), "{listed}");

    // On the service's machine they can be inspected.
    let north = ["--project", ".handover/store.db.projects/north", "session", "list", "--json"];
    assert_eq!(host.run(north).ok().json()["sessions"][0]["project"], "north");

    // Purging in one project does not affect the other.
    machines[0].run(["session", "purge", "s1", "--yes"]).ok();
    machines[1].run(["package", "show", "2"]).ok();
    let gone = get(&service, &tokens[0], "/api/v1/packages/2").is(404);
    assert_eq!(gone.json()["error"]["code"], "not_found");
}

#[test]
fn both_projects_run_epic_one_at_once() {
    let (_host, service, tokens) = two_projects();
    let epics = [0, 1].map(|n| {
        let mut epic = Epic::new(&["1-1-cart"]);
        join_project(&mut epic.env, &service, NAMES[n], &tokens[n]);
        epic.env.run(["session", "new", "shared-name"]).ok();
        epic
    });
    let runs = epics.each_ref().map(|epic| epic.env.start(epic.args(&[])));
    for (epic, run) in epics.iter().zip(runs) {
        epic.env.output(run).ok();
        let status = epic.env.run(["status", "--json"]).ok().json();
        assert_eq!(status["run"]["state"], "done", "{status}");
    }
    for n in [0, 1] {
        let store = super::remote_store(&service.url, Some(tokens[n].clone()));
        let runs = store.runs(&RunFilter::default()).unwrap();
        let [run] = &runs[..] else { panic!("{runs:?}") };
        let listed = get(&service, &tokens[1 - n], "/api/v1/runs").is(200);
        assert!(!listed.body.contains(run.id.as_str()), "{}", listed.body);
        let hidden = get(&service, &tokens[1 - n], &format!("/api/v1/runs/{}/journal", run.id));
        hidden.is(404);
    }
}

#[test]
fn each_project_gets_its_own_events() {
    let (_host, service, tokens) = two_projects();
    let machines = [0, 1].map(|n| machine(&service, NAMES[n], &tokens[n]));
    let mut listeners = tokens.each_ref().map(|token| {
        Listener::new(&service, "/events", &format!("Authorization: {}\r\n", bearer(token)))
    });
    for machine in &machines {
        machine.run(["session", "new", "s1"]).ok();
        machine.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "x"]).ok();
    }
    for (listener, name) in listeners.iter_mut().zip(NAMES) {
        // Even ids reveal nothing about the other.
        for (id, kind) in [("1", "session"), ("2", "reasoning")] {
            let heard = listener.next().unwrap();
            assert_eq!((heard.id.as_str(), heard.event.as_str()), (id, kind));
            assert_eq!(heard.data["project"], name);
        }
    }
}

#[test]
fn transactions_are_isolated() {
    let (_host, service, tokens) = two_projects();
    let [north, south] =
        tokens.each_ref().map(|token| super::remote_store(&service.url, Some(token.clone())));
    let machines = [0, 1].map(|n| machine(&service, NAMES[n], &tokens[n]));
    machines.iter().for_each(|machine| drop(machine.run(["session", "new", "s1"]).ok()));
    let id = SessionId::new("s1").unwrap();
    let north: &dyn Store = &north;
    // While one holds its lock, the other writes; a rollback affects only its own project.
    let given_up = north.writing(|store| -> handover_store::Result<()> {
        store.purge_session(&id)?;
        machines[1]
            .run(["reasoning", "add", "--role", "developer", "--phase", "risks", "meanwhile"])
            .ok();
        Err(StoreError::Aborted)
    });
    assert!(given_up.is_err());
    assert_eq!(north.session_counts(&id).unwrap().reasoning, 0);
    assert_eq!(south.session_counts(&id).unwrap().reasoning, 1);
    assert!(matches!(north.package(PackageId(1)), Err(StoreError::NotFound { .. })));
    assert!(north.changes(0, 10).unwrap().iter().all(|change| change.project.as_str() == "north"));
}

#[test]
fn project_admin_creates_its_tokens() {
    let (_host, service, tokens) = two_projects();
    let machines = [0, 1].map(|n| machine(&service, NAMES[n], &tokens[n]));
    machines[0].run(["session", "new", "s1"]).ok();
    let made = token(&machines[0], "read", &[]);
    let sessions = get(&service, &made, "/api/v1/sessions").is(200).json();
    assert_eq!(sessions["sessions"][0]["project"], "north", "{sessions}");
    machines[0].run(["token", "create", "--scope", "read", "--project-id", "south"]).fails(2);
    machines[0].run(["token", "create", "--scope", "read", "--all-projects"]).fails(2);
    for (machine, count) in machines.iter().zip([2, 1]) {
        let listed = machine.run(["token", "list", "--json"]).ok().json();
        assert_eq!(listed["tokens"].as_array().unwrap().len(), count, "{listed}");
    }
    // A checkout of another project gets an error that explains why it cannot use the token.
    let mut lost = machine(&service, "east", &tokens[0]);
    let error = lost.run(["session", "new", "s2", "--json"]).fails(2).error();
    assert!(error["hint"].as_str().unwrap().contains("project.id"), "{error}");
    lost.set("HANDOVER_PROJECT_ID", "north");
    lost.run(["session", "new", "s2"]).ok();
}

/// Behind a service on PostgreSQL, a project is the same as for clients of the database.
#[test]
fn postgres_service_uses_the_schema_of_the_project() {
    let url = handover_testkit::postgres();
    let unique = uuid::Uuid::now_v7().simple();
    let names = NAMES.map(|name| format!("{name}-{unique}"));
    let on_database = |name: &str| {
        let mut env = empty();
        env.set("HANDOVER_STORE", &url);
        env.set("HANDOVER_PROJECT_ID", name);
        env.run(["init"]).ok();
        env
    };
    let [host, direct] = names.each_ref().map(|name| on_database(name));
    direct.run(["session", "new", "s1"]).ok();
    direct.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "southern"]).ok();
    let theirs = token(&host, "write", &["--project-id", &names[1]]);
    let service = Service::start(&host, &["--require-token"]);
    let guest = machine(&service, &names[1], &theirs);
    assert!(guest.run(["reasoning", "list"]).ok().stdout.contains("southern"));
    guest.run(["reasoning", "add", "--role", "developer", "--phase", "risks", "more"]).ok();
    assert!(direct.run(["reasoning", "list"]).ok().stdout.contains("more"));
    host.run(["session", "new", "s1"]).ok();
    assert!(!host.run(["reasoning", "list"]).ok().stdout.contains("southern"));
}
