//! `handover demo`

mod epic;
mod past;
mod web;

use std::ffi::OsString;
use std::path::Path;

use super::Outcome;
use crate::app::App;
use crate::cli;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::input::Stdin;

/// Play a small story in a throw-away project
///
/// Every line that starts with `$` is a real command on a real store in a temporary folder, which is
/// removed at the end. With --web the folder holds the records of a whole afternoon, and the dashboard
/// shows them until it is interrupted.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover demo\n  handover demo --keep\n  handover demo --web")]
pub(crate) struct DemoArgs {
    /// Leave the project there to look around in
    #[arg(long)]
    keep: bool,

    /// Show a longer story in the dashboard
    #[arg(long)]
    web: bool,

    /// With --web: the port; 0 takes any free one
    #[arg(long, value_name = "N", requires = "web")]
    port: Option<u16>,

    /// With --web: let no run go on before the eyes of the visitor
    #[arg(long, requires = "web", hide = true)]
    still: bool,
}

/// What the researcher wrote. The token is invented; it is there to be redacted.
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

pub(crate) fn run(app: &App, args: DemoArgs) -> Outcome {
    if app.ui.is_json() && !args.web {
        return Err(CommandError::new(Exit::Usage, "usage", "the demo is a story for people")
            .hinted("Leave `--json` out."));
    }
    env::leave_alone();
    let folder =
        tempfile::Builder::new().prefix("handover-demo-").tempdir().map_err(|error| io(&error))?;
    let root = folder.path().join("shop");
    fs_err::create_dir_all(root.join("docs")).map_err(|error| io(&error))?;
    // The commands are played as they are shown, so they run inside the project.
    let before = app.folder()?;
    std::env::set_current_dir(&root).map_err(|error| io(&error))?;
    let told = match args.web {
        true => web::show(app, &root, args.port, args.still),
        false => Story { app, root: &root }.tell(),
    };
    std::env::set_current_dir(before).map_err(|error| io(&error))?;
    told?;
    if args.keep {
        let kept = folder.keep();
        app.ui.note(format_args!("The project is in {}", kept.join("shop").display()));
    }
    Ok(Exit::Done)
}

struct Story<'a> {
    app: &'a App,
    root: &'a Path,
}

impl Story<'_> {
    fn tell(&self) -> Result<(), CommandError> {
        self.say("A project, and a session for one piece of work.")?;
        self.play(&["init"], "")?;
        self.play(
            &["session", "new", "login-rework", "--metadata", "{\"ticket\": \"SHOP-42\"}"],
            "",
        )?;

        self.say("The requirements engineer wrote down what it found. The file itself says whom it is for.")?;
        self.write("docs/oauth.md", RESEARCH)?;
        self.play(&["package", "add", "docs/oauth.md"], "")?;

        self.say(
            "The developer decided something; a secret slipped into the note and does not get far.",
        )?;
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
        self.play(&["reasoning", "list"], "")?;

        self.say("QA left a report under its usual name; a scan picks it up where it lies.")?;
        self.write("docs/qa_failures_group_login.md", QA_FAILURES)?;
        self.play(&["package", "scan"], "")?;

        self.say("The research is corrected. The new version supersedes the old one, which leaves every search.")?;
        self.write("docs/oauth.md", RESEARCH_2)?;
        self.play(&["package", "add", "docs/oauth.md"], "")?;
        self.play(&["package", "list"], "")?;
        self.play(&["search", "refreshing a token twice"], "")?;

        self.say("An error that was solved once is known from then on, however its paths and numbers change.")?;
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
        )?;

        self.say("The main job: what the next developer needs for this task, ranked, redacted, counted, with a receipt.")?;
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
        self.say("QA gets what the developer thought, and the failures that it reported itself.")?;
        self.play(&["assemble", "--role", "qa_expert", "--group", "login", "--deliver"], "")?;
        self.say("The tech lead sees both. Every block has its receipt: what is in, what is out, and why.")?;
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
        self.play(&["receipt", "show"], "")?;

        self.say("A brief is the whole prompt: context, what holds for the project's technology, the role, the task.")?;
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
        self.say("When the agent ends, its last message says how. What it learned is kept for the next one.")?;
        self.play(&["debrief", "--role", "developer", "--group", "login"], DEBRIEF)?;

        self.say("The group is done: what worked becomes a strategy of the project, for every session to come.")?;
        self.play(&["strategy", "extract", "--group", "login", "--lang", "rust"], "")?;
        self.play(&["session", "close", "login-rework"], "")?;
        self.play(&["doctor"], "")?;
        self.say("That was the embedded store: one file, no service. Next: `handover init` in your own project.")
    }

    fn say(&self, text: &str) -> Result<(), CommandError> {
        self.app.ui.line(format_args!("\n# {text}"))
    }

    fn write(&self, path: &str, text: &str) -> Result<(), CommandError> {
        fs_err::write(self.root.join(path), text).map_err(|error| io(&error))
    }

    /// Shows a command, then runs it as if it had been typed.
    fn play(&self, args: &[&str], stdin: &str) -> Result<(), CommandError> {
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.app.ui.line(format_args!("$ handover {}", shown.join(" ")))?;
        let mut argv: Vec<OsString> = vec!["handover".into()];
        argv.extend(args.iter().map(OsString::from));
        let exit = cli::run(argv, Stdin::Text(stdin.to_owned()));
        if exit == Exit::Done {
            return Ok(());
        }
        let message = format!("`handover {}` failed", args.join(" "));
        Err(CommandError::new(exit, "demo", message))
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("'{arg}'") }
}
