//! Trust for one call is the user's to give: what an agent types does not count.

use handover_testkit::{Output, TestEnv};
use serde_json::Value;

use super::{clone_with, script};

const COMMANDS: &str = "[runs]\nhost = \"command\"\ncommand = \"make agent\"\n";

/// What agent programs set for what they start.
const MARKS: [&str; 7] = [
    "CLAUDECODE",
    "CODEX_THREAD_ID",
    "GEMINI_CLI",
    "COPILOT_AGENT_SESSION_ID",
    "OPENCODE",
    "QWEN_CODE",
    "HANDOVER_SPAWN",
];

/// A checkout that wants to start a program.
fn checkout() -> TestEnv {
    let env = clone_with(COMMANDS);
    env.git("", &["commit", "--quiet", "--allow-empty", "--message", "base"]);
    env
}

fn is_trusted(shown: &Output) -> bool {
    assert_eq!(shown.code, Some(0), "{shown}");
    let shown: Value = shown.json();
    shown["config"].as_array().unwrap().iter().any(|entry| entry["value"] == "make agent")
}

/// Runs a script of an agent program, started with some variables. It calls `handover` as `$HANDOVER`.
fn agent_program(env: &TestEnv, variables: &[(&str, &str)], text: &str) -> Output {
    let path = env.folder().join("agent-program");
    // The last line keeps the shell from becoming what it starts.
    script(&path, &format!("{text}\ntrue"));
    let mut program = env.tool(&path);
    program.env("HANDOVER", env.binary()).envs(variables.iter().copied());
    let child =
        program.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn();
    env.output(child.unwrap())
}

#[test]
fn an_agent_cannot_use_the_flag() {
    for mark in MARKS {
        let mut env = checkout();
        env.set(mark, "r_1");
        for args in [&["run", "1"][..], &["config", "show"], &["uat", "1"], &["untrust"]] {
            let error = env.run(args.iter().chain(&["--trust-project", "--json"])).fails(3).error();
            assert_eq!(error["code"], "agent", "{mark}: {error}");
            assert!(error["hint"].as_str().unwrap().contains("the person"), "{error}");
        }
    }
}

#[test]
fn an_agent_cannot_use_the_variable() {
    for mark in MARKS {
        let mut env = checkout();
        env.set(mark, "r_1");
        env.set("HANDOVER_TRUST", "1");
        assert!(!is_trusted(&env.run(["config", "show", "--json"])), "{mark}");
        let error = env.run(["run", "1", "--json"]).fails(5).error();
        assert_eq!(error["code"], "untrusted", "{mark}: {error}");
        assert!(error["hint"].as_str().unwrap().starts_with("Ask the person"), "{error}");
    }
}

#[test]
fn what_the_user_set_before_the_agent_started_counts() {
    let env = checkout();
    let asks = "\"$HANDOVER\" config show --json";
    for (given, typed, trusted) in [
        ("1", "", true),
        // A checkout that the user did not mean.
        ("/nowhere", "", false),
        ("", "", false),
        // The agent adds it to its command, or to everything that its shell starts.
        ("", "HANDOVER_TRUST=1 ", false),
        ("", "export HANDOVER_TRUST=1; ", false),
        ("/nowhere", "HANDOVER_TRUST=1 ", false),
        // It poses as one of ours.
        ("", "HANDOVER_SPAWN=r_1 HANDOVER_TRUST=1 ", false),
    ] {
        // The program sets its mark for the shell in which its agent types.
        let text = format!("CLAUDECODE=1 sh -c '{typed}{asks}; true'");
        let output = agent_program(&env, &[("HANDOVER_TRUST", given)], &text);
        assert_eq!(is_trusted(&output), trusted, "given `{given}`, typed `{typed}`: {output}");
    }
}

/// An agent that we started is given the trust of the command that started it, and cannot take more.
#[test]
fn an_agent_of_ours_has_what_it_was_given() {
    for (flags, typed, trusted) in [
        (&["--trust-project"][..], "", true),
        (&[], "", false),
        (&[], "HANDOVER_TRUST=1 ", false),
        (&[], "CLAUDECODE=1 HANDOVER_TRUST=1 ", false),
    ] {
        let env = checkout();
        env.run(["session", "new", "s1"]).ok();
        let answer = env.folder().join("answer.json");
        let agent = env.folder().join("agent.sh");
        let asks = format!("{} config show --json > {}", env.binary().display(), answer.display());
        script(&agent, &format!("cat > /dev/null\nsh -c '{typed}{asks}; true'"));
        let command = agent.display().to_string();
        let args =
            ["spawn", "--host", "command", "--role", "developer", "--task", "t", "--agent-command"];
        let output = env.run(args.iter().chain(&[command.as_str()]).chain(flags));
        let shown: Value = serde_json::from_str(&fs_err::read_to_string(answer).unwrap()).unwrap();
        let entries = shown["config"].as_array().unwrap();
        let has = entries.iter().any(|entry| entry["value"] == "make agent");
        assert_eq!(has, trusted, "{flags:?}, typed `{typed}`: {output}");
    }
}
