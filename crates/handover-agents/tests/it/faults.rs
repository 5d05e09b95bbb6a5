//! Whatever an agent does wrong, the run ends with a clean record and no process left.

use std::fs::File;
use std::time::Duration;

use handover_agents::{AgentError, AgentEvent, CancelToken, Ended, Filter, Piece, Tee, run};
use handover_model::FailureClass;

use crate::setup::{Agent, prompt};

#[track_caller]
fn ends(actions: &str, ended: Ended, failure: Option<FailureClass>) -> handover_agents::Outcome {
    let outcome = Agent::fake(actions).run();
    assert_eq!((outcome.ended, outcome.failure.as_ref().map(|f| f.class)), (ended, failure));
    outcome
}

#[test]
fn a_successful_agent() {
    let mut agent = Agent::fake("echo-prompt @seen print one print two err aside");
    agent.invocation.prompt = Some(prompt("ü ".repeat(500_000)));
    let outcome = agent.run();
    assert!(outcome.is_success());
    assert_eq!((outcome.ended, outcome.exit_code()), (Ended::Exited(0), Some(0)));
    assert_eq!(outcome.final_text, "one\ntwo\n");
    assert_eq!(outcome.stderr.text(), "aside\n");
    assert_eq!((outcome.survivors, outcome.tee_error), (0, None));
    assert_eq!(agent.read("seen"), agent.invocation.prompt.unwrap().text());
    assert!(matches!(agent.events[0], AgentEvent::Spawned(_)));
    assert!(agent.events.contains(&AgentEvent::Text("two".to_owned())));
    assert!(agent.events.contains(&AgentEvent::Stderr("aside".to_owned())));
}

#[test]
fn a_result_with_a_failing_exit_code() {
    let outcome = ends("print done err why exit 3", Ended::Exited(3), Some(FailureClass::ExitCode));
    ends("err 'API Error: 429' exit 3", Ended::Exited(3), Some(FailureClass::RateLimit));
    ends("err 'invalid api key' exit 3", Ended::Exited(3), Some(FailureClass::ExitCode));
    assert_eq!(outcome.failure.unwrap().message, "ended with exit code 3: why");
    assert_eq!(outcome.final_text, "done\n");
}

#[test]
fn crashes() {
    let crashed = Some(FailureClass::Crashed);
    let outcome = ends("half nearly crash", Ended::Signalled(6), crashed);
    assert_eq!(outcome.final_text, "nearly");
    ends("kill-self", Ended::Signalled(9), crashed);
}

#[test]
fn half_a_line_and_invalid_utf8() {
    let mut agent = Agent::fake("invalid-utf8 half last");
    let outcome = agent.run();
    assert!(outcome.is_success());
    assert_eq!(outcome.final_text, "\u{fffd}\u{fffd} broken \u{fffd}\nlast");
    assert!(agent.events.contains(&AgentEvent::Text("last".to_owned())));
}

#[test]
fn silence() {
    let mut agent = Agent::fake("print before hang");
    agent.invocation.limits.idle = Some(Duration::from_millis(200));
    let outcome = agent.run();
    assert_eq!(outcome.ended, Ended::IdleTimeout);
    assert_eq!(outcome.failure.unwrap().class, FailureClass::IdleTimeout);
    assert_eq!(outcome.final_text, "before\n");
}

#[test]
fn endless_output_runs_into_the_wall_timeout() {
    let mut agent = Agent::fake("chatter");
    agent.invocation.limits.idle = Some(Duration::from_secs(10));
    agent.invocation.limits.wall = Some(Duration::from_millis(300));
    let outcome = agent.run();
    assert_eq!(outcome.ended, Ended::WallTimeout);
    assert!(outcome.final_text.starts_with("still here\n"));
}

#[test]
fn an_agent_that_ignores_sigterm() {
    let mut agent = Agent::fake("ignore-term pid @pid hang");
    agent.invocation.limits.wall = Some(Duration::from_millis(300));
    assert_eq!(agent.run().ended, Ended::WallTimeout);
    agent.gone("pid");
}

#[test]
fn an_agent_that_never_reads_its_prompt() {
    let mut agent = Agent::fake("print done");
    agent.invocation.prompt = Some(prompt("x".repeat(4 << 20)));
    assert!(agent.run().is_success());

    let mut agent = Agent::fake("hang");
    agent.invocation.prompt = Some(prompt("x".repeat(4 << 20)));
    agent.invocation.limits.wall = Some(Duration::from_millis(300));
    assert_eq!(agent.run().ended, Ended::WallTimeout);
}

