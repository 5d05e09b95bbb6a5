//! `handover coverage`: the host's own transcripts against the receipts.

use handover_testkit::TestEnv;
use serde_json::{Value, json};

use crate::hooks::{DEBRIEF, answer, prompt_of, with_package};

/// A conversation of Claude Code whose transcript is `c-1.jsonl`.
struct Conversation {
    env: TestEnv,
    lines: Vec<Value>,
}

impl Conversation {
    fn new() -> Self {
        let first = json!({
            "type": "user", "uuid": "u-1", "sessionId": "c-1", "cwd": "/project", "version": "2.1.325",
            "message": {"role": "user", "content": "Do it."},
        });
        Self { env: with_package(), lines: vec![first] }
    }

    fn hook(&self, name: &str, mut fields: Value) -> Value {
        fields["transcript_path"] = json!(self.env.path("c-1.jsonl"));
        answer(&self.env, name, fields)
    }

    /// The lead calls the tool that spawns subagents.
    fn spawn(&mut self, call: &str, kind: &str) -> Value {
        let input = json!({"prompt": "Refresh tokens", "subagent_type": kind});
        self.lines.push(json!({"type": "assistant", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": call, "name": "Agent", "input": input},
        ]}}));
        self.hook(
            "PreToolUse",
            json!({"tool_name": "Agent", "tool_use_id": call, "tool_input": input}),
        )
    }

    fn fails(&mut self, call: &str, error: &str) {
        self.lines.push(json!({"type": "user", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call, "is_error": true, "content": error},
        ]}}));
    }

    /// A subagent works and ends, with its transcript; `hooked` if the host calls us.
    fn works(&self, agent: &str, kind: &str, call: &str, prompt: &str, hooked: bool) {
        let named = json!({"agent_id": agent, "agent_type": kind});
        let started = if hooked { self.hook("SubagentStart", named.clone()) } else { Value::Null };
        let context =
            started["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        let lines: String = [("user", prompt), ("user", context), ("assistant", DEBRIEF)]
            .map(|(role, text)| {
                let message = json!({"role": role, "content": text});
                format!("{}\n", json!({"type": role, "isSidechain": true, "message": message}))
            })
            .concat();
        self.env.write(&format!("c-1/subagents/agent-{agent}.jsonl"), lines);
        let mut meta = json!({"agentType": kind});
        if !call.is_empty() {
            meta["toolUseId"] = call.into();
        }
        self.env.write(&format!("c-1/subagents/agent-{agent}.meta.json"), meta.to_string());
        if hooked {
            let mut stop = named;
            stop["agent_transcript_path"] =
                json!(self.env.path(&format!("c-1/subagents/agent-{agent}.jsonl")));
            stop["last_assistant_message"] = DEBRIEF.into();
            self.hook("SubagentStop", stop);
        }
    }

    fn coverage(&self, exit: i32) -> Value {
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        self.env.write("c-1.jsonl", lines);
        let path = self.env.path("c-1.jsonl").display().to_string();
        let output = self.env.run(["coverage", "--json", "--path", &path]);
        (if exit == 0 { output.ok() } else { output.fails(exit) }).json()
    }
}

#[test]
fn chores_of_the_program_itself_are_not_missed() {
    let mut conversation = Conversation::new();
    conversation.spawn("toolu_1", "general-purpose");
    let line = json!({"type": "user", "isSidechain": true,
        "message": {"role": "user", "content": "Summarize."}});
    for agent in ["acompact-0123456789abcdef", "atests-0123456789abcdef"] {
        let file = format!("c-1/subagents/agent-{agent}.jsonl");
        conversation.env.write(&file, format!("{line}\n"));
    }
    let coverage = conversation.coverage(1);
    assert_eq!(coverage["percent"], 50, "{coverage}");
    let shown = |at: usize| {
        let spawn = &coverage["spawns"][at];
        json!([spawn["kind"], spawn["state"], spawn["reason"]])
    };
    assert_eq!(
        shown(0),
        json!(["compact", "exempt", "chore: Claude Code started it for `compact`"])
    );
    assert_eq!(shown(1), json!(["", "missed", "no hook answered for it"]), "{coverage}");
}

