//! The real Claude Code and Codex with a scripted model: what their subagents actually receive.

use std::process::Output;

use handover_testkit::{Answer, ModelRequest, ModelServer, RealHost, Script, TestEnv};
use serde_json::{Value, json};

use crate::project;

pub(crate) const DEBRIEF: &str = "Done.\n\n```handover\nverdict: complete\nsummary: Tokens rotate.\nreasoning:\n  decisions: one lock per family\n  completion: refresh is safe\n```\n";
pub(crate) const BARE: &str = "I am done and say no more.";

/// An agent program with our hooks, and its scripted model.
pub(crate) struct Real {
    pub(crate) env: TestEnv,
    pub(crate) server: ModelServer,
    pub(crate) host: RealHost,
}

/// Only the lead's conversation contains this word.
pub(crate) const LEAD: &str = "LEAD-TASK";

pub(crate) fn is_lead(request: &ModelRequest) -> bool {
    request.conversation_contains(LEAD)
}

/// A request of the subagent with this task.
pub(crate) fn of(task: &'static str) -> impl Fn(&ModelRequest) -> bool + Send + Sync + 'static {
    move |request| !is_lead(request) && request.conversation_contains(task)
}

/// The lead's answers, one per turn, and then its end.
pub(crate) fn lead(script: Script, turns: Vec<Answer>) -> Script {
    let mut script = script;
    for (turn, answer) in turns.into_iter().enumerate() {
        script = script.when(move |r| is_lead(r) && turns_of(r) == turn, answer);
    }
    script.when(is_lead, Answer::text("All done."))
}

/// How many turns the model has taken in this conversation.
pub(crate) fn turns_of(request: &ModelRequest) -> usize {
    let of =
        |key: &str| request.body[key].as_array().map(Vec::as_slice).unwrap_or_default().to_vec();
    let messages = of("messages").into_iter().chain(of("input"));
    messages.filter(|m| m["role"] == "assistant" || m["type"] == "function_call").count()
}

pub(crate) fn agent(kind: &str, prompt: &str) -> (String, Value) {
    let input = json!({"description": "work", "prompt": prompt, "subagent_type": kind});
    ("Agent".to_owned(), input)
}

pub(crate) fn spawns(kind: &str, prompt: &str) -> Answer {
    Answer::Tools(String::new(), vec![agent(kind, prompt)])
}

impl Real {
    pub(crate) fn claude(script: Script) -> Self {
        let env = project();
        env.write(
            "docs/oauth.md",
            "# OAuth\n## Summary\nRefresh tokens rotate after a grace period.\n",
        );
        env.write(
            ".claude/agents/qa-expert.md",
            "---\nname: qa-expert\ndescription: Tests what was built.\n---\nYou test.\n",
        );
        env.run(["host", "install", "claude"]).ok();
        let server = ModelServer::start(script);
        let mut host = RealHost::claude(&env, &server);
        host.args.push("--dangerously-skip-permissions".to_owned());
        Self { env, server, host }
    }

    /// Registers the package and starts the program.
    pub(crate) fn run(&self) -> Output {
        self.env
            .run(["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"])
            .ok();
        self.start()
    }

    pub(crate) fn start(&self) -> Output {
        let output = self.host.command().arg(format!("Do the {LEAD}.")).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}\n{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    /// The last request of the subagent with this task.
    pub(crate) fn last_of(&self, task: &'static str) -> ModelRequest {
        let requests = self.requests_of(task);
        requests.into_iter().next_back().unwrap_or_else(|| panic!("no request of {task}"))
    }

    pub(crate) fn requests_of(&self, task: &'static str) -> Vec<ModelRequest> {
        self.server.requests().into_iter().filter(of(task)).collect()
    }

    /// The receipts with their state, oldest first.
    pub(crate) fn receipts(&self) -> Vec<(String, String, String)> {
        let list = self.env.run(["receipt", "list", "--json"]).ok().json();
        let mut receipts: Vec<_> = list["receipts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| {
                let text = |key: &str| r[key].as_str().unwrap().to_owned();
                (text("role"), text("state"), text("id"))
            })
            .collect();
        receipts.reverse();
        receipts
    }

    pub(crate) fn states(&self) -> Vec<(String, String)> {
        self.receipts().into_iter().map(|(role, state, _)| (role, state)).collect()
    }

    pub(crate) fn events(&self, kind: &str) -> Vec<Value> {
        let list = self.env.run(["event", "list", "--type", kind, "--json"]).ok().json();
        list["events"].as_array().unwrap().iter().map(|e| e["payload"].clone()).collect()
    }
}

/// The receipts whose markers a request contains, with their counts.
pub(crate) fn markers(request: &ModelRequest) -> Vec<String> {
    let text = request.body.to_string();
    text.split("<!-- handover:receipt ")
        .skip(1)
        .map(|rest| rest.split(' ').next().unwrap().to_owned())
        .collect()
}

/// The receipts of the briefs in a request, each once: 2.1.325 repeats what a hook said.
pub(crate) fn briefs(request: &ModelRequest) -> Vec<String> {
    let mut found = markers(request);
    found.dedup();
    found
}

pub(crate) fn both(states: &[(&str, &str)]) -> Vec<(String, String)> {
    states.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect()
}

#[test]
fn an_agent_that_runs_into_a_known_error_reads_what_solved_it() {
    let bash = || {
        let input = json!({"command": "echo \"Error: Cannot find module '@app/db'\" >&2; exit 1"});
        Answer::Tools(String::new(), vec![("Bash".to_owned(), input)])
    };
    let real = Real::claude(lead(Script::new(), vec![bash(), bash()]));
    let message = ["--message", "Error: Cannot find module '@app/db'"];
    let solution = ["--solution", "build packages/db first"];
    real.env.run([&["error", "resolve"], &message[..], &solution[..]].concat()).ok();
    real.start();
    let requests: Vec<ModelRequest> = real.server.requests().into_iter().filter(is_lead).collect();
    let last = requests.last().unwrap().body.to_string();
    assert_eq!(last.matches("> build packages/db first").count(), 1, "{last}");
    let second = requests.iter().find(|request| turns_of(request) == 1).unwrap();
    assert!(second.body.to_string().contains("Handover knows this error"), "{:?}", second.body);
}

#[test]
fn claude_briefs_its_subagents_and_passes_on_their_reasoning() {
    let reads = |r: &ModelRequest| of("CHILD-ONE")(r) && turns_of(r) == 0;
    let script = Script::new()
        .when(reads, Answer::tool("Read", json!({"file_path": "docs/oauth.md"})))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(of("CHILD-TWO"), Answer::text(DEBRIEF));
    let turns = vec![
        spawns("general-purpose", "CHILD-ONE: refresh tokens in parallel"),
        spawns("qa-expert", "CHILD-TWO: test the refresh"),
        spawns("Explore", "CHILD-THREE: look around"),
    ];
    let real = Real::claude(lead(script, turns));
    real.run();
    let first = real.last_of("CHILD-ONE");
    assert!(first.conversation_contains("docs/oauth.md"), "the package of a second ago");
    assert!(first.conversation_contains("Role: developer."));
    let second = real.last_of("CHILD-TWO");
    assert!(second.conversation_contains("one lock per family"), "the reasoning of the first");
    assert!(second.conversation_contains("Role: qa_expert."));
    let third = real.last_of("CHILD-THREE");
    assert!(third.conversation_contains("Role: investigator."));
    assert!(!third.conversation_contains("```handover"), "it only reads");
    let receipts = real.receipts();
    let roles = ["developer", "qa_expert", "investigator"];
    assert_eq!(real.states(), both(&roles.map(|role| (role, "confirmed"))));
    assert_eq!(markers(&first), [receipts[0].2.clone()]);
    assert_eq!(markers(&second), [receipts[1].2.clone()]);
    let uses = |nth: usize| {
        let id = &receipts[nth].2;
        let receipt = real.env.run(["receipt", "show", id, "--json"]).ok().json();
        let items = receipt["receipt"]["items"].as_array().unwrap().clone();
        let package = items.into_iter().find(|item| item["kind"] == "package");
        package.unwrap_or_else(|| panic!("no package: {receipt}"))["use"].clone()
    };
    assert_eq!((uses(0), uses(2)), (json!("opened"), json!("unused")));
    let handoffs = real.events("reasoning_handoff");
    let reader = handoffs.iter().find(|handoff| handoff["to"] == "qa_expert").unwrap();
    assert_eq!(reader["from"], "developer");
    // The version is known to accept rewritten prompts, and nothing was logged.
    let doctor = real.env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("accepts rewritten prompts"), "{doctor}");
    // After uninstalling, the next conversation has no trace of us.
    real.env.run(["host", "uninstall", "claude"]).ok();
    real.start();
    assert_eq!(real.receipts().len(), 3);
    let bare = real.last_of("CHILD-ONE");
    assert!(markers(&bare).is_empty() && !bare.conversation_contains("Role: developer."));
}

