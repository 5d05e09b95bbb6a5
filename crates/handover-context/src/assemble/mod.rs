//! Assembly: choosing, redacting, shortening, packing and rendering context for one spawn.
//!
//! One pass over plain data, no step goes back: budget → candidates → ranking → packing (redact,
//! shorten, count) → rendering → receipt. What each step decided is kept, so an explanation is just
//! its trace.

mod block;
mod draft;
mod explain;
mod learned;
mod pack;
mod plan;
mod reasoning;
mod render;
mod select;

use std::collections::BTreeMap;

use handover_model::config::AssemblyConfig;
use handover_model::{
    Budget, ErrorPattern, Fate, Form, GroupId, ItemKind, PackageId, Priority, ReasoningId,
    ReasoningLevel, ReceiptId, Role, SessionId, Strategy, Timestamp, Zone,
};
use handover_store::{NewReceipt, Result, Store};
use handover_text::Redactor;
use serde::Serialize;

use crate::learning::Binding;
use crate::package_file::ProjectPaths;

use draft::Draft;
use plan::Plan;
pub use render::fallback;

/// A request for the context of one agent.
#[derive(Debug, Clone)]
pub struct ContextRequest {
    /// The session whose records are chosen from.
    pub session: SessionId,
    /// The role of the agent; decides routing, budget and reasoning.
    pub role: Role,
    /// The group that the agent works in; without one the whole session is chosen from.
    pub group: Option<GroupId>,
    /// Text to rank by.
    pub task: Option<String>,
    /// The model, by any of its names; decides window and tokenizer.
    pub model: Option<String>,
    /// Tokens that the agent's window holds already.
    pub current_tokens: u64,
    /// Which attempt of the role, from 0; what an earlier attempt got does not count as consumed.
    pub iteration: u32,
    /// Whether other agents' reasoning is included; `None` leaves it to the role.
    pub reasoning: Option<bool>,
    /// How much reasoning is included.
    pub reasoning_level: ReasoningLevel,
    /// The most packages; `None` leaves it to the role.
    pub limit: Option<usize>,
    /// The most tokens of the whole block; `None` leaves it to the budget.
    pub cap: Option<u64>,
    /// Whether the receipt claims its packages, because an agent is about to get them.
    pub claim: bool,
    /// Whether every candidate is explained instead of only the best.
    pub explain: bool,
    /// The id of the receipt.
    pub receipt: ReceiptId,
    /// The time of the request.
    pub now: Timestamp,
}

/// A package that is in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedPackage {
    /// The package.
    pub id: PackageId,
    /// Its version.
    pub version: u32,
    /// Where the file is.
    pub path: String,
    /// How much it matters.
    pub priority: Priority,
    /// What is shown of its summary.
    pub summary: String,
    /// What it costs here.
    pub tokens: u64,
    /// What reading the file costs.
    pub file_tokens: u64,
    /// Its rank value.
    pub score: f64,
    /// How much of it is in.
    pub form: Form,
    /// Whether the file is another one than when its summary was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether the file is on another machine, so that its text must be asked for.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// The terms of the score.
    #[serde(skip)]
    pub terms: Terms,
}

/// The terms of a score; they add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Terms {
    /// How much it matters.
    pub priority: f64,
    /// Whether it came from the group that asks.
    pub same_group: f64,
    /// Whether it is addressed to the role that asks.
    pub addressed: f64,
    /// How new it is.
    pub recency: f64,
    /// How relevant it is to the task.
    pub task: f64,
}

impl Terms {
    /// The score.
    fn sum(&self) -> f64 {
        self.priority + self.same_group + self.addressed + self.recency + self.task
    }

