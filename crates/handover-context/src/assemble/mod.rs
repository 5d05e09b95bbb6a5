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
    Budget, ErrorPattern, Form, GroupId, ItemKind, LeftOut, PackageId, Priority, ReasoningId,
    ReasoningLevel, Receipt, ReceiptId, ReceiptItem, Role, Section, SessionId, Strategy, Timestamp,
    Zone,
};
use handover_store::{NewReceipt, Result, Store};
use handover_text::{Redactor, tokens};
use serde::Serialize;

pub use render::fallback;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Request {
    /// The session.
    pub session: SessionId,
    /// Who the text is for.
    pub role: Role,
    /// In which group.
    pub group: Option<GroupId>,
    /// What the agent is to do.
    pub task: Option<String>,
    /// For which model.
    pub model: Option<String>,
    /// How many tokens the agent's window holds already.
    pub current_tokens: u64,
    /// Which attempt.
    pub iteration: u32,
    /// Reasoning on or off; the role decides if nobody says.
    pub reasoning: Option<bool>,
    /// How much of it.
    pub reasoning_level: ReasoningLevel,
    /// How many packages; the role decides if nobody says.
    pub limit: Option<usize>,
    /// Whether the text is about to be handed over.
    pub deliver: bool,
    /// The id of the receipt.
    pub receipt: ReceiptId,
    /// Now.
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

/// One candidate, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explained {
    /// What kind of record.
    pub kind: ItemKind,
    /// The package.
    pub id: PackageId,
    /// Whether it is in.
    pub included: bool,
    /// Why.
    pub reason: &'static str,
    /// Its rank value.
    pub score: f64,
    /// The terms of the score.
    pub terms: Terms,
}

/// The outcome of an assembly.
#[derive(Debug, Clone)]
pub struct Assembly {
    /// The record of it.
    pub receipt: Receipt,
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
    /// Every candidate with its terms and fate.
    pub candidates: Vec<Explained>,
}

/// Where records come from and what rules apply.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The store.
    pub store: &'a dyn Store,
    /// How secrets are found.
    pub redactor: &'a Redactor,
    /// How context is chosen.
    pub config: &'a AssemblyConfig,
}

/// How many left-out items a receipt keeps by name.
const LEFT_OUT_KEPT: usize = 50;

/// Assembles the context of one spawn and keeps its receipt.
///
/// A delivery decides and claims under the write lock, so that two agents of one role and attempt
/// never get the same package.
pub fn assemble(setting: Setting<'_>, request: &Request) -> Result<Assembly> {
    if !request.deliver {
        return assemble_now(setting, request);
    }
    let mut assembly = None;
    setting.store.exclusively(&mut |store| {
        assembly = Some(assemble_now(Setting { store, ..setting }, request)?);
        Ok(())
    })?;
    // The closure has run: it is called exactly once.
    assembly.ok_or_else(|| handover_store::StoreError::not_found("assembly", &request.receipt))
}