#[test]
fn claude_that_drops_rewritten_prompts_gets_its_briefs_another_way() {
    let script = Script::new()
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(of("CHILD-TWO"), Answer::text(DEBRIEF))
        .when(of("CHILD-THREE"), Answer::text(DEBRIEF));
    let turns = ["CHILD-ONE: refresh", "CHILD-TWO: refresh", "CHILD-THREE: refresh"]
        .map(|task| spawns("general-purpose", task));
    let real = Real::claude(lead(script, turns.to_vec()));
    // The same hooks behind a filter that drops the rewritten prompt, as older versions did.
    let filter = real.env.path("lossy.sh");
    let program = crate::handover();
    let text = format!(
        "out=$('{program}' hook claude)\ncase \"$out\" in *updatedInput*) ;; *) printf '%s' \"$out\" ;; esac\n"
    );
    fs_err::write(&filter, text).unwrap();
    let settings = real.env.path(".claude/settings.json");
    let text = fs_err::read_to_string(&settings).unwrap();
    let lossy =
        text.replace(&format!("{program} hook claude"), &format!("sh {}", filter.display()));
    assert_ne!(lossy, text);
    fs_err::write(&settings, lossy).unwrap();
    real.run();
    let receipts = real.receipts();
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 3]));
    for (task, way) in [("CHILD-ONE", 2), ("CHILD-TWO", 1), ("CHILD-THREE", 1)] {
        let requests = real.requests_of(task);
        assert_eq!(requests.len(), way, "{task}");
        let last = requests.last().unwrap();
        assert_eq!(briefs(last).len(), 1, "{task} has its brief once: {:?}", markers(last));
        assert!(last.contains("Refresh tokens rotate"), "{task}");
    }
    assert_eq!(markers(&real.requests_of("CHILD-ONE")[0]).len(), 0, "lost at first");
    let got: Vec<String> = ["CHILD-ONE", "CHILD-TWO", "CHILD-THREE"]
        .into_iter()
        .flat_map(|task| briefs(&real.last_of(task)))
        .collect();
    let known: Vec<String> = receipts.into_iter().map(|(_, _, id)| id).collect();
    assert_eq!(got, known);
}

