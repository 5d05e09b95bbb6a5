//! Turns every library error into a [`CommandError`]: a message, an exit code, a stable code for scripts,
//! and a hint about what to do next.

mod code;
mod engine;
mod store;

use std::fmt;

use handover_agents::AgentError;
use handover_context::amendments::AmendmentError;
use handover_context::archive::{ArchiveError, CopyError};
use handover_context::by_hand::ByHandError;
use handover_context::notes::NoteError;
use handover_context::package_file::{ImportError, PackageFileError};
use handover_engine::persona::PersonaError;
use handover_files::{FileError, Irregular};
use handover_handoff::{HandoffError, Refusal};
#[cfg(feature = "mcp")]
use handover_mcp::ToolError;
use handover_model::{InvalidId, InvalidTimestamp, UnknownWord};
#[cfg(feature = "service")]
use handover_serve::{BindError, ServeError};
use handover_store::{RecordKind, StoreError};
use handover_text::{redact_message, short, with_causes};
use serde_json::json;

use crate::typos::nearest;
pub(crate) use code::Code;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    Done = 0,
    /// The operation was attempted and failed.
    Failed = 1,
    /// Wrong usage or invalid input.
    Usage = 2,
    /// Blocked or escalated: a person or another agent must act first.
    Blocked = 3,
    /// A limit on cost, tokens or turns was reached.
    Budget = 4,
    /// The store, git or an agent program is missing or broken.
    Environment = 5,
    /// Stopped by a signal.
    Interrupted = 130,
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// An error as it is shown to the user.
#[derive(Debug)]
pub(crate) struct CommandError {
    pub(crate) exit: Exit,
    /// Stable, for scripts.
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
    /// What was looked for, if that is the problem.
    pub(crate) missing: Option<(RecordKind, String)>,
}

impl CommandError {
    pub(crate) fn new(exit: Exit, code: impl Into<Code>, message: impl fmt::Display) -> Self {
        Self {
            exit,
            code: code.into(),
            // In this order: half a secret is not recognized as one.
            message: short(&redact_message(&message.to_string())).into_owned(),
            hint: None,
            missing: None,
        }
    }

    /// The reader of standard output closed the pipe: the command ends quietly and successfully.
    pub(crate) fn reader_left() -> Self {
        Self::new(Exit::Done, "reader_left", "standard output was closed")
    }

    /// Invalid input, exit code 2.
    pub(crate) fn invalid(message: impl fmt::Display) -> Self {
        Self::new(Exit::Usage, "invalid_input", message)
    }

    /// Adds a hint about what to do next.
    pub(crate) fn hinted(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The error with all its causes, on one line.
    pub(crate) fn chain(exit: Exit, code: impl Into<Code>, error: &dyn std::error::Error) -> Self {
        Self::new(exit, code, with_causes(error))
    }

    /// The JSON form of the contract.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        json!({"schema": 1, "error": {
            "code": self.code.as_str(),
            "message": self.message,
            "hint": self.hint,
        }})
    }
}

impl From<FileError> for CommandError {
    fn from(error: FileError) -> Self {
        let (code, hint) = match &error {
            FileError::NotAFile { path, found } | FileError::NotAFolder { path, found } => {
                let path = path.display();
                match found {
                    Irregular::Link | Irregular::Special => (
                        "not_ours",
                        Some(format!(
                            "Handover follows no links below `.handover/`. Delete or move {path}; the store can \
                             be elsewhere with HANDOVER_STORE."
                        )),
                    ),
                    Irregular::File | Irregular::Folder => {
                        ("io", Some(format!("Move {path} out of the way.")))
                    }
                }
            }
            FileError::TooLarge { .. } | FileError::NotText { .. } | FileError::Name { .. } => {
                ("io", Some("Check the file, or delete it.".to_owned()))
            }
            FileError::Io { source, .. } if is_read_only(source) => {
                ("io", Some("Make the folder writable, and check who owns it.".to_owned()))
            }
            FileError::Io { .. } => ("io", None),
        };
        Self { hint, ..Self::new(Exit::Environment, code, &error) }
    }
}

fn is_read_only(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem)
}

/// What to do without git.
pub(crate) const INSTALL_GIT: &str = "Install git: it says which files are part of the project.";

