//! What the user sees when something goes wrong: what happened, and what to do next.
//!
//! Every error of the libraries becomes a [`CommandError`] here, with its exit code, its stable
//! code for scripts, and a hint.

use std::fmt;

use handover_agents::AgentError;
use handover_context::archive::{ArchiveError, CopyError};
use handover_context::package_file::{ImportError, PackageFileError};
use handover_engine::EngineError;
use handover_engine::chain::ChainError;
use handover_engine::git::GitError;
use handover_engine::persona::PersonaError;
use handover_engine::story::StoryError;
use handover_handoff::{HandoffError, Refusal};
use handover_mcp::ToolError;
use handover_model::{InvalidId, InvalidTimestamp, UnknownWord};
use handover_serve::{BindError, ServeError};
use handover_store::{Fault, StoreError};
use serde_json::json;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// It was tried and failed.
    Failed = 1,
    /// The request makes no sense as it is.
    Usage = 2,
    /// Blocked or escalated: a person or another agent must act first.
    Blocked = 3,
    /// A budget of money, tokens or turns is used up.
    Budget = 4,
    /// Something outside is missing or broken: the store, git, a host program.
    Environment = 5,
    /// Interrupted by the user.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error as the user sees it.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    /// Stable, for scripts.
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl CommandError {
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl fmt::Display) -> Self {
        Self { exit, code, message: message.to_string(), hint: None }
    }

    /// Whoever read standard output has left: nothing to report, and nothing more to do.
    pub(crate) fn reader_left() -> Self {
        Self::new(Exit::Done, "reader_left", "standard output was closed")
    }

    /// Input that makes no sense.
    pub(crate) fn invalid(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, "invalid_input", message)
    }

    /// Says what to do next.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error with all its causes, on one line.
    pub(crate) fn chain(exit: Exit, code: &'static str, error: &dyn std::error::Error) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            let text = error.to_string();
            // SQLite says everything twice, the second time with a number.
            if !message.contains(&text) && !text.starts_with("Error code ") {
                message.push_str(": ");
                message.push_str(&text);
            }
            cause = error.source();
        }
        let message = message.split_whitespace().collect::<Vec<_>>().join(" ");
        Self::new(exit, code, message)
    }

    /// The error as scripts get it.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        json!({"schema": 1, "error": {
            "code": self.code,
            "message": self.message,
            "hint": self.hint,
        }})
    }
}

/// Reading or writing a file of the project failed.
pub(crate) fn io(error: &std::io::Error) -> CommandError {
    CommandError::chain(Exit::Environment, "io", error)
}

impl From<AgentError> for CommandError {
    fn from(error: AgentError) -> Self {
        let (exit, code, hint) = match &error {
            AgentError::ProgramNotFound { host, .. } => (
                Exit::Environment,
                "program_not_found",
                Some(format!(
                    "Install it, or say where it is: `agents.programs.{host}` in the configuration."
                )),
            ),
            AgentError::NoProgram | AgentError::Split { .. } => (
                Exit::Usage,
                "invalid_input",
                Some("Pass `--agent-command \"PROGRAM ARGS\"`; no shell is involved.".to_owned()),
            ),
            AgentError::Start { .. }
            | AgentError::FolderNotFound { .. }
            | AgentError::SpawnId { .. }
            | AgentError::NoPrompt { .. }
            | AgentError::Watch { .. }
            | AgentError::Unproven { .. }
            | AgentError::Processes(_) => (Exit::Environment, "agent", None),
        };
        Self { hint, ..Self::chain(exit, code, &error) }
    }
}

impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> Self {
        Self::new(Exit::Blocked, "refused", &refusal).hinted(Refusal::HINT)
    }
}

