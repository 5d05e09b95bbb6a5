//! Commands that use the store of a service. The protocol itself is tested in handover-serve.

use handover_testkit::{Service, TestEnv};

use crate::runs::Epic;

/// Another machine: its own home and project, sharing nothing but the service's address.
fn machine(service: &Service) -> TestEnv {
    let mut env = crate::empty();
    env.set("HANDOVER_STORE", &service.url);
    env.run(["init"]).ok();
    assert!(!env.path(".handover/store.db").exists());
    env
}

#[test]
fn two_machines_share_one_store() {
    let host = crate::project();
    let service = Service::start(&host, &[]);
    let (one, two) = (machine(&service), machine(&service));
    one.write("docs/oauth.md", "# OAuth\n## Summary\nTokens live ten minutes.\n");
    let added = one.run(["package", "add", "docs/oauth.md", "--kind", "research", "--json"]).ok();
    assert_eq!(added.json()["package"]["id"], 1);
    let found = two.run(["search", "oauth", "--json"]).ok().json();
    assert_eq!(found["results"][0]["path"], "docs/oauth.md");
    let body = two.run(["package", "show", "1", "--body", "--json"]).ok().json();
    assert!(body["package"]["body"].as_str().unwrap().contains("ten minutes"));
    let assemble = ["assemble", "--role", "developer", "--task", "oauth", "--deliver", "--json"];
    let assembled = two.run(assemble).ok().json();
    assert_eq!((&assembled["degraded"], &assembled["available"]), (&false.into(), &1.into()));
    let receipts = one.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"][0]["state"], "delivered");
    two.run(["reasoning", "add", "--role", "qa_expert", "--phase", "risks", "It may hang."]).ok();
    assert!(host.run(["reasoning", "list"]).ok().stdout.contains("It may hang."));
    assert!(two.run(["doctor"]).ok().stdout.contains(&service.url));
}

/// Eight processes on two machines write at once; nothing is lost.
#[test]
fn many_processes_write_concurrently() {
    let host = crate::project();
    let service = Service::start(&host, &[]);
    let machines = [machine(&service), machine(&service)];
    let think = |n: usize| {
        let args = ["reasoning", "add", "--role", "developer", "--phase", "risks"];
        args.map(str::to_owned).into_iter().chain([format!("thought {n}")]).collect()
    };
    std::thread::scope(|scope| {
        for machine in &machines {
            scope.spawn(|| {
                machine.at_once(16, think).into_iter().for_each(|output| drop(output.ok()));
            });
        }
    });
    let shown = host.run(["session", "show", "s1", "--json"]).ok().json();
    assert_eq!(shown["session"]["counts"]["reasoning"], 32);
}

/// Journal, locks and receipts of a run go over the network too.
#[test]
fn a_run_works_over_a_service() {
    let host = crate::project();
    let service = Service::start(&host, &[]);
    let mut epic = Epic::new(&["1-1-cart"]);
    epic.env.set("HANDOVER_STORE", &service.url);
    epic.run(&[]).ok();
    let status = host.run(["status", "--json"]).ok().json();
    assert_eq!(status["run"]["state"], "done", "{status}");
    let journal = host.run(["journal", "--json"]).ok().json();
    assert!(journal["journal"].as_array().unwrap().len() > 4);
}

#[test]
fn an_unavailable_service_delays_nobody() {
    let host = crate::project();
    let service = Service::start(&host, &[]);
    let mut env = machine(&service);
    env.set("HANDOVER_TOKEN", "hnd_0123456789ab_secretsecretsecret");
    service.stop(&host).ok();
    let block = env.run(["assemble", "--role", "developer", "--json"]).ok();
    assert_eq!(block.json()["degraded"], true);
    let event = serde_json::json!({
        "session_id": "c-1", "cwd": env.path(""), "hook_event_name": "SessionStart",
        "transcript_path": env.path("t.jsonl"), "source": "startup",
    });
    let hook = env.run_with(event.to_string(), ["hook", "claude"]).ok();
    let error = env.run(["session", "list", "--json"]).fails(5);
    assert_eq!(error.error()["code"], "store_unavailable");
    for output in [block, hook, error] {
        assert!(!output.to_string().contains("secretsecret"), "{output}");
    }
}
