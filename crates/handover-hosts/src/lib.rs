//! The hook protocols of agent programs: what a program sends, what it gets back, and how that is decided.
//!
//! A program is one type that implements [`HookHost`], in one folder of `hosts/`, and one line in
//! [`Registry`]. It reads its events into a [`HookCall`] and writes an [`Answer`]; both mean the same for
//! every program. Decisions are in [`decide`]: functions from data to data. Nothing here opens a store,
//! starts a process or touches a file; callers pass in the facts.

pub mod decide;
mod event;
mod folder_trust;
mod host;
mod hosts;
pub mod protocol;
mod registry;
pub mod settings;
pub mod transcript;

pub use event::{
    Action, Answer, Checkpoint, EventHead, HookCall, HookEvent, StartReason, Subagent, SubagentEnd,
    SubagentReturn, SubagentSpawn, SubagentStop,
};
pub use folder_trust::Start;
pub use host::{
    Capabilities, HookHost, HookTrust, ProbeSetup, TestedVersions, TextLimit, TrustedHooks,
    version_in,
};
pub use registry::{ReadError, Registry, UnknownHost};
