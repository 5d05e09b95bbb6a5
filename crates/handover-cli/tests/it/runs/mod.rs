//! Runs: the real program, real git, and an agent program with every fault that agents have.

mod base;
mod basics;
mod budget;
mod chain;
mod closing;
mod crashes;
mod faults;
mod gates;
mod guard;
mod killed;
mod layouts;
mod machines;
mod many;
mod parallel;
pub(crate) mod party;
mod random_kills;
mod real;
mod team;
mod test_setup;
mod uat;

use std::path::PathBuf;

use handover_testkit::{FakeAgent, Output, TestEnv};
use serde_json::Value;

/// A repository with an epic, and an agent that does what its script says.
pub(crate) struct Epic {
    pub(crate) env: TestEnv,
    script: PathBuf,
}

/// A developer that completes its work, and a reviewer that passes it.
pub(crate) const GOOD: &str = r#"
* dev * | write {HANDOVER_STORY}.txt work print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* fix * | append {HANDOVER_STORY}.txt fixed print "IMPLEMENTATION COMPLETE: {HANDOVER_STORY}"
* review * | print "REVIEW PASSED: {HANDOVER_STORY}"
"#;

impl Epic {
    /// Epic 1 with stories of these names, committed.
    pub(crate) fn new(stories: &[&str]) -> Self {
        let env = TestEnv::empty(crate::handover());
        env.git("", &["init", "--quiet"]);
        env.run(["init"]).ok();
        env.write("docs/epics/epic-1-shop.md", "# Epic 1: Shop\n");
        for id in stories {
            env.write(&format!("docs/stories/{id}.md"), story(id));
        }
        env.write("README.md", "a shop\n");
        let script = env.folder().join("script");
        fs_err::write(&script, GOOD).unwrap();
        let epic = Self { env, script };
        epic.commit_all("base");
        epic
    }

    pub(crate) fn commit_all(&self, message: &str) {
        self.env.git("", &["add", "--all"]);
        self.env.git("", &["commit", "--quiet", "--message", message]);
    }

    /// Lines that come before those of [`GOOD`].
    pub(crate) fn script(&self, lines: &str) {
        fs_err::write(&self.script, format!("{lines}\n{GOOD}")).unwrap();
    }

    pub(crate) fn agent(&self) -> String {
        format!("{} --script {}", FakeAgent::program().display(), self.script.display())
    }

    pub(crate) fn args(&self, more: &[&str]) -> Vec<String> {
        let mut args = vec!["run".to_owned(), "1".to_owned()];
        args.extend(["--agent-command".to_owned(), self.agent()]);
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        args
    }

    #[must_use = "look at the output or at least at the exit code"]
    pub(crate) fn run(&self, more: &[&str]) -> Output {
        self.env.run(self.args(more))
    }

    /// What a terminal shows of a run that succeeds.
    pub(crate) fn in_terminal(&self, more: &[&str]) -> String {
        let words: Vec<String> = self.args(more).iter().map(|arg| format!("'{arg}'")).collect();
        let command = format!("{} {}", self.env.binary().display(), words.join(" "));
        let mut terminal = self.env.tool("script");
        terminal.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        let output = terminal.output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{shown}");
        shown
    }

    /// The latest run as `status --json` shows it.
    pub(crate) fn status(&self) -> Value {
        self.env.run(["status", "--json"]).ok().json()["run"].clone()
    }

    /// The state of each story.
    pub(crate) fn states(&self) -> Vec<String> {
        let status = self.status();
        let stories = status["stories"].as_array().unwrap();
        stories.iter().map(|story| story["state"].as_str().unwrap().to_owned()).collect()
    }

    pub(crate) fn reason(&self, at: usize) -> String {
        self.status()["stories"][at]["reason"].as_str().unwrap_or_default().to_owned()
    }

    /// What git prints.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = std::process::Command::new("git")
            .args(args)
            .current_dir(self.env.path(""))
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    pub(crate) fn subjects(&self, branch: &str) -> Vec<String> {
        let log = self.git(&["log", "--format=%s", &format!("main..{branch}")]);
        log.lines().map(str::to_owned).collect()
    }
}

pub(crate) fn story(id: &str) -> String {
    format!("# Story {id}\n\nStatus: ready-for-dev\n\n## Tasks\n\n- [ ] do {id}\n")
}