#[test]
fn an_agent_that_closes_its_output_and_keeps_working() {
    let mut agent = Agent::fake("print before close-stdout sleep 100 write @late x");
    assert_eq!(agent.run().final_text, "before\n");
    assert_eq!(agent.read("late"), "x");
}

#[test]
fn a_flood_of_lines_keeps_both_ends() {
    let mut agent = Agent::fake("print first flood 100000000 print last");
    agent.invocation.limits.output_cap = 1000;
    let outcome = agent.run();
    assert_eq!(outcome.ended, Ended::Exited(0));
    assert_eq!(outcome.stdout.total, 100_000_011);
    assert!(outcome.final_text.len() < 2000);
    assert!(
        outcome.final_text.starts_with("first\nxxx") && outcome.final_text.ends_with("x\nlast\n")
    );
}

#[test]
fn a_flood_uses_bounded_memory() {
    let mut agent = Agent::fake("flood-line 200000000 half .");
    agent.invocation.limits.output_cap = 1 << 20;
    // The longest line passed to the caller counts too.
    let mut longest = 0;
    let outcome = run(
        &agent.invocation,
        None,
        &mut |event| {
            if let AgentEvent::Text(text) = event {
                longest = longest.max(text.len());
            }
        },
        &agent.cancel,
    )
    .unwrap();
    assert_eq!(outcome.stdout.total, 200_000_001);
    assert_eq!(longest, 8 << 20);
    let peak = peak_memory();
    assert!(peak < 150 << 20, "{peak} bytes");
    agent.nothing_left();
}

