//! `handover demo`: one session, with packages, context, briefs and what is learned.

use super::stage::Stage;
use crate::error::CommandError;

/// The research package. The password is fake; it is there to be redacted.
const RESEARCH: &str = "\
---
type: research
group_id: login
producer: requirements_engineer
consumers: [developer, senior_software_engineer]
priority: high
files: [src/auth/session.rs]
---
# OAuth at the identity provider

## Summary
Refresh tokens rotate on every use; an old one that comes back revokes the whole family.

## Details
The test tenant accepts password=correct-horse-battery for the demo user.
Access tokens live ten minutes. `getUserById` needs the scope `profile`.
";

const RESEARCH_2: &str = "\
---
type: research
group_id: login
producer: requirements_engineer
consumers: [developer, senior_software_engineer]
priority: critical
files: [src/auth/session.rs]
---
# OAuth at the identity provider

## Summary
Correction: refresh tokens rotate only after a grace period of 30 seconds; retries inside it are safe.

## Details
Confirmed by the provider's support. Access tokens live ten minutes.
";

const QA_FAILURES: &str = "\
# QA failures of group login

Two parallel refreshes sign the user out: the second one uses a token that was just rotated.
";

const MANIFEST: &str = "\
[package]
name = \"shop\"
version = \"0.1.0\"
rust-version = \"1.85\"

[dependencies]
axum = \"0.8\"
";

/// An agent's last message.
const DEBRIEF: &str = "\
The test is there and passes.

```handover
verdict: complete
summary: Two parallel refreshes are covered by a test.
reasoning:
  decisions: the test starts both refreshes behind a barrier, so that it fails without the lock
errors:
  - {message: \"thread 'refresh' panicked: lock poisoned\", solution: drop the guard before awaiting}
```
";

impl Stage<'_> {
    /// Plays the demo.
    pub(super) fn session(&self) -> Result<(), CommandError> {
        self.record_knowledge()?;
        self.correct_and_search()?;
        self.recognize_an_error()?;
        self.deliver_context()?;
        self.brief_and_debrief()?;
        self.close()
    }

    /// A project, a session, and what two agents wrote down.
    fn record_knowledge(&self) -> Result<(), CommandError> {
        self.say("Create a project, and a session for one piece of work.")?;
        self.play(&["init"], "")?;
        self.play(
            &["session", "new", "login-rework", "--metadata", "{\"ticket\": \"SHOP-42\"}"],
            "",
        )?;

        self.say("The requirements engineer wrote down its findings. The front matter says who they are for.")?;
        self.write("docs/oauth.md", RESEARCH)?;
        self.play(&["package", "add", "docs/oauth.md"], "")?;

        self.say("The developer records a decision. A secret slipped into it and is redacted.")?;
        self.play(
            &[
                "reasoning",
                "add",
                "--role",
                "developer",
                "--phase",
                "decisions",
                "--group",
                "login",
                "One refresh at a time, behind a lock; tried with DB_PASSWORD=tr0ub4dor-and-3",
            ],
            "",
        )?;
        self.play(&["reasoning", "list"], "")
    }

    /// A scan, a second version of a package, and a search that finds only that one.
    fn correct_and_search(&self) -> Result<(), CommandError> {
        self.say("QA left a report under its usual name; a scan finds and registers it.")?;
        self.write("docs/qa_failures_group_login.md", QA_FAILURES)?;
        self.play(&["package", "scan"], "")?;

        self.say(
            "The research is corrected. The new version replaces the old one in every search.",
        )?;
        self.write("docs/oauth.md", RESEARCH_2)?;
        self.play(&["package", "add", "docs/oauth.md"], "")?;
        self.play(&["package", "list"], "")?;
        self.play(&["search", "refreshing a token twice"], "")
    }

    /// A solved error is found again by a message with other numbers.
    fn recognize_an_error(&self) -> Result<(), CommandError> {
        self.say("An error that was solved once is recognized from then on, even if its paths and numbers differ.")?;
        self.play(
            &[
                "error",
                "resolve",
                "--message",
                "ECONNREFUSED: connect 127.0.0.1:5432",
                "--command",
                "cargo test",
                "--solution",
                "start the database first: docker compose up -d db",
            ],
            "",
        )?;
        self.play(
            &["error", "match", "test failed: connect ECONNREFUSED 10.0.0.7:5433 after 12 ms"],
            "",
        )
    }

    /// Three roles, and what each of them receives.
    fn deliver_context(&self) -> Result<(), CommandError> {
        self.say("The core: what the next developer needs for this task, ranked, redacted and within budget, with a receipt.")?;
        self.play(
            &[
                "assemble",
                "--role",
                "developer",
                "--group",
                "login",
                "--task",
                "Make two parallel refreshes safe",
                "--iteration",
                "1",
                "--deliver",
                "--explain",
            ],
            "",
        )?;
        self.say("QA gets the developer's reasoning and the failures that it reported itself.")?;
        self.play(&["assemble", "--role", "qa_expert", "--group", "login", "--deliver"], "")?;
        self.say("The tech lead sees both. Every context block has a receipt: what is in, what is out, and why.")?;
        self.play(
            &[
                "assemble",
                "--role",
                "tech_lead",
                "--group",
                "login",
                "--task",
                "Review the lock around refreshes",
                "--deliver",
            ],
            "",
        )?;
        self.play(&["receipt", "list"], "")?;
        self.play(&["receipt", "show"], "")
    }

    /// One agent's prompt and its last message.
    fn brief_and_debrief(&self) -> Result<(), CommandError> {
        self.say("A brief is the whole prompt: context, guidance for the technology stack, the role and the task.")?;
        self.write("Cargo.toml", MANIFEST)?;
        self.play(&["stack"], "")?;
        self.play(
            &[
                "brief",
                "--role",
                "developer",
                "--group",
                "login",
                "--task",
                "Add a test for the lock",
            ],
            "",
        )?;
        self.say(
            "The agent's last message is its debrief. What it learned is kept for the next agent.",
        )?;
        self.play(&["debrief", "--role", "developer", "--group", "login"], DEBRIEF)
    }

    /// The lesson of the group, and the end of the session.
    fn close(&self) -> Result<(), CommandError> {
        self.say("The group is done: what worked becomes a strategy of the project, available to every future session.")?;
        self.play(&["strategy", "extract", "--group", "login", "--lang", "rust"], "")?;
        self.play(&["session", "close", "login-rework"], "")?;
        self.play(&["doctor"], "")?;
        self.say("All of this is in one file; no service is needed. Next: `handover init` in your own project.")
    }
}