#[test]
fn claude_briefs_parallel_background_and_nested_subagents() {
    let nested = Answer::Tools(String::new(), vec![agent("general-purpose", "NESTED: refresh")]);
    let script = Script::new()
        .when(of("NESTED:"), Answer::text(DEBRIEF))
        .when(|r| of("OUTER:")(r) && turns_of(r) == 0, nested)
        .when(of("OUTER:"), Answer::text(DEBRIEF))
        .when(of("TWIN-A:"), Answer::text(DEBRIEF))
        .when(of("TWIN-B:"), Answer::text(DEBRIEF))
        .when(of("BACKGROUND:"), Answer::text(DEBRIEF));
    let mut background = agent("general-purpose", "BACKGROUND: refresh");
    background.1["run_in_background"] = true.into();
    let twins = vec![
        agent("general-purpose", "TWIN-A: refresh"),
        agent("general-purpose", "TWIN-B: refresh"),
    ];
    let turns = vec![
        Answer::Tools(String::new(), vec![background]),
        Answer::Tools(String::new(), twins),
        spawns("general-purpose", "OUTER: refresh"),
    ];
    let real = Real::claude(lead(script, turns));
    // Their tasks distinguish them, so none may read of another's.
    real.env.run(["config", "set", "brief.beside", "false"]).ok();
    real.run();
    let mut got = Vec::new();
    for task in ["BACKGROUND:", "TWIN-A:", "TWIN-B:", "OUTER:", "NESTED:"] {
        let first = real.requests_of(task).into_iter().next().unwrap();
        let markers = markers(&first);
        assert_eq!(markers.len(), 1, "{task}");
        assert!(first.conversation_contains("docs/oauth.md"), "{task}");
        got.extend(markers);
    }
    got.sort();
    let mut known: Vec<String> = real.receipts().into_iter().map(|(_, _, id)| id).collect();
    known.sort();
    assert_eq!(got, known);
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 5]));
}

