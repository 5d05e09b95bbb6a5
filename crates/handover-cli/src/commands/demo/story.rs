//! `handover demo`: the same two tasks twice. Without Handover the second agent repeats the mistake of the
//! first; with it, it does not.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use handover_agents::join_command;

use super::shop::{AGENT, FILES, LOG, SESSION, TASKS};
use super::stage::Stage;
use crate::error::{CommandError, Exit, io};

/// What became of one agent.
struct Work {
    steps: u32,
    failed: u32,
}

impl Stage<'_> {
    /// Plays the demo.
    pub(super) fn story(&self) -> Result<(), CommandError> {
        if self.pace.is_slow() {
            self.say(
                "Two minutes. Any key skips a pause, q skips them all. Nothing outside a temporary folder is touched.",
            )?;
        }
        let without = self.without()?;
        let with = self.with()?;
        self.look_back()?;
        self.compare(&without, &with)
    }

    /// Two agents, each with nothing but its task.
    fn without(&self) -> Result<Vec<Work>, CommandError> {
        self.title("1  Without Handover")?;
        self.say(
            "A small shop. Two tasks, two agents. The tests know how accounting rounds tax; the tasks do not say.",
        )?;
        for (path, text) in FILES {
            self.write(path, text)?;
        }
        for (what, task) in TASKS {
            if what == "invoice" {
                self.say("It found out, after a while. The next agent starts with an empty head:")?;
            }
            self.script()?;
            self.show(&format!("echo '{task}' | sh {AGENT}"))?;
            self.agent(task)?;
            self.pace.look(3)?;
        }
        self.say("The same two failures, the same detour. Whatever the first one learned was gone when it ended.")?;
        self.work()
    }

    /// The same tasks and the same agents, started by Handover.
    fn with(&self) -> Result<Vec<Work>, CommandError> {
        self.title("2  With Handover")?;
        self.say("The same shop, tasks and agents, from the beginning.")?;
        fs_err::remove_dir_all(self.root.join("src")).map_err(|error| io(&error))?;
        fs_err::remove_file(self.root.join(LOG)).map_err(|error| io(&error))?;
        self.play(&["init"], "")?;
        self.play(&["session", "new", SESSION], "")?;
        self.say(
            "`spawn` writes the agent's brief, starts it, and keeps what it reports at the end.",
        )?;
        for (what, task) in TASKS {
            if what == "invoice" {
                self.say("Its findings are a package now, and its failure is a known error, for agents that meet it again. The next agent starts with the findings:")?;
            }
            self.script()?;
            let agent = format!("sh {AGENT}");
            self.play(
                &[
                    "spawn",
                    "--host",
                    "command",
                    "--agent-command",
                    &agent,
                    "--role",
                    "developer",
                    "--group",
                    what,
                    "--task",
                    task,
                ],
                "",
            )?;
            self.pace.look(6)?;
        }
        self.say("Right the first time.")?;
        self.work()
    }

    /// The brief of the second agent, and the receipt of it.
    fn look_back(&self) -> Result<(), CommandError> {
        self.title("3  Who knew what, and why")?;
        self.say("Every agent has a receipt: what it got, what was left out, and why. This is the second one's.")?;
        self.play(&["receipt", "show"], "")?;
        self.pace.look(14)?;
        self.say("The findings as others see them. A password slipped in; it was redacted before it was stored.")?;
        self.play(&["package", "show", "1", "--body"], "")?;
        self.pace.look(8)?;
        self.say("And for you, across everything that agents found, decided and solved:")?;
        self.play(&["search", "how is tax rounded"], "")?;
        self.pace.look(12)
    }

    fn compare(&self, without: &[Work], with: &[Work]) -> Result<(), CommandError> {
        let row = |name: &str, count: fn(&Work) -> u32| {
            let all = |work: &[Work]| {
                work.iter().map(|work| count(work).to_string()).collect::<Vec<_>>().join(" + ")
            };
            vec![name.to_owned(), all(without), all(with)]
        };
        self.title("Side by side")?;
        let rows = vec![
            row("steps of the two agents", |work| work.steps),
            row("failed tests", |work| work.failed),
        ];
        self.app.ui.table(&["", "without", "with Handover"], rows, "")?;
        self.pace.look(4)?;
        self.say(
            "The agents follow a script, which costs nothing and shows how it works, not how much it saves. Files, tests, \
             briefs and receipts were real, and all of it is in one file, without a service.",
        )?;
        self.app.ui.line(
            "\nNext:\n  handover demo --web    the same and more on a page\n  handover demo --epic   two epics, from stories to commits\n  handover init          in your own project",
        )
    }

    /// Writes the agent's script, at the pace of the moment.
    fn script(&self) -> Result<(), CommandError> {
        let step = self.pace.agent_step().as_millis().to_string();
        self.write(AGENT, &script(&step, self.pace.hurry())?)
    }

    /// Starts the agent without Handover: the task is all it gets.
    fn agent(&self, task: &str) -> Result<(), CommandError> {
        let mut agent = Command::new("sh")
            .arg(AGENT)
            .current_dir(self.root)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| io(&error))?;
        if let Some(mut stdin) = agent.stdin.take() {
            writeln!(stdin, "{task}").map_err(|error| io(&error))?;
        }
        let status = agent.wait().map_err(|error| io(&error))?;
        if status.success() {
            return Ok(());
        }
        Err(CommandError::new(Exit::Failed, "demo", format!("`sh {AGENT}` failed: {status}")))
    }

    /// What the agents wrote into their log.
    fn work(&self) -> Result<Vec<Work>, CommandError> {
        let log = fs_err::read_to_string(self.root.join(LOG)).map_err(|error| io(&error))?;
        let count = |word: Option<&str>| word.and_then(|word| word.parse().ok()).unwrap_or(0);
        Ok(log
            .lines()
            .map(|line| {
                let mut words = line.split(' ').skip(1);
                Work { steps: count(words.next()), failed: count(words.next()) }
            })
            .collect())
    }
}

/// A script that runs this program as the agent.
pub(super) fn script(step: &str, hurry: Option<&Path>) -> Result<String, CommandError> {
    let program = std::env::current_exe().map_err(|error| io(&error))?;
    let mut args: Vec<OsString> =
        vec!["demo-agent".into(), "--shop".into(), "--step".into(), step.into()];
    if let Some(file) = hurry {
        args.extend(["--hurry".into(), file.into()]);
    }
    Ok(format!("exec {}\n", join_command(&program, &args)))
}