fn assemble_now(setting: Setting<'_>, request: &Request) -> Result<Assembly> {
    let session = setting.store.session(&request.session)?;
    let model = Model::named(request.model.as_deref());
    let none = RoleOverride::default();
    let set = setting.config.roles.get(request.role.as_str()).unwrap_or(&none);
    let rules = RoleRules::of(&request.role).with(set);
    let margin = (setting.config.safety_margin.clamp(0.0, 1.0) * 1_000.0).round() as u64;
    let budget = Budget::new(model.window, margin, request.current_tokens, &rules);
    let zone = budget.zone(request.current_tokens);
    let tokenizer = model.tokenizer;
    let mut redactions = Redactions::default();

    let limit = request.limit.unwrap_or(rules.limit);
    let selection = match zone {
        Zone::WrapUp | Zone::Emergency => select::Selection::default(),
        Zone::Normal | Zone::SoftWarning | Zone::Conservative => {
            select::select(setting, request, zone, limit)?
        }
    };
    let packed = pack::packages(
        setting,
        &selection,
        zone,
        limit,
        budget.context,
        tokenizer,
        &mut redactions,
    )?;
    let used: u64 = packed.packages.iter().map(|p| p.tokens).sum();

    let wants_reasoning = request.reasoning.unwrap_or_else(|| rules.reasons(request.iteration));
    let (mut reasoning, mut errors, mut strategies) = (Vec::new(), Vec::new(), Vec::new());
    if !matches!(zone, Zone::WrapUp | Zone::Emergency) {
        if wants_reasoning {
            let room = request.reasoning_level.tokens().min(budget.context.saturating_sub(used));
            reasoning =
                reasoning::digest(setting, request, &rules, room, tokenizer, &mut redactions)?;
        }
        errors = learned::errors(setting, request, &session.project, budget.errors, tokenizer)?;
        let left = budget.errors.saturating_sub(learned::tokens_of_errors(&errors, tokenizer));
        strategies = learned::strategies(setting, &session.project, left, tokenizer)?;
    }

    let overflow = selection.available.saturating_sub(packed.packages.len());
    let markdown = render::block(&render::Block {
        role: &request.role,
        zone,
        usage_percent: budget.usage_percent(request.current_tokens),
        packages: &packed.packages,
        available: selection.available,
        overflow,
        reasoning: &reasoning,
        errors: &errors,
        strategies: &strategies,
        receipt: &request.receipt,
    });
    let tokens = tokens::count(tokenizer, &markdown);
    let reasoning_tokens: u64 = reasoning.iter().map(|r| r.tokens).sum();
    let learned_tokens = learned::tokens_of_errors(&errors, tokenizer)
        + learned::tokens_of_strategies(&strategies, tokenizer);
    let explained = packed.explained;
    let receipt = setting.store.put_receipt(&NewReceipt {
        id: request.receipt.clone(),
        session: request.session.clone(),
        group: request.group.clone(),
        role: request.role.clone(),
        iteration: request.iteration,
        model: request.model.as_deref().map(|name| setting.redactor.clean(name)),
        tokenizer: tokenizer.as_str().to_owned(),
        zone,
        tokens,
        prompt_hash: crate::package_file::content_hash(markdown.as_bytes()),
        sections: vec![
            Section { name: "packages".to_owned(), budget: budget.context, used },
            Section {
                name: "reasoning".to_owned(),
                budget: request.reasoning_level.tokens(),
                used: reasoning_tokens,
            },
            Section { name: "errors".to_owned(), budget: budget.errors, used: learned_tokens },
        ],
        items: items(&packed.packages, &reasoning, &errors, &strategies),
        left_out: left_out(&explained),
        left_out_counts: left_out_counts(&explained),
        redactions: redactions.by_rule.clone(),
        claim: request.deliver,
        now: request.now,
    })?;
    Ok(Assembly {
        receipt,
        budget,
        zone,
        usage_percent: budget.usage_percent(request.current_tokens),
        packages: packed.packages,
        available: selection.available,
        overflow,
        reasoning,
        errors,
        strategies,
        redactions: redactions.by_rule.values().sum(),
        tokens,
        markdown,
        candidates: explained,
    })
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

fn items(
    packages: &[PackedPackage],
    reasoning: &[PackedReasoning],
    errors: &[ErrorPattern],
    strategies: &[Strategy],
) -> Vec<ReceiptItem> {
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
            reason: candidate.reason.to_owned(),
            score: candidate.score,
        })
        .collect()
}

fn left_out_counts(explained: &[Explained]) -> BTreeMap<String, u64> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for candidate in explained.iter().filter(|candidate| !candidate.included) {
        *counts.entry(candidate.reason).or_default() += 1;
    }
    counts.into_iter().map(|(reason, count)| (reason.to_owned(), count)).collect()
}
