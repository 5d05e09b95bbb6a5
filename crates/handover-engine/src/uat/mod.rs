//! Acceptance tests: scenarios as data, the document that people read, and running them.
//!
//! A scenario is written by an agent and so can ask for anything. No shell is involved: `allow.rs` decides
//! which programs may start and with which arguments, and refuses everything else.

mod allow;
mod criteria;
mod document;
mod execute;
mod expect;
mod parse;
mod render;
mod scenario;
mod tools;

pub use allow::{Allowed, Refused, programs_of};
pub use criteria::{Criteria, uncovered, unknown};
pub use document::Document;
pub use execute::{ScenarioContext, run_scenarios};
pub use expect::judge;
pub use parse::{ScenarioProblem, UatError, from_value, parse};
pub use render::{DocumentInfo, render};
pub use scenario::{Expect, MAX_TIMEOUT, Scenario, is_run};