/// An I/O error, exit code 5.
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
                    "Install it, or set `agents.programs.{host}` in the configuration to its path."
                )),
            ),
            AgentError::NoProgram | AgentError::Split { .. } => (
                Exit::Usage,
                "invalid_input",
                Some("Pass `--agent-command \"PROGRAM ARGS\"`; no shell is involved.".to_owned()),
            ),
            AgentError::UnknownHost { .. } => (Exit::Usage, "invalid_input", None),
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
        let (message, code) = (error.to_string(), error.code());
        let invalid = |hint: &str| Self::new(Exit::Usage, code, &message).hinted(hint);
        match error {
            HandoffError::Refused(refusal) => refusal.into(),
            HandoffError::Store(error) => error.into(),
            HandoffError::Overridden { .. } => invalid("Set it in `.handover/config.toml`."),
            HandoffError::SessionClosed { session, .. } => {
                invalid(&format!("`handover session reopen {session}` reopens it."))
            }
            HandoffError::OtherRole { .. } | HandoffError::OtherSession { .. } => {
                invalid("Name the receipt of the agent's own brief, or write a new brief for it.")
            }
            HandoffError::NoAgent => {
                invalid("Name the receipt that the agent started with, or its role.")
            }
            HandoffError::Taken { source, .. } => {
                Self { exit: Exit::Blocked, ..Self::from(*source) }
            }
            HandoffError::Briefed { .. } => Self::new(Exit::Failed, code, &message),
            HandoffError::NoReceipt { .. } => Self {
                exit: Exit::Environment,
                ..invalid("Neither the store nor the spool can be written, so no agent is started.")
            },
        }
    }
}

impl From<PackageFileError> for CommandError {
    fn from(error: PackageFileError) -> Self {
        let hint = match &error {
            PackageFileError::Missing { .. } => {
                Some("Check the path; it is relative to the current folder.")
            }
            PackageFileError::Outside { .. } | PackageFileError::Climbs { .. } => {
                Some("Copy the file into the project, for example into `docs/`.")
            }
            PackageFileError::NotAFile { .. } => {
                Some("Pass a Markdown file; `handover package scan` searches folders.")
            }
            PackageFileError::TooLarge { .. } => Some(
                "Split it, because agents read packages in full; `packages.max_bytes` sets the limit.",
            ),
            PackageFileError::NotText { .. } => Some("Packages must be UTF-8 Markdown."),
            PackageFileError::FrontMatter { .. } => {
                Some("`handover package add --help` shows an example.")
            }
            PackageFileError::Disagreement { .. } => Some("Make them agree, or omit one."),
            PackageFileError::NoKind { .. } => Some(
                "Pass `--kind research|failures|decisions|handoff|investigation`, or set `type:` in the front matter.",
            ),
            PackageFileError::Empty { .. } | PackageFileError::EmptySummary => {
                Some("Summarize the content in one or two lines.")
            }
            PackageFileError::EmptyBody => Some("Write what the next agent needs to know."),
            PackageFileError::Name { .. } | PackageFileError::SecretName { .. } => {
                Some("Rename the file.")
            }
            PackageFileError::Link { .. } => Some("Replace the link with a folder."),
            PackageFileError::NotADocument { .. } => Some(
                "Agents register Markdown and text files that are not hidden; a person can use `handover package add`.",
            ),
            PackageFileError::Ours { .. } => {
                Some("Move it to `.handover/artifacts/` or anywhere else in the project.")
            }
            PackageFileError::Taken { .. } => Some("Register the file itself by its path."),
            PackageFileError::Read { .. } | PackageFileError::Write { .. } => None,
        };
        let outside =
            matches!(error, PackageFileError::Read { .. } | PackageFileError::Write { .. });
        let exit = if outside { Exit::Environment } else { Exit::Usage };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, error.code(), &error) }
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
            .hinted("Nothing was imported. Fix the line and try again.")
    }
}

impl From<CopyError> for CommandError {
    fn from(error: CopyError) -> Self {
        match error {
            CopyError::Store(error) => error.into(),
            CopyError::Other { .. } => Self::chain(Exit::Usage, "conflict", &error)
                .hinted("Nothing was copied. Use an empty store."),
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
                    "Pass a file written by `handover data export`; to import packages use `handover package import`.",
                ),
            ),
            ArchiveError::Newer { .. } => {
                (Exit::Usage, "invalid_import", Some("Update handover; nothing was imported."))
            }
            ArchiveError::Line { .. }
            | ArchiveError::Record { .. }
            | ArchiveError::TooLong { .. }
            | ArchiveError::Order { .. } => (
                Exit::Usage,
                "invalid_import",
                Some("Nothing was imported. Export the project again."),
            ),
        };
        Self { hint: hint.map(ToOwned::to_owned), ..Self::chain(exit, code, &error) }
    }
}

impl From<AmendmentError> for CommandError {
    fn from(error: AmendmentError) -> Self {
        let hint = match &error {
            AmendmentError::Store(_) => None,
            AmendmentError::NoReplacement(_) => Some("Name the later one with `--by`."),
            AmendmentError::Itself(_) => Some("Name another one with `--by`."),
        };
        match (error, hint) {
            (AmendmentError::Store(error), _) => error.into(),
            (error, hint) => {
                Self::new(Exit::Usage, error.code(), &error).hinted(hint.unwrap_or_default())
            }
        }
    }
}

