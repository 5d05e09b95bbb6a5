//! Shared by the demos: a project in a throwaway folder, and commands that are shown and then run.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use handover_agents::{CancelToken, Environment, Invocation, SpawnId};
use handover_model::Host;

use super::pace::Pace;
use crate::app::App;
use crate::commands::CommandLine;
use crate::env;
use crate::error::{CommandError, Exit, io};
use crate::input::Stdin;

/// A demo project.
pub(super) struct Stage<'a> {
    pub(super) app: &'a App,
    pub(super) line: CommandLine,
    /// The project folder.
    pub(super) root: &'a Path,
    pub(super) pace: Pace,
}

impl Stage<'_> {
    /// Begins a part.
    pub(super) fn title(&self, text: &str) -> Result<(), CommandError> {
        self.app.ui.heading(format_args!("\n{text}"))
    }

    /// Says something, and leaves time to read it.
    pub(super) fn say(&self, text: &str) -> Result<(), CommandError> {
        self.app.ui.line(format_args!("\n# {text}"))?;
        self.pace.read(text)
    }

    /// Shows a command line.
    pub(super) fn show(&self, command: &str) -> Result<(), CommandError> {
        self.app.ui.heading(format_args!("$ {command}"))
    }

    pub(super) fn write(&self, path: &str, text: &str) -> Result<(), CommandError> {
        let path = self.root.join(path);
        if let Some(above) = path.parent() {
            fs_err::create_dir_all(above).map_err(|error| io(&error))?;
        }
        fs_err::write(path, text).map_err(|error| io(&error))
    }

    /// Prints a command line and runs it in process.
    pub(super) fn play(&self, args: &[&str], stdin: &str) -> Result<(), CommandError> {
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.show(&format!("handover {}", shown.join(" ")))?;
        // The demo has its own pauses.
        let mut argv: Vec<OsString> = vec!["handover".into(), "--no-pager".into()];
        argv.extend(args.iter().map(OsString::from));
        let exit = (self.line.run)(argv, Stdin::Text(stdin.to_owned()));
        if exit == Exit::Done {
            return Ok(());
        }
        let message = format!("`handover {}` failed", args.join(" "));
        Err(CommandError::new(exit, "demo", message))
    }

    /// Prints a git command line, runs it, and prints its output.
    pub(super) fn git(&self, args: &[&str]) -> Result<(), CommandError> {
        let shown: Vec<String> = args.iter().map(|arg| quoted(arg)).collect();
        self.show(&format!("git {}", shown.join(" ")))?;
        let printed = self.run_git(args)?;
        if printed.trim().is_empty() {
            return Ok(());
        }
        self.app.ui.line(printed.trim_end())
    }

    /// Runs git in the project, isolated from the user's configuration, and returns its output.
    pub(super) fn run_git(&self, args: &[&str]) -> Result<String, CommandError> {
        let spawn = SpawnId::new(format!("demo-{}", std::process::id()))?;
        let mut invocation = Invocation::new(Host::COMMAND, spawn, self.root);
        invocation.program = "git".into();
        let settings = [
            "user.name=Demo",
            "user.email=demo@localhost",
            "init.defaultBranch=main",
            "commit.gpgSign=false",
            "core.hooksPath=/dev/null",
        ];
        let settings = settings.iter().flat_map(|setting| ["-c", setting]);
        invocation.args = settings
            .chain(["--no-pager"])
            .chain(args.iter().copied())
            .map(OsString::from)
            .collect();
        invocation.environment = Environment::scrubbed(env::all(), Host::COMMAND, &[]);
        invocation.limits.wall = Some(Duration::from_secs(60));
        let outcome = handover_agents::run_tool(&invocation, &mut |_| {}, &CancelToken::default())?;
        if outcome.is_success() {
            return Ok(outcome.stdout.text());
        }
        let message = format!("`git {}` failed: {}", args.join(" "), outcome.stderr.text().trim());
        Err(CommandError::new(Exit::Environment, "git", message).hinted("Install git."))
    }
}

fn quoted(arg: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:%".contains(c);
    if !arg.is_empty() && arg.chars().all(plain) { arg.to_owned() } else { format!("'{arg}'") }
}
