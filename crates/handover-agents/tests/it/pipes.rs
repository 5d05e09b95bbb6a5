//! Tools that read bytes and print bytes.

use handover_agents::{CancelToken, Ended, pipe_tool};
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
fn a_tools_daemon_is_killed_with_it() {
    let mut tool =
        Agent::fake("spawn-unmarked 'setsid pid @daemon hang' wait-for @daemon print done");
    tool.invocation.prompt = None;
    let piped = pipe_tool(&tool.invocation, b"", 1 << 20, &CancelToken::default()).unwrap();
    assert_eq!(String::from_utf8_lossy(&piped.stdout), "done\n");
    tool.gone("daemon");
}