#[test]
fn every_agent_is_briefed_exempt_or_refused() {
    let mut conversation = Conversation::new();
    conversation.env.set("HANDOVER_HOOKS_EXEMPT", "{Plan = \"it only plans\"}");
    let briefed = conversation.spawn("toolu_1", "general-purpose");
    conversation.works("a1", "general-purpose", "toolu_1", prompt_of(&briefed), true);
    conversation.works("a2", "workflow-subagent", "", "Look around", true);
    conversation.spawn("toolu_3", "Plan");
    conversation.works("a3", "Plan", "toolu_3", "Refresh tokens", true);
    conversation.spawn("toolu_4", "general-purpose");
    conversation.fails("toolu_4", "denied by permission rule");
    conversation.hook(
        "PostToolUseFailure",
        json!({"tool_name": "Agent", "tool_use_id": "toolu_4", "error": "denied by permission rule"}),
    );
    let coverage = conversation.coverage(0);
    assert_eq!(
        coverage["counts"],
        json!({"briefed": 2, "exempt": 1, "refused": 1, "missed": 0}),
        "{coverage}"
    );
    assert_eq!(coverage["percent"], 100, "{coverage}");
    let path = conversation.env.path("c-1.jsonl").display().to_string();
    let shown = conversation.env.run(["coverage", "--path", &path]).ok();
    let line = "100 % of 4 subagents covered: 2 briefed, 1 exempt, 1 refused, 0 missed";
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains(line), "{shown}");
    let spawns = coverage["spawns"].as_array().unwrap();
    let shown: Vec<Value> = spawns
        .iter()
        .map(|spawn| json!([spawn["agent"], spawn["kind"], spawn["state"], spawn["reason"]]))
        .collect();
    assert_eq!(
        shown,
        [
            json!(["a1", "general-purpose", "briefed", null]),
            json!(["a2", "workflow-subagent", "briefed", null]),
            json!(["a3", "Plan", "exempt", "hooks.exempt: it only plans"]),
            json!([null, "general-purpose", "refused", "denied by permission rule"]),
        ]
    );
    let first = &spawns[0];
    assert_eq!((&first["host"], &first["conversation"]), (&json!("claude"), &json!("c-1")));
    assert!(first["receipt"].as_str().unwrap().starts_with("r_"), "{first}");
}