impl From<HandoffError> for CommandError {
    fn from(error: HandoffError) -> Self {
        let message = error.to_string();
        let own = |exit, code, hint: String| Self::new(exit, code, &message).hinted(hint);
        match error {
            HandoffError::Refused(refusal) => refusal.into(),
            HandoffError::Store(error) => error.into(),
            HandoffError::Overridden { .. } => {
                Self::invalid(&message).hinted("Set it in `.handover/config.toml`.")
            }
            HandoffError::SessionClosed { session, .. } => Self::invalid(&message)
                .hinted(format!("`handover session reopen {session}` reopens it.")),
            HandoffError::OtherRole { .. } | HandoffError::OtherSession { .. } => {
                Self::invalid(&message).hinted("Write a brief for the one that you mean.")
            }
            HandoffError::Taken { source, .. } => {
                Self { exit: Exit::Blocked, ..Self::from(*source) }
            }
            HandoffError::NoReceipt { .. } => own(
                Exit::Environment,
                "no_receipt",
                "Neither the store nor the spool can be written, so no agent is started."
                    .to_owned(),
            ),
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let (exit, code, hint) = match &error {
            StoreError::NotFound { what, .. } => (Exit::Usage, "not_found", not_found_hint(what)),
            StoreError::AlreadySuperseded { latest, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!("Name {latest} instead; `handover package show {latest}` shows it.")),
            ),
            StoreError::OtherSession { session, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!(
                    "Packages do not cross sessions; use `--session {session}` if you meant that one."
                )),
            ),
            StoreError::PathTaken { id, .. } => (
                Exit::Usage,
                "conflict",
                Some(format!("Supersede {id} instead, or register the text under another path.")),
            ),
            StoreError::Locked { .. } => (
                Exit::Environment,
                "locked",
                Some("Wait for it, or look at it with `handover status`.".to_owned()),
            ),
            StoreError::Fenced { .. } => (
                Exit::Environment,
                "fenced",
                Some("Nothing was lost; `handover status` shows the run.".to_owned()),
            ),
            StoreError::WrongState { .. } => (Exit::Usage, "conflict", None),
            StoreError::Claimed { .. } => (
                Exit::Usage,
                "conflict",
                Some("Make a brief of its own for each agent.".to_owned()),
            ),
            StoreError::Ambiguous { .. } => (
                Exit::Usage,
                "ambiguous",
                Some("Give more of the hash; `handover error list` shows them.".to_owned()),
            ),
            StoreError::Differs { .. } => (
                Exit::Usage,
                "conflict",
                Some(
                    "Nothing was changed; name a store that is empty or has the same records."
                        .to_owned(),
                ),
            ),
            StoreError::Newer { .. } => (
                Exit::Environment,
                "store_newer",
                Some("Update handover; the store was left as it is.".to_owned()),
            ),
            StoreError::Foreign { .. } => (
                Exit::Environment,
                "store_foreign",
                Some("Point HANDOVER_STORE to another file, or move this one away.".to_owned()),
            ),
            StoreError::Denied { .. } => (
                Exit::Blocked,
                "forbidden",
                Some(
                    "Ask for a token with that right: `handover token create --scope …`."
                        .to_owned(),
                ),
            ),
            StoreError::Backend { fault, .. } => {
                let (code, hint) = fault_words(*fault);
                (Exit::Environment, code, Some(hint.to_owned()))
            }
        };
        Self { hint, ..Self::chain(exit, code, &error) }
    }
}

fn not_found_hint(what: &str) -> Option<String> {
    let command = match what {
        "project" => {
            return Some(
                "A token is for one project: `project.id` in the configuration must be its name."
                    .to_owned(),
            );
        }
        "session" => "handover session list",
        "group" => "handover group list",
        "error pattern" => "handover error list",
        "strategy" => "handover strategy list",
        "receipt" => "handover receipt list",
        "run" => "handover status",
        "token" => "handover token list",
        _ if what.starts_with("package") => "handover package list --all-versions",
        _ => return None,
    };
    Some(format!("`{command}` shows what there is."))
}

