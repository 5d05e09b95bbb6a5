//! The vocabulary of a run: plain data that the journal stores and that every other module of the
//! engine passes around. Nothing here depends on another module of the crate.

mod account;
mod earlier;
mod finding;
mod notes;
mod paths;
mod retro;
mod scenario;
mod spent;
mod statement;

pub use account::Account;
pub use earlier::Earlier;
pub use finding::{Finding, kind_of, severity_of};
pub use notes::WorkNotes;
pub use paths::{handoff_path, retro_path, uat_data_path, uat_document_path};
pub use retro::{Lesson, Retro};
pub use scenario::ScenarioResult;
pub use spent::{Price, Spent};
pub use statement::{Analysis, Contribution, Stance, Statement, Topic};
pub(crate) use statement::{MOST_ITEMS, cut};
