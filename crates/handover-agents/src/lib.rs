//! Runs agent programs: one adapter per program says how it is called and what its output means,
//! and one supervisor sees to it that a run ends and that nothing of it stays behind.
//!
//! The store is not known here, nor the clock, nor our own environment: whoever calls passes in
//! what the agent may see and keeps what comes out.
//!
//! ```no_run
//! use handover_agents::{CancelToken, Environment, Invocation, SpawnId, run};
//! use handover_model::{AdmittedPrompt, Host, Profile};
//!
//! # fn example(prompt: AdmittedPrompt) -> Result<(), handover_agents::AgentError> {
//! let environment = Environment::scrubbed(std::env::vars_os(), Host::Claude, &[]);
//! let mut invocation = Invocation::new(Host::Claude, SpawnId::new("spawn-1")?, "/project");
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
mod capture;
mod classify;
mod environment;
mod error;
mod event;
mod invocation;
mod outcome;
mod process;
mod supervise;
mod tee;

pub use adapters::{default_program, join_command, replay, split_command};
pub use cancel::CancelToken;
pub use capture::Captured;
pub use environment::Environment;
pub use error::AgentError;
pub use event::{AgentEvent, Tool};
pub use invocation::{Invocation, Limits, SpawnId};
pub use outcome::{Ended, Failure, Outcome, Report, Usage};
pub use process::{Identity, OrphanEnd, die, end_marked, end_orphan, is_alive, machine, myself};
pub use supervise::run;
pub use tee::Tee;
