//! One block on its way: filled, fitted into its cap, and finished with a receipt.

use handover_model::{
    ErrorPattern, Fate, Group, GroupId, Package, PackageId, PackageKind, ProjectId, Provided,
    Provision, RecordState, Section, UseLearning, VerdictRecord,
};
use handover_store::{NewReceipt, PackageFilter, Result, VerdictFilter, kept_task};
use handover_text::tokens;

use super::admit::Admission;
use super::amended::Decisions;
use super::block::{Block, Shrunk};
use super::by_use::ByUse;
use super::explain::{explain, explain_names, left_out};
use super::known::{Known, Packing};
use super::pack::{AT_ONCE, Packer};
use super::passages::Question;
use super::plan::Plan;
use super::reasoning::Limits;
use super::select::{self, Selection};
use super::settled::Settled;
use super::{
    Assembly, ContextRequest, Explained, PackedPackage, Redactions, Sources, history, learned,
    places, reasoning, render, render_notes,
};
use crate::package_file::content_hash;

pub(super) struct Draft<'a> {
    sources: Sources<'a>,
    request: &'a ContextRequest,
    plan: &'a Plan,
    block: Block,
    /// Tokens of what stands around the items.
    frame: u64,
    selection: Selection<'a>,
    settled: Settled,
    verdicts: Vec<VerdictRecord>,
    /// Groups without any verdict.
    silent: Vec<GroupId>,
    tried: Vec<Explained>,
    /// Titles of commits that later statements replaced or stand for.
    earlier_commits: Vec<String>,
    redactions: Redactions,
    /// Whether use in earlier briefs moved anything.
    use_learning: Option<UseLearning>,
}

/// The most groups that are named because nobody has reported about them.
const MAX_SILENT: usize = 10;

/// How many packages of a group are searched for a report of failures, newest first.
const PACKAGES_SEARCHED: u32 = 50;

/// How many verdicts of a session are searched, newest first.
const VERDICTS_SEARCHED: u32 = 300;

impl<'a> Draft<'a> {
    pub(super) fn new(sources: Sources<'a>, request: &'a ContextRequest, plan: &'a Plan) -> Self {
        Self {
            sources,
            request,
            plan,
            block: Block::default(),
            frame: render::frame_tokens(plan.tokenizer),
            selection: Selection::default(),
            settled: Settled::default(),
            verdicts: Vec::new(),
            silent: Vec::new(),
            tried: Vec::new(),
            earlier_commits: Vec::new(),
            redactions: Redactions::default(),
            use_learning: None,
        }
    }

