//! `spawn`: no agent without a receipt, no process left behind, and every report stored.

use std::process::Stdio;

use handover_testkit::{
    Answer, FakeAgent, ModelRequest, ModelServer, Output, RealHost, Script, TestEnv, processes_with,
};
use serde_json::{Value, json};

use crate::project;

/// Starts the fake agent with these actions.
fn spawn(env: &TestEnv, actions: &str, args: &[&str]) -> Output {
    let command = format!("{} {actions}", FakeAgent::program().display());
    let mut all = vec![
        "spawn",
        "--json",
        "--host",
        "command",
        "--agent-command",
        &command,
        "--task",
        "Do it",
    ];
    if !args.contains(&"--role") {
        all.extend(["--role", "developer"]);
    }
    all.extend(args);
    env.run(all)
}

fn debrief(verdict: &str, reasoning: &str) -> String {
    format!(
        "\"```handover\" print \"verdict: {verdict}\" print \"summary: as {verdict}\" print \"reasoning: {{completion: {reasoning}}}\" print \"```\""
    )
}

fn receipts(env: &TestEnv) -> Vec<Value> {
    let listed = env.run(["receipt", "list", "--json"]).ok().json();
    listed["receipts"].as_array().unwrap().clone()
}

#[test]
fn passes_the_brief_and_stores_the_findings() {
    let env = project();
    let actions =
        format!("echo-prompt prompt.txt env env.txt print {}", debrief("complete", "it works"));
    let document = spawn(&env, &actions, &["--group", "login"]).ok().json();
    assert_eq!((&document["exit_code"], &document["verdict"]), (&json!(0), &json!("complete")));
    assert_eq!(document["summary"], "as complete");
    assert_eq!(document["kept"]["reasoning"], 1);
    let id = document["receipt"].as_str().unwrap();
    let prompt = fs_err::read_to_string(env.path("prompt.txt")).unwrap();
    assert!(
        prompt.contains("## Context for developer") && prompt.contains("## Your Task\n\nDo it")
    );
    env.run(["receipt", "verify", id, "prompt.txt"]).ok();
    let receipt = env.run(["receipt", "show", id, "--json"]).ok().json();
    assert_eq!(
        (&receipt["receipt"]["state"], &receipt["receipt"]["host"]),
        (&json!("delivered"), &json!("command"))
    );
    let seen = fs_err::read_to_string(env.path("env.txt")).unwrap();
    assert!(
        seen.contains("HANDOVER_SESSION=s1") && seen.contains("HANDOVER_GROUP=login"),
        "{seen}"
    );
    assert!(
        fs_err::read_to_string(env.path(&format!(".handover/spawns/{id}.log")))
            .unwrap()
            .contains("verdict")
    );
    let guard = env.run(["event", "list", "--type", "guard", "--json"]).ok().json();
    assert_eq!(guard["events"][0]["payload"]["allowed"], true);
}

#[test]
fn passes_reasoning_along_a_chain_of_roles() {
    let env = project();
    let play = |role: &str, verdict: &str, words: &str| -> String {
        let actions = format!("echo-prompt prompt.txt print {}", debrief(verdict, words));
        let _ = spawn(&env, &actions, &["--role", role, "--group", "login"]);
        fs_err::read_to_string(env.path("prompt.txt")).unwrap()
    };
    let has = |prompt: &str, role: &str, words: &str| {
        prompt.contains(&format!("**[{role}] completion:** {words}"))
    };
    let first = play("developer", "complete", "dev-one");
    assert!(!first.contains("Prior Agent Reasoning"), "a first-time developer gets none");
    let qa = play("qa_expert", "failed", "qa-one");
    assert!(has(&qa, "developer", "dev-one"), "{qa}");
    let lead = play("tech_lead", "failed", "lead-one");
    assert!(has(&lead, "developer", "dev-one") && has(&lead, "qa_expert", "qa-one"), "{lead}");
    let retry = play("developer", "complete", "dev-two");
    for (role, words) in
        [("developer", "dev-one"), ("qa_expert", "qa-one"), ("tech_lead", "lead-one")]
    {
        assert!(has(&retry, role, words), "a retry gets its own and the feedback: {retry}");
    }
    let investigator = play("investigator", "complete", "inv-one");
    assert!(
        has(&investigator, "developer", "dev-two") && has(&investigator, "qa_expert", "qa-one")
    );
    let handoffs = env.run(["event", "list", "--type", "reasoning_handoff", "--json"]).ok().json();
    assert!(handoffs["events"].as_array().unwrap().len() >= 6, "{handoffs}");
}

