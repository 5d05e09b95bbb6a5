//! Every kind of subagent of these programs under every fault: none is missing from `coverage`, and no receipt is in a
//! wrong state. That of Claude Code is `real_matrix`.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use handover_testkit::{Answer, Lock, ModelRequest, Script};
use serde_json::{Value, json};

use super::programs::{COPILOT, GEMINI, OPENCODE, Program, QWEN};
use super::{DEBRIEF, LEAD, Real, is_lead, lead, markers, of};

/// What goes wrong while a conversation spawns every kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    Nothing,
    /// Another hook rewrites every prompt, and has the last word.
    SecondHook,
    /// Another hook denies every call of the tool that spawns subagents.
    Deny,
    /// Another program holds the write lock of the store all the time.
    Lock,
}

/// The kinds of subagents, by the words of their tasks.
const GENERAL: &str = "CHILD-GENERAL";
const READER: &str = "CHILD-READER";
const CUSTOM: &str = "CHILD-CUSTOM";
const BACKGROUND: &str = "CHILD-BACKGROUND";

/// The kinds that a program has.
fn words(program: &Program) -> Vec<&'static str> {
    // The background comes last: when it is done, some programs add turns to the conversation.
    let background = program.background.map(|_| BACKGROUND);
    [GENERAL, READER, CUSTOM].into_iter().chain(background).collect()
}

fn call(program: &Program, word: &str) -> Answer {
    let [general, reader] = program.kinds;
    let kind = match word {
        READER => reader,
        CUSTOM => "token-smith",
        _ => general,
    };
    let (tool, mut input) = (program.call)(kind, &format!("{word}: refresh the tokens"));
    if let (BACKGROUND, Some((field, value))) = (word, program.background) {
        input[field] = value();
    }
    Answer::tool(tool, input)
}

fn real(program: &Program, script: Script) -> Real {
    let real = Real::new(&[program.name], program.host, script);
    let (path, text) = program.custom;
    real.env.write(path, text);
    // Their tasks distinguish them, so none may read of another's.
    real.env.run(["config", "set", "brief.beside", "false"]).ok();
    real
}

/// Registers a hook of somebody else that denies every spawn, or rewrites its prompt.
fn add_hook(real: &Real, program: &Program, denies: bool) {
    if program.name == "opencode" {
        let act = match denies {
            true => "throw new Error('not now')",
            false => "output.args.prompt = 'OTHER HOOK. ' + /CHILD-.*/.exec(output.args.prompt)[0]",
        };
        let plugin = format!(
            "export const Other = async () => ({{ 'tool.execute.before': async (input, output) => {{\n\
             if (input.tool === 'task') {act}\n}} }})\n"
        );
        // Plugins run in the order of their names.
        real.env.write(".opencode/plugin/other.js", plugin);
        return;
    }
    let answer = match (program.name, denies) {
        ("copilot", true) => {
            json!({"permissionDecision": "deny", "permissionDecisionReason": "not now"})
        }
        ("gemini", true) => json!({"decision": "deny", "reason": "not now"}),
        (_, true) => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "deny", "permissionDecisionReason": "not now"}}),
        ("copilot", false) => json!({"modifiedArgs": "INPUT"}),
        ("gemini", false) => {
            json!({"hookSpecificOutput": {"hookEventName": "BeforeTool", "tool_input": "INPUT"}})
        }
        (_, false) => json!({"hookSpecificOutput": {"hookEventName": "PreToolUse",
            "permissionDecision": "allow", "updatedInput": "INPUT"}}),
    };
    // It answers later, and so has the last word.
    let script = format!(
        "import json, sys, time\n\
         event = json.load(sys.stdin)\n\
         call = event.get('tool_input') or event.get('toolArgs') or {{}}\n\
         call = json.loads(call) if isinstance(call, str) else call\n\
         call['prompt'] = 'OTHER HOOK. ' + call.get('prompt', '')\n\
         time.sleep(0.5)\n\
         print(json.dumps({answer}).replace('\"INPUT\"', json.dumps(call)))\n"
    );
    real.env.write("other.py", script);
    let command = format!("python3 {}", real.env.path("other.py").display());
    if program.name == "copilot" {
        let hook =
            json!({"type": "command", "matcher": "Agent", "command": command, "timeoutSec": 9});
        let hooks = json!({"version": 1, "hooks": {"PreToolUse": [hook]}});
        real.env.write(".github/hooks/other.json", hooks.to_string());
        return;
    }
    let path = real.env.path(&format!(".{}/settings.json", program.name));
    let mut settings: Value =
        serde_json::from_str(&fs_err::read_to_string(&path).unwrap()).unwrap();
    let (event, tool) = match program.name {
        "gemini" => ("BeforeTool", "invoke_agent"),
        _ => ("PreToolUse", "agent"),
    };
    let hook = json!({"type": "command", "command": command});
    let group = json!({"matcher": tool, "hooks": [hook]});
    settings["hooks"][event].as_array_mut().unwrap().push(group);
    fs_err::write(&path, settings.to_string()).unwrap();
}

/// What becomes of every subagent of a program under a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Becomes {
    Briefed,
    /// It does not start, and no brief counts as delivered.
    Denied,
}

fn expected(fault: Fault) -> Becomes {
    match fault {
        Fault::Deny => Becomes::Denied,
        Fault::Nothing | Fault::SecondHook | Fault::Lock => Becomes::Briefed,
    }
}

