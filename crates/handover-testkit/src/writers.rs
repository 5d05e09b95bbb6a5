//! Processes that write continuously, to be killed or cut off while they do.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::TestEnv;

/// Shells that record one entry after another and report those that were acknowledged. Each leads its own
/// session, so that it is killed together with the program it is running.
pub struct Writers {
    shells: Vec<Child>,
    reports: Vec<Lines<BufReader<ChildStdout>>>,
    acknowledged: Vec<String>,
}

impl Writers {
    /// Starts this many of them.
    pub fn start(env: &TestEnv, count: usize) -> Self {
        Self::start_after(env, count, 0)
    }

    /// Starts this many of them after earlier ones were killed; their entries differ by `round`.
    pub fn start_after(env: &TestEnv, count: usize, round: usize) -> Self {
        let script = "i=0; while :; do i=$((i+1)); \
            \"$0\" reasoning add --role developer --phase risks \"thought $1-$i\" -q >/dev/null 2>&1 \
            && echo \"thought $1-$i\"; done";
        let mut shells: Vec<Child> = (0..count)
            .map(|writer| {
                let mut shell = env.tool("setsid");
                shell.args(["sh", "-c", script]).arg(env.binary()).arg(format!("{round}-{writer}"));
                shell.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        let reports = shells
            .iter_mut()
            .map(|shell| BufReader::new(shell.stdout.take().unwrap()).lines())
            .collect();
        Self { shells, reports, acknowledged: Vec::new() }
    }

    /// Waits until each of them has this many more entries acknowledged; none of them pauses meanwhile.
    pub fn wait_for(&mut self, each: usize) {
        for report in &mut self.reports {
            self.acknowledged.extend(report.by_ref().take(each).map(Result::unwrap));
        }
    }

    /// Kills them, and returns everything that was acknowledged.
    pub fn kill(mut self) -> Vec<String> {
        self.kill_all();
        for report in std::mem::take(&mut self.reports) {
            self.acknowledged.extend(report.map_while(Result::ok));
        }
        std::mem::take(&mut self.acknowledged)
    }

    fn kill_all(&mut self) {
        for shell in &self.shells {
            let group = format!("-{}", shell.id());
            let _ = Command::new("kill").args(["-9", "--", &group]).status();
        }
        for mut shell in self.shells.drain(..) {
            let _ = shell.wait();
        }
    }
}

impl Drop for Writers {
    fn drop(&mut self) {
        self.kill_all();
    }
}

/// Asserts that the store has everything that was acknowledged, and nothing twice.
#[track_caller]
pub fn assert_kept(env: &TestEnv, acknowledged: &[String]) {
    let list = env.run(["reasoning", "list", "--json", "--limit", "100000"]).ok().json();
    let list = list["reasoning"].as_array().unwrap();
    let kept: BTreeSet<&str> = list.iter().map(|r| r["content"].as_str().unwrap()).collect();
    assert_eq!(kept.len(), list.len(), "something was written twice");
    for thought in acknowledged {
        assert!(kept.contains(thought.as_str()), "{thought} was acknowledged and is gone");
    }
}
