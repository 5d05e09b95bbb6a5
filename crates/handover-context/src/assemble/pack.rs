//! Packing: what fits, in which form.
//!
//! Packages go in by score, each with the text that says most about the task: its summary, or the passages
//! of its body. What room is left goes to further passages of the packages that are in.

use std::collections::{HashSet, VecDeque};

use handover_model::{Fate, Form, Package, PackageId, Priority, Tokenizer, Zone};
use handover_store::Result;
use handover_text::{cut, tokens};

use super::passages::{Passage, Question, ShownPassage};
use super::select::Selection;
use super::settled::Settled;
use super::{Explained, PackedPackage, Redactions, Sources, render};
use crate::package_file::{FileState, file_state};
use crate::rank::Key;

/// Shorter forms that are tried before a package is skipped, in characters.
const SHORTER: [usize; 2] = [100, 60];

/// At most so many are read together; more may never get a turn.
const AT_ONCE: usize = 16;

/// After so many in a row that fit in no form, the room is taken for full.
const MISSES: usize = 50;

/// The most passages of one package.
const MAX_PASSAGES: usize = 8;

/// A further passage must be at least this good, compared with the best of all.
const WORTHWHILE: f64 = 0.4;

/// A longer text says much that its summary does not.
const LONG_BYTES: u64 = 1_500;

/// What went in, and what became of every candidate that was tried.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) packages: Vec<PackedPackage>,
    pub(super) tried: Vec<Explained>,
}

/// What packages are packed with.
pub(super) struct Packer<'a> {
    pub(super) sources: Sources<'a>,
    pub(super) zone: Zone,
    pub(super) limit: usize,
    pub(super) tokenizer: Tokenizer,
    pub(super) settled: &'a Settled,
    /// The task, if passages that answer it may go in.
    pub(super) question: Option<Question>,
}

/// A candidate that may go in.
struct Offer {
    key: Key,
    package: PackedPackage,
    /// The passages of its body that are not in yet, best last.
    passages: Vec<Passage>,
    /// The place in the list of what was tried.
    tried: usize,
}

