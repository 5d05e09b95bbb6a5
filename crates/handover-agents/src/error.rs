//! Errors that prevent a run. An agent that ran and failed is an `Outcome`, not an error.

use std::io;
use std::path::PathBuf;

use handover_model::Host;

/// Why an agent could not be started, supervised or ended.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// No program of that name is registered.
    #[error("`{host}` is not a host; one of {} is expected", listed(known))]
    UnknownHost {
        /// The name that was given.
        host: String,
        /// The names that exist.
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
    /// The program is there, and does not start.
    #[error("failed to start `{}` in {}", program.display(), folder.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The folder that it was to work in.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder that the agent was to work in does not exist.
    #[error("the folder {} does not exist", folder.display())]
    FolderNotFound {
        /// The folder.
        folder: PathBuf,
    },
    /// The host `command` was chosen and no program given.
    #[error("host `command` needs a program to run")]
    NoProgram,
    /// An agent program without a prompt that the guard let through.
    #[error("host `{host}` needs a prompt")]
    NoPrompt {
        /// The agent program.
        host: Host,
    },
    /// A line that cannot be split into a program and its arguments.
    #[error("cannot split the command `{command}` into words: a quote is not closed")]
    Split {
        /// The line.
        command: String,
    },
    /// A mark that would not survive in an environment variable.
    #[error(
        "`{value}` is not a spawn id: letters, digits, `-`, `_` and `.` are allowed, 1 to 128 of them"
    )]
    SpawnId {
        /// What was given.
        value: String,
    },
    /// The system has no more threads, or the child cannot be waited for.
    #[error("failed to watch `{}`", program.display())]
    Watch {
        /// The program.
        program: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Processes cannot be told apart on this system, so none is ended.
    #[error("process {pid} cannot be proven to be the recorded one on this system")]
    Unproven {
        /// The recorded process.
        pid: u32,
    },
    /// The table of processes cannot be read.
    #[error("failed to read the table of processes")]
    Processes(#[source] io::Error),
}

fn listed(hosts: &[Host]) -> String {
    hosts.iter().map(Host::as_str).collect::<Vec<_>>().join(", ")
}