#[test]
fn exit_code_follows_the_verdict() {
    let env = project();
    for (verdict, code) in
        [("complete", 0), ("passed", 0), ("failed", 1), ("blocked", 3), ("escalate", 3)]
    {
        let output = spawn(&env, &format!("read print {}", debrief(verdict, "x")), &[]);
        assert_eq!(output.code, Some(code), "{verdict}: {output}");
    }
    let two = format!("read print {} print {}", debrief("passed", "x"), debrief("failed", "y"));
    let document = spawn(&env, &two, &[]).fails(1).json();
    assert_eq!(document["verdict"], Value::Null, "two verdicts are none");
    assert!(document["missing"].as_array().unwrap().contains(&json!("verdict")));
}

#[test]
fn counts_parallel_agents_of_a_role_as_separate_attempts() {
    let env = project();
    env.write("docs/a.md", "# A\n\n## Summary\nWhat everybody needs.\n");
    env.run(["package", "add", "docs/a.md", "--kind", "research", "--producer", "developer"]).ok();
    let program = FakeAgent::program().display().to_string();
    let outputs = env.at_once(6, |n| {
        let command = format!("{program} echo-prompt prompt{n}.txt");
        [
            "spawn",
            "--json",
            "--host",
            "command",
            "--agent-command",
            &command,
            "--role",
            "developer",
            "--task",
            "x",
        ]
        .map(str::to_owned)
        .to_vec()
    });
    for (n, output) in outputs.into_iter().enumerate() {
        output.ok();
        let prompt = fs_err::read_to_string(env.path(&format!("prompt{n}.txt"))).unwrap();
        assert!(prompt.contains("docs/a.md"), "{n}: {prompt}");
    }
    let mut attempts: Vec<u64> =
        receipts(&env).iter().map(|r| r["iteration"].as_u64().unwrap()).collect();
    attempts.sort_unstable();
    assert_eq!(attempts, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn rejects_invalid_requests_before_starting_anything() {
    let env = project();
    spawn(&env, "echo-prompt started.txt", &["--current-tokens", "170000"]).fails(2);
    let brief = env.run(["brief", "--role", "developer", "--task", "x"]).ok().stdout;
    env.write("p.md", brief);
    let command = format!("{} echo-prompt started.txt", FakeAgent::program().display());
    let other = ["spawn", "--host", "command", "--agent-command", &command, "--role", "qa_expert"];
    let output = env.run(other.iter().chain(&["--prompt-file", "p.md"])).fails(2);
    assert!(output.stderr.contains("`developer`") && output.stderr.contains("`qa_expert`"));
    env.run(["session", "close", "s1"]).ok();
    spawn(&env, "echo-prompt started.txt", &["--session", "s1"]).fails(2);
    assert!(!env.path("started.txt").exists());
}

#[test]
fn strict_guard_refuses_incomplete_prompts() {
    let env = project();
    let marked = |text: &str| format!("echo-prompt {text}");
    // Every flag that would drop a part.
    for off in [["--context", "off"], ["--specialization", "off"]] {
        let error = spawn(&env, &marked("started.txt"), &off).fails(3).error();
        assert_eq!(error["code"], "refused", "{error}");
    }
    // Every way to relax the guard outside the configuration files.
    for key in [
        "guard.mode=off",
        "assembly.enabled=false",
        "specialization.roles_disabled=[\"developer\"]",
    ] {
        spawn(&env, &marked("started.txt"), &["--config", key, "--context", "off"]).fails(2);
    }
    let loose = env
        .command()
        .env("HANDOVER_GUARD_MODE", "off")
        .args(["spawn", "--host", "command"])
        .args([
            "--agent-command",
            &format!("{} echo-prompt started.txt", FakeAgent::program().display()),
            "--role",
            "developer",
            "--task",
            "x",
            "--context",
            "off",
        ])
        .status()
        .unwrap();
    assert_eq!(loose.code(), Some(2));
    // A prompt without a receipt, with an unknown marker, modified, or already used.
    env.write("bare.md", "Do it");
    env.write("fake.md", "<!-- handover:receipt r_none -->\n\nDo it\n");
    let brief = env.run(["brief", "--role", "developer", "--task", "x"]).ok().stdout;
    env.write("changed.md", format!("{brief}\nand something else\n"));
    env.write("good.md", &brief);
    let given = |file: &str| {
        let command = format!("{} {}", FakeAgent::program().display(), marked("started.txt"));
        env.run([
            "spawn",
            "--json",
            "--host",
            "command",
            "--agent-command",
            &command,
            "--role",
            "developer",
            "--prompt-file",
            file,
        ])
    };
    given("bare.md").fails(3);
    given("fake.md").fails(2);
    given("changed.md").fails(3);
    assert!(!env.path("started.txt").exists(), "no agent was started");
    // A valid prompt works once.
    given("good.md").ok();
    assert!(env.path("started.txt").exists());
    fs_err::remove_file(env.path("started.txt")).unwrap();
    given("good.md").fails(3);
    assert!(!env.path("started.txt").exists(), "a receipt is good for one agent");
    assert!(receipts(&env).iter().filter(|r| r["state"] == "delivered").count() == 1);
}

#[test]
fn gives_a_prompt_to_one_agent_only() {
    let env = project();
    let brief = env.run(["brief", "--role", "developer", "--task", "x"]).ok().stdout;
    env.write("good.md", &brief);
    let command = format!("{} read append started.txt x", FakeAgent::program().display());
    let outputs = env.at_once(8, |_| {
        [
            "spawn",
            "--host",
            "command",
            "--agent-command",
            &command,
            "--role",
            "developer",
            "--prompt-file",
            "good.md",
        ]
        .map(str::to_owned)
        .to_vec()
    });
    let started = fs_err::read_to_string(env.path("started.txt")).unwrap();
    assert_eq!(started.matches('x').count(), 1, "{started}");
    assert_eq!(outputs.iter().filter(|output| output.code == Some(3)).count(), 7);
}

#[test]
fn only_configuration_files_can_relax_the_guard() {
    let env = project();
    env.write(".handover/config.toml", "guard = \"warn\"\n");
    let output = spawn(&env, "read", &["--context", "off"]).ok();
    assert!(output.stderr.contains("it has no context"), "{output}");
    env.write(".handover/config.toml", "[assembly]\nenabled = false\n");
    spawn(&env, "read", &[]).ok();
    env.write(".handover/config.toml", "guard = \"sometimes\"\n");
    spawn(&env, "read", &[]).fails(2);
}

#[test]
fn a_program_that_cannot_start_is_not_a_delivery() {
    let env = project();
    let missing = env.run([
        "spawn",
        "--json",
        "--host",
        "command",
        "--agent-command",
        "no-such-agent",
        "--role",
        "developer",
        "--task",
        "x",
    ]);
    let error = missing.fails(5).error();
    assert_eq!(error["code"], "program_not_found");
    assert_eq!(receipts(&env)[0]["state"], "failed");
    env.run(["spawn", "--host", "command", "--role", "developer", "--task", "x"]).fails(2);
    env.run(["spawn", "--host", "claude", "--role", "developer"]).fails(2);
}

#[test]
fn faulty_agents_leave_a_clean_record_and_no_process() {
    let env = project();
    let faults: &[(&str, &[&str], &str)] = &[
        ("read hang", &["--timeout", "1"], "wall_timeout"),
        ("read hang", &["--idle-timeout", "1"], "idle_timeout"),
        ("ignore-term read chatter", &["--timeout", "1"], "wall_timeout"),
        ("read crash", &[], "crashed"),
        ("read half \"verdict: comp\" exit 3", &[], "exit_code"),
        ("read spawn \"setsid hang\" exit 4", &[], "exit_code"),
        ("read flood 2000000000", &["--timeout", "600"], "output_flood"),
        ("invalid-utf8 exit 1", &[], "exit_code"),
    ];
    for (actions, args, class) in faults {
        let output = spawn(&env, actions, args);
        let document = output.json();
        assert_eq!(document["failure"]["class"], *class, "{actions}: {output}");
        assert_eq!(output.code, Some(1), "{actions}");
        let id = document["receipt"].as_str().unwrap();
        assert_eq!(processes_with("HANDOVER_SPAWN", id), [0_u32; 0], "{actions}");
        let log = fs_err::metadata(env.path(&format!(".handover/spawns/{id}.log"))).unwrap();
        assert!(log.len() < 20 << 20, "{actions}: {}", log.len());
    }
    let events = env.run(["event", "list", "--type", "debrief", "--json"]).ok().json();
    assert_eq!(events["events"].as_array().unwrap().len(), faults.len());
}

#[test]
fn interrupting_kills_the_agent() {
    let env = project();
    let command = format!("{} read pid pid.txt hang", FakeAgent::program().display());
    let child = env
        .command()
        .args([
            "spawn",
            "--json",
            "--host",
            "command",
            "--agent-command",
            &command,
            "--role",
            "developer",
        ])
        .args(["--task", "x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !env.path("pid.txt").exists() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let killed =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    let output = env.output(child).fails(130);
    let id = output.json()["receipt"].as_str().unwrap().to_owned();
    assert_eq!(processes_with("HANDOVER_SPAWN", &id), [0_u32; 0]);
}

#[test]
fn spools_the_receipt_without_a_store() {
    let env = project();
    let store = env.path(".handover/store.db");
    fs_err::rename(&store, env.path("aside.db")).unwrap();
    fs_err::create_dir(&store).unwrap();
    for rest in ["store.db-wal", "store.db-shm"] {
        let _ = fs_err::remove_file(env.path(&format!(".handover/{rest}")));
    }
    let output = spawn(&env, "echo-prompt prompt.txt", &["--session", "s1"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(fs_err::read_to_string(env.path("prompt.txt")).unwrap().contains("Fallback Mode"));
    let spooled = || fs_err::read_dir(env.path(".handover/spool")).map_or(0, Iterator::count);
    assert_eq!(spooled(), 1);
    // Neither store nor spool: nothing starts.
    fs_err::remove_dir_all(env.path(".handover/spool")).unwrap();
    env.write(".handover/spool", "in the way");
    fs_err::remove_file(env.path("prompt.txt")).unwrap();
    let error = spawn(&env, "echo-prompt prompt.txt", &["--session", "s1"]).fails(5).error();
    assert_eq!(error["code"], "no_receipt");
    assert!(!env.path("prompt.txt").exists());
}

#[test]
fn imports_a_spooled_receipt_once() {
    let env = project();
    let store = env.path(".handover/store.db");
    fs_err::rename(&store, env.path("aside.db")).unwrap();
    fs_err::create_dir(&store).unwrap();
    for rest in ["store.db-wal", "store.db-shm"] {
        let _ = fs_err::rename(
            env.path(&format!(".handover/{rest}")),
            env.path(&format!("aside-{rest}")),
        );
    }
    let id =
        spawn(&env, "read", &["--session", "s1"]).json()["receipt"].as_str().unwrap().to_owned();
    fs_err::remove_dir(&store).unwrap();
    fs_err::rename(env.path("aside.db"), &store).unwrap();
    for rest in ["store.db-wal", "store.db-shm"] {
        let _ = fs_err::rename(
            env.path(&format!("aside-{rest}")),
            env.path(&format!(".handover/{rest}")),
        );
    }
    spawn(&env, "read", &[]).ok();
    let receipt = env.run(["receipt", "show", &id, "--json"]).ok().json();
    assert_eq!(receipt["receipt"]["state"], "delivered");
    assert_eq!(receipt["receipt"]["provided"]["context"]["state"], "degraded");
    assert_eq!(fs_err::read_dir(env.path(".handover/spool")).unwrap().count(), 0);
}

/// Spawns a real host whose model is scripted.
fn real(
    host: &str,
    script: Script,
    installed: impl Fn(&TestEnv, &ModelServer) -> RealHost,
) -> (Value, ModelServer) {
    let mut env = project();
    let server = ModelServer::start(script);
    let real = installed(&env, &server);
    for (name, value) in &real.vars {
        if name != "HOME" && name != "PATH" {
            env.set(name, value);
        }
    }
    let program = format!("agents.programs={{{host}=\"{}\"}}", real.program.display());
    let args = ["spawn", "--json", "--config", &program, "--host", host, "--role", "developer"];
    let output = env.run(args.iter().chain(&["--task", "Say done"])).ok();
    (output.json(), server)
}

const ANSWER: &str = "Done.\n\n```handover\nverdict: complete\nsummary: It is done.\nreasoning:\n  \
    decisions: the short way\n```\n";

#[track_caller]
fn was_briefed_and_kept(document: &Value, server: &ModelServer) {
    let kept = &document["kept"]["reasoning"];
    assert_eq!((&document["verdict"], kept), (&json!("complete"), &json!(2)), "{document}");
    let marker = format!("handover:receipt {}", document["receipt"].as_str().unwrap());
    assert!(server.requests().iter().any(|request| request.contains(&marker)));
}

#[test]
fn real_claude_gets_its_brief_and_its_debrief_is_stored() {
    let script = Script::new().always(Answer::text(ANSWER));
    let (document, server) = real("claude", script, RealHost::claude);
    was_briefed_and_kept(&document, &server);
    assert!(document["cost_usd"].is_number(), "{document}");
}

#[test]
fn real_claude_is_asked_once_for_a_missing_debrief() {
    let script = Script::new()
        .on("Your last message has no debrief", Answer::text(ANSWER))
        .always(Answer::text("All done, no block."));
    let (document, server) = real("claude", script, RealHost::claude);
    was_briefed_and_kept(&document, &server);
    assert_eq!(server.requests().iter().filter(|r| r.contains("has no debrief")).count(), 1);
}

#[test]
fn real_codex_gets_its_brief_and_its_debrief_is_stored() {
    let script = Script::new().always(Answer::text(ANSWER));
    let (document, server) = real("codex", script, RealHost::codex);
    was_briefed_and_kept(&document, &server);
}

/// What a supervised program with a subagent said, and whether that got a brief, with hooks at one scope.
fn nested(
    host: &str,
    scope: &str,
    installed: fn(&TestEnv, &ModelServer) -> RealHost,
    script: Script,
) -> (TestEnv, String, bool) {
    let mut env = project();
    let server = ModelServer::start(script);
    let real = installed(&env, &server);
    for (name, value) in &real.vars {
        if !["HOME", "PATH", "GEMINI_CLI_TRUST_WORKSPACE"].contains(&name.as_str()) {
            env.set(name, value);
        }
    }
    env.run(["host", "install", host, "--scope", scope]).ok();
    let program = format!("agents.programs={{{host}=\"{}\"}}", real.program.display());
    let args = ["spawn", "--config", &program, "--host", host, "--role", "developer"];
    let more = ["--profile", "full", "--task", "Do the LEAD-TASK"];
    let model = if host == "gemini" { &["--model", "gemini-2.5-pro"][..] } else { &[] };
    let output = env.run(args.iter().chain(&more).chain(model)).ok();
    let requests = server.requests();
    let child = requests.iter().find(|request| {
        request.conversation_contains("CHILD:") && !request.conversation_contains("LEAD-TASK")
    });
    let child = child.unwrap_or_else(|| panic!("{host} started no subagent: {output}"));
    (env, output.stderr, child.contains("handover:receipt"))
}

/// Gemini CLI and Copilot CLI run the hooks of a project only where they trust it.
fn warns_unless_the_user_has_hooks(
    host: &str,
    installed: fn(&TestEnv, &ModelServer) -> RealHost,
    script: fn() -> Script,
) {
    let (env, said, briefed) = nested(host, "project", installed, script());
    let install = format!("`handover host install {host} --scope user`");
    assert!(said.contains("subagents get no briefs here") && said.contains(&install), "{said}");
    assert!(!briefed, "{host} has run the project's hooks");
    let found = env.run(["coverage", "--host", host, "--json"]).fails(1).json();
    let reason = found["spawns"][0]["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("once it trusts the folder"), "{found}");
    let (env, said, briefed) = nested(host, "user", installed, script());
    assert!(!said.contains("subagents get no briefs"), "{said}");
    assert!(briefed, "the hooks of the user");
    assert_eq!(receipts(&env).len(), 2, "{:?}", receipts(&env));
    let found = env.run(["coverage", "--host", host, "--json"]).ok().json();
    assert_eq!(found["counts"]["briefed"], 1, "{found}");
}

/// A lead that spawns one subagent.
fn one_child(spawn: Answer, end: Answer) -> Script {
    let is_lead = |request: &ModelRequest| request.conversation_contains("LEAD-TASK");
    Script::new()
        .when(move |request| !is_lead(request), end)
        .when(move |request| is_lead(request) && request.turns() == 0, spawn)
        .always(Answer::text(ANSWER))
}

#[test]
fn gemini_says_that_subagents_get_no_briefs_in_untrusted_folders() {
    warns_unless_the_user_has_hooks("gemini", RealHost::gemini, || {
        let input = json!({"agent_name": "generalist", "prompt": "CHILD: look around"});
        let end = json!({"result": {"response": ANSWER}});
        one_child(Answer::tool("invoke_agent", input), Answer::tool("complete_task", end))
    });
}

#[test]
fn copilot_says_that_subagents_get_no_briefs_in_untrusted_folders() {
    warns_unless_the_user_has_hooks("copilot", RealHost::copilot, || {
        let input = json!({
            "description": "look", "prompt": "CHILD: look around", "name": "look",
            "agent_type": "general-purpose",
        });
        one_child(Answer::tool("task", input), Answer::text(ANSWER))
    });
}
