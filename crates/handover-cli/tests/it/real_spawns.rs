//! Every way in which the real Claude Code starts a subagent, and what can go wrong with it.

use handover_testkit::{Answer, ModelRequest, Script};
use serde_json::{Value, json};

use crate::real_hosts::{
    DEBRIEF, Real, both, briefs, is_lead, lead, markers, of, spawns, turns_of,
};

/// Adds to the project's settings of Claude Code.
fn change_settings(real: &Real, change: impl FnOnce(&mut Value)) {
    let path = real.env.path(".claude/settings.json");
    let mut settings: Value =
        serde_json::from_str(&fs_err::read_to_string(&path).unwrap()).unwrap();
    change(&mut settings);
    fs_err::write(&path, settings.to_string()).unwrap();
}

/// Nothing is missing from the coverage.
fn assert_covered(real: &Real, counts: [u64; 3]) {
    let coverage = real.env.run(["coverage", "--json"]).ok().json();
    let [briefed, exempt, refused] = counts;
    let expected = json!({"briefed": briefed, "exempt": exempt, "refused": refused, "missed": 0});
    assert_eq!(coverage["counts"], expected, "{coverage}");
}

#[test]
fn claude_delivers_a_brief_that_another_hook_removed() {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(DEBRIEF));
    let turns = vec![spawns("general-purpose", "CHILD-ONE: refresh")];
    let real = Real::claude(lead(script, turns));
    // It finishes last, and the last rewritten prompt wins.
    let other = real.env.path("other.sh");
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "allow",
        "updatedInput": {
            "description": "d", "prompt": "OTHER HOOK: CHILD-ONE, please", "subagent_type": "general-purpose",
        },
    }});
    fs_err::write(&other, format!("sleep 1; echo '{answer}'\n")).unwrap();
    change_settings(&real, |settings| {
        let hook = json!({"type": "command", "command": format!("sh {}", other.display())});
        let group = json!({"matcher": "Agent", "hooks": [hook]});
        settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group);
    });
    real.run();
    let requests = real.requests_of("CHILD-ONE");
    assert_eq!(requests.len(), 2, "held back once");
    assert!(requests[0].conversation_contains("OTHER HOOK") && markers(&requests[0]).is_empty());
    assert_eq!(briefs(&requests[1]), [real.receipts()[0].2.clone()]);
    assert!(requests[1].conversation_contains("Refresh tokens rotate"));
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(real.events("debrief")[0]["verdict"], "complete");
    assert_eq!(real.events("degraded")[0]["error"], "another hook replaced the rewritten prompt");
    assert_covered(&real, [1, 0, 0]);
}

#[test]
fn claude_that_denies_a_spawn_delivers_nothing() {
    let script = Script::new().when(of("CHILD-TWO"), Answer::text(DEBRIEF));
    let turns = vec![
        spawns("general-purpose", "CHILD-ONE: refresh"),
        spawns("developer", "CHILD-TWO: refresh"),
    ];
    let real = Real::claude(lead(script, turns));
    real.env.write(
        ".claude/agents/developer.md",
        "---\nname: developer\ndescription: Builds.\n---\nYou build.\n",
    );
    change_settings(&real, |settings| {
        settings["permissions"] = json!({"deny": ["Agent(general-purpose)"]});
    });
    real.run();
    assert_eq!(real.requests_of("CHILD-ONE").len(), 0);
    assert_eq!(real.states(), both(&[("developer", "failed"), ("developer", "confirmed")]));
    let receipt = real.receipts()[1].2.clone();
    let shown = real.env.run(["receipt", "show", &receipt, "--json"]).ok().json();
    assert_eq!(shown["receipt"]["iteration"], 0, "the first one that started");
    assert!(real.last_of("CHILD-TWO").conversation_contains("docs/oauth.md"));
    assert_covered(&real, [1, 0, 1]);
}

#[test]
fn claude_keeps_every_debrief_of_a_continued_subagent() {
    fn sends_message(request: &ModelRequest) -> Answer {
        let text = request.body.to_string();
        let id = text.split("agentId: ").nth(1).unwrap();
        let id: String = id.chars().take_while(char::is_ascii_alphanumeric).collect();
        Answer::tool("SendMessage", json!({"to": id, "summary": "more", "message": "GO ON"}))
    }
    let more = DEBRIEF.replace("one lock per family", "two locks after all");
    let script = Script::new()
        .when(|r| of("CHILD-ONE")(r) && r.conversation_contains("GO ON"), Answer::text(&more))
        .when(of("CHILD-ONE"), Answer::text(DEBRIEF))
        .when(|r| is_lead(r) && turns_of(r) == 1, Answer::Computed(sends_message));
    let mut spawn = crate::real_hosts::agent("general-purpose", "CHILD-ONE: refresh");
    spawn.1["run_in_background"] = false.into();
    let real = Real::claude(lead(script, vec![Answer::Tools(String::new(), vec![spawn])]));
    real.run();
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(markers(&real.last_of("CHILD-ONE")).len(), 1, "briefed once");
    let kept = real.env.run(["reasoning", "list", "--json"]).ok().stdout;
    assert!(kept.contains("one lock per family") && kept.contains("two locks after all"), "{kept}");
    assert_eq!(real.events("debrief").len(), 2);
    assert_covered(&real, [1, 0, 0]);
}

