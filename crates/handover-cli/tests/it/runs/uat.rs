//! `handover run uat`: scenarios run on demand, outside the user's checkout.

use serde_json::{Value, json};

use super::Epic;

const CAT: [&str; 2] = ["--config", "uat.allow=[\"cat\", \"./probe\"]"];

fn epic(list: &Value) -> Epic {
    let epic = Epic::new(&["1-1-a"]);
    epic.run(&[]).ok();
    epic.env.write("docs/uat/epic-1-uat.json", json!({"scenarios": list}).to_string());
    epic
}

fn uat(epic: &Epic, more: &[&str]) -> handover_testkit::Output {
    let agent = epic.agent();
    let args = [&["uat", "1", "--agent-command", agent.as_str()][..], &CAT, more].concat();
    epic.env.run(args)
}

fn holds() -> Value {
    json!({"id": "S1", "criterion": "1-1-a AC1", "kind": "auto", "argv": ["cat", "1-1-a.txt"], "expect": {"text": "work"}})
}

#[test]
fn uat_json_follows_the_contract() {
    let epic = epic(&json!([
        holds(),
        {"id": "S2", "criterion": "AC2", "kind": "semi", "argv": ["cat", "missing"], "steps": ["Look"], "expected": "Blue"},
        {"id": "S3", "criterion": "AC3", "kind": "manual", "steps": ["Read the mail", "Reply"]},
    ]));
    let before = (epic.git(&["status", "--porcelain"]), epic.git(&["for-each-ref"]));
    let answer = uat(&epic, &["--json"]).ok().json();
    let quick = &answer["uat"];
    assert_eq!(
        (&answer["schema"], &quick["epic"], &quick["gate"]),
        (&json!(1), &json!("1"), &json!("quick"))
    );
    assert_eq!(
        (&quick["state"], &quick["passed"], &quick["failed"]),
        (&json!("passed"), &json!(1), &json!(0))
    );
    let outcomes: Vec<&str> = quick["scenarios"]
        .as_array()
        .unwrap()
        .iter()
        .map(|scenario| scenario["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["passed", "not_run", "not_run"]);
    assert_eq!(quick["human"][1]["steps"], json!(["Read the mail", "Reply"]));
    let full = uat(&epic, &["--gate", "full", "--json"]).fails(1).json();
    assert_eq!(full["uat"]["scenarios"][1]["outcome"], "failed");
    let skip = uat(&epic, &["--gate", "skip", "--json"]).ok().json();
    assert_eq!((&skip["uat"]["state"], &skip["uat"]["passed"]), (&json!("skipped"), &json!(0)));
    let text = uat(&epic, &[]).ok();
    assert!(text.stdout.contains("[ ] Read the mail"), "{text}");
    // Nothing was changed.
    assert_eq!((epic.git(&["status", "--porcelain"]), epic.git(&["for-each-ref"])), before);
    assert_eq!(epic.git(&["worktree", "list"]).lines().count(), 1);
}

#[test]
fn compares_output_with_expectations() {
    let json = |expect: Value| json!({"id": "S1", "criterion": "x", "kind": "auto", "argv": ["cat", "data.json"], "expect": expect});
    let epic = epic(&json!([holds()]));
    epic.env.write("data.json", "{\"a\": {\"b\": [1, 2]}, \"c\": true}\n");
    epic.commit_all("data");
    epic.env.git("", &["branch", "--quiet", "--force", "handover/epic-1", "main"]);
    for (expect, code, part) in [
        (json!({"json": {"a": {"b": [1, 2]}}}), 0, ""),
        (json!({"json": {"a": {"b": [1]}}}), 1, "/a/b"),
        (json!({"json": {"d": 1}}), 1, "/d"),
        (json!({"exit": 1}), 1, "exit code 0 instead of 1"),
        (json!({"text": ["true", "no such text"]}), 1, "no such text"),
    ] {
        epic.env
            .write("docs/uat/epic-1-uat.json", json!({"scenarios": [json(expect)]}).to_string());
        let answer = uat(&epic, &["--json"]);
        assert_eq!(answer.code, Some(code), "{answer}");
        let reason = answer.json()["uat"]["scenarios"][0]["reason"].to_string();
        assert!(reason.contains(part), "{reason}");
    }
}

/// A project program that hangs with children, prints secrets endlessly, and writes files.
#[test]
fn limits_scenario_programs() {
    let probe = |name: &str, more: Value| {
        let mut scenario = json!({"id": name, "criterion": "x", "kind": "auto", "argv": ["./probe", name], "timeout": 2});
        for (key, value) in more.as_object().unwrap() {
            scenario[key] = value.clone();
        }
        scenario
    };
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    let epic = epic(&json!([
        probe("hang", json!({})),
        probe("secret", json!({"expect": {"exit": 3}})),
        probe("write", json!({"setup": [["./probe", "write"]], "cleanup": [["./probe", "clean"]]})),
        probe("setup", json!({"setup": [["./probe", "secret"]]})),
    ]));
    epic.env.write(
        "probe",
        format!(
            "#!/usr/bin/env python3\nimport os, subprocess, sys, time\nwhat = sys.argv[1]\n\
             if what == 'hang':\n    subprocess.Popen(['sleep', '600'], start_new_session=True)\n    time.sleep(600)\n\
             if what == 'secret':\n    print('{secret}'); sys.exit(1)\n\
             if what == 'write':\n    open('left.txt', 'a').write('x'); open('README.md', 'w').write('y')\n\
             if what == 'clean':\n    print(len(open('left.txt').read())); sys.exit(0)\n"
        ),
    );
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(epic.env.path("probe"), executable).unwrap();
    epic.commit_all("probe");
    epic.env.git("", &["branch", "--quiet", "--force", "handover/epic-1", "main"]);
    let answer = uat(&epic, &["--json"]).fails(1);
    let json = answer.json();
    let reason = |n: usize| json["uat"]["scenarios"][n]["reason"].as_str().unwrap().to_owned();
    assert!(reason(0).contains("time limit"), "{answer}");
    assert!(reason(1).contains("exit code 1 instead of 3"), "{answer}");
    assert_eq!(json["uat"]["scenarios"][2]["outcome"], "passed", "{answer}");
    assert!(reason(3).contains("set-up"), "{answer}");
    assert!(!answer.stdout.contains(&secret), "{answer}");
    let run = json["uat"]["run"].as_str().unwrap();
    assert_eq!(handover_testkit::processes_with("HANDOVER_SPAWN", run), Vec::<u32>::new());
    assert!(!epic.env.path("left.txt").exists());
    assert_eq!(fs_err::read_to_string(epic.env.path("README.md")).unwrap(), "a shop\n");
}

#[test]
fn fails_without_scenarios() {
    let epic = Epic::new(&["1-1-a"]);
    let none = uat(&epic, &["--json"]).fails(2);
    assert_eq!(none.error()["code"], "not_found");
    epic.env
        .write("docs/uat/epic-1-uat.json", "{\"scenarios\": [{\"id\": \"S1\", \"shell\": \"x\"}]}");
    let bad = uat(&epic, &["--json"]).fails(2);
    assert_eq!(bad.error()["code"], "invalid_scenarios");
    let message = bad.error()["message"].as_str().unwrap().to_owned();
    for part in ["scenarios[0].shell", "scenarios[0].kind", "scenarios[0].criterion"] {
        assert!(message.contains(part), "{message}");
    }
    let list = json!([holds()]);
    let result = json!({
        "nonce": "{HANDOVER_NONCE}", "story": "epic-1", "phase": "uat", "verdict": "complete",
        "scenarios": list,
    });
    epic.script(&format!("* uat * | result '{result}'"));
    epic.run(&[]).ok();
    let answer = uat(&epic, &["--generate", "--json"]).ok().json();
    assert_eq!(answer["uat"]["passed"], 1);
    assert!(epic.git(&["show", "handover/epic-1:docs/uat/epic-1-uat.md"]).contains("S1"));
}

#[test]
fn an_agent_fixes_failed_scenarios() {
    let mut wanted = holds();
    wanted["expect"]["text"] = "fixed".into();
    let epic = epic(&json!([wanted]));
    epic.script("* fix * | append 1-1-a.txt fixed print \"IMPLEMENTATION COMPLETE: epic-1\"");
    uat(&epic, &[]).fails(1);
    let answer = uat(&epic, &["--heal", "1", "--json"]).ok().json();
    assert_eq!((&answer["uat"]["state"], &answer["uat"]["fixes"]), (&json!("passed"), &json!(1)));
    assert_eq!(epic.git(&["show", "handover/epic-1:1-1-a.txt"]), "workfixed");
    uat(&epic, &[]).ok();
}
