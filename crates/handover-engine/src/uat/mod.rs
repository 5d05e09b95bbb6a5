//! Acceptance: scenarios as data, the document that people read, and the programs that try them out.
//!
//! A scenario is written by an agent and so can ask for anything. Nothing in it is ever given to a
//! shell: `allow.rs` says which programs may be started and with which words, and refuses the rest.

mod allow;
mod document;
mod execute;
mod expect;
mod load;
mod parse;
mod render;
mod scenario;
mod tools;

pub use allow::{Allowed, Refused, programs_of};
pub use document::{Document, data_path, document_path};
pub use execute::{Setting, try_out};
pub use expect::judge;
pub use parse::{Problem, UatError, from_value, parse};
pub use render::{About, render};
pub use scenario::{Expect, MAX_TIMEOUT, Scenario, ScenarioResult, is_tried};
