//! Orphans of a crashed engine are found by their record or their marker, and no other process is touched.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use handover_agents::{Identity, OrphanEnd, SpawnId, end_marked, end_orphan};
use handover_testkit::{FakeAgent, processes_with};

use crate::setup::Agent;

const GRACE: Duration = Duration::from_millis(200);

/// A process with a marker that nothing supervises any more.
fn orphan(agent: &Agent) -> Child {
    let mut command = Command::new(FakeAgent::program());
    command
        .args(&agent.invocation.args)
        .env_clear()
        .env(SpawnId::VARIABLE, format!("outer:{}", agent.invocation.spawn))
        .stdin(Stdio::null());
    command.spawn().unwrap()
}

fn wait_for(agent: &Agent, file: &str) {
    while !agent.path(file).exists() || agent.read(file).is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn by_mark() {
    let agent = Agent::fake("spawn 'setsid ignore-term pid @two hang' wait-for @two pid @one hang");
    let mut child = orphan(&agent);
    wait_for(&agent, "one");
    assert_eq!(end_marked(&agent.invocation.spawn, GRACE).unwrap(), OrphanEnd::Ended(2));
    child.wait().unwrap();
    agent.nothing_left();
    assert_eq!(end_marked(&agent.invocation.spawn, GRACE).unwrap(), OrphanEnd::Gone);
}

#[test]
fn by_record() {
    // The root lacks the marker of its run, so only PID and start time can identify it.
    let agent = Agent::fake("spawn-unmarked 'pid @two hang' wait-for @two pid @one hang");
    let mut child = orphan(&agent);
    wait_for(&agent, "one");
    let record = Identity {
        pid: child.id(),
        started: Some(started(child.id())),
        boot: boot(),
        spawn: "another".to_owned(),
    };

    let later = Identity { started: record.started.map(|ticks| ticks + 1), ..record.clone() };
    assert_eq!(end_orphan(&later, GRACE).unwrap(), OrphanEnd::Gone);
    let earlier_boot = Identity { boot: Some("earlier".to_owned()), ..record.clone() };
    assert_eq!(end_orphan(&earlier_boot, GRACE).unwrap(), OrphanEnd::Gone);
    assert!(end_orphan(&Identity { started: None, ..record.clone() }, GRACE).is_err());
    assert!(child.try_wait().unwrap().is_none());

    let read_back: Identity =
        serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
    assert_eq!(end_orphan(&read_back, GRACE).unwrap(), OrphanEnd::Ended(2));
    child.wait().unwrap();
    // Its new parent may not have reaped it yet, but it is no longer running.
    let stat = fs_err::read_to_string(format!("/proc/{}/stat", agent.read("two")));
    assert!(stat.is_err() || stat.is_ok_and(|stat| stat.contains(") Z ")));
}

#[test]
fn the_record_of_a_run_is_that_of_its_process() {
    let mut agent = Agent::fake("pid @pid");
    agent.run();
    let identity = agent.identity();
    assert_eq!(identity.pid.to_string(), agent.read("pid"));
    assert_eq!(identity.spawn, agent.invocation.spawn.as_str());
    assert!(identity.started.is_some_and(|ticks| ticks > 0));
    assert_eq!(identity.boot, boot());
    assert_eq!(end_orphan(&identity, GRACE).unwrap(), OrphanEnd::Gone);
}

/// Not a test but the engine for the next test, which kills it; does nothing on its own.
#[test]
fn an_engine() {
    if let Some(folder) = std::env::var_os("TEST_ENGINE_FOLDER") {
        let mut agent = Agent::fake("");
        agent.invocation.folder = folder.into();
        agent.invocation.spawn = SpawnId::new("killed-engine").unwrap();
        agent.invocation.args = ["spawn", "setsid ignore-term pid two hang", "pid", "one", "hang"]
            .map(Into::into)
            .into();
        agent.run();
    }
}

#[test]
fn orphans_of_a_killed_engine_are_found() {
    let agent = Agent::fake("");
    let mut engine = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "orphans::an_engine"])
        .env("TEST_ENGINE_FOLDER", agent.folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for(&agent, "one");
    wait_for(&agent, "two");
    engine.kill().unwrap();
    engine.wait().unwrap();
    let spawn = SpawnId::new("killed-engine").unwrap();
    assert_eq!(processes_with(SpawnId::VARIABLE, "killed-engine").len(), 2);
    assert_eq!(end_marked(&spawn, GRACE).unwrap(), OrphanEnd::Ended(2));
    assert!(processes_with(SpawnId::VARIABLE, "killed-engine").is_empty());
}

#[test]
fn markers_are_validated() {
    for bad in ["", "a:b", "a b", "ü", &"x".repeat(129)] {
        assert!(SpawnId::new(bad).is_err(), "{bad}");
    }
}

/// The 22nd field of the process's line, in ticks since the machine started; portable code knows seconds since 1970.
pub(crate) fn started(pid: u32) -> u64 {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let rest = stat.rsplit_once(')').unwrap().1;
    let ticks: u64 = rest.split_whitespace().nth(19).unwrap().parse().unwrap();
    if cfg!(not(feature = "portable")) {
        return ticks;
    }
    let system = fs_err::read_to_string("/proc/stat").unwrap();
    let boot = system.lines().find_map(|line| line.strip_prefix("btime ")).unwrap();
    boot.parse::<u64>().unwrap() + ticks / rustix::param::clock_ticks_per_second()
}

/// Portable code needs none: a time of the calendar is never repeated.
fn boot() -> Option<String> {
    let id = fs_err::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    Some(id.trim().to_owned()).filter(|_| cfg!(not(feature = "portable")))
}

/// A process that has lost both marker and parent belongs to the run whose folder it works in, even while
/// another run is active.
#[test]
#[cfg_attr(feature = "portable", ignore = "only Linux adopts what has lost its parent")]
fn a_stray_without_a_marker_is_attributed_by_its_folder() {
    let mut long = Agent::fake("pid @here hang");
    let cancel = long.cancel.clone();
    let here = long.path("here");
    std::thread::scope(|scope| {
        let other = scope.spawn(move || {
            long.run();
            long
        });
        while !here.exists() {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut short =
            Agent::fake("spawn-unmarked 'setsid pid @stray hang' wait-for @stray print x");
        short.run();
        short.gone("stray");
        assert!(!other.is_finished());
        cancel.cancel();
        other.join().unwrap().gone("here");
    });
}