/// The peak memory of this process. Every test has its own process.
fn peak_memory() -> u64 {
    let status = fs_err::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn a_flood_is_stopped() {
    let mut agent = Agent::fake("flood 9000000000");
    agent.invocation.limits.flood = Some(10 << 20);
    let outcome = agent.run();
    assert_eq!(outcome.ended, Ended::OutputFlood);
    assert_eq!(outcome.failure.unwrap().class, FailureClass::OutputFlood);

    let mut agent = Agent::fake("flood-line 900000000000");
    agent.invocation.limits.flood = None;
    agent.invocation.limits.wall = Some(Duration::from_millis(500));
    assert_eq!(agent.run().ended, Ended::WallTimeout);
}

#[test]
fn a_grandchild_that_outlives_the_agent() {
    let mut agent =
        Agent::fake("spawn 'ignore-term pid @pid append-forever @log' wait-for @log print done");
    let outcome = agent.run();
    assert_eq!(outcome.ended, Ended::Exited(0));
    assert_eq!((outcome.final_text.as_str(), outcome.survivors), ("done\n", 1));
    agent.gone("pid");
    let size = agent.read("log").len();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(agent.read("log").len(), size);
}

#[test]
#[cfg_attr(feature = "portable", ignore = "only Linux adopts what has lost its parent")]
fn grandchildren_that_leave_session_parent_and_environment() {
    for how in ["spawn", "spawn-quiet", "spawn-unmarked"] {
        let actions = format!(
            "{how} \"setsid spawn 'setsid ignore-term pid @pid append-forever @log'\" wait-for @log print done"
        );
        let mut agent = Agent::fake(&actions);
        let outcome = agent.run();
        // The process in between may not have ended yet.
        assert!(matches!(outcome.survivors, 1 | 2), "{how}: {}", outcome.survivors);
        assert_eq!(outcome.final_text, "done\n", "{how}");
        agent.gone("pid");
    }
}

#[test]
fn grandchildren_of_a_stopped_agent() {
    let mut agent = Agent::fake(
        "spawn-unmarked 'setsid pid @one hang' spawn 'setsid ignore-term pid @two hang' \
         wait-for @one wait-for @two ignore-term hang",
    );
    agent.invocation.limits.idle = Some(Duration::from_secs(1));
    assert_eq!(agent.run().ended, Ended::IdleTimeout);
    agent.gone("one");
    agent.gone("two");
}

#[test]
fn an_agent_that_is_cancelled() {
    for forced in [false, true] {
        let mut agent =
            Agent::fake("ignore-term spawn 'setsid pid @pid hang' wait-for @pid print x hang");
        agent.invocation.limits.grace = Duration::from_secs(20);
        let cancel = agent.cancel.clone();
        let pid = agent.path("pid");
        let outcome = std::thread::scope(|scope| {
            scope.spawn(move || {
                while !pid.exists() {
                    std::thread::sleep(Duration::from_millis(5));
                }
                if forced { cancel.force() } else { cancel.cancel() }
            });
            agent.run()
        });
        assert_eq!(outcome.ended, Ended::Cancelled);
        assert_eq!(outcome.failure.unwrap().class, FailureClass::Cancelled);
        agent.gone("pid");
    }
}

#[test]
fn a_signal_cancels() {
    let mut agent = Agent::fake("print ready hang");
    signal_hook::flag::register(signal_hook::consts::SIGINT, agent.cancel.flag()).unwrap();
    let mut on_event = |event| {
        if matches!(event, AgentEvent::Text(_)) {
            signal_hook::low_level::raise(signal_hook::consts::SIGINT).unwrap();
        }
    };
    agent.invocation.limits.grace = Duration::from_secs(20);
    let outcome = run(&agent.invocation, None, &mut on_event, &agent.cancel).unwrap();
    assert_eq!(outcome.ended, Ended::Cancelled);
    agent.nothing_left();
}

#[test]
fn eight_concurrent_agents_do_not_kill_each_other() {
    std::thread::scope(|scope| {
        for n in 0..8 {
            scope.spawn(move || {
                let mut agent = Agent::fake(&format!(
                    "spawn 'setsid pid @pid hang' wait-for @pid sleep {} print done",
                    n * 40
                ));
                let outcome = agent.run();
                assert_eq!((outcome.final_text.as_str(), outcome.survivors), ("done\n", 1));
                agent.gone("pid");
            });
        }
    });
}

#[test]
fn other_processes_are_not_touched() {
    let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let mut agent = Agent::fake("spawn 'setsid hang' exit 0");
    agent.run();
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn the_environment_is_what_was_given() {
    let mut agent = Agent::fake("env @env");
    agent.invocation.environment.set("HANDOVER_PHASE", "dev");
    agent.invocation.environment.set("HANDOVER_SPAWN", "outer");
    agent.run();
    let env = agent.read("env");
    let names: Vec<&str> = env.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // Cargo sets it for tests, and no allowlist has it.
    assert!(!names.contains(&"CARGO_MANIFEST_DIR"), "{names:?}");
    assert!(names.contains(&"PATH") && env.contains("HANDOVER_PHASE=dev"));
    assert!(env.contains(&format!("HANDOVER_SPAWN=outer:{}", agent.invocation.spawn)));
}

#[test]
fn a_fake_agent_can_play_every_phase_of_a_story() {
    let mut agent = Agent::fake("--script @script");
    let script = "1-1 dev 1 | print first\n\
        * dev 2 | read print '{HANDOVER_STORY} again' result '{\"nonce\":\"{HANDOVER_NONCE}\"}'\n\
        * review * | print reviewed exit 3\n";
    fs_err::write(agent.path("script"), script).unwrap();
    let result = agent.path("result.json");
    let mut play = |story: &str, phase: &str, attempt: &str| {
        for (name, value) in [
            ("HANDOVER_STORY", story),
            ("HANDOVER_PHASE", phase),
            ("HANDOVER_ATTEMPT", attempt),
            ("HANDOVER_NONCE", "n0nce"),
            ("HANDOVER_RESULT", result.to_str().unwrap()),
        ] {
            agent.invocation.environment.set(name, value);
        }
        let outcome = agent.run();
        (outcome.final_text.clone(), outcome.exit_code())
    };
    assert_eq!(play("1-1", "dev", "1"), ("first\n".to_owned(), Some(0)));
    assert_eq!(play("1-2", "dev", "2"), ("1-2 again\n".to_owned(), Some(0)));
    assert_eq!(play("1-2", "review", "1"), ("reviewed\n".to_owned(), Some(3)));
    assert_eq!(play("1-2", "kickoff", "1"), (String::new(), Some(0)));
    assert_eq!(fs_err::read_to_string(&result).unwrap(), r#"{"nonce":"n0nce"}"#);
}

/// Programs that the agent started and abandoned end one after the other; without reaping, they would fill the
/// process table.
#[test]
fn strays_that_end_are_reaped() {
    let mut agent = Agent::fake(
        "spawn \"setsid spawn 'setsid pid @pid'\" wait-for @pid sleep 4000 write @state {HANDOVER_SPAWN}",
    );
    let seen = std::thread::scope(|scope| {
        let (pid, state) = (agent.path("pid"), agent.path("state"));
        let watch = scope.spawn(move || {
            while !state.exists() {
                std::thread::sleep(Duration::from_millis(5));
            }
            let pid = fs_err::read_to_string(pid).unwrap();
            fs_err::metadata(format!("/proc/{pid}")).is_ok()
        });
        assert!(agent.run().is_success());
        watch.join().unwrap()
    });
    assert!(!seen, "the stray was still in the table while the agent ran");
}

/// Replaces a word, even one split between two chunks.
fn filter(word: &'static str, by: &'static str) -> Filter<'static> {
    let mut all = Vec::new();
    Box::new(move |piece| {
        if let Piece::Bytes(bytes) = piece {
            all.extend_from_slice(bytes);
        }
        match memchr::memrchr(b'\n', &all) {
            Some(at) => {
                let lines: Vec<u8> = all.drain(..=at).collect();
                String::from_utf8_lossy(&lines).replace(word, by).into_bytes()
            }
            None => Vec::new(),
        }
    })
}

#[test]
fn raw_output_on_disk_is_redacted_and_capped() {
    let agent = Agent::fake("print public print 'key sk-secret' err aside sleep 100 flood 5000");
    let path = agent.path("raw.log");
    let file = File::create(&path).unwrap();
    let mut tee = Tee::new(file, 200, || filter("sk-secret", "[REDACTED]"));
    let outcome =
        run(&agent.invocation, Some(&mut tee), &mut |_| {}, &CancelToken::default()).unwrap();
    drop(tee);
    assert_eq!(outcome.tee_error, None);
    let raw = agent.read("raw.log");
    assert!(
        raw.contains("public\n") && raw.contains("key [REDACTED]\n") && raw.contains("aside\n")
    );
    assert!(!raw.contains("sk-secret") && raw.len() < 300);
    assert!(raw.contains("was dropped"));
}

#[test]
fn a_full_disk_does_not_end_the_run() {
    let agent = Agent::fake("flood 100000 print done");
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut tee = Tee::new(full, 1 << 20, || filter("x", "y"));
    let outcome =
        run(&agent.invocation, Some(&mut tee), &mut |_| {}, &CancelToken::default()).unwrap();
    assert!(outcome.is_success() && outcome.final_text.ends_with("done\n"));
    assert!(outcome.tee_error.unwrap().contains("No space left"));
}

#[test]
fn a_panicking_caller_leaves_no_agent() {
    let agent = Agent::fake("print x hang");
    let result = std::panic::catch_unwind(|| {
        let mut on_event =
            |event| assert!(!matches!(event, AgentEvent::Text(_)), "the caller's fault");
        run(&agent.invocation, None, &mut on_event, &agent.cancel)
    });
    assert!(result.is_err());
    // It was killed, but no process is left to reap it.
    while !handover_testkit::processes_with("HANDOVER_SPAWN", agent.invocation.spawn.as_str())
        .is_empty()
    {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn start_failures_have_a_reason() {
    let error = |change: &dyn Fn(&mut Agent)| {
        let mut agent = Agent::fake("");
        change(&mut agent);
        run(&agent.invocation, None, &mut |_| {}, &agent.cancel).unwrap_err()
    };
    let not_found = error(&|agent| agent.invocation.program = "no-such-program".into());
    assert_eq!(
        not_found.to_string(),
        "the program `no-such-program` of host `command` was not found"
    );
    let folder = error(&|agent| agent.invocation.folder = "/no/such/folder".into());
    assert!(matches!(folder, AgentError::FolderNotFound { .. }));
    let none = error(&|agent| agent.invocation.program = "".into());
    assert!(matches!(none, AgentError::NoProgram));
    let not_executable = error(&|agent| {
        fs_err::write(agent.path("file"), "x").unwrap();
        agent.invocation.program = agent.path("file");
    });
    assert!(matches!(not_executable, AgentError::Start { .. }));
}

#[test]
fn commands_are_split_without_a_shell() {
    let (program, args) =
        handover_agents::split_command("agent --say 'a b' \"$HOME\" `id`").unwrap();
    assert_eq!(program.to_str(), Some("agent"));
    assert_eq!(args, ["--say", "a b", "$HOME", "`id`"]);
    assert!(matches!(handover_agents::split_command("agent 'open"), Err(AgentError::Split { .. })));
    assert!(matches!(handover_agents::split_command("  "), Err(AgentError::NoProgram)));
}
