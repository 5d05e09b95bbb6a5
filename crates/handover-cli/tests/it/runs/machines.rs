//! Several machines on one run: each with its own home and clone, one remote, one store.

use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use handover_testkit::{Output, TestEnv};

use super::Epic;

const FOUR: &[&str] = &["1-1-a", "1-2-b", "1-3-c", "1-4-d"];

/// Two machines: the epic's own, and a clone with its own home.
struct Machines {
    epic: Epic,
    other: TestEnv,
}

impl Machines {
    /// With a file that both can see.
    fn with_a_file() -> Self {
        Self::new(|epic| epic.env.folder().join("shared.db").display().to_string())
    }

    /// With a database that both reach over TCP.
    fn with_postgres() -> Self {
        Self::new(|_| handover_testkit::postgres())
    }

    fn new(store: impl FnOnce(&Epic) -> String) -> Self {
        let mut epic = Epic::new(FOUR);
        let remote = epic.env.folder().join("remote.git");
        let config = "[runs]\nremote = \"origin\"\nlease = 3\n";
        epic.env.write(".handover/config.toml", config);
        epic.commit_all("several machines");
        let (store, project) = (store(&epic), format!("t{}", uuid::Uuid::now_v7().simple()));
        epic.env.git("", &["clone", "--quiet", "--bare", ".", path(&remote)]);
        epic.env.git("", &["remote", "add", "origin", path(&remote)]);
        epic.env.set("HANDOVER_MACHINE", "one");
        let mut other = TestEnv::empty(crate::handover());
        other.git("", &["clone", "--quiet", path(&remote), "."]);
        other.set("HANDOVER_MACHINE", "two");
        for env in [&mut epic.env, &mut other] {
            env.set("HANDOVER_STORE", &store);
            env.set("HANDOVER_PROJECT_ID", &project);
        }
        Self { epic, other }
    }

    fn file(&self, name: &str) -> String {
        self.epic.env.folder().join(name).display().to_string()
    }

    fn start(&self) -> Child {
        self.epic.env.start(self.epic.args(&["--json"]))
    }

    fn join(&self) -> Child {
        self.other.start(self.epic.args(&["--json"]))
    }

    /// The agents' files on the branch, without the stories, which contain times.
    fn work(env: &TestEnv) -> String {
        let output = std::process::Command::new("git")
            .args([
                "ls-tree",
                "-r",
                "handover/epic-1",
                "--",
                "1-1-a.txt",
                "1-2-b.txt",
                "1-3-c.txt",
                "1-4-d.txt",
            ])
            .current_dir(env.path(""))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same epic on one machine.
    fn alone() -> String {
        let epic = Epic::new(FOUR);
        epic.run(&[]).ok();
        Self::work(&epic.env)
    }
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn wait_for(what: &str, is_there: impl Fn() -> bool) {
    let begin = Instant::now();
    while !is_there() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{what} never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn exists(file: &str) -> impl Fn() -> bool {
    let file = file.to_owned();
    move || Path::new(&file).exists()
}

/// Whether one of them helped the other.
fn joined(output: &Output) -> bool {
    output.stdout.contains("\"type\":\"run_joined\"")
}

#[test]
fn two_machines_share_the_stories() {
    let machines = Machines::with_postgres();
    // Two developers must work at once, which one machine alone never does.
    let (a, b) = (machines.file("a"), machines.file("b"));
    machines.epic.script(&format!(
        "1-1-a dev 1 | write {a} x wait-for {b} write 1-1-a.txt work print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-2-b dev 1 | write {b} x wait-for {a} write 1-2-b.txt work print \"IMPLEMENTATION COMPLETE: 1-2-b\""
    ));
    let one = machines.start();
    wait_for("the first agent", exists(&a));
    let two = machines.join();
    let (one, two) = (machines.epic.env.output(one).ok(), machines.other.output(two).ok());
    assert!(!joined(&one) && joined(&two), "{two}");
    assert_eq!(machines.epic.states(), ["done"; 4]);
    assert_eq!(Machines::work(&machines.epic.env), Machines::alone());
    // Only branches remain, on both machines.
    for env in [&machines.epic.env, &machines.other] {
        let refs = std::process::Command::new("git")
            .args(["ls-remote", "--refs", "origin", "refs/handover/*"])
            .current_dir(env.path(""))
            .output()
            .unwrap();
        assert_eq!(String::from_utf8(refs.stdout).unwrap(), "");
    }
}

#[test]
fn a_helper_takes_over_from_a_dead_leader() {
    let machines = Machines::with_postgres();
    let (begun, go) = (machines.file("begun"), machines.file("go"));
    machines.epic.script(&format!(
        "1-2-b dev 1 | write {begun} x wait-for {go} write 1-2-b.txt work print \"IMPLEMENTATION COMPLETE: 1-2-b\""
    ));
    let mut one = machines.start();
    wait_for("the second story", exists(&begun));
    let two = machines.join();
    std::thread::sleep(Duration::from_millis(500));
    one.kill().unwrap();
    one.wait().unwrap();
    fs_err::write(&go, "x").unwrap();
    let two = machines.other.output(two).ok();
    assert!(joined(&two) && two.stdout.contains("run_resumed"), "{two}");
    assert_eq!(machines.epic.states(), ["done"; 4]);
    assert_eq!(Machines::work(&machines.other), Machines::alone());
    let subjects = machines.epic.status();
    assert_eq!(subjects["stories"][0]["phases"].as_array().unwrap().len(), 3, "{subjects}");
}

#[test]
fn work_of_a_dead_helper_is_taken_over() {
    let machines = Machines::with_a_file();
    let (a, b, go) = (machines.file("a"), machines.file("b"), machines.file("go"));
    machines.epic.script(&format!(
        "1-1-a dev 1 | write {a} x wait-for {b} write 1-1-a.txt work print \"IMPLEMENTATION COMPLETE: 1-1-a\"\n\
         1-2-b dev 1 | append {b} x wait-for {go} write 1-2-b.txt work print \"IMPLEMENTATION COMPLETE: 1-2-b\""
    ));
    let one = machines.start();
    wait_for("the first agent", exists(&a));
    let mut two = machines.join();
    wait_for("the helper's agent", exists(&b));
    two.kill().unwrap();
    two.wait().unwrap();
    fs_err::write(&go, "x").unwrap();
    machines.epic.env.output(one).ok();
    assert_eq!(machines.epic.states(), ["done"; 4]);
    assert_eq!(fs_err::read_to_string(&b).unwrap(), "xx", "it was done again");
    assert_eq!(Machines::work(&machines.epic.env), Machines::alone());
}

#[test]
fn rejects_a_second_machine_without_a_remote() {
    let mut machines = Machines::with_a_file();
    machines.other.write(".handover/config.toml", "");
    machines.other.set("HANDOVER_MACHINE", "two");
    let begun = machines.file("begun");
    machines.epic.script(&format!(
        "1-1-a dev 1 | write {begun} x wait-for {begun}-go write 1-1-a.txt work print \"IMPLEMENTATION COMPLETE: 1-1-a\""
    ));
    let one = machines.start();
    wait_for("the first agent", exists(&begun));
    let refused = machines.other.run(machines.epic.args(&["--json"])).fails(5);
    assert_eq!(refused.error()["code"], "locked", "{refused}");
    fs_err::write(format!("{begun}-go"), "x").unwrap();
    machines.epic.env.output(one).ok();
}