#[test]
fn claude_subagent_is_asked_for_a_missing_debrief() {
    let script = Script::new()
        .when(|r| of("STUBBORN:")(r) && turns_of(r) > 0, Answer::text(BARE))
        .when(of("STUBBORN:"), Answer::text(BARE))
        .when(|r| of("FORGETFUL:")(r) && turns_of(r) > 0, Answer::text(DEBRIEF))
        .when(of("FORGETFUL:"), Answer::text(BARE));
    let turns = vec![
        spawns("general-purpose", "STUBBORN: refresh"),
        spawns("general-purpose", "FORGETFUL: refresh"),
    ];
    let real = Real::claude(lead(script, turns));
    real.run();
    for task in ["STUBBORN:", "FORGETFUL:"] {
        let requests = real.requests_of(task);
        assert_eq!(requests.len(), 2, "{task} is asked once");
        assert!(requests[1].conversation_contains("Your last message has no debrief."), "{task}");
    }
    let debriefs = real.events("debrief");
    assert_eq!(debriefs.len(), 2);
    assert_eq!((&debriefs[1]["asked"], &debriefs[1]["missing"]), (&json!(true), &json!(["block"])));
    assert_eq!(debriefs[0]["verdict"], "complete");
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 2]));
}

#[test]
fn claude_continues_whatever_happens_to_the_hook() {
    let script = || {
        let script = Script::new().when(of("CHILD-ONE"), Answer::text(BARE));
        lead(script, vec![spawns("general-purpose", "CHILD-ONE: refresh")])
    };
    // A store that is not a database.
    let real = Real::claude(script());
    fs_err::write(real.env.path(".handover/store.db"), "garbage ".repeat(2_000)).unwrap();
    real.start();
    assert_eq!(real.requests_of("CHILD-ONE").len(), 1);
    let log = fs_err::read_to_string(real.env.path(".handover/hooks.log")).unwrap();
    assert!(log.contains("spawn:"), "{log}");
    assert!(real.env.run(["doctor"]).fails(1).stdout.contains("hook log"));
    // Hooks that are killed on startup.
    let real = Real::claude(script());
    let settings = real.env.path(".claude/settings.json");
    let text = fs_err::read_to_string(&settings).unwrap();
    let killer = real.env.path("killed.sh");
    fs_err::write(&killer, "kill -9 $$\n").unwrap();
    let ours = format!("{} hook claude", crate::handover());
    fs_err::write(&settings, text.replace(&ours, &format!("sh {}", killer.display()))).unwrap();
    real.start();
    assert_eq!(real.requests_of("CHILD-ONE").len(), 1);
}

/// A configuration file that never ends simulates a hanging disk.
#[test]
fn claude_continues_when_the_disk_hangs() {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(BARE));
    let real = Real::claude(lead(script, vec![spawns("general-purpose", "CHILD-ONE: refresh")]));
    let config = real.env.path(".handover/config.toml");
    fs_err::remove_file(&config).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&config).status().unwrap().success());
    real.start();
    assert_eq!(real.requests_of("CHILD-ONE").len(), 1);
}

/// Codex with a subagent that forgets its debrief once.
fn codex(env: TestEnv) -> Real {
    codex_that(env, Answer::text(BARE), Answer::text(DEBRIEF))
}

/// Codex with a subagent that says this first, and then that.
pub(crate) fn codex_that(env: TestEnv, first: Answer, then: Answer) -> Real {
    let waits = || Answer::tool("exec_command", json!({"cmd": "sleep 1"}));
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && turns_of(r) == 0, first)
        .when(of("CHILD-ONE"), then)
        .when(|r| is_lead(r) && turns_of(r) == 0, codex_spawns())
        // Codex does not wait for its subagents by itself.
        .when(|r| is_lead(r) && turns_of(r) < 12, waits())
        .when(is_lead, Answer::text("All done."));
    codex_with(env, script)
}

fn codex_spawns() -> Answer {
    let spawn = json!({"message": "CHILD-ONE: refresh tokens", "agent_type": "worker"});
    Answer::tool("multi_agent_v1.spawn_agent", spawn)
}

