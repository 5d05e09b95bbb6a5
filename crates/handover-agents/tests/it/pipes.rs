//! Tools that read bytes and print bytes.

use std::time::Duration;

use handover_agents::{CancelToken, Ended, ask_server, pipe_tool};
use handover_model::Host;

use crate::setup::Agent;

#[test]
fn every_byte_is_passed_through() {
    let mut tool = Agent::new(Host::COMMAND);
    tool.invocation.program = "cat".into();
    let input: Vec<u8> = (0..=255_u8).cycle().take(300_000).collect();
    let piped = pipe_tool(&tool.invocation, &input, 1 << 20, &CancelToken::default()).unwrap();
    assert!(piped.stdout == input, "{} of {} bytes", piped.stdout.len(), input.len());
    assert_eq!((piped.is_cut, piped.outcome.ended), (false, Ended::Exited(0)));
    tool.nothing_left();
}

#[test]
fn excess_output_is_cut_and_the_tool_stopped() {
    let mut tool = Agent::new(Host::COMMAND);
    tool.invocation.program = "yes".into();
    let piped = pipe_tool(&tool.invocation, b"", 1_001, &CancelToken::default()).unwrap();
    assert_eq!((piped.stdout.len(), piped.is_cut), (1_001, true));
    assert_eq!(piped.outcome.ended, Ended::OutputFlood);
    tool.nothing_left();
}

#[test]
#[cfg_attr(feature = "portable", ignore = "only Linux adopts what has lost its parent")]
fn a_tools_daemon_is_killed_with_it() {
    let mut tool =
        Agent::fake("spawn-unmarked 'setsid pid @daemon hang' wait-for @daemon print done");
    tool.invocation.prompt = None;
    let piped = pipe_tool(&tool.invocation, b"", 1 << 20, &CancelToken::default()).unwrap();
    assert_eq!(String::from_utf8_lossy(&piped.stdout), "done\n");
    tool.gone("daemon");
}

/// A server that ends with its input, and so would not answer if that were closed at once.
#[test]
fn a_server_is_asked_until_it_has_answered() {
    let mut server = Agent::new(Host::COMMAND);
    let script =
        "read line; sleep 0.3; read -t 0.1 more; [ $? -gt 1 ] && echo answer to $line; cat";
    server.invocation.program = "bash".into();
    server.invocation.args = vec!["-c".into(), script.into()];
    let mut lines = Vec::new();
    let mut is_answer = |line: &str| {
        lines.push(line.to_owned());
        line.starts_with("answer")
    };
    let cancel = CancelToken::default();
    let outcome = ask_server(&server.invocation, b"question\n", &mut is_answer, &cancel).unwrap();
    assert_eq!((outcome.ended, lines), (Ended::Exited(0), vec!["answer to question".to_owned()]));
    // One that never answers is stopped by its limits.
    server.invocation.limits.wall = Some(Duration::from_millis(500));
    let outcome = ask_server(&server.invocation, b"question\n", &mut |_| false, &cancel).unwrap();
    assert_eq!(outcome.ended, Ended::WallTimeout);
    server.nothing_left();
}