fn fault_words(fault: Fault) -> (&'static str, &'static str) {
    match fault {
        Fault::Busy => ("store_busy", "Another process holds the store; try again."),
        Fault::Full => ("store_full", "Free some space and try again; nothing was half-written."),
        Fault::ReadOnly => (
            "store_read_only",
            "Make `.handover/` writable, or set HANDOVER_STORE to a file that is.",
        ),
        Fault::Corrupt => (
            "store_damaged",
            "Keep a copy of the file and move it away to start anew; package files are not affected.",
        ),
        Fault::Unavailable => (
            "store_unavailable",
            "Check that the folder exists and can be written, or that the server runs; `handover doctor` looks.",
        ),
        Fault::Io => ("store_io", "Check the disk, then run `handover doctor`."),
        Fault::Refused => ("store_refused", "This should not happen; please report it."),
    }
}

impl From<PackageFileError> for CommandError {
    fn from(error: PackageFileError) -> Self {
        let hint = match &error {
            PackageFileError::Missing { .. } => {
                Some("Check the path; it is relative to the current folder.")
            }
            PackageFileError::Outside { .. } | PackageFileError::Climbs { .. } => {
                Some("Copy the file into the project, for example below `docs/`.")
            }
            PackageFileError::NotAFile { .. } => {
                Some("Name a Markdown file; `handover package scan` looks through folders.")
            }
            PackageFileError::TooLarge { .. } => Some(
                "Split it: agents are told to read packages whole. `packages.max_bytes` is the limit.",
            ),
            PackageFileError::NotText { .. } => Some("Packages are Markdown in UTF-8."),
            PackageFileError::FrontMatter { .. } => {
                Some("`handover package add --help` shows an example.")
            }
            PackageFileError::Disagreement { .. } => {
                Some("Make them say the same, or leave one out.")
            }
            PackageFileError::NoKind { .. } => Some(
                "Pass `--kind research|failures|decisions|handoff|investigation`, or put `type:` into the front matter.",
            ),
            PackageFileError::Empty { .. } | PackageFileError::EmptyText { .. } => {
                Some("Say in one or two lines what the reader gets.")
            }
            PackageFileError::Name { .. } | PackageFileError::SecretName { .. } => {
                Some("Rename the file.")
            }
            PackageFileError::Link { .. } => Some("Replace the link by a folder."),
            PackageFileError::Ours { .. } => {
                Some("Put it below `.handover/artifacts/` or anywhere else in the project.")
            }
            PackageFileError::Taken { .. } => Some("Register the file itself by its path."),
            PackageFileError::Read { .. } | PackageFileError::Write { .. } => None,
        };
        let outside =
            matches!(error, PackageFileError::Read { .. } | PackageFileError::Write { .. });
        let exit = if outside { Exit::Environment } else { Exit::Usage };
        let code = if exit == Exit::Usage { "invalid_package" } else { "io" };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, &error) }
    }
}

impl From<ImportError> for CommandError {
    fn from(error: ImportError) -> Self {
        let exit = if matches!(error, ImportError::Write { .. }) {
            Exit::Environment
        } else {
            Exit::Usage
        };
        Self::chain(exit, "invalid_import", &error)
            .hinted("Nothing was imported; mend the line and try again.")
    }
}

impl From<CopyError> for CommandError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Store(error) => error.into(),
            CopyError::Other { .. } => Self::chain(Exit::Usage, "conflict", &error)
                .hinted("Nothing was copied; name a store that is empty."),
        }
    }
}

impl From<ArchiveError> for CommandError {
    fn from(error: ArchiveError) -> Self {
        let (exit, code, hint) = match error {
            ArchiveError::Store(error) => return error.into(),
            ArchiveError::Io(_) => (Exit::Environment, "io", None),
            ArchiveError::Header => (
                Exit::Usage,
                "invalid_import",
                Some(
                    "`handover export` writes such files; `handover package import` reads packages.",
                ),
            ),
            ArchiveError::Newer { .. } => {
                (Exit::Usage, "invalid_import", Some("Update handover; nothing was imported."))
            }
            ArchiveError::Line { .. }
            | ArchiveError::TooLong { .. }
            | ArchiveError::Order { .. } => {
                (Exit::Usage, "invalid_import", Some("Nothing was imported; export it again."))
            }
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, &error) }
    }
}

