//! Subagents that a rule of the user exempts: they get nothing, they are asked for nothing, and `coverage` knows the rule.

use handover_testkit::{ModelRequest, Script};
use serde_json::{Value, json};

use super::programs::{COPILOT, GEMINI, OPENCODE, Program, QWEN};
use super::{DEBRIEF, Real, lead, markers, of};

/// One conversation with a subagent that its prompt exempts, one whose kind is exempt, and one that is not.
fn exempts(program: &Program) {
    let [general, reader] = program.kinds;
    let script = Script::new()
        .when(of("CHILD-MARKED"), (program.end)("Marked."))
        .when(of("CHILD-KIND"), (program.end)("Of this kind."))
        .when(of("CHILD-OTHER"), (program.end)(DEBRIEF));
    let turns = vec![
        program.spawn(general, "CHILD-MARKED: refresh\n<!-- handover:exempt trivial -->"),
        program.spawn(reader, "CHILD-KIND: look around"),
        program.spawn(general, "CHILD-OTHER: refresh"),
    ];
    let real = Real::new(&[program.name], program.host, lead(script, turns));
    let rules =
        format!("[hooks]\nexempt_marker = true\nexempt = {{ {reader} = \"it only looks\" }}\n");
    real.env.write("../home/.config/handover/config.toml", rules);
    real.start();
    let name = program.name;
    for task in ["CHILD-MARKED", "CHILD-KIND"] {
        let requests = real.requests_of(task);
        assert!(!requests.is_empty(), "{name} {task}");
        let is_bare = |request: &ModelRequest| markers(request).is_empty();
        assert!(requests.iter().all(is_bare), "{name} {task} was briefed");
        assert_eq!(requests.len(), 1, "{name} {task} was held back");
    }
    assert_eq!(real.receipts().len(), 1, "{name}");
    // What holds now does not matter.
    fs_err::remove_file(real.env.folder().join("home/.config/handover/config.toml")).unwrap();
    let coverage = real.env.run(["coverage", "--host", name, "--json"]);
    let coverage = coverage.ok().json();
    let counts = json!({"briefed": 1, "exempt": 2, "refused": 0, "missed": 0});
    assert_eq!(coverage["counts"], counts, "{name}: {coverage}");
    let mut reasons: Vec<&str> = coverage["spawns"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one["reason"].as_str())
        .collect();
    reasons.sort_unstable();
    assert_eq!(reasons, ["hooks.exempt: it only looks", "hooks.exempt_marker: trivial"], "{name}");
}

#[test]
fn copilot_leaves_exempt_subagents_alone() {
    exempts(&COPILOT);
}

#[test]
fn gemini_leaves_exempt_subagents_alone() {
    exempts(&GEMINI);
}

#[test]
fn opencode_leaves_exempt_subagents_alone() {
    exempts(&OPENCODE);
}

#[test]
fn qwen_leaves_exempt_subagents_alone() {
    exempts(&QWEN);
}

/// Hooks that are off, in a session, for the project or for one program, leave what exempts a subagent, and nothing else.
#[test]
fn switches_are_exemptions_too() {
    for (key, value, rule) in [
        ("HANDOVER_HOOKS_SESSIONS_DISABLED", "[\"s1\"]", "hooks.sessions_disabled"),
        ("HANDOVER_HOOKS_ENABLED", "false", "hooks.enabled"),
        ("HANDOVER_OFF", "1", "HANDOVER_OFF"),
    ] {
        for program in [&COPILOT, &QWEN] {
            let general = program.kinds[0];
            let script = Script::new().when(of("CHILD-ONE"), (program.end)("Done."));
            let turns = vec![program.spawn(general, "CHILD-ONE: refresh")];
            let mut real = Real::new(&[program.name], program.host, lead(script, turns));
            real.host.vars.push((key.to_owned(), value.to_owned()));
            real.start();
            let case = format!("{} {key}", program.name);
            let requests = real.requests_of("CHILD-ONE");
            assert_eq!((requests.len(), markers(&requests[0]).len()), (1, 0), "{case}");
            assert_eq!(real.receipts().len(), 0, "{case}");
            let coverage = real.env.run(["coverage", "--json"]).ok().json();
            let spawn = &coverage["spawns"][0];
            assert_eq!(spawn["state"], "exempt", "{case}: {coverage}");
            assert!(spawn["reason"].as_str().unwrap().starts_with(rule), "{case}: {coverage}");
            assert_eq!(coverage["not_connected"], json!([] as [Value; 0]), "{case}");
        }
    }
}
