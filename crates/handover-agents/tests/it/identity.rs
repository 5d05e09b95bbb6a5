//! A process is identified by PID and start time together, so that a reused PID is another process.

use std::process::{Command, Stdio};

use handover_agents::{Identity, SpawnId, current_process, is_alive, machine};

use crate::orphans::started;

fn spawn() -> SpawnId {
    SpawnId::new("identity-1").unwrap()
}

#[test]
fn this_process_is_alive_and_has_its_marker() {
    let me = current_process(&spawn());
    assert_eq!((me.pid, me.spawn.as_str()), (std::process::id(), "identity-1"));
    assert_eq!(is_alive(&me), Some(true));
}

#[test]
fn an_identity_survives_json() {
    let me = current_process(&spawn());
    let json = serde_json::to_string(&me).unwrap();
    let read: Identity = serde_json::from_str(&json).unwrap();
    assert_eq!((read.pid, read.started, read.boot), (me.pid, me.started, me.boot));
}

#[test]
fn a_reused_pid_is_another_process() {
    let me = current_process(&spawn());
    let reused = Identity { started: me.started.map(|ticks| ticks + 1), ..me.clone() };
    assert_eq!(is_alive(&reused), Some(false));
    let before_reboot = Identity { boot: Some("another".to_owned()), ..me };
    assert_eq!(is_alive(&before_reboot), Some(false));
}

#[test]
fn a_process_that_has_ended_is_not_alive() {
    let mut child = Command::new("sleep").arg("60").stdin(Stdio::null()).spawn().unwrap();
    let pid = child.id();
    let identity = Identity { pid, started: Some(started(pid)), ..current_process(&spawn()) };
    assert_eq!(is_alive(&identity), Some(true));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(is_alive(&identity), Some(false));
}

#[test]
fn the_machine_has_a_name() {
    assert!(!machine().is_empty());
    assert_eq!(machine(), machine());
}
