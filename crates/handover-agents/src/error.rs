//! Errors that prevent a run. An agent that ran and failed is an `Outcome`, not an error.

use std::io;
use std::path::PathBuf;

use handover_model::Host;

/// Why an agent could not be started, supervised or ended.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// No program of that name is registered.
    #[error("unknown host `{host}`; use {}", listed(known))]
    UnknownHost {
        /// The unknown name.
        host: String,
        /// The known names.
        known: Vec<Host>,
    },
    /// The program is not installed, or its path is wrong.
    #[error("the program `{}` of host `{host}` was not found", program.display())]
    ProgramNotFound {
        /// Whose program it is.
        host: Host,
        /// The program that was tried.
        program: PathBuf,
    },
    /// The program exists but does not start.
    #[error("failed to start `{}` in {}", program.display(), folder.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The folder it should work in.
        folder: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// The folder the agent should work in does not exist.
    #[error("the folder {} does not exist", folder.display())]
    FolderNotFound {
        /// The folder.
        folder: PathBuf,
    },
    /// Host `command` was chosen without a program.
    #[error("host `command` needs a program to run")]
    NoProgram,
    /// An agent program without an admitted prompt.
    #[error("host `{host}` needs a prompt")]
    NoPrompt {
        /// The agent program.
        host: Host,
    },
    /// A command line with an unclosed quote.
    #[error("cannot split the command `{command}` into words: a quote is not closed")]
    Split {
        /// The command line.
        command: String,
    },
    /// A marker that would not survive in an environment variable.
    #[error(
        "`{value}` is not a spawn id: letters, digits, `-`, `_` and `.` are allowed, 1 to 128 of them"
    )]
    SpawnId {
        /// The rejected marker.
        value: String,
    },
    /// The system is out of threads, or the child cannot be waited for.
    #[error("failed to watch `{}`", program.display())]
    Watch {
        /// The program.
        program: PathBuf,
        /// The operating system's error.
        #[source]
        source: io::Error,
    },
    /// This system cannot tell processes apart, so none is killed.
    #[error("cannot verify on this system that process {pid} is the recorded one")]
    Unproven {
        /// The recorded process.
        pid: u32,
    },
    /// The process table cannot be read.
    #[error("failed to read the process table")]
    Processes(#[source] io::Error),
}

fn listed(hosts: &[Host]) -> String {
    let names: Vec<&str> = hosts.iter().map(Host::as_str).collect();
    match names.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        names => names.concat(),
    }
}