    /// Why the work came back, which every zone shows but the last.
    pub(super) fn look_back(&mut self) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        let filter = VerdictFilter { limit: Some(VERDICTS_SEARCHED), ..VerdictFilter::default() };
        let verdicts = sources.store.verdicts(&request.session, &filter)?;
        let (room, redactions) = (plan.history_room(), &mut self.redactions);
        let (history, explained) =
            history::history(sources, request, &verdicts, room, plan.tokenizer, redactions);
        self.block.history = history;
        if self.block.history.names_groups {
            let reported = |group: &Group| {
                verdicts.iter().any(|verdict| verdict.group.as_ref() == Some(&group.id))
            };
            let groups = sources.store.groups(&request.session)?;
            let silent = groups.into_iter().filter(|group| !reported(group));
            self.silent = silent.take(MAX_SILENT).map(|group| group.id).collect();
            self.block.history.silent.clone_from(&self.silent);
        }
        self.settled = Settled::of(&verdicts);
        self.verdicts = verdicts;
        self.tried.extend(explained);
        Ok(())
    }

    /// Chooses and packs, what matters most first: errors that the task names, packages and notes in what
    /// reasoning leaves, then other errors, then strategies.
    pub(super) fn fill(&mut self, project: &ProjectId) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        let report = self.report_of_failures()?;
        self.selection = select::select(sources, request, plan.zone, plan.limit, report)?;
        self.frame = tokens::count(plan.tokenizer, &render::frame(&self.shown()));
        let known = learned::errors(sources, request, project)?;
        self.add_errors(known.named);
        self.block.named_errors = self.block.errors.len();
        self.add_reasoning()?;
        self.add_packages_and_notes(project)?;
        self.add_errors(known.others);
        self.add_strategies(project)?;
        self.add_places();
        self.lengthen_history();
        Ok(())
    }

    /// The newest report of what failed in the group, if the work was sent back: it says how to see it fail.
    fn report_of_failures(&self) -> Result<Option<PackageId>> {
        let Self { sources, request, .. } = *self;
        if self.block.history.sent_back.is_none() || request.group.is_none() {
            return Ok(None);
        }
        let filter = PackageFilter {
            group: request.group.clone(),
            limit: Some(PACKAGES_SEARCHED),
            state: Some(RecordState::Live),
            ..PackageFilter::default()
        };
        let newest = sources.store.packages(&request.session, &filter)?;
        let reports = |package: &&Package| {
            package.kind == PackageKind::Failures && !self.settled.covers(package)
        };
        Ok(newest.iter().find(reports).map(|package| package.id))
    }

    /// What everything else leaves goes to the reason why the work came back, if it was cut.
    fn lengthen_history(&mut self) {
        let Self { sources, request, plan, .. } = *self;
        if !self.block.history.shortened {
            return;
        }
        let room = self.block.history.tokens(plan.tokenizer) + self.left();
        // What was redacted is counted already.
        let mut counted = Redactions::default();
        let verdicts = &self.verdicts;
        let (history, _) =
            history::history(sources, request, verdicts, room, plan.tokenizer, &mut counted);
        self.block.history = history;
        self.block.history.silent.clone_from(&self.silent);
    }

    /// Tokens that are left of the whole block.
    fn left(&self) -> u64 {
        let used = self.frame + self.block.tokens(self.plan.tokenizer);
        self.plan.cap.saturating_sub(used)
    }

    /// Tokens that are left of a share of the block.
    fn left_of(&self, share: u64, used: u64) -> u64 {
        share.saturating_sub(used).min(self.left())
    }

    fn add_errors(&mut self, patterns: Vec<ErrorPattern>) {
        let tokenizer = self.plan.tokenizer;
        let used = learned::tokens_of_errors(&self.block.errors, tokenizer);
        let room = self.left_of(self.plan.learned_room(), used);
        let taken = self.block.errors.len();
        let admission = Admission::of(self.sources.config, &self.request.role);
        let (errors, explained) = learned::pack_errors(patterns, admission, taken, room, tokenizer);
        self.block.errors.extend(errors);
        self.tried.extend(explained);
    }

    fn add_reasoning(&mut self) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        if !request.reasoning.unwrap_or_else(|| plan.rules.reasons(request.iteration)) {
            return Ok(());
        }
        let limits = Limits {
            rules: &plan.rules,
            level: plan.level(request),
            room: plan.reasoning_room(request).min(self.left() / 2),
            tokenizer: plan.tokenizer,
            blocked: self.block.history.was_blocked(),
        };
        let said = self.block.history.said();
        let digest = reasoning::digest(sources, request, &limits, &said, &mut self.redactions)?;
        self.block.reasoning = digest.entries;
        self.tried.extend(digest.explained);
        Ok(())
    }

    /// Notes get up to half of the room, or all of it if there are no packages; and what packages leave.
    fn add_packages_and_notes(&mut self, project: &ProjectId) -> Result<()> {
        let Self { sources, plan, .. } = *self;
        let decisions = Decisions::new(sources.store, project);
        let by_use = ByUse::new(sources, self.request, project);
        let mut known = self.known(project, &decisions, &by_use)?;
        self.selection.order_by_use(&by_use, plan.limit.min(AT_ONCE))?;
        self.use_learning = by_use.learning();
        let room = self.item_room_left();
        let share = if self.selection.waiting > 0 { room / 2 } else { room };
        let (redactor, tokenizer) = (sources.redactor, plan.tokenizer);
        let (notes, redactions) = (&mut self.block.notes, &mut self.redactions);
        let fresh = sources.fresh;
        let packing = Packing { said: &[], room: share, tokenizer, redactor, fresh };
        known.pack(notes, &packing, redactions);
        self.add_packages(&decisions)?;
        let said: Vec<&str> = self.block.packages.iter().flat_map(PackedPackage::said).collect();
        known.drop_said(&mut self.block.notes, &said, tokenizer);
        let room = self.item_room_left();
        let (notes, redactions) = (&mut self.block.notes, &mut self.redactions);
        let packing = Packing { said: &said, room, tokenizer, redactor, fresh };
        known.pack(notes, &packing, redactions);
        self.tried.extend(known.explained());
        self.earlier_commits = known.earlier_commits();
        Ok(())
    }

    /// The notes that answer the task.
    fn known(
        &self,
        project: &ProjectId,
        decisions: &Decisions<'_>,
        by_use: &ByUse<'_>,
    ) -> Result<Known> {
        let Self { sources, request, plan, .. } = *self;
        let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
        let Some(task) = task.filter(|_| sources.notes && plan.has_passages()) else {
            return Ok(Known::default());
        };
        let task = sources.redactor.clean(task);
        let question = Question::new(task.as_str());
        Known::find(sources, request, project, question, task.as_str(), decisions, by_use)
    }

    /// Tokens of everything in the block that shares the room of packages.
    fn context_used(&self) -> u64 {
        let tokenizer = self.plan.tokenizer;
        let of_notes = match self.block.notes.as_slice() {
            [] => 0,
            notes => {
                let heading = render_notes::known_heading_tokens(tokenizer);
                heading + notes.iter().map(|note| note.tokens).sum::<u64>()
            }
        };
        self.block.history.tokens(tokenizer)
            + self.of_reasoning()
            + of_notes
            + self.block.packages.iter().map(|package| package.tokens).sum::<u64>()
    }

    fn item_room_left(&self) -> u64 {
        let share = self.plan.context_room().saturating_sub(self.frame);
        self.left_of(share, self.context_used())
    }

    /// Tokens of the reasoning with its heading.
    fn of_reasoning(&self) -> u64 {
        match self.block.reasoning.as_slice() {
            [] => 0,
            entries => {
                let heading = render::reasoning_heading_tokens(self.plan.tokenizer);
                heading + entries.iter().map(|entry| entry.tokens).sum::<u64>()
            }
        }
    }

    fn add_packages(&mut self, decisions: &Decisions<'_>) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        let room = self.item_room_left();
        let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
        let packer = Packer {
            sources,
            zone: plan.zone,
            limit: plan.limit,
            tokenizer: plan.tokenizer,
            settled: &self.settled,
            decisions,
            admission: Admission::of(sources.config, &request.role),
            question: task.filter(|_| plan.has_passages()).map(Question::new),
        };
        let packed = packer.pack(&mut self.selection, room, &mut self.redactions)?;
        (self.block.packages, self.block.common) = (packed.packages, packed.common);
        self.tried.extend(packed.tried);
        if self.block.packages.is_empty() {
            self.block.delivered = self.selection.delivered(sources.store)?;
        }
        Ok(())
    }

    fn add_places(&mut self) {
        let Self { sources, request, plan, .. } = *self;
        let task = request.task.as_deref().filter(|task| !task.trim().is_empty());
        if let Some(task) = task.filter(|_| plan.has_passages()) {
            let room = self.left();
            self.block.places = places::pack(
                sources,
                task,
                &self.earlier_commits,
                Admission::of(sources.config, &request.role),
                room,
                plan.tokenizer,
                &mut self.redactions,
            );
        }
    }

    fn add_strategies(&mut self, project: &ProjectId) -> Result<()> {
        let Self { sources, request, plan, .. } = *self;
        let used = learned::tokens_of_errors(&self.block.errors, plan.tokenizer);
        let room = self.left_of(plan.learned_room(), used);
        let mut said = self.block.history.said();
        said.extend(self.block.reasoning.iter().map(|entry| entry.content.as_str()));
        said.extend(self.block.packages.iter().flat_map(PackedPackage::said));
        said.extend(self.block.notes.iter().map(|note| note.text.as_str()));
        let (strategies, explained) =
            learned::strategies(sources, request, project, &said, room, plan.tokenizer)?;
        self.tried.extend(explained);
        self.block.strategies = strategies;
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
        let markdown = render::block(&self.shown());
        (tokens::count(self.plan.tokenizer, &markdown), markdown)
    }

    fn shown(&self) -> render::Shown<'_> {
        render::Shown {
            role: &self.request.role,
            zone: self.plan.zone,
            usage_percent: self.plan.usage_percent,
            available: self.selection.available,
            refused: &self.selection.refused,
            limit: self.plan.limit,
            remaining: self.plan.budget.remaining,
            block: &self.block,
            receipt: &self.request.receipt,
        }
    }

    /// A block that says which key of the configuration keeps it empty.
    pub(super) fn switched_off(self, key: &str) -> Result<Assembly> {
        let markdown = render::switched_off(&self.request.role, key, &self.request.receipt);
        let tokens = tokens::count(self.plan.tokenizer, &markdown);
        let mut assembly = self.finish(tokens, markdown)?;
        assembly.receipt.provided.context = Provision::Disabled { by: key.to_owned() };
        Ok(assembly)
    }

    pub(super) fn finish(mut self, tokens: u64, markdown: String) -> Result<Assembly> {
        let tried = std::mem::take(&mut self.tried);
        let (mut candidates, left_out_counts) =
            explain(&mut self.selection, tried, self.request.explain)?;
        self.block.check_names(self.sources.fresh);
        let receipt = NewReceipt {
            left_out: left_out(&candidates),
            left_out_counts,
            ..self.receipt(tokens, &markdown)
        };
        explain_names(&mut candidates, &receipt.items);
        let Self { plan, block, selection, redactions, .. } = self;
        Ok(Assembly {
            receipt,
            budget: plan.budget,
            zone: plan.zone,
            usage_percent: plan.usage_percent,
            available: selection.available,
            sent_back: block.history.sent_back,
            overflow: selection.available.saturating_sub(block.packages.len()),
            packages: block.packages,
            notes: block.notes,
            reasoning: block.reasoning,
            errors: block.errors,
            strategies: block.strategies,
            places: block.places,
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
        let notes = block.notes.iter().map(|note| note.tokens).sum();
        let reasoning = block.reasoning.iter().map(|entry| entry.tokens).sum();
        let history = block.history.tokens(plan.tokenizer);
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
                section("history", plan.history_room(), history),
                section("packages", plan.context_room(), packages),
                section("notes", plan.context_room(), notes),
                section("reasoning", plan.reasoning_room(request), reasoning),
                section("errors", plan.learned_room(), learned),
            ],
            items: block.receipt_items(),
            left_out: Vec::new(),
            left_out_counts: Default::default(),
            redactions: self.redactions.by_rule.clone(),
            trimmed: Vec::new(),
            provided: Provided {
                context: Provision::Present,
                specialization: Provision::Missing,
                use_learning: self.use_learning,
            },
            task: kept_task(sources.redactor, request.task.as_deref()),
            // The caller sets it: a brief has more than this block.
            text: None,
            claim: request.claim,
            now: request.now,
        }
    }
}