impl Packer<'_> {
    /// Takes the best from the selection's queue as long as there is room. What stays there is over
    /// the limit.
    pub(super) fn pack(
        &self,
        selection: &mut Selection<'_>,
        budget: u64,
        redactions: &mut Redactions,
    ) -> Result<Packed> {
        let mut packed = Packed::default();
        let mut included: Vec<Offer> = Vec::new();
        let (mut room, mut misses, mut texts) = (budget, 0, HashSet::new());
        let mut offers = VecDeque::new();
        while included.len() < self.limit && misses < MISSES {
            if offers.is_empty() && selection.waiting > 0 {
                let places = (self.limit - included.len()).min(AT_ONCE);
                let tried = &mut packed.tried;
                offers = self.offers(selection, places, &mut texts, tried, redactions)?;
                // All of them may be of no use.
                continue;
            }
            let Some(mut offer) = offers.pop_front() else { break };
            if self.fit(&mut offer, room) {
                (room, misses) = (room - offer.package.tokens, 0);
                included.push(offer);
            } else {
                misses += 1;
            }
        }
        for offer in offers.into_iter().rev() {
            packed.tried.remove(offer.tried);
            selection.put_back(offer.key);
        }
        self.fill(&mut included, room, redactions);
        for offer in included {
            let explained = &mut packed.tried[offer.tried];
            explained.included = true;
            explained.reason = match offer.package.form {
                Form::Full => Fate::Fits,
                Form::Short => Fate::FitsShortened,
                Form::Focus => Fate::FitsAsPassages,
                Form::Pointer => Fate::FitsAsPath,
            };
            packed.packages.push(offer.package);
        }
        if self.zone != Zone::Conservative {
            let critical = |package: &PackedPackage| package.priority == Priority::Critical;
            packed.packages.sort_by(|a, b| {
                let by_score = || b.score.total_cmp(&a.score).then(b.id.cmp(&a.id));
                critical(b).cmp(&critical(a)).then_with(by_score)
            });
        }
        Ok(packed)
    }

    /// The next best of the queue, read together, without those that help nobody.
    fn offers(
        &self,
        selection: &mut Selection<'_>,
        count: usize,
        texts: &mut HashSet<String>,
        tried: &mut Vec<Explained>,
        redactions: &mut Redactions,
    ) -> Result<VecDeque<Offer>> {
        let next = std::iter::from_fn(|| selection.take().transpose());
        let keys: Vec<Key> = next.take(count).collect::<Result<_>>()?;
        let ids: Vec<PackageId> = keys.iter().map(|key| key.candidate.id).collect();
        let packages = self.sources.store.packages_by_id(&ids)?;
        let ranked = self.passages(&ids)?;
        let mut offers = VecDeque::new();
        for ((key, package), passages) in keys.into_iter().zip(packages).zip(ranked) {
            let mut explained = selection.explained(key, Fate::OverTheBudget);
            let state = self.sources.places.map(|places| file_state(places, &package));
            if let Some(fate) = self.useless(&package, state, texts) {
                explained.reason = fate;
                tried.push(explained);
                selection.discard();
                continue;
            }
            texts.insert(package.content_hash.clone());
            let mut offered = self.summarized(&package, &explained, redactions);
            offered.for_reference = selection.is_for_reference(&key);
            offered.changed = state == Some(FileState::Changed);
            offered.elsewhere = state == Some(FileState::Elsewhere);
            let mut offer = Offer { key, package: offered, passages, tried: tried.len() };
            self.focus(&mut offer, &package, redactions);
            tried.push(explained);
            offers.push_back(offer);
        }
        Ok(offers)
    }

    /// The passages of each body, best last; none without a task.
    fn passages(&self, ids: &[PackageId]) -> Result<Vec<Vec<Passage>>> {
        let Some(question) = &self.question else {
            return Ok(ids.iter().map(|_| Vec::new()).collect());
        };
        let bodies = self.sources.store.package_bodies(ids)?;
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let mut ranked = question.rank(&bodies);
        for passages in &mut ranked {
            passages.retain(|passage| passage.score > 0.0);
            passages.sort_by(|a, b| a.score.total_cmp(&b.score).then(b.line.cmp(&a.line)));
        }
        Ok(ranked)
    }

    /// Why a package helps nobody, if it does not: its file is gone, the failures that it reports were
    /// settled, or another file with the same text was offered already.
    fn useless(
        &self,
        package: &Package,
        state: Option<FileState>,
        texts: &HashSet<String>,
    ) -> Option<Fate> {
        if state == Some(FileState::Vanished) {
            Some(Fate::FileGone)
        } else if self.settled.covers(package) {
            Some(Fate::Settled)
        } else if texts.contains(&package.content_hash) {
            Some(Fate::ShownAlready)
        } else {
            None
        }
    }

    /// A package with its summary, as long as the zone allows.
    fn summarized(
        &self,
        package: &Package,
        ranked: &Explained,
        redactions: &mut Redactions,
    ) -> PackedPackage {
        let whole = redactions.clean(self.sources.redactor, &package.summary).one_line();
        let first = whole.cut(self.zone.summary_chars());
        let form = if first.as_str().is_empty() {
            Form::Pointer
        } else if first.as_str() == whole.as_str() {
            Form::Full
        } else {
            Form::Short
        };
        PackedPackage {
            id: package.id,
            version: package.version,
            path: package.path.clone(),
            priority: package.priority,
            summary: first.as_str().to_owned(),
            passages: Vec::new(),
            tokens: 0,
            file_tokens: package.tokens,
            score: ranked.score,
            form,
            kind: package.kind,
            for_reference: false,
            changed: false,
            elsewhere: false,
            terms: ranked.terms,
        }
    }

    /// Replaces the summary by the best passage, if that says more about the task.
    fn focus(&self, offer: &mut Offer, package: &Package, redactions: &mut Redactions) {
        let Some(question) = &self.question else { return };
        let Package { summary, size_bytes, .. } = package;
        let Some(best) = offer.passages.last() else { return };
        // What a short text is about, its summary says best.
        let more = if *size_bytes > LONG_BYTES { 1 } else { 2 };
        if best.shared < question.shared(summary) + more {
            return;
        }
        if let Some(best) = offer.passages.pop() {
            offer.package.passages.push(self.shown(&best, redactions));
            offer.package.summary.clear();
            offer.package.form = Form::Focus;
        }
    }

    /// A passage as the block shows it, redacted like everything that leaves.
    fn shown(&self, passage: &Passage, redactions: &mut Redactions) -> ShownPassage {
        let clean = redactions.clean(self.sources.redactor, &passage.text).one_line();
        ShownPassage { line: passage.line, text: clean.as_str().to_owned(), score: passage.score }
    }

    /// Shortens an offer until it fits; `false` if no form of it does.
    fn fit(&self, offer: &mut Offer, room: u64) -> bool {
        let package = &mut offer.package;
        package.tokens = tokens::count(self.tokenizer, &render::package(package));
        while package.tokens > room {
            if package.form == Form::Pointer {
                return false;
            }
            shorten(package, self.tokenizer);
        }
        true
    }

    /// Adds further passages to packages that show some already, best first, while there is room.
    fn fill(&self, included: &mut [Offer], mut room: u64, redactions: &mut Redactions) {
        let best = |offer: &Offer| offer.passages.last().map_or(0.0, |passage| passage.score);
        let top = included.iter().flat_map(|offer| &offer.package.passages).map(|p| p.score);
        let top = top.fold(0.0, f64::max);
        loop {
            let next = included
                .iter_mut()
                .filter(|offer| offer.package.form == Form::Focus)
                .filter(|offer| offer.package.passages.len() < MAX_PASSAGES)
                .filter(|offer| best(offer) >= WORTHWHILE * top)
                .max_by(|a, b| best(a).total_cmp(&best(b)));
            let Some(offer) = next else { return };
            let Some(passage) = offer.passages.pop() else { return };
            let mut longer = offer.package.clone();
            longer.passages.push(self.shown(&passage, redactions));
            longer.passages.sort_by_key(|passage| passage.line);
            longer.tokens = tokens::count(self.tokenizer, &render::package(&longer));
            let more = longer.tokens.saturating_sub(offer.package.tokens);
            if more <= room {
                room -= more;
                offer.package = longer;
            }
        }
    }
}

/// The next shorter form of a package; the last one is its path alone.
pub(super) fn shorten(package: &mut PackedPackage, tokenizer: Tokenizer) {
    if package.form == Form::Focus && package.passages.len() > 1 {
        let least = (0..package.passages.len())
            .min_by(|a, b| package.passages[*a].score.total_cmp(&package.passages[*b].score));
        package.passages.remove(least.unwrap_or_default());
    } else if let Some(passage) = package.passages.pop() {
        // What remains of the best passage goes in like a summary.
        package.summary = passage.text;
        next_shorter(package);
    } else {
        next_shorter(package);
    }
    package.tokens = tokens::count(tokenizer, &render::package(package));
}

fn next_shorter(package: &mut PackedPackage) {
    let length = package.summary.chars().count();
    let next = SHORTER.into_iter().find(|chars| *chars < length);
    (package.summary, package.form) = match next {
        Some(chars) => (cut::cut(&package.summary, chars), Form::Short),
        None => (String::new(), Form::Pointer),
    };
}