impl From<ToolError> for CommandError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Store(error) => error.into(),
            ToolError::Handoff(error) => error.into(),
            ToolError::PackageFile(error) => error.into(),
            ToolError::Id(error) => error.into(),
            ToolError::Refused(refusal) => {
                Self { code: refusal.code, hint: refusal.hint, ..Self::invalid(refusal.message) }
            }
        }
    }
}

impl From<PersonaError> for CommandError {
    fn from(error: PersonaError) -> Self {
        let (code, hint) = match &error {
            PersonaError::File { .. } => (
                "invalid_persona",
                "Mend the file; `handover persona show winston` shows the keys.",
            ),
            PersonaError::Unknown { .. } => {
                ("not_found", "`handover persona list` shows who there is.")
            }
            PersonaError::Incomplete { .. } => {
                ("invalid_config", "A new persona needs `name`, `title` and `focus`.")
            }
            PersonaError::Id(_) | PersonaError::Party(_) => {
                ("invalid_input", "Name them as in `--party-agents winston,murat`.")
            }
        };
        Self::new(Exit::Usage, code, &error).hinted(hint)
    }
}

impl From<BindError> for CommandError {
    fn from(error: BindError) -> Self {
        let hint = match &error {
            BindError::Taken { .. } => {
                "Stop what listens there, or pass `--port 0` to take any free port."
            }
            BindError::Refused { .. } => {
                "Pass an address of this machine with `--bind`, and a port above 1023."
            }
        };
        Self::chain(Exit::Environment, "cannot_listen", &error).hinted(hint)
    }
}

impl From<ServeError> for CommandError {
    fn from(error: ServeError) -> Self {
        Self::chain(Exit::Environment, "serve", &error)
    }
}

impl From<EngineError> for CommandError {
    fn from(error: EngineError) -> Self {
        if let EngineError::Store(error) = error {
            return error.into();
        }
        if let EngineError::Handoff(error) = error {
            return error.into();
        }
        let (exit, code, hint) = match &error {
            EngineError::Store(_) | EngineError::Handoff(_) | EngineError::Io(_) => {
                (Exit::Environment, "io", None)
            }
            EngineError::Story(story) => return Self::of_story(story),
            EngineError::Git(git) => return Self::of_git(git),
            EngineError::Chain(ChainError::Story(story)) => return Self::of_story(story),
            EngineError::Chain(ChainError::Twice { .. }) => (Exit::Usage, "invalid_input", None),
            EngineError::Chain(ChainError::Cycle { .. }) => {
                (Exit::Usage, "dependencies", Some("Mend what the epics say they depend on."))
            }
            EngineError::Uat(_) => (
                Exit::Usage,
                "invalid_scenarios",
                Some("docs/uat.md lists the fields; `--generate` lets an agent write them anew."),
            ),
            EngineError::Package(_) => (Exit::Environment, "io", None),
            EngineError::Id(_) => (Exit::Usage, "invalid_input", None),
            EngineError::Unfinished { .. } => (
                Exit::Usage,
                "unfinished_run",
                Some("Go on with `--resume`; `handover status` shows where it stands."),
            ),
            EngineError::NoSuchStory { .. } => (Exit::Usage, "not_found", None),
            EngineError::NothingAsked { .. } => {
                (Exit::Usage, "not_found", Some("`handover answer` shows what is asked."))
            }
            EngineError::SeveralAsked => (
                Exit::Usage,
                "ambiguous",
                Some("Name the run and the story; `handover answer` shows them."),
            ),
            EngineError::EmptyAnswer => (
                Exit::Usage,
                "invalid_input",
                Some("Say it in words; the next agent reads exactly that."),
            ),
            EngineError::LongAnswer { .. } => (
                Exit::Usage,
                "invalid_input",
                Some("Put the rest into a file of the project and name it in the answer."),
            ),
            EngineError::SecretName { .. } => {
                (Exit::Usage, "invalid_input", Some("Rename the file."))
            }
            EngineError::RedactedCommand => (
                Exit::Usage,
                "invalid_input",
                Some("Pass `--agent-command` again, with the secret in the environment instead."),
            ),
            EngineError::Gate(_) => (
                Exit::Environment,
                "gate",
                Some(
                    "Install it, or set `gates.detect = false` and name commands in `gates.commands`.",
                ),
            ),
            EngineError::Agent(_) | EngineError::Host { .. } => (
                Exit::Environment,
                "host",
                Some("Install or mend it, or choose another with `--host` or `--agent-command`."),
            ),
            EngineError::Journal { .. } => {
                (Exit::Environment, "journal", Some("Update handover; nothing was changed."))
            }
            EngineError::Stuck { .. } => (
                Exit::Environment,
                "stuck",
                Some("The system does not let go of them; look at them with `ps`."),
            ),
            EngineError::Interrupted => (Exit::Interrupted, "interrupted", None),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, &error) }
    }
}

