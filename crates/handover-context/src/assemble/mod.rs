//! Assembly: choosing, redacting, shortening, packing and rendering context for one spawn.
//!
//! One pass over plain data, no step goes back: budget → history → candidates → ranking → packing (redact,
//! shorten, count) → rendering → receipt. What each step decided is kept, so an explanation is just
//! its trace.

mod admit;
mod alive;
pub(crate) mod amended;
mod block;
mod by_use;
mod draft;
mod explain;
mod history;
mod known;
mod learned;
mod offer;
mod pack;
mod passages;
mod places;
mod plan;
mod reasoning;
mod render;
mod render_history;
mod render_notes;
mod retired;
mod select;
mod settled;
mod shorten;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use handover_model::config::AssemblyConfig;
use handover_model::{
    AmendedBy, Budget, Confidence, ErrorPattern, Fate, Form, GroupId, ItemKind, ItemRef, PackageId,
    PackageKind, Priority, ReasoningId, ReasoningLevel, ReceiptId, Role, ScreenFlag, SessionId,
    StaleName, Strategy, Timestamp, Trust, Zone,
};
use handover_store::{NewReceipt, Result, Store};
use handover_text::Redactor;
use serde::Serialize;

use crate::learning::Binding;
use crate::package_file::ProjectPaths;

pub use admit::flags as screened;
pub use alive::{Freshness, Unchecked};
use draft::Draft;
pub use history::ShownVerdict;
pub use known::{EarlierNote, PackedNote};
pub use passages::ShownPassage;
pub use places::ShownPlace;
use plan::Plan;
pub use render::{fallback, what_it_does};

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
    /// How much reasoning is included; `None` leaves it to the role.
    pub reasoning_level: Option<ReasoningLevel>,
    /// The most packages; `None` leaves it to the role.
    pub limit: Option<usize>,
    /// The most tokens of the whole block; `None` leaves it to the budget.
    pub cap: Option<u64>,
    /// Files that the agent's program loads by itself; they are not repeated.
    pub loaded: Vec<String>,
    /// Whether the receipt claims its packages, because an agent is about to get them.
    pub claim: bool,
    /// Whether every candidate is explained instead of only the best.
    pub explain: bool,
    /// The id of the receipt.
    pub receipt: ReceiptId,
    /// The time of the request.
    pub now: Timestamp,
}

/// A package as the block shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedPackage {
    /// The registered package.
    pub id: PackageId,
    /// The version that was chosen.
    pub version: u32,
    /// The file, relative to the project.
    pub path: String,
    /// Decides conflicts between packages.
    pub priority: Priority,
    /// The summary, shortened to fit; empty if passages are shown instead.
    pub summary: String,
    /// The passages of its text that answer the task, best first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<ShownPassage>,
    /// Tokens of the package in the block.
    pub tokens: u64,
    /// Tokens of the whole file.
    pub file_tokens: u64,
    /// What it was ranked by: the sum of `terms`.
    pub score: f64,
    /// How much of the package is shown.
    pub form: Form,
    /// What the package contains.
    pub kind: PackageKind,
    /// How far to believe it.
    pub trust: Trust,
    /// What the screen found in the texts that are shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// The names in the texts that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleName>,
    /// Whether it is addressed to others, and shown because the role judges or rescues their work.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub for_reference: bool,
    /// Whether the file has changed since its summary was written.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Whether the file is on another machine, so that its text must be read from the store.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub elsewhere: bool,
    /// What replaced part of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outdated: Option<AmendedBy>,
    /// A later one about the same subject, for which only its path is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later: Option<AmendedBy>,
    /// Whether the block shows all of it, so that the file need not be read.
    #[serde(skip)]
    pub whole: bool,
    /// Whether it reports the failures that the work was sent back for.
    #[serde(skip)]
    pub report: bool,
    /// Whether it is about the task, or was chosen for its group.
    #[serde(skip)]
    pub relevant: bool,
    /// Whether it is addressed to the role.
    #[serde(skip)]
    pub addressed: bool,
    /// How the score came about.
    #[serde(skip)]
    pub terms: Terms,
}

impl PackedPackage {
    fn item(&self) -> ItemRef {
        ItemRef { kind: ItemKind::Package, id: self.id.to_string() }
    }

    /// Whether the agent should know it before it starts.
    fn matters(&self) -> bool {
        self.relevant || self.addressed || self.report || self.priority == Priority::Critical
    }

    /// The texts of it that the block shows.
    fn said(&self) -> impl Iterator<Item = &str> {
        let passages = self.passages.iter().map(|passage| passage.text.as_str());
        [self.summary.as_str()].into_iter().chain(passages).filter(|text| !text.is_empty())
    }
}

/// The terms of a score; they add up to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Terms {
    /// Weight of its priority.
    pub priority: f64,
    /// Bonus for coming from the requesting group.
    pub same_group: f64,
    /// Bonus for being addressed to the requesting role.
    pub addressed: f64,
    /// Bonus for being recent.
    pub recency: f64,
    /// Relevance to the task.
    pub task: f64,
    /// Loss because what it names is gone; never above 0.
    #[serde(skip_serializing_if = "is_zero")]
    pub stale: f64,
    /// What its use in earlier briefs adds or takes away.
    #[serde(rename = "use", skip_serializing_if = "is_zero")]
    pub used: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