#[test]
fn agents_that_nobody_briefed_are_missed() {
    let mut conversation = Conversation::new();
    let briefed = conversation.spawn("toolu_1", "general-purpose");
    // Another hook replaced the prompt, and the subagent was killed before it could be held back.
    conversation.hook("SubagentStart", json!({"agent_id": "a1", "agent_type": "general-purpose"}));
    conversation.works("a1", "general-purpose", "toolu_1", "Other words", false);
    conversation.works("a2", "general-purpose", "toolu_2", "While hooks were off", false);
    assert_ne!(prompt_of(&briefed), "");
    let coverage = conversation.coverage(1);
    assert_eq!(coverage["counts"]["missed"], 2, "{coverage}");
    assert_eq!(coverage["percent"], 0, "{coverage}");
    let reasons: Vec<&str> = coverage["spawns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|spawn| spawn["reason"].as_str().unwrap())
        .collect();
    let changed = "its prompt no longer has its brief: another hook changed it";
    assert_eq!(reasons, [changed, "no hook answered for it"]);
}

/// An agent that has started cannot be refused any more, only told to stop; whether it did is in its conversation.
#[test]
fn an_agent_that_worked_although_it_was_told_to_stop_is_missed() {
    let mut conversation = Conversation::new();
    conversation.env.set("HANDOVER_HOOKS_ON_MISSING", "refuse");
    conversation.hook("SessionStart", json!({"source": "startup"}));
    for (agent, works) in [("a1", true), ("a2", false)] {
        let named = json!({"agent_id": agent, "agent_type": "workflow-subagent"});
        let started = conversation.hook("SubagentStart", named.clone());
        let told = started["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        assert!(told.starts_with("Handover refuses this agent"), "{started}");
        let edit = json!([{"type": "tool_use", "id": format!("toolu_{agent}"), "name": "Edit",
            "input": {"file_path": "src/auth.rs", "old_string": "a", "new_string": "b"}}]);
        let mut said = vec![("user", json!("Refresh tokens")), ("user", json!(told))];
        said.extend(works.then_some(("assistant", edit)));
        said.push(("assistant", json!("I stop here.")));
        let line = |(role, content): (&str, Value)| {
            let line = json!({"type": role, "uuid": "u-1", "sessionId": "c-1", "cwd": "/project",
                "isSidechain": true, "agentId": agent, "version": "2.1.325",
                "message": {"role": role, "content": content}});
            format!("{line}\n")
        };
        let file = format!("c-1/subagents/agent-{agent}.jsonl");
        conversation.env.write(&file, said.into_iter().map(line).collect::<String>());
        let meta = json!({"agentType": "workflow-subagent"});
        let beside = format!("c-1/subagents/agent-{agent}.meta.json");
        conversation.env.write(&beside, meta.to_string());
        let mut stop = named;
        stop["agent_transcript_path"] = json!(conversation.env.path(&file));
        stop["last_assistant_message"] = "I stop here.".into();
        conversation.hook("SubagentStop", stop);
    }
    let coverage = conversation.coverage(1);
    let reason = "it started without a brief, and `hooks.on_missing` is `refuse`";
    let disobeyed = format!("it worked although it was told to stop: {reason}");
    let shown: Vec<Value> = coverage["spawns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|spawn| json!([spawn["agent"], spawn["state"], spawn["reason"]]))
        .collect();
    assert_eq!(
        shown,
        [json!(["a1", "missed", disobeyed]), json!(["a2", "refused", reason])],
        "{coverage}"
    );
    assert_eq!(coverage["percent"], 50, "{coverage}");
}

#[test]
fn a_project_without_conversations_has_nothing_to_cover() {
    let env = with_package();
    let coverage = env.run(["coverage", "--json"]).ok().json();
    assert_eq!((&coverage["spawns"], &coverage["counts"]["missed"]), (&json!([]), &json!(0)));
    assert_eq!(coverage["percent"], Value::Null, "nobody is no hundred percent");
    assert!(env.run(["coverage"]).ok().stdout.contains("No subagents have been started here"));
    let doctor = env.run(["doctor"]).ok().stdout;
    assert!(!doctor.contains("coverage"), "{doctor}");
    env.run(["coverage", "--host", "gemini"]).ok();
    let refused = env.run(["coverage", "--host", "vim"]).fails(2);
    assert!(refused.stderr.contains("claude, codex, copilot, gemini, opencode, qwen"), "{refused}");
}

/// The transcripts of other programs, each with a subagent that has its brief and one that has none.
#[test]
fn every_program_tells_of_its_subagents() {
    let env = with_package();
    let brief = env.run(["brief", "--role", "developer", "--task", "Look", "--deliver", "--json"]);
    let receipt = brief.ok().json()["receipt"].as_str().unwrap().to_owned();
    let marked = format!("Context\n<!-- handover:receipt {receipt} -->\nLook around");
    let text = |lines: &[Value]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let meta = |id: &str, role: &str| {
        json!({"type": "session_meta", "payload": {"session_id": "lead", "id": id, "cwd": "/p",
            "agent_role": role}})
    };
    let told = |prompt: &str| {
        json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": prompt}]}})
    };
    let day = "codex/2026/11/18/rollout-2026-11-18T08-57";
    env.write(&format!("{day}-05-lead.jsonl"), text(&[meta("lead", ""), told("Do it")]));
    env.write(&format!("{day}-08-one.jsonl"), text(&[meta("one", "worker"), told(&marked)]));
    env.write(&format!("{day}-09-two.jsonl"), text(&[meta("two", "worker"), told("Bare")]));

    let started = |agent: &str| {
        json!({"type": "subagent.started", "agentId": agent,
            "data": {"toolCallId": format!("t-{agent}"), "agentType": "general-purpose"}})
    };
    let said = |agent: &str, prompt: &str| json!({"type": "user.message", "agentId": agent, "data": {"content": prompt}});
    let session = json!({"type": "session.start", "data": {"context": {"cwd": "/p"}}});
    let events =
        [session, started("one"), said("one", &marked), started("two"), said("two", "Bare")];
    env.write("copilot/lead/events.jsonl", text(&events));

    let chat = |id: &str, kind: &str| json!({"sessionId": id, "projectHash": "h", "kind": kind});
    let typed = |prompt: &str| json!({"id": "u", "type": "user", "content": [{"text": prompt}]});
    env.write("gemini/session-2026-lead.jsonl", text(&[chat("lead", "main"), typed("Do it")]));
    env.write("gemini/lead/one.jsonl", text(&[chat("one", "subagent"), typed(&marked)]));
    env.write("gemini/lead/two.jsonl", text(&[chat("two", "subagent"), typed("Bare")]));

    let asked = |prompt: &str| {
        json!({"uuid": "u", "sessionId": "lead", "cwd": "/p", "type": "user",
            "message": {"role": "user", "parts": [{"text": prompt}]}})
    };
    env.write("qwen/chats/lead.jsonl", text(&[asked("Do it")]));
    for (agent, prompt) in [("one", marked.as_str()), ("two", "Bare")] {
        env.write(&format!("qwen/subagents/lead/agent-{agent}.jsonl"), text(&[asked(prompt)]));
        let origin = json!({"agentType": "general-purpose", "toolUseId": format!("t-{agent}")});
        env.write(&format!("qwen/subagents/lead/agent-{agent}.meta.json"), origin.to_string());
    }

    for (host, kind) in [
        ("codex", "worker"),
        ("copilot", "general-purpose"),
        ("gemini", ""),
        ("qwen", "general-purpose"),
    ] {
        let path = env.path(host).display().to_string();
        let found =
            env.run(["coverage", "--json", "--host", host, "--path", &path]).fails(1).json();
        let spawns = found["spawns"].as_array().unwrap();
        let shown: Vec<Value> = spawns
            .iter()
            .map(|one| json!([one["conversation"], one["agent"], one["kind"], one["state"]]))
            .collect();
        assert_eq!(
            shown,
            [json!(["lead", "one", kind, "briefed"]), json!(["lead", "two", kind, "missed"])],
            "{host}"
        );
        assert_eq!(spawns[0]["receipt"], receipt.as_str(), "{host}");
        let other = if host == "codex" { "qwen" } else { "codex" };
        let none = env.run(["coverage", "--json", "--host", other, "--path", &path]).ok().json();
        assert_eq!(none["spawns"], json!([]), "{host}");
        let later = ["coverage", "--json", "--path", &path, "--since", "2199-01-01"];
        assert_eq!(env.run(later).ok().json()["spawns"], json!([]), "{host}");
    }
}

/// A conversation of Gemini CLI with one subagent that has no brief; `began` may be empty.
fn gemini(env: &TestEnv, name: &str, began: &str) {
    let line = |id: &str, kind: &str| {
        let mut first = json!({"sessionId": id, "projectHash": "h", "kind": kind});
        if !began.is_empty() {
            first["startTime"] = began.into();
        }
        let typed = json!({"id": "u", "type": "user", "content": [{"text": "Look"}]});
        format!("{first}\n{typed}\n")
    };
    env.write(&format!("chats/session-{name}.jsonl"), line(name, "main"));
    env.write(
        &format!("chats/{name}/{name}-child.jsonl"),
        line(&format!("{name}-child"), "subagent"),
    );
}

#[test]
fn programs_that_were_not_connected_are_counted_and_no_failure() {
    let env = with_package();
    let coverage = |exit: i32, json: bool| {
        let path = env.path("chats").display().to_string();
        let mut args = vec!["coverage", "--path", &path];
        args.extend(json.then_some("--json"));
        let output = env.run(args);
        if exit == 0 { output.ok() } else { output.fails(exit) }
    };
    let unconnected = |found: &Value| -> Vec<(String, String)> {
        let text = |one: &Value, field: &str| one[field].as_str().unwrap().to_owned();
        let all = found["not_connected"].as_array().unwrap().iter();
        all.map(|one| (text(one, "conversation"), text(one, "reason"))).collect()
    };
    gemini(&env, "first", "");
    let found = coverage(0, true).json();
    assert_eq!(found["spawns"], json!([]), "{found}");
    let never = ("first".to_owned(), "the program was never connected here".to_owned());
    assert_eq!(unconnected(&found), [never]);
    let shown = coverage(0, false);
    assert!(shown.stdout.contains("No connected agent program"), "{shown}");
    let line = format!("{}{}", shown.stdout, shown.stderr);
    assert!(line.contains("not connected: 1 (1 in gemini)"), "{shown}");

    env.run(["host", "install", "gemini"]).ok();
    gemini(&env, "first", "2020-01-01T00:00:00Z");
    gemini(&env, "second", "");
    let found = coverage(1, true).json();
    assert_eq!(found["counts"]["missed"], 1, "{found}");
    assert_eq!(found["spawns"][0]["conversation"], "second", "{found}");
    let earlier = ("first".to_owned(), "the program was not connected then".to_owned());
    assert_eq!(unconnected(&found), std::slice::from_ref(&earlier));

    // What was missed stays missed after that.
    env.run(["host", "uninstall", "gemini"]).ok();
    gemini(&env, "third", "2199-01-01T00:00:00Z");
    let found = coverage(1, true).json();
    assert_eq!(found["counts"]["missed"], 1, "{found}");
    let later = ("third".to_owned(), earlier.1.clone());
    assert_eq!(unconnected(&found), [earlier, later]);
}

#[test]
fn todays_configuration_says_nothing_about_the_past() {
    let mut conversation = Conversation::new();
    let briefed = conversation.spawn("toolu_1", "general-purpose");
    conversation.works("a1", "general-purpose", "toolu_1", prompt_of(&briefed), true);
    conversation.works("a2", "Plan", "toolu_2", "The hook was killed", false);
    for (key, value) in [
        ("HANDOVER_HOOKS_ENABLED", "false"),
        ("HANDOVER_HOOKS_EXEMPT", "{Plan = \"it only plans\"}"),
        ("HANDOVER_HOOKS_SESSIONS_DISABLED", "[\"s1\"]"),
        ("HANDOVER_OFF", "1"),
    ] {
        conversation.env.set(key, value);
        let coverage = conversation.coverage(1);
        assert_eq!(coverage["counts"]["missed"], 1, "{key}: {coverage}");
        conversation.env.set(key, "");
    }
}

#[test]
fn codex_may_start_a_subagent_days_after_its_lead() {
    let env = with_package();
    let brief = env.run(["brief", "--role", "developer", "--task", "Look", "--deliver", "--json"]);
    let receipt = brief.ok().json()["receipt"].as_str().unwrap().to_owned();
    let lines = |id: &str, prompt: &str| {
        let meta = json!({"type": "session_meta", "payload": {"session_id": "lead", "id": id,
            "cwd": env.path(""), "agent_role": "worker"}});
        let told = json!({"type": "response_item", "payload": {"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": prompt}]}});
        format!("{meta}\n{told}\n")
    };
    let marked = format!("Context\n<!-- handover:receipt {receipt} -->\nLook around");
    for (day, id, prompt) in [
        ("2026/11/18", "lead", "Do it"),
        ("2026/11/19", "next", &*marked),
        ("2026/11/25", "week", &*marked),
        ("2027/01/02", "year", &*marked),
    ] {
        let name = day.replace('/', "-");
        let path = format!("../home/.codex/sessions/{day}/rollout-{name}T08-57-05-{id}.jsonl");
        env.write(&path, lines(id, prompt));
    }
    let found = env.run(["coverage", "--json"]).ok().json();
    let agents: Vec<&str> = found["spawns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["agent"].as_str().unwrap())
        .collect();
    assert_eq!(agents, ["next", "week", "year"], "{found}");
    assert_eq!(found["counts"]["briefed"], 3, "{found}");
}

#[test]
fn a_worktree_that_was_removed_is_still_covered() {
    let env = with_package();
    env.git(".", &["init", "-q", "."]);
    env.git(".", &["commit", "-q", "--allow-empty", "-m", "first"]);
    env.git(".", &["worktree", "add", "-q", "../away"]);
    let away = env.folder().join("away");
    let away = fs_err::canonicalize(&away).unwrap();
    let folder: String = away
        .display()
        .to_string()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    let kept = format!("../home/.claude/projects/{folder}");
    let lead = json!({"type": "user", "uuid": "u-1", "sessionId": "c-1", "cwd": away,
        "message": {"role": "user", "content": "Do it."}});
    env.write(&format!("{kept}/c-1.jsonl"), format!("{lead}\n"));
    let hook = |name: &str, mut fields: Value| {
        fields["transcript_path"] = json!(env.path(&format!("{kept}/c-1.jsonl")));
        fields["cwd"] = json!(away);
        answer(&env, name, fields)
    };
    hook("SessionStart", json!({"source": "startup"}));
    let input = json!({"prompt": "Refresh tokens", "subagent_type": "general-purpose"});
    let call = json!({"tool_name": "Agent", "tool_use_id": "toolu_1", "tool_input": input});
    let briefed = hook("PreToolUse", call);
    hook("SubagentStart", json!({"agent_id": "a1", "agent_type": "general-purpose"}));
    let message = json!({"role": "user", "content": prompt_of(&briefed)});
    let line =
        json!({"type": "user", "uuid": "u-2", "sessionId": "c-1", "cwd": away, "message": message});
    env.write(&format!("{kept}/c-1/subagents/agent-a1.jsonl"), format!("{line}\n"));
    let meta = json!({"agentType": "general-purpose", "toolUseId": "toolu_1"});
    env.write(&format!("{kept}/c-1/subagents/agent-a1.meta.json"), meta.to_string());
    for is_gone in [false, true] {
        if is_gone {
            env.git(".", &["worktree", "remove", "--force", "../away"]);
        }
        let found = env.run(["coverage", "--json"]).ok().json();
        assert_eq!(found["counts"]["briefed"], 1, "gone: {is_gone}: {found}");
    }
}
