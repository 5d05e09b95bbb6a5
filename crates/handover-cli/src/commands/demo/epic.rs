//! The story of two epics: from their files to what is committed, accepted, learned and handed over.

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
        "# Epic 2: Languages\n\n## Dependencies\n\n- Epic 1: it says how greetings are kept\n",
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
    /// Tells it.
    pub(super) fn epic(&self) -> Result<(), CommandError> {
        self.say("A project with two epics. The second builds on the first.")?;
        for (path, text) in FILES {
            self.write(path, text)?;
        }
        self.quietly(&["init", "--quiet"])?;
        self.play(&["init"], "")?;
        self.write(".handover/config.toml", &self.config()?)?;
        self.quietly(&["add", "--all"])?;
        self.quietly(&["commit", "--quiet", "--message", "the plan"])?;
        self.git(&["ls-files", "docs"])?;
        self.say(
            "The order follows from what the epics say they depend on, not from what is typed.",
        )?;
        self.play(&["chain", "2", "1", "--dry-run"], "")?;
        self.say(
            "Every agent is a fresh process in a worktree; the gate is a real program. Watch for the typo that the \
             gate finds and somebody mends, for the two who review (alone first, then having heard each other), and \
             for the story that fails, is looked into and tried again.",
        )?;
        let parties = ["--party-review", "--party-failure", "--party-agents", "winston,murat"];
        self.play(&[&["chain", "2", "1", "--uat", "quick"][..], &parties].concat(), "")?;
        self.say("Commits on branches of their own; your checkout was not touched.")?;
        self.git(&["log", "--oneline", "--reverse", "main..handover/epic-2"])?;
        self.git(&["status", "--short"])?;
        self.say("The record of the story that failed first: who said what about it, and what came of it.")?;
        self.git(&["show", "handover/epic-1:docs/stories/1-2-farewell.md"])?;
        self.say("The acceptance of epic 1, as a person reads it.")?;
        self.git(&["show", "handover/epic-1:docs/uat/epic-1-uat.md"])?;
        self.say("What epic 1 handed over, and how the developer of epic 2 came to know it.")?;
        self.git(&["show", "handover/epic-1:docs/handoffs/epic-1-handoff.md"])?;
        self.git(&["show", "handover/epic-2:hallo.txt"])?;
        self.say(
            "Scenarios can be tried out at any time; what only a person can judge is listed.",
        )?;
        self.play(&["uat", "1"], "")?;
        self.say("What was learned is a strategy of the project from now on.")?;
        self.play(&["strategy", "list"], "")?;
        self.say(
            "Next: write docs/epics and docs/stories of your own, then `handover run 1 --dry-run`.",
        )
    }

    /// Agents that are this program, one gate, and what scenarios may start.
    fn config(&self) -> Result<String, CommandError> {
        let program = std::env::current_exe().map_err(|error| io(&error))?;
        let command = join_command(&program, &["demo-agent".into()]);
        // A string of JSON is one of TOML too.
        let command = serde_json::Value::from(command);
        Ok(format!(
            "[runs]\nhost = \"command\"\ncommand = {command}\n\n\
             [gates]\ncommands = [{{ name = \"spelling\", argv = [\"grep\", \"-qx\", \"Hello, Ada!\", \"greeting.txt\"] }}]\n\n\
             [uat]\nallow = [\"cat\"]\n"
        ))
    }
}