/// Codex with this model.
fn codex_with(env: TestEnv, script: Script) -> Real {
    env.write(
        "docs/oauth.md",
        "# OAuth\n## Summary\nRefresh tokens rotate after a grace period.\n",
    );
    env.run(["group", "set", "login", "--title", "Login rework", "--status", "in_progress"]).ok();
    let server = ModelServer::start(script);
    let mut host = RealHost::codex(&env, &server);
    let flags = ["--dangerously-bypass-hook-trust", "--dangerously-bypass-approvals-and-sandbox"];
    host.args.splice(1..1, flags.map(ToOwned::to_owned));
    *host.args.last_mut().unwrap() = format!("Do the {LEAD}.");
    Real { env, server, host }
}

impl Real {
    fn codex_briefs_its_subagent(&self) {
        let package =
            ["package", "add", "docs/oauth.md", "--kind", "research", "--priority", "high"];
        self.env.run(package).ok();
        let output = self.host.command().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lead = self.server.requests().into_iter().find(is_lead).unwrap();
        assert!(lead.contains("Open group login (in_progress): Login rework"), "SessionStart");
        let child = self.requests_of("CHILD-ONE");
        assert!(child[0].conversation_contains("docs/oauth.md"), "the package");
        assert!(child[0].conversation_contains("Role: developer."));
        assert_eq!(child.len(), 2, "it is asked for its debrief once");
        assert_eq!(self.states(), both(&[("developer", "confirmed")]));
        let found = self.env.run(["coverage", "--host", "codex", "--json"]).ok().json();
        assert_eq!(found["counts"]["briefed"], 1, "{found}");
        let id = &self.receipts()[0].2;
        let receipt = self.env.run(["receipt", "show", id, "--json"]).ok().json();
        assert!(receipt["receipt"]["items"][0]["use"].is_string(), "{receipt}");
        assert_eq!(self.events("debrief")[0]["verdict"], "complete");
        let doctor = self.env.run(["doctor"]).ok().stdout;
        assert!(doctor.contains("codex 0.169.0 accepts rewritten prompts"), "{doctor}");
    }

    /// The folder of `handover` comes first on the search path.
    pub(crate) fn find_us(&mut self) {
        let folder = std::path::Path::new(crate::handover()).parent().unwrap();
        for (name, value) in &mut self.host.vars {
            if name == "PATH" {
                *value = format!("{}:{value}", folder.display());
                self.env.set("PATH", value);
            }
        }
    }
}

#[test]
fn codex_briefs_its_subagents() {
    let env = project();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    codex(env).codex_briefs_its_subagent();
}

#[test]
fn codex_keeps_every_debrief_of_a_continued_subagent() {
    /// The subagent's id, from the answer to the spawn.
    fn child(request: &ModelRequest) -> String {
        let text = request.body.to_string().replace('\\', "");
        let id = text.split("\"agent_id\":\"").nth(1).unwrap_or_else(|| panic!("{text}"));
        id.chars().take_while(|c| *c != '"').collect()
    }
    fn waits(request: &ModelRequest) -> Answer {
        let input = json!({"targets": [child(request)], "timeout_ms": 60_000});
        Answer::tool("multi_agent_v1.wait_agent", input)
    }
    fn sends(request: &ModelRequest) -> Answer {
        let input = json!({"target": child(request), "message": "GO ON"});
        Answer::tool("multi_agent_v1.send_input", input)
    }
    let more = DEBRIEF.replace("one lock per family", "two locks after all");
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && r.conversation_contains("GO ON"), Answer::text(&more))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(|r| is_lead(r) && turns_of(r) == 0, codex_spawns())
        .when(|r| is_lead(r) && turns_of(r) == 1, Answer::Computed(waits))
        .when(|r| is_lead(r) && turns_of(r) == 2, Answer::Computed(sends))
        .when(|r| is_lead(r) && turns_of(r) == 3, Answer::Computed(waits))
        .when(is_lead, Answer::text("All done."));
    let env = project();
    env.run(["host", "install", "codex", "--scope", "user"]).ok();
    let real = codex_with(env, script);
    let output = real.host.command().output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(real.requests_of("CHILD-ONE").len(), 2, "it is asked for nothing");
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(markers(&real.last_of("CHILD-ONE")).len(), 1, "briefed once");
    let kept = real.env.run(["reasoning", "list", "--json"]).ok().stdout;
    assert!(kept.contains("one lock per family") && kept.contains("two locks after all"), "{kept}");
    assert_eq!(real.events("debrief").len(), 2);
    let found = real.env.run(["coverage", "--host", "codex", "--json"]).ok().json();
    assert_eq!(found["counts"]["briefed"], 1, "{found}");
}