    /// By name, as a receipt keeps them.
    fn by_name(&self) -> BTreeMap<String, f64> {
        [
            ("priority", self.priority),
            ("same_group", self.same_group),
            ("addressed", self.addressed),
            ("recency", self.recency),
            ("task", self.task),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// A piece of reasoning that is in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedReasoning {
    /// The piece.
    pub id: ReasoningId,
    /// Who thought it.
    pub role: Role,
    /// In which phase.
    pub phase: handover_model::Phase,
    /// What is shown of it.
    pub content: String,
    /// What it costs here.
    pub tokens: u64,
}

/// The id of a record: a number, or a text for those that have one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ItemId {
    /// Of a package or a piece of reasoning.
    Number(i64),
    /// Of an error pattern or a strategy.
    Text(String),
}

impl std::fmt::Display for ItemId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// One candidate, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// What kind of record.
    pub kind: ItemKind,
    /// Which one.
    pub id: ItemId,
    /// Whether it is in.
    pub included: bool,
    /// Why.
    pub reason: Fate,
    /// Its rank value.
    pub score: f64,
    /// The terms of the score.
    pub terms: Terms,
}

impl Explained {
    /// A record that has no score.
    fn plain(kind: ItemKind, id: ItemId, fate: Fate) -> Self {
        let terms =
            Terms { priority: 0.0, same_group: 0.0, addressed: 0.0, recency: 0.0, task: 0.0 };
        let included = matches!(fate, Fate::Fits | Fate::FitsShortened | Fate::FitsAsPath);
        Self { kind, id, included, reason: fate, score: 0.0, terms }
    }
}

/// The outcome of an assembly.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The record of it.
    pub receipt: NewReceipt,
    /// How much room there was.
    pub budget: Budget,
    /// How full the window is.
    pub zone: Zone,
    /// The same as a percentage.
    pub usage_percent: f64,
    /// The packages that are in, best first.
    pub packages: Vec<PackedPackage>,
    /// How many could have been in.
    pub available: usize,
    /// How many of them are not.
    pub overflow: usize,
    /// The reasoning that is in.
    pub reasoning: Vec<PackedReasoning>,
    /// The error patterns that are in.
    pub errors: Vec<ErrorPattern>,
    /// The strategies that are in.
    pub strategies: Vec<Strategy>,
    /// How many secrets were taken out on the way.
    pub redactions: u64,
    /// Tokens of the text.
    pub tokens: u64,
    /// The text.
    pub markdown: String,
    /// Candidates with their terms and fates: all of them if that was asked for, else those that
    /// were tried and the best of the others.
    pub candidates: Vec<Explained>,
}

/// What context is chosen from, and by which rules.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The records.
    pub store: &'a dyn Store,
    /// Removes secrets from everything that leaves.
    pub redactor: &'a Redactor,
    /// The project's settings for assembly.
    pub config: &'a AssemblyConfig,
    /// Detects the language and framework; called only when a strategy depends on them.
    pub binding: &'a dyn Fn() -> Binding,
    /// Tells whether package files still are what was registered; `None` skips that check.
    pub places: Option<&'a ProjectPaths>,
}

/// Assembles context without storing anything.
pub fn compose(sources: Sources<'_>, request: &ContextRequest) -> Result<Assembly> {
    let project = sources.store.session(&request.session)?.project;
    let plan = Plan::new(sources.config, request);
    let mut draft = Draft::new(sources, request, &plan);
    if plan.has_items() {
        draft.fill(&project)?;
    }
    let (tokens, markdown) = draft.fit();
    draft.finish(tokens, markdown)
}

/// How many secrets were removed, by rule.
#[derive(Debug, Default)]
struct Redactions {
    by_rule: BTreeMap<String, u64>,
}

impl Redactions {
    /// Redacts a text that is about to leave, and counts.
    fn clean(&mut self, redactor: &Redactor, text: &str) -> handover_text::Clean {
        let clean = redactor.clean(text);
        for (rule, count) in clean.redactions_by_rule() {
            *self.by_rule.entry(rule.clone()).or_default() += u64::from(*count);
        }
        clean
    }
}