fn check(program: &Program, fault: Fault) {
    let case = format!("{} {fault:?}", program.name);
    let words = words(program);
    let mut script = Script::new();
    for word in &words {
        let end = if *word == CUSTOM { program.custom_end } else { program.end };
        script = script.when(of(word), end(DEBRIEF));
    }
    let turns = words.iter().map(|word| call(program, word)).collect();
    let real = real(program, lead(script, turns));
    match fault {
        Fault::Nothing => drop(real.start()),
        Fault::SecondHook | Fault::Deny => {
            add_hook(&real, program, fault == Fault::Deny);
            real.start();
        }
        Fault::Lock => {
            let lock = Lock::take(&real.env);
            real.start();
            lock.release();
            // What had to wait is taken in by the next conversation.
            let output = real.host.command().arg("GO ON").output().unwrap();
            assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
        }
    }
    let receipts = real.receipts();
    // Until its conversation has been silent for a while, nobody settles a subagent whose receipt waited in the spool.
    let states: &[&str] =
        if fault == Fault::Lock { &["delivered", "confirmed"] } else { &["confirmed"] };
    let becomes = expected(fault);
    if becomes == Becomes::Briefed {
        assert_eq!(receipts.len(), words.len(), "{case}: {receipts:?}");
    }
    for word in &words {
        let requests = real.requests_of(word);
        let mut got: Vec<String> = requests.last().map(markers).unwrap_or_default();
        got.dedup();
        match becomes {
            Becomes::Denied => assert!(requests.is_empty(), "{case} {word}: it started"),
            Becomes::Briefed => {
                assert_eq!(got.len(), 1, "{case} {word}: {} {got:?}", requests.len());
                let own = receipts.iter().find(|receipt| receipt[2] == got[0]);
                let state = own.map_or("no receipt", |own| own[1].as_str());
                assert!(states.contains(&state), "{case} {word}: {state}");
            }
        }
    }
    let found = real.env.run(["coverage", "--host", program.name, "--json"]);
    let found = found.ok().json();
    let briefed = if becomes == Becomes::Briefed { words.len() } else { 0 };
    assert_eq!(found["counts"]["briefed"], briefed, "{case}: {found}");
    assert_eq!(found["counts"]["missed"], 0, "{case}: {found}");
    assert_eq!(found["not_connected"], json!([] as [Value; 0]), "{case}");
    if becomes == Becomes::Denied {
        let undelivered = |receipt: &[String; 3]| matches!(&*receipt[1], "assembled" | "failed");
        assert!(receipts.iter().all(undelivered), "{case}: {receipts:?}");
    }
}

/// The program is killed while a subagent works, and the user starts it again later.
fn is_settled_after_a_kill(program: &Program) {
    let case = program.name;
    let script = Script::new()
        .when(of(GENERAL), Answer::Silence)
        .when(|r: &ModelRequest| is_lead(r) && r.turns() == 0, call(program, GENERAL))
        .when(is_lead, Answer::text("All done."));
    let real = real(program, script);
    let mut command = real.host.command();
    command.arg(format!("Do the {LEAD}."));
    // Some are started by another program, which must not survive.
    let mut running = command.stdout(Stdio::null()).process_group(0).spawn().unwrap();
    let started = Instant::now();
    while real.requests_of(GENERAL).is_empty() {
        assert!(started.elapsed() < Duration::from_secs(60), "{case}: it never started");
        std::thread::sleep(Duration::from_millis(50));
    }
    let group = format!("-{}", running.id());
    assert!(Command::new("kill").args(["-KILL", "--", &group]).status().unwrap().success());
    running.wait().unwrap();
    // Its conversation is not silent long enough yet to be taken for dead.
    let output = real.host.command().arg("GO ON").output().unwrap();
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stdout));
    let states: Vec<String> = real.states().into_iter().map(|(_, state)| state).collect();
    let expected = match case {
        "qwen" => "assembled",
        "gemini" => "delivered",
        _ => "confirmed",
    };
    assert_eq!(states, [expected], "{case}");
    let found = real.env.run(["coverage", "--host", program.name, "--json"]);
    // Qwen Code delivers briefs when a subagent stops, and this one never did.
    let late = program.name == "qwen";
    let found = (if late { found.fails(1) } else { found.ok() }).json();
    assert_eq!(found["counts"]["missed"], usize::from(late), "{case}: {found}");
    if late {
        let spawn = &found["spawns"][0];
        assert_eq!(spawn["receipt"].as_str(), Some(&*real.receipts()[0][2]), "{found}");
    }
}

macro_rules! matrix {
    ($name:ident, $program:expr) => {
        mod $name {
            use super::*;

            #[test]
            fn every_kind_without_a_fault() {
                check(&$program, Fault::Nothing);
            }

            #[test]
            fn every_kind_with_a_second_hook_that_rewrites() {
                check(&$program, Fault::SecondHook);
            }

            #[test]
            fn every_kind_with_a_hook_that_denies() {
                check(&$program, Fault::Deny);
            }

            #[test]
            fn every_kind_with_a_locked_store() {
                check(&$program, Fault::Lock);
            }

            #[test]
            fn a_subagent_whose_program_is_killed() {
                is_settled_after_a_kill(&$program);
            }
        }
    };
}

matrix!(copilot, COPILOT);
matrix!(gemini, GEMINI);
matrix!(opencode, OPENCODE);
matrix!(qwen, QWEN);
