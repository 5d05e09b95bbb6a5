//! Assembly: choosing, redacting, shortening, packing and rendering context for one spawn.
//!
//! One pass over plain data, no step goes back: budget → candidates → ranking → packing (redact,
//! shorten, count) → rendering → receipt. What each step decided is kept, so an explanation is just
//! its trace.

mod learned;
mod pack;
mod reasoning;
mod render;
mod select;

use std::collections::BTreeMap;

use handover_model::config::AssemblyConfig;
use handover_model::models::Model;
use handover_model::roles::{RoleOverride, RoleRules};
use handover_model::{
    Budget, ErrorPattern, Fate, Form, GroupId, ItemKind, LeftOut, PackageId, Priority, Provided,
    Provision, ReasoningId, ReasoningLevel, ReceiptId, ReceiptItem, Role, Section, SessionId,
    Strategy, Timestamp, Tokenizer, Zone,
};
use handover_store::{NewReceipt, Result, Store};
use handover_text::{Redactor, tokens};
use serde::Serialize;

use crate::learning::Binding;
use crate::package_file::ProjectPaths;

pub use render::fallback;
use select::Selection;

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

/// How many left-out items a receipt keeps by name.
const LEFT_OUT_KEPT: usize = 50;

/// Puts the context together without keeping anything.
pub fn compose(sources: Sources<'_>, request: &ContextRequest) -> Result<Assembly> {
    let session = sources.store.session(&request.session)?;
    let model = Model::named(request.model.as_deref());
    let none = RoleOverride::default();
    let set = sources.config.roles.get(request.role.as_str()).unwrap_or(&none);
    let rules = RoleRules::of(&request.role).with(set);
    let margin = (sources.config.safety_margin.clamp(0.0, 1.0) * 1_000.0).round() as u64;
    let budget = Budget::new(model.window, margin, request.current_tokens, &rules);
    let zone = budget.zone(request.current_tokens);
    let tokenizer = model.tokenizer;
    let cap = request.cap.unwrap_or(u64::MAX).min(budget.context + budget.errors);
    let room = budget.context.min(cap);
    let mut redactions = Redactions::default();

    let limit = request.limit.unwrap_or(rules.limit);
    let essentials_only = matches!(zone, Zone::WrapUp | Zone::Emergency);
    let mut block = Block::default();
    let mut selection = Selection::default();
    let mut tried = Vec::new();
    if !essentials_only {
        // Headings, the marker and the line about reading come out of the same room.
        let items = room.saturating_sub(render::FRAME_TOKENS);
        if request.reasoning.unwrap_or_else(|| rules.reasons(request.iteration)) {
            let room = request.reasoning_level.tokens().min(items / 2);
            let digest =
                reasoning::digest(sources, request, &rules, room, tokenizer, &mut redactions)?;
            block.reasoning = digest.entries;
            tried.extend(digest.explained);
        }
        let used: u64 = block.reasoning.iter().map(|r| r.tokens).sum();
        selection = select::select(sources, request, zone, limit)?;
        let packed = pack::packages(
            sources,
            &mut selection,
            zone,
            limit,
            items.saturating_sub(used),
            tokenizer,
            &mut redactions,
        )?;
        block.packages = packed.packages;
        tried.extend(packed.tried);
        let room = budget.errors.min(cap);
        let (errors, told) = learned::errors(sources, request, &session.project, room, tokenizer)?;
        tried.extend(told);
        let left = room.saturating_sub(learned::tokens_of_errors(&errors, tokenizer));
        let (strategies, told) = learned::strategies(sources, &session.project, left, tokenizer)?;
        tried.extend(told);
        (block.errors, block.strategies) = (errors, strategies);
    }

    let usage_percent = budget.usage_percent(request.current_tokens);
    let shown = |block: &Block| {
        let markdown = render::block(&render::Shown {
            role: &request.role,
            zone,
            usage_percent,
            available: selection.available,
            block,
            receipt: &request.receipt,
        });
        (tokens::count(tokenizer, &markdown), markdown)
    };
    // Items were counted one by one; now the whole is.
    let (mut tokens, mut markdown) = shown(&block);
    while tokens > cap {
        let Some(changed) = block.shrink(tokenizer) else { break };
        if let Shrunk::Gone(kind, id) = changed {
            for candidate in tried.iter_mut().filter(|c| c.kind == kind && c.id == id) {
                (candidate.included, candidate.reason) = (false, Fate::OverTheBudget);
            }
        }
        (tokens, markdown) = shown(&block);
    }

    let (explained, left_out_counts) = explain(&mut selection, tried, request.explain)?;
    let learned_tokens = learned::tokens_of_errors(&block.errors, tokenizer)
        + learned::tokens_of_strategies(&block.strategies, tokenizer);
    let section = |name: &str, budget, used| Section { name: name.to_owned(), budget, used };
    let receipt = NewReceipt {
        id: request.receipt.clone(),
        session: request.session.clone(),
        group: request.group.clone(),
        role: request.role.clone(),
        iteration: request.iteration,
        model: request.model.as_deref().map(|name| sources.redactor.clean(name)),
        tokenizer: tokenizer.as_str().to_owned(),
        zone,
        tokens,
        prompt_hash: crate::package_file::content_hash(markdown.as_bytes()),
        sections: vec![
            section("packages", room, block.packages.iter().map(|p| p.tokens).sum()),
            section(
                "reasoning",
                request.reasoning_level.tokens().min(room.saturating_sub(render::FRAME_TOKENS) / 2),
                block.reasoning.iter().map(|r| r.tokens).sum(),
            ),
            section("errors", budget.errors.min(cap), learned_tokens),
        ],
        items: items(&block),
        left_out: left_out(&explained),
        left_out_counts,
        redactions: redactions.by_rule.clone(),
        trimmed: Vec::new(),
        provided: Provided { context: Provision::Present, specialization: Provision::Missing },
        text: Some(sources.redactor.clean(&markdown)),
        claim: request.claim,
        now: request.now,
    };
    Ok(Assembly {
        receipt,
        budget,
        zone,
        usage_percent,
        available: selection.available,
        overflow: selection.available.saturating_sub(block.packages.len()),
        packages: block.packages,
        reasoning: block.reasoning,
        errors: block.errors,
        strategies: block.strategies,
        redactions: redactions.by_rule.values().sum(),
        tokens,
        markdown,
        candidates: explained,
    })
}

