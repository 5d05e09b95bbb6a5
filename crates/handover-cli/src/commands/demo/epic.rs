//! `handover demo --epic`: two epics, from their files to commits, acceptance, retrospective and handoff.

use handover_agents::join_command;

use super::stage::Stage;
use crate::error::{CommandError, io};

const FILES: &[(&str, &str)] = &[
    ("README.md", "# Greeter\n\nOne file per greeting.\n"),
    (
        "docs/epics/epic-1-greeter.md",
        "# Epic 1: Greeter\n\n## Goal\n\nAda is greeted, and seen off.\n",
    ),
    (
        "docs/epics/epic-2-languages.md",
        "# Epic 2: Languages\n\n## Dependencies\n\n- Epic 1: it defines how greetings are stored\n",
    ),
    (
        "docs/stories/1-1-greet.md",
        "# Story 1.1: Greet the guest\n\nStatus: ready-for-dev\n\n## Acceptance Criteria\n\n\
         1. AC1: `greeting.txt` says `Hello, Ada!`\n",
    ),
    (
        "docs/stories/1-2-farewell.md",
        "# Story 1.2: See the guest off\n\nStatus: ready-for-dev\n\nDepends on: 1.1\n\n\
         ## Acceptance Criteria\n\n1. AC1: `farewell.txt` says goodbye to the guest\n",
    ),
    (
        "docs/stories/2-1-german.md",
        "# Story 2.1: Greet the guest in German\n\nStatus: ready-for-dev\n\n## Acceptance Criteria\n\n\
         1. AC1: there is a German greeting for the guest\n",
    ),
];

impl Stage<'_> {
    /// Plays the demo.
    pub(super) fn epic(&self) -> Result<(), CommandError> {
        self.say("A project with two epics. The second builds on the first.")?;
        for (path, text) in FILES {
            self.write(path, text)?;
        }
        self.run_git(&["init", "--quiet"])?;
        self.play(&["init"], "")?;
        self.write(".handover/config.toml", &self.config()?)?;
        self.run_git(&["add", "--all"])?;
        self.run_git(&["commit", "--quiet", "--message", "the plan"])?;
        self.git(&["ls-files", "docs"])?;
        self.say("The order follows from the declared dependencies, not from the command line.")?;
        self.play(&["run", "2", "1", "--dry-run"], "")?;
        self.say(
            "Every agent is a fresh process in a worktree, and the gate is a real program. Watch for the typo that the \
             gate catches and an agent fixes, for the two reviewers (first independently, then knowing each \
             other's findings), and for the story that fails, is analyzed and retried.",
        )?;
        let parties = ["--party-review", "--party-failure", "--party-agents", "winston,murat"];
        self.play(&[&["run", "2", "1", "--uat", "quick"][..], &parties].concat(), "")?;
        self.say("The commits are on separate branches; your checkout was not touched.")?;
        self.git(&["log", "--oneline", "--reverse", "main..handover/epic-2"])?;
        self.git(&["status", "--short"])?;
        self.say(
            "The record of the story that failed at first: who said what, and what was decided.",
        )?;
        self.git(&["show", "handover/epic-1:docs/stories/1-2-farewell.md"])?;
        self.say("The acceptance document of epic 1.")?;
        self.git(&["show", "handover/epic-1:docs/uat/epic-1-uat.md"])?;
        self.say("The handoff of epic 1, and what the developer of epic 2 made of it.")?;
        self.git(&["show", "handover/epic-1:docs/handoffs/epic-1-handoff.md"])?;
        self.git(&["show", "handover/epic-2:hallo.txt"])?;
        self.say("Scenarios can be run at any time; manual ones are listed.")?;
        self.play(&["run", "uat", "1"], "")?;
        self.say("What the first developer found out (its file is on the branches), and what the next ones did with it.")?;
        self.play(&["package", "show", "docs/greetings.md", "--session", "epic-1"], "")?;
        self.say("What was learned is now a strategy of the project: agents of every later epic get what fits their task.")?;
        self.play(&["strategy", "list"], "")?;
        self.say("What all of these agents were given, what they used of it, and what they cost.")?;
        self.play(&["stats"], "")?;
        self.say(
            "Next: write your own docs/epics and docs/stories, then `handover run 1 --dry-run`.",
        )
    }

    /// Uses this program as the agent, one gate, and `cat` for scenarios.
    fn config(&self) -> Result<String, CommandError> {
        let program = std::env::current_exe().map_err(|error| io(&error))?;
        let command = join_command(&program, &["demo-agent".into()]);
        // A JSON string is also a valid TOML string.
        let command = serde_json::Value::from(command);
        Ok(format!(
            "[runs]\nhost = \"command\"\ncommand = {command}\n\n\
             [gates]\ncommands = [{{ name = \"spelling\", argv = [\"sh\", \"-c\", \"grep -q Greeter README.md && {{ test ! -e greeting.txt || grep -qx 'Hello, Ada!' greeting.txt; }}\"] }}]\n\n\
             [uat]\nallow = [\"cat\"]\n"
        ))
    }
}
