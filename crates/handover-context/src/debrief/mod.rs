//! The debrief: what an agent leaves behind when it ends.
//!
//! Reading is tolerant (`parse`): agents forget fields, invent words, and wrap everything in prose.
//! Storing is strict (`keep`): what cannot be what it claims to be is left out and said so.

mod keep;
mod parse;
mod sent_back;

use std::collections::BTreeMap;

use handover_model::{Phase, ReceiptId, Verdict};
use serde::{Deserialize, Serialize};

pub use keep::{Kept, Origin, Setting, keep, keep_missing, keep_packages};
pub use parse::{SCHEMA, packages, parse};

/// What an agent said when it ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Debrief {
    /// The receipt that it says it started with: proof that it saw its context.
    pub receipt: Option<ReceiptId>,
    /// How it ended.
    pub verdict: Option<Verdict>,
    /// What it did or found.
    pub summary: Option<String>,
    /// What it thought, by phase.
    pub reasoning: BTreeMap<Phase, String>,
    /// Files that others should know.
    pub packages: Vec<PackageNote>,
    /// Errors that it met and solved.
    pub errors: Vec<ErrorNote>,
    /// What a debrief should have and this one has not.
    #[serde(skip)]
    pub missing: Vec<&'static str>,
    /// What was said that makes no sense.
    #[serde(skip)]
    pub problems: Vec<String>,
}

impl Debrief {
    /// Whether the agent left a debrief at all.
    pub fn is_there(&self) -> bool {
        !self.missing.contains(&BLOCK)
    }
}

/// What is missing when there is no block.
pub const BLOCK: &str = "block";

/// A file that an agent wants others to know.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackageNote {
    /// The file.
    pub path: String,
    /// What it carries.
    pub kind: Option<String>,
    /// How much it matters.
    pub priority: Option<String>,
    /// What others see of it.
    pub summary: Option<String>,
    /// Whom it is for.
    pub consumers: Vec<String>,
}

/// An error and what solved it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorNote {
    /// What it said.
    pub message: String,
    /// What solved it.
    pub solution: Option<String>,
}

/// The short request for a debrief that was forgotten.
pub fn request_for(receipt: &ReceiptId) -> String {
    format!(
        "Your last message has no debrief. Answer with this block alone, filled in from what you did; do no \
         further work.\n\n```handover\nreceipt: {receipt}\nverdict: complete, blocked, passed, \
         passed_with_fixes, failed or escalate\nsummary: …\nreasoning:\n  decisions: …\n  completion: …\n```\n"
    )
}