impl Terms {
    fn sum(&self) -> f64 {
        self.priority
            + self.same_group
            + self.addressed
            + self.recency
            + self.task
            + self.stale
            + self.used
    }

    /// By name, as a receipt keeps them.
    fn by_name(&self) -> BTreeMap<String, f64> {
        [
            ("priority", self.priority),
            ("same_group", self.same_group),
            ("addressed", self.addressed),
            ("recency", self.recency),
            ("task", self.task),
            ("stale", self.stale),
            ("use", self.used),
        ]
        .into_iter()
        .filter(|(name, value)| !matches!(*name, "stale" | "use") || *value != 0.0)
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
    }
}

/// A reasoning entry as the block shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedReasoning {
    /// The stored entry.
    pub id: ReasoningId,
    /// The role of its author.
    pub role: Role,
    /// The phase of work that it is about.
    pub phase: handover_model::Phase,
    /// The attempt it came from, from 1.
    pub attempt: u32,
    /// The group it came from, if the request is not about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// How certain the author was, if they said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The content, shortened to fit.
    pub content: String,
    /// How far to believe it.
    pub trust: Trust,
    /// What the screen found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// The names in it that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleName>,
    /// Tokens of the entry in the block.
    pub tokens: u64,
}

/// The id of a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ItemId {
    /// Of a package or a reasoning entry.
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

/// Why a candidate is in or out.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// The kind of record.
    pub kind: ItemKind,
    /// The id of the record.
    pub id: ItemId,
    /// Whether the block shows it.
    pub included: bool,
    /// The rule that decided.
    pub reason: Fate,
    /// The reason given for retiring it.
    #[serde(skip)]
    pub detail: Option<String>,
    /// How far to believe it; unknown if it was left out unread.
    pub trust: Option<Trust>,
    /// What it was ranked by; 0 for records without a rank.
    pub score: f64,
    /// How the score came about.
    pub terms: Terms,
    /// The names in what is shown of it that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleName>,
    /// The later statement that replaced it, all of it or in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amended_by: Option<AmendedBy>,
}

impl Explained {
    /// A record without a score.
    fn plain(kind: ItemKind, id: ItemId, fate: Fate, trust: Trust) -> Self {
        let (trust, terms) = (Some(trust), Terms::default());
        let (score, detail, stale, amended_by) = (0.0, None, Vec::new(), None);
        let included = fate.is_in();
        Self { kind, id, included, reason: fate, detail, trust, score, terms, stale, amended_by }
    }

    /// The rule that decided, with the reason that was given for it.
    pub fn why(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{}: {detail}", self.reason),
            None => self.reason.to_string(),
        }
    }
}

/// An assembled block of context.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The receipt to store.
    pub receipt: NewReceipt,
    /// The token budget of the role and model.
    pub budget: Budget,
    /// How full the agent's window is.
    pub zone: Zone,
    /// How full the agent's window is, in percent.
    pub usage_percent: f64,
    /// The judgement that sent the work back, if one did.
    pub sent_back: Option<ShownVerdict>,
    /// The packages in the block, best first.
    pub packages: Vec<PackedPackage>,
    /// How many packages this role could get.
    pub available: usize,
    /// How many of those are not in the block.
    pub overflow: usize,
    /// The notes in the block, best first.
    pub notes: Vec<PackedNote>,
    /// The reasoning entries in the block.
    pub reasoning: Vec<PackedReasoning>,
    /// The error patterns in the block.
    pub errors: Vec<ErrorPattern>,
    /// The strategies in the block.
    pub strategies: Vec<Strategy>,
    /// The files that the work will probably touch, best first.
    pub places: Vec<ShownPlace>,
    /// How many secrets were removed.
    pub redactions: u64,
    /// Tokens of the block.
    pub tokens: u64,
    /// The block.
    pub markdown: String,
    /// Why candidates are in or out: all of them if requested, else those that were tried and the
    /// best of the others.
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
    /// Finds the files that a task is about; nothing if there is no index of them.
    pub where_to_look: &'a dyn Fn(&str) -> Vec<ShownPlace>,
    /// Tells what became of what texts are about.
    pub fresh: &'a dyn Freshness,
    /// Whether notes are chosen from, too.
    pub notes: bool,
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
    if let Some(key) = sources.config.switched_off_by(&request.role) {
        return draft.switched_off(key);
    }
    if plan.has_history() {
        draft.look_back()?;
    }
    if plan.has_items() {
        draft.fill(&project)?;
    }
    let (tokens, markdown) = draft.fit();
    let mut assembly = draft.finish(tokens, markdown)?;
    if request.explain {
        assembly.candidates.extend(retired::retired(sources, request, &project)?);
    }
    Ok(assembly)
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
