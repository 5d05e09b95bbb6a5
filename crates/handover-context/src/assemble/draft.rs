//! One block on its way: filled, fitted into its cap, and finished with a receipt.

use handover_model::{Fate, ProjectId, Provided, Provision, Section};
use handover_store::{NewReceipt, Result};
use handover_text::tokens;

use super::block::{Block, Shrunk};
use super::explain::{explain, left_out};
use super::plan::Plan;
use super::select::{self, Selection};
use super::{
    Assembly, ContextRequest, Explained, Redactions, Sources, learned, pack, reasoning, render,
};
use crate::package_file::content_hash;

pub(super) struct Draft<'a> {
    sources: Sources<'a>,
    request: &'a ContextRequest,
    plan: &'a Plan,
    block: Block,
    selection: Selection<'a>,
    tried: Vec<Explained>,
    redactions: Redactions,
}

impl<'a> Draft<'a> {
    pub(super) fn new(sources: Sources<'a>, request: &'a ContextRequest, plan: &'a Plan) -> Self {
        Self {
            sources,
            request,
            plan,
            block: Block::default(),
            selection: Selection::default(),
            tried: Vec::new(),
            redactions: Redactions::default(),
        }
    }

    /// Chooses and packs: reasoning, packages in what that leaves, then errors and strategies.
    pub(super) fn fill(&mut self, project: &ProjectId) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        let tokenizer = plan.tokenizer;
        if request.reasoning.unwrap_or_else(|| plan.rules.reasons(request.iteration)) {
            let room = plan.reasoning_room(request);
            let redactions = &mut self.redactions;
            let digest =
                reasoning::digest(sources, request, &plan.rules, room, tokenizer, redactions)?;
            self.block.reasoning = digest.entries;
            self.tried.extend(digest.explained);
        }
        let used: u64 = self.block.reasoning.iter().map(|entry| entry.tokens).sum();
        self.selection = select::select(sources, request, plan.zone, plan.limit)?;
        let packed = pack::packages(
            sources,
            &mut self.selection,
            plan.zone,
            plan.limit,
            plan.item_room().saturating_sub(used),
            tokenizer,
            &mut self.redactions,
        )?;
        self.block.packages = packed.packages;
        self.tried.extend(packed.tried);
        let room = plan.learned_room();
        let (errors, explained) = learned::errors(sources, request, project, room, tokenizer)?;
        self.tried.extend(explained);
        let left = room.saturating_sub(learned::tokens_of_errors(&errors, tokenizer));
        let (strategies, explained) = learned::strategies(sources, project, left, tokenizer)?;
        self.tried.extend(explained);
        (self.block.errors, self.block.strategies) = (errors, strategies);
        Ok(())
    }

    /// The block within its cap. Items were counted one by one; here the whole is.
    pub(super) fn fit(&mut self) -> (u64, String) {
        let (mut tokens, mut markdown) = self.render();
        while tokens > self.plan.cap {
            let Some(step) = self.block.shrink(self.plan.tokenizer) else { break };
            if let Shrunk::Removed(kind, id) = step {
                for candidate in self.tried.iter_mut().filter(|c| c.kind == kind && c.id == id) {
                    (candidate.included, candidate.reason) = (false, Fate::OverTheBudget);
                }
            }
            (tokens, markdown) = self.render();
        }
        (tokens, markdown)
    }

    fn render(&self) -> (u64, String) {
        let markdown = render::block(&render::Shown {
            role: &self.request.role,
            zone: self.plan.zone,
            usage_percent: self.plan.usage_percent,
            available: self.selection.available,
            block: &self.block,
            receipt: &self.request.receipt,
        });
        (tokens::count(self.plan.tokenizer, &markdown), markdown)
    }

    pub(super) fn finish(mut self, tokens: u64, markdown: String) -> Result<Assembly> {
        let tried = std::mem::take(&mut self.tried);
        let (candidates, left_out_counts) =
            explain(&mut self.selection, tried, self.request.explain)?;
        let receipt = NewReceipt {
            left_out: left_out(&candidates),
            left_out_counts,
            ..self.receipt(tokens, &markdown)
        };
        let Self { plan, block, selection, redactions, .. } = self;
        Ok(Assembly {
            receipt,
            budget: plan.budget,
            zone: plan.zone,
            usage_percent: plan.usage_percent,
            available: selection.available,
            overflow: selection.available.saturating_sub(block.packages.len()),
            packages: block.packages,
            reasoning: block.reasoning,
            errors: block.errors,
            strategies: block.strategies,
            redactions: redactions.by_rule.values().sum(),
            tokens,
            markdown,
            candidates,
        })
    }

    fn receipt(&self, tokens: u64, markdown: &str) -> NewReceipt {
        let Self { sources, request, plan, block, .. } = self;
        let learned = learned::tokens_of_errors(&block.errors, plan.tokenizer)
            + learned::tokens_of_strategies(&block.strategies, plan.tokenizer);
        let packages = block.packages.iter().map(|package| package.tokens).sum();
        let reasoning = block.reasoning.iter().map(|entry| entry.tokens).sum();
        let section = |name: &str, budget, used| Section { name: name.to_owned(), budget, used };
        NewReceipt {
            id: request.receipt.clone(),
            session: request.session.clone(),
            group: request.group.clone(),
            role: request.role.clone(),
            iteration: request.iteration,
            model: request.model.as_deref().map(|name| sources.redactor.clean(name)),
            tokenizer: plan.tokenizer.as_str().to_owned(),
            zone: plan.zone,
            tokens,
            prompt_hash: content_hash(markdown.as_bytes()),
            sections: vec![
                section("packages", plan.context_room(), packages),
                section("reasoning", plan.reasoning_room(request), reasoning),
                section("errors", plan.learned_room(), learned),
            ],
            items: block.receipt_items(),
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: self.redactions.by_rule.clone(),
            trimmed: Vec::new(),
            provided: Provided { context: Provision::Present, specialization: Provision::Missing },
            text: Some(sources.redactor.clean(markdown)),
            claim: request.claim,
            now: request.now,
        }
    }
}