impl From<NoteError> for CommandError {
    fn from(error: NoteError) -> Self {
        let (exit, hint) = match error {
            NoteError::Store(error) => return error.into(),
            NoteError::Id(error) => return error.into(),
            NoteError::Empty => (Exit::Usage, "Pass it as an argument or on standard input."),
            NoteError::Long(_) => {
                (Exit::Usage, "Write a document of the repository: `handover learn docs` reads it.")
            }
            NoteError::Unknown(_) => (Exit::Usage, "`handover note list` shows the ids."),
            NoteError::Ambiguous { .. } => {
                (Exit::Usage, "Pass more of the id; `handover note list` shows them.")
            }
            NoteError::Erased(_) => (Exit::Usage, "Write it again with `handover note add`."),
            NoteError::NotAmended { .. } => {
                (Exit::Usage, "Name the note that replaces it with `--by NOTE`.")
            }
            NoteError::Amendment(error) => return error.into(),
        };
        Self::new(exit, error.code(), &error).hinted(hint)
    }
}

impl From<ByHandError> for CommandError {
    fn from(error: ByHandError) -> Self {
        let (code, message) = (error.code(), error.to_string());
        let refused = |exit, hint: String| Self::new(exit, code, &message).hinted(hint);
        match error {
            ByHandError::Store(error) => error.into(),
            ByHandError::Note(error) => error.into(),
            ByHandError::Amendment(error) => error.into(),
            ByHandError::NothingToUndo => {
                refused(Exit::Failed, "`handover undo --list` shows what was changed.".to_owned())
            }
            ByHandError::Unknown { what, name } => StoreError::not_found(what, name).into(),
            ByHandError::Ambiguous { .. } => {
                refused(Exit::Usage, "Pass more of the id.".to_owned())
            }
            ByHandError::AlreadyUndone { by, .. } => {
                refused(Exit::Usage, format!("To redo: `handover undo {by}`."))
            }
            ByHandError::ChangedSince { by: Some(by), .. } => {
                refused(Exit::Usage, format!("Undo that first: `handover undo {by}`."))
            }
            ByHandError::ChangedSince { by: None, .. }
            | ByHandError::Gone { .. }
            | ByHandError::Summary { .. } => Self::new(Exit::Usage, code, &message),
        }
    }
}

#[cfg(feature = "mcp")]
impl From<ToolError> for CommandError {
    fn from(error: ToolError) -> Self {
        match error {
            ToolError::Store(error) => error.into(),
            ToolError::Handoff(error) => error.into(),
            ToolError::PackageFile(error) => error.into(),
            ToolError::Note(error) => error.into(),
            ToolError::ByHand(error) => error.into(),
            ToolError::Amendment(error) => error.into(),
            ToolError::Id(error) => error.into(),
            ToolError::Request(error) => {
                Self { code: error.code.into(), hint: error.hint, ..Self::invalid(error.message) }
            }
        }
    }
}

impl From<PersonaError> for CommandError {
    fn from(error: PersonaError) -> Self {
        let (code, hint) = match &error {
            PersonaError::File { .. } => (
                "invalid_persona",
                "Fix the file; `handover project persona show winston` shows the keys.",
            ),
            PersonaError::Unknown { name, known } => {
                let error = Self::new(Exit::Usage, "not_found", &error);
                return match nearest(name, known.iter().map(String::as_str)) {
                    Some(meant) => error.hinted(format!("Did you mean `{meant}`?")),
                    None => error.hinted("Run `handover project persona list` to see what exists."),
                };
            }
            PersonaError::Incomplete { .. } => {
                ("invalid_config", "A new persona needs `name`, `title` and `focus`.")
            }
            PersonaError::Id(_) | PersonaError::Party(_) => {
                ("invalid_input", "Write personas as `--party-agents winston,murat`.")
            }
        };
        Self::new(Exit::Usage, code, &error).hinted(hint)
    }
}

#[cfg(feature = "service")]
impl From<BindError> for CommandError {
    fn from(error: BindError) -> Self {
        let hint = match &error {
            BindError::Taken { .. } => {
                "Stop the process that uses it, or pass `--port 0` to pick a free port."
            }
            BindError::Refused { .. } => {
                "Use an address of this machine for `--bind`, and a port above 1023."
            }
        };
        Self::chain(Exit::Environment, "cannot_listen", &error).hinted(hint)
    }
}

#[cfg(feature = "service")]
impl From<ServeError> for CommandError {
    fn from(error: ServeError) -> Self {
        Self::chain(Exit::Environment, "serve", &error)
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
    use handover_store::{Fault, StoreError};

    use super::*;

    #[test]
    fn joins_causes_on_one_line_without_repetition() {
        let cause = std::io::Error::other("two\nlines");
        let error = StoreError::Backend { fault: Fault::Full, source: Box::new(cause) };
        let error = CommandError::from(error);
        assert_eq!(error.message, "the disk is full: two lines");
        assert_eq!((error.exit, error.code.as_str()), (Exit::Environment, "store_full"));
        assert!(!error.to_json().to_string().contains('\n'));
    }
}