/// What goes into a block.
#[derive(Debug, Default)]
struct Block {
    packages: Vec<PackedPackage>,
    reasoning: Vec<PackedReasoning>,
    errors: Vec<ErrorPattern>,
    strategies: Vec<Strategy>,
}

/// What became of a block that was too long.
enum Shrunk {
    /// Something in it is shorter.
    Shorter,
    /// This is not in it any more.
    Gone(ItemKind, ItemId),
}

impl Block {
    /// Makes the block smaller by what is missed least: strategies, errors, then packages, low
    /// priority first and each shorter before it goes, then reasoning, of which a completion, which
    /// comes first, goes last. None if nothing is left.
    fn shrink(&mut self, tokenizer: Tokenizer) -> Option<Shrunk> {
        if let Some(strategy) = self.strategies.pop() {
            return Some(Shrunk::Gone(ItemKind::Strategy, ItemId::Text(strategy.id)));
        }
        if let Some(error) = self.errors.pop() {
            return Some(Shrunk::Gone(ItemKind::Error, ItemId::Text(error.hash)));
        }
        let longest = self.packages.iter().rposition(|package| package.form != Form::Pointer);
        if let Some(at) = longest {
            pack::shorten(&mut self.packages[at], tokenizer);
            return Some(Shrunk::Shorter);
        }
        let least = (0..self.packages.len())
            .min_by_key(|at| (self.packages[*at].priority, std::cmp::Reverse(*at)));
        if let Some(at) = least {
            let id = ItemId::Number(self.packages.remove(at).id.0);
            return Some(Shrunk::Gone(ItemKind::Package, id));
        }
        let entry = self.reasoning.pop()?;
        Some(Shrunk::Gone(ItemKind::Reasoning, ItemId::Number(entry.id.0)))
    }
}

/// What became of the candidates: those that were tried, then the best of those in the queue, then
/// the best of those that were refused; and how many are out, by reason.
fn explain(
    selection: &mut Selection<'_>,
    tried: Vec<Explained>,
    all: bool,
) -> Result<(Vec<Explained>, BTreeMap<String, u64>)> {
    let mut counts: BTreeMap<Fate, u64> = BTreeMap::new();
    for candidate in tried.iter().filter(|candidate| !candidate.included) {
        *counts.entry(candidate.reason).or_default() += 1;
    }
    if selection.waiting > 0 {
        *counts.entry(Fate::OverTheLimit).or_default() += selection.waiting as u64;
    }
    for (fate, count) in &selection.refused {
        *counts.entry(*fate).or_default() += count;
    }
    let enough = if all { usize::MAX } else { tried.len() + LEFT_OUT_KEPT };
    let mut explained = tried;
    while explained.len() < enough
        && let Some(key) = selection.take()?
    {
        explained.push(selection.explained(key, Fate::OverTheLimit));
    }
    while explained.len() < enough
        && let Some((key, fate)) = selection.take_refused()
    {
        explained.push(selection.explained(key, fate));
    }
    let counts = counts.into_iter().map(|(fate, n)| (fate.to_string(), n)).collect();
    Ok((explained, counts))
}

/// Secrets that were taken out, by rule.
#[derive(Debug, Default)]
struct Redactions {
    by_rule: BTreeMap<String, u64>,
}

impl Redactions {
    /// Redacts a text on its way out and counts.
    fn clean(&mut self, redactor: &Redactor, text: &str) -> handover_text::Clean {
        let clean = redactor.clean(text);
        for (rule, count) in clean.redactions_by_rule() {
            *self.by_rule.entry(rule.clone()).or_default() += u64::from(*count);
        }
        clean
    }
}

fn items(block: &Block) -> Vec<ReceiptItem> {
    let Block { packages, reasoning, errors, strategies } = block;
    let plain = |kind, id: String, tokens| ReceiptItem {
        kind,
        id,
        version: 1,
        form: Form::Full,
        score: 0.0,
        terms: BTreeMap::new(),
        tokens,
        read_at: None,
    };
    let mut items: Vec<ReceiptItem> = packages
        .iter()
        .map(|p| ReceiptItem {
            version: p.version,
            form: p.form,
            score: p.score,
            terms: p.terms.by_name(),
            ..plain(ItemKind::Package, p.id.to_string(), p.tokens)
        })
        .collect();
    items.extend(reasoning.iter().map(|r| plain(ItemKind::Reasoning, r.id.to_string(), r.tokens)));
    items.extend(errors.iter().map(|e| plain(ItemKind::Error, e.hash.clone(), 0)));
    items.extend(strategies.iter().map(|s| plain(ItemKind::Strategy, s.id.clone(), 0)));
    items
}

fn left_out(explained: &[Explained]) -> Vec<LeftOut> {
    explained
        .iter()
        .filter(|candidate| !candidate.included)
        .take(LEFT_OUT_KEPT)
        .map(|candidate| LeftOut {
            kind: candidate.kind,
            id: candidate.id.to_string(),
            reason: candidate.reason,
            score: candidate.score,
        })
        .collect()
}