impl CommandError {
    fn of_story(error: &StoryError) -> Self {
        let (exit, code, hint) = match error {
            StoryError::NotFound { .. } => (
                Exit::Usage,
                "not_found",
                Some("Epics are named `epic-1.md` or `epic-1-title.md`, stories `1-1-title.md`."),
            ),
            StoryError::NoStories { .. } => {
                (Exit::Usage, "not_found", Some("Stories are named `1-1-title.md`."))
            }
            StoryError::Ambiguous { .. } => {
                (Exit::Usage, "ambiguous", Some("Rename or move one of them."))
            }
            StoryError::Contradiction { .. } => {
                (Exit::Usage, "ambiguous", Some("Make them say the same."))
            }
            StoryError::UnknownDependency { .. } | StoryError::Cycle { .. } => {
                (Exit::Usage, "dependencies", Some("Mend what the stories say they depend on."))
            }
            StoryError::BadName { .. } | StoryError::BadFile { .. } => {
                (Exit::Usage, "invalid_story", None)
            }
            StoryError::Read { .. } => (Exit::Environment, "io", None),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, error) }
    }

    fn of_git(error: &GitError) -> Self {
        let (code, hint) = match error {
            GitError::NoGit => ("git", Some("Install git.")),
            GitError::NoRepository { .. } => {
                ("git", Some("A run works on branches: `git init` and commit what is there."))
            }
            GitError::NoCommit => ("git", Some("Commit what is there first.")),
            GitError::Diverged { .. } => {
                ("git_diverged", Some("Merge or rename that branch, then run again."))
            }
            GitError::CheckedOut { .. } => {
                ("git_checked_out", Some("Switch to the branch that the work is for."))
            }
            GitError::Moved { .. } => {
                ("git_moved", Some("Look at the branch; `--resume` goes on once it is back."))
            }
            GitError::Conflict { .. } => {
                ("git_conflict", Some("Merge the branches yourself, then run again."))
            }
            GitError::Failed { .. } | GitError::Io(_) => ("git", None),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(Exit::Environment, code, error) }
    }
}

macro_rules! invalid_input {
    ($($error:ty),+) => {
        $(impl From<$error> for CommandError {
            fn from(error: $error) -> Self {
                Self::invalid(error)
            }
        })+
    };
}

invalid_input!(InvalidId, InvalidTimestamp, UnknownWord);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once_and_on_one_line() {
        let cause = std::io::Error::other("two\nlines");
        let error = StoreError::Backend { fault: Fault::Full, source: Box::new(cause) };
        let error = CommandError::from(error);
        assert_eq!(error.message, "the disk is full: two lines");
        assert_eq!((error.exit, error.code), (Exit::Environment, "store_full"));
        assert!(!error.to_json().to_string().contains('\n'));
    }
}
