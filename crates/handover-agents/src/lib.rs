//! Runs agent programs: an [`AgentProgram`] defines how one is called and what its output means, and one
//! supervisor makes sure that a run ends and leaves no process behind.
//!
//! This crate knows neither the store nor the clock nor our own environment: the caller passes in
//! what the agent may see and stores what comes out.
//!
//! ```no_run
//! use handover_agents::{CancelToken, Environment, Invocation, SpawnId, run};
//! use handover_model::{AdmittedPrompt, Host, Profile};
//!
//! # fn example(prompt: AdmittedPrompt) -> Result<(), handover_agents::AgentError> {
//! let environment = Environment::scrubbed(std::env::vars_os(), Host::CLAUDE, &[]);
//! let mut invocation = Invocation::new(Host::CLAUDE, SpawnId::new("spawn-1")?, "/project");
//! invocation.prompt = Some(prompt);
//! invocation.environment = environment;
//! invocation.profile = Profile::ReadOnly;
//! let outcome = run(&invocation, None, &mut |_event| {}, &CancelToken::default())?;
//! println!("{}", outcome.final_text);
//! # Ok(())
//! # }
//! ```

mod adapters;
mod cancel;
mod capabilities;
mod capture;
mod classify;
mod databases;
mod environment;
mod error;
mod event;
mod invocation;
mod outcome;
mod pipe;
mod process;
mod program;
mod registry;
mod resets;
mod supervise;
mod tee;

pub use adapters::{join_command, split_command};
pub use cancel::CancelToken;
pub use capabilities::Capabilities;
pub use capture::Captured;
pub use databases::Databases;
pub use environment::Environment;
pub use error::AgentError;
pub use event::{AgentEvent, Tool};
pub use invocation::{Invocation, Limits, SpawnId};
pub use outcome::{
    ClockTime, Ended, Exceeded, Failure, Outcome, Report, Resets, Total, Usage, Used,
};
pub use pipe::{Piped, ask_server, pipe_tool};
pub use process::{
    Identity, OrphanEnd, current_process, die, end_marked, end_orphan, environments_above,
    is_alive, machine,
};
pub use program::{AgentProgram, OutputReader};
pub use registry::Registry;
pub use tee::{Filter, Piece, Tee};

use handover_model::Host;

/// The usual executable name of a built-in host; empty if there is none.
pub fn default_program(host: Host) -> &'static str {
    Registry::built_in().find(host).map(AgentProgram::default_program).unwrap_or_default()
}

/// Parses the name of a built-in host.
pub fn parse_host(text: &str) -> Result<Host, AgentError> {
    Registry::built_in().parse(text)
}

/// Runs a built-in agent and waits until it ends; events go to `on_event`, on this thread.
///
/// The process gets its own session, so Ctrl-C in the terminal does not reach it. On return, neither it nor
/// anything it started is still running (see [`Outcome::left_behind`]).
pub fn run(
    invocation: &Invocation,
    tee: Option<&mut Tee<'_>>,
    on_event: &mut dyn FnMut(AgentEvent),
    cancel: &CancelToken,
) -> Result<Outcome, AgentError> {
    Registry::built_in().run(invocation, tee, on_event, cancel)
}

/// Runs a tool, such as a test runner, under the same supervision as an agent. It gets no input: anything that
/// takes a prompt is an agent and goes through [`run`].
pub fn run_tool(
    invocation: &Invocation,
    on_event: &mut dyn FnMut(AgentEvent),
    cancel: &CancelToken,
) -> Result<Outcome, AgentError> {
    let tool = Registry::built_in().find(Host::COMMAND)?;
    supervise::run(tool, invocation, supervise::Pipes::default(), on_event, cancel)
}
