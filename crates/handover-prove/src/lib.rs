//! Experiments that answer "does this help me?" with the user's own tasks.
//!
//! Everything here is a function from data to data: the file of tasks ([`mod@file`]), the arms ([`arm`]), the order of
//! trials ([`mod@schedule`]), what the journal says about them ([`journal`]), the statistics ([`stats`]) and the report
//! ([`report`]), and which commits of a history make tasks ([`mine`]). Clones, agents, judges and files are the
//! caller's.

pub mod arm;
pub mod file;
pub mod journal;
pub mod mine;
pub mod report;
mod rng;
pub mod schedule;
pub mod stats;

pub use arm::{Arm, BriefSection, UnknownArm};
pub use file::{FileError, Task, TaskFile};
pub use journal::{AgentEnd, Entry, JournalError, Plan, PlanError, Progress, TrialState};
pub use report::{ArmReport, Report};
pub use rng::Rng;
pub use schedule::{Trial, schedule};
pub use stats::{Difference, Observation, Outcome, Verdict, compare};