#[test]
fn claude_briefs_agents_that_no_agent_call_announces() {
    let workflow = "export const meta = {name: 'w', description: 'd', phases: [{title: 'p'}]}\n\
        phase('p')\nreturn await agent('CHILD-FLOW: refresh', {label: 'one'})";
    let script = Script::new()
        .when(of("CHILD-FLOW"), Answer::text(DEBRIEF))
        .when(of("CHILD-SKILL"), Answer::text(DEBRIEF));
    let turns = vec![
        Answer::tool("Workflow", json!({"script": workflow})),
        Answer::tool("Skill", json!({"skill": "forked"})),
    ];
    let real = Real::claude(lead(script, turns));
    real.env.write(
        ".claude/skills/forked/SKILL.md",
        "---\nname: forked\ndescription: Refreshes.\ncontext: fork\nagent: general-purpose\n---\nCHILD-SKILL: refresh\n",
    );
    real.run();
    for task in ["CHILD-FLOW", "CHILD-SKILL"] {
        let first = real.requests_of(task).into_iter().next().unwrap();
        assert_eq!(markers(&first).len(), 1, "{task}");
        assert!(first.contains("Refresh tokens rotate"), "{task}");
    }
    assert_eq!(real.states(), both(&[("developer", "confirmed"); 2]));
    assert_eq!(real.events("debrief").len(), 2);
    assert_covered(&real, [2, 0, 0]);
}

#[test]
fn claude_briefs_every_kind_of_agent() {
    let script = Script::new()
        .when(of("CHILD-CLAUDE"), Answer::text(DEBRIEF))
        .when(of("CHILD-CUSTOM"), Answer::text(DEBRIEF))
        .when(of("CHILD-PLAN"), Answer::text("The plan."))
        .when(of("CHILD-EXPLORE"), Answer::text("Found."));
    let turns = vec![
        spawns("claude", "CHILD-CLAUDE: refresh"),
        spawns("token-smith", "CHILD-CUSTOM: refresh"),
        spawns("Plan", "CHILD-PLAN: refresh"),
        spawns("Explore", "CHILD-EXPLORE: refresh"),
    ];
    let real = Real::claude(lead(script, turns));
    real.env.write(
        ".claude/agents/token-smith.md",
        "---\nname: token-smith\ndescription: Makes tokens.\n---\nYou make tokens.\n",
    );
    real.run();
    for (task, debrief) in [
        ("CHILD-CLAUDE", true),
        ("CHILD-CUSTOM", true),
        ("CHILD-PLAN", false),
        ("CHILD-EXPLORE", false),
    ] {
        let requests = real.requests_of(task);
        assert_eq!(requests.len(), 1, "{task} is not held back");
        assert_eq!(markers(&requests[0]).len(), 1, "{task}");
        assert_eq!(requests[0].conversation_contains("```handover"), debrief, "{task}");
    }
    let roles = ["developer", "developer", "requirements_engineer", "investigator"];
    assert_eq!(real.states(), both(&roles.map(|role| (role, "confirmed"))));
    assert_covered(&real, [4, 0, 0]);
    let doctor = real.env.run(["doctor"]).ok().stdout;
    assert!(doctor.contains("4 briefed, 0 exempt, 0 refused, 0 missed"), "{doctor}");
}

#[test]
fn claude_that_asks_or_stops_early_leaves_no_ticket_open() {
    let tool = || Answer::tool("Bash", json!({"command": "echo hi", "description": "d"}));
    let script = Script::new().when(of("CHILD-LIMIT"), tool());
    let turns = vec![
        spawns("general-purpose", "CHILD-DENIED: refresh"),
        spawns("limited", "CHILD-LIMIT: refresh"),
    ];
    let real = Real::claude(lead(script, turns));
    real.env.write(
        ".claude/agents/limited.md",
        "---\nname: limited\ndescription: Stops early.\nmaxTurns: 1\n---\nYou stop early.\n",
    );
    // No event says that another hook denied it.
    let other = real.env.path("deny.sh");
    let answer = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": "not now",
    }});
    let text = format!("case \"$(cat)\" in *CHILD-DENIED*) echo '{answer}' ;; esac\n");
    fs_err::write(&other, text).unwrap();
    change_settings(&real, |settings| {
        let hook = json!({"type": "command", "command": format!("sh {}", other.display())});
        let group = json!({"matcher": "Agent", "hooks": [hook]});
        settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group);
    });
    real.run();
    assert_eq!(real.states(), both(&[("developer", "failed"), ("developer", "confirmed")]));
    assert_eq!(real.events("debrief")[0]["missing"], json!(["block"]));
    assert_covered(&real, [1, 0, 1]);
}

#[test]
fn claude_with_hooks_and_plugin_is_answered_once() {
    let script = Script::new().when(of("CHILD-ONE"), Answer::text(DEBRIEF));
    let turns = vec![spawns("general-purpose", "CHILD-ONE: refresh")];
    let mut real = Real::claude(lead(script, turns));
    let plugin = crate::real_hosts::plugin().display().to_string();
    real.host.args.extend(["--plugin-dir".to_owned(), plugin]);
    real.find_us();
    real.env
        .run(["group", "set", "login", "--title", "Login rework", "--status", "in_progress"])
        .ok();
    real.run();
    assert_eq!(real.states(), both(&[("developer", "confirmed")]));
    assert_eq!(markers(&real.last_of("CHILD-ONE")).len(), 1);
    assert_eq!(real.events("debrief").len(), 1);
    let opening = real.server.requests().into_iter().find(is_lead).unwrap();
    assert_eq!(opening.body.to_string().matches("Open group login").count(), 1);
    assert_covered(&real, [1, 0, 0]);
}
