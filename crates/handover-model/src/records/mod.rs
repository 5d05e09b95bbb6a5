//! The records of the store as they are read. Writing uses separate types in handover-store, because text
//! may only be stored after redaction.

mod amendment;
mod change;
mod error_pattern;
mod event;
mod group;
mod host;
mod note;
mod operation;
mod package;
mod reasoning;
mod receipt;
mod run;
mod session;
mod skill_output;
mod stale_name;
mod strategy;
mod token;
mod verdict;

pub use amendment::{AmendedBy, Amendment, ItemRef};
pub use change::Change;
pub use error_pattern::{ErrorIncident, ErrorPattern};
pub use event::Event;
pub use group::Group;
pub use host::{HostVersion, Ticket};
pub use note::{Note, SectionNow};
pub use operation::{Edit, Operation, SessionStanding, Standing};
pub use package::{Delivery, Package};
pub use reasoning::Reasoning;
pub use receipt::{LeftOut, Provided, Provision, Receipt, ReceiptItem, Section};
pub use run::{JournalEntry, LockOwner, Run};
pub use session::{Session, SessionCounts};
pub use skill_output::SkillOutput;
pub use stale_name::{Alive, NameCheck, StaleName};
pub use strategy::Strategy;
pub use token::Token;
pub use verdict::VerdictRecord;

#[cfg(test)]
mod json_tests;
#[cfg(test)]
mod tests;