#[test]
fn codex_briefs_its_subagents_with_the_plugin_alone() {
    let mut real = codex(project());
    real.find_us();
    let root = plugin().parent().unwrap().display().to_string();
    for args in [["marketplace", "add", root.as_str()].as_slice(), &["add", "handover@handover"]] {
        let mut command = std::process::Command::new(&real.host.program);
        command.env_clear().envs(real.host.vars.clone()).current_dir(real.env.path(""));
        let output = command.arg("plugin").args(args).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    real.codex_briefs_its_subagent();
}

/// The plugin in this repository, as `claude` sees it.
pub(crate) fn plugin() -> std::path::PathBuf {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    fs_err::canonicalize(root).unwrap().join("plugin")
}

#[test]
fn claude_accepts_the_plugin() {
    let env = project();
    let server = ModelServer::start(Script::new());
    let host = RealHost::claude(&env, &server);
    for path in [plugin(), plugin().parent().unwrap().to_owned()] {
        let mut command = std::process::Command::new(&host.program);
        command.env_clear().envs(host.vars.clone()).current_dir(env.path(""));
        let output = command.args(["plugin", "validate", "--strict"]).arg(&path).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn claude_briefs_its_subagents_with_the_plugin_alone() {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(DEBRIEF));
    let turns = vec![spawns("general-purpose", "CHILD-ONE: refresh tokens")];
    let mut real = Real::claude(lead(script, turns));
    real.env.run(["host", "uninstall", "claude"]).ok();
    real.host.args.extend(["--plugin-dir".to_owned(), plugin().display().to_string()]);
    // Its hooks call `handover` by name.
    real.find_us();
    real.run();
    let child = real.last_of("CHILD-ONE");
    assert!(child.conversation_contains("docs/oauth.md"));
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
}

/// The plugin registers what `host install` does.
#[test]
fn the_plugin_has_every_hook() {
    let text = fs_err::read_to_string(plugin().join("hooks/hooks.json")).unwrap();
    let plugin: Value = serde_json::from_str(&text).unwrap();
    let env = project();
    env.run(["host", "install", "claude"]).ok();
    let text = fs_err::read_to_string(env.path(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let events = |value: &Value| -> Vec<String> {
        value["hooks"].as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(events(&plugin), events(&settings));
}

#[test]
fn doctor_probes_the_installed_programs() {
    let mut env = project();
    // The programs are looked for by name.
    let server = ModelServer::start(Script::new());
    let host = RealHost::claude(&env, &server);
    let path = host.vars.iter().find(|(name, _)| name == "PATH").unwrap().1.clone();
    env.set("PATH", &format!("{}:{path}", host.program.parent().unwrap().display()));
    let doctor = env.run(["doctor", "--probe"]).ok().stdout;
    assert!(
        doctor.contains("probe of claude: hooks fire; 2.1.197 accepts rewritten prompts"),
        "{doctor}"
    );
    assert!(
        doctor.contains("probe of codex: hooks fire; 0.169.0 accepts rewritten prompts"),
        "{doctor}"
    );
    for other in [
        "probe of codex with named agents: hooks fire; briefs are added when subagents start",
        "probe of copilot: hooks fire; 1.0.102 accepts rewritten prompts",
        "probe of gemini: hooks fire; rewritten prompts are accepted",
        "probe of opencode: hooks fire; 1.18.33 accepts rewritten prompts",
    ] {
        assert!(doctor.contains(other), "{doctor}");
    }
    // The result is remembered.
    env.set("PATH", &path);
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("codex 0.169.0 accepts rewritten prompts"), "{doctor}");
    assert_eq!(server.requests().len(), 0);
    let receipts = env.run(["receipt", "list", "--json"]).ok().json();
    assert_eq!(receipts["receipts"], json!([]), "nothing of the probe stays here");
}
