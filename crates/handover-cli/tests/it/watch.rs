//! What needs a terminal: `handover watch` and the pace of `handover demo`, on a real one (`script` of util-linux).

use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use handover_testkit::{Output, TestEnv};

use crate::project;

/// Runs a command on a terminal of 80 by 24; the keys are pressed one after the other.
pub(crate) fn on_terminal(env: &TestEnv, args: &str, keys: &[(u64, &str)]) -> Output {
    let command = format!("stty cols 80 rows 24; exec {} {args}", env.binary().display());
    let mut script = env.tool("timeout");
    script.args(["60", "script", "-qec", &command, "/dev/null"]).env("TERM", "xterm-256color");
    script.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = script.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for (wait, key) in keys {
        std::thread::sleep(Duration::from_millis(*wait));
        // The program may have ended already.
        let _ = stdin.write_all(key.as_bytes()).and_then(|()| stdin.flush());
    }
    let output = env.output(child);
    drop(stdin);
    output
}

fn brief(env: &TestEnv, task: &str) {
    let args = ["assemble", "--role", "developer", "--task", task, "--deliver"];
    env.run(args).ok();
}

#[test]
fn watching_without_a_terminal_prints_everything_once() {
    let env = project();
    let empty = env.run(["watch"]).ok().stdout;
    assert!(empty.contains("0 runs · 0 agents · $0.00"), "{empty}");
    assert!(empty.contains("SESSION s1  0 agents, 0 packages"), "{empty}");
    env.write("docs/oauth.md", "# OAuth\n\nRefresh tokens rotate on every use.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--consumer", "developer"])
        .ok();
    brief(&env, "Refresh tokens");
    let once = env.run(["watch"]).ok().stdout;
    assert!(once.contains("SESSION s1  1 agent, 1 package"), "{once}");
    assert!(once.contains("developer") && once.contains("got 1 package"), "{once}");
    env.run(["watch", "--json"]).fails(2);
}

#[test]
fn a_receipt_opens_and_a_new_agent_appears_by_itself() {
    let env = project();
    env.write("docs/oauth.md", "# OAuth\n\nRefresh tokens rotate on every use.\n");
    env.run(["package", "add", "docs/oauth.md", "--kind", "research", "--consumer", "developer"])
        .ok();
    brief(&env, "Refresh tokens");
    let said = "```handover\nverdict: complete\nsummary: Tokens rotate.\n```\n";
    env.run_with(said, ["debrief", "--receipt", "latest"]).ok();
    let output = std::thread::scope(|scope| {
        let watching = scope.spawn(|| {
            on_terminal(&env, "watch", &[(4_000, "\r"), (1_500, "\u{1b}"), (2_500, "q")])
        });
        std::thread::sleep(Duration::from_millis(6_500));
        let args = ["assemble", "--role", "qa_expert", "--task", "Test it", "--deliver"];
        env.run(args).ok();
        watching.join().unwrap()
    });
    assert_eq!(output.code, Some(0), "{output}");
    for part in [
        "\u{1b}[?1049h",
        "got 1 package",
        "Task       Refresh tokens",
        "In         package 1 “OAuth” v1 (full)",
        "Ended      complete: Tokens rotate.",
        "What it read:",
        "qa expert",
        "\u{1b}[?1049l",
    ] {
        assert!(output.stdout.contains(part), "{part:?} is missing in {output}");
    }
}

#[test]
fn the_demo_is_paced_on_a_terminal_and_a_key_ends_the_pauses() {
    let mut env = TestEnv::empty(crate::handover());
    let temporary = env.folder().join("temporary");
    fs_err::create_dir(&temporary).unwrap();
    env.set("TMPDIR", &temporary.display().to_string());
    let begin = Instant::now();
    let output = on_terminal(&env, "demo", &[(3_000, "q")]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("Any key skips a pause"), "{output}");
    assert!(output.stdout.contains("10 + 4"), "{output}");
    assert!(begin.elapsed() > Duration::from_secs(3), "nobody waited for the key");
    // Ctrl-C ends it, and the terminal is as before.
    let output = on_terminal(&env, "demo", &[(3_000, "\u{3}")]);
    assert_eq!(output.code, Some(130), "{output}");
    assert!(output.stdout.contains("the demo was interrupted"), "{output}");
    assert_eq!(fs_err::read_dir(&temporary).unwrap().count(), 0, "something was left");
}
