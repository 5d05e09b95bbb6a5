//! How much room a request has: budget, zone and limits of its role and model.

use handover_model::config::AssemblyConfig;
use handover_model::models::Model;
use handover_model::roles::RoleRules;
use handover_model::{Budget, ReasoningLevel, Tokenizer, Zone};

use super::{ContextRequest, render};

/// The limits of one block.
pub(super) struct Plan {
    pub(super) rules: RoleRules,
    pub(super) budget: Budget,
    pub(super) zone: Zone,
    pub(super) usage_percent: f64,
    pub(super) tokenizer: Tokenizer,
    /// The most tokens of the whole block.
    pub(super) cap: u64,
    /// The most packages.
    pub(super) limit: usize,
}

impl Plan {
    pub(super) fn new(config: &AssemblyConfig, request: &ContextRequest) -> Self {
        let model = Model::named(request.model.as_deref());
        let rules = config.rules(&request.role);
        let budget = config.budget(&request.role, model.window, request.current_tokens);
        Self {
            zone: budget.zone(request.current_tokens),
            usage_percent: budget.usage_percent(request.current_tokens),
            tokenizer: model.tokenizer,
            cap: request.cap.unwrap_or(u64::MAX).min(budget.context + budget.errors),
            limit: request.limit.unwrap_or(rules.limit),
            rules,
            budget,
        }
    }

    /// Whether the block says why work came back.
    pub(super) fn has_history(&self) -> bool {
        self.zone != Zone::Emergency
    }

    /// Whether packages, reasoning, errors and strategies are in the block.
    pub(super) fn has_items(&self) -> bool {
        !matches!(self.zone, Zone::WrapUp | Zone::Emergency)
    }

    /// Whether passages of packages may stand for their summaries.
    pub(super) fn has_passages(&self) -> bool {
        matches!(self.zone, Zone::Normal | Zone::SoftWarning)
    }

    /// Tokens for packages and reasoning, frame included.
    pub(super) fn context_room(&self) -> u64 {
        self.budget.context.min(self.cap)
    }

    /// Tokens for packages and reasoning themselves: headings, the marker and the line about
    /// reading come out of the same room.
    pub(super) fn item_room(&self) -> u64 {
        self.context_room().saturating_sub(render::frame_tokens(self.tokenizer))
    }

    /// Tokens for earlier attempts and judgements.
    pub(super) fn history_room(&self) -> u64 {
        self.item_room() / 2
    }

    /// How much reasoning goes in.
    pub(super) fn level(&self, request: &ContextRequest) -> ReasoningLevel {
        request.reasoning_level.unwrap_or(self.rules.level)
    }

    /// Tokens for reasoning: at most a third of the context.
    pub(super) fn reasoning_room(&self, request: &ContextRequest) -> u64 {
        self.level(request).tokens().min(self.item_room() / 3)
    }

    /// Tokens for error patterns and strategies.
    pub(super) fn learned_room(&self) -> u64 {
        self.budget.errors.min(self.cap)
    }
}
