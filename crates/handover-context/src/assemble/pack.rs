//! Packing: what fits, in which form.
//!
//! The texts of the best packages compete for the room: the summary of each, or the passages of its body
//! where they say more about the task. Whole texts go in first, best first; what room is left goes to
//! shorter forms of the others (`shorten.rs`).

use std::borrow::Cow;
use std::collections::HashSet;

use handover_model::{
    Fate, Form, Package, PackageId, PackageKind, Priority, Tokenizer, Trust, Zone,
};
use handover_store::Result;
use handover_text::{Likeness, tokens};

use super::admit::{self, Admission};
use super::alive;
use super::amended::{Decisions, Spoken};
use super::offer::{self, Offer};
use super::passages::{Passage, Question, ShownPassage};
use super::render::Common;
use super::select::Selection;
use super::settled::Settled;
use super::shorten::{is_all_of, repeats, shorten};
use super::{Explained, PackedPackage, Redactions, Sources, amended, by_use, render};
use crate::package_file::{FileState, file_state};
use crate::rank::Key;

/// At most so many packages are shortened because others took the room.
const SHORTENED: usize = 10;

/// At most so many are read together, and compete with each other.
pub(super) const AT_ONCE: usize = 64;

/// After so many that fit in no form, the room is taken for full.
const MISSES: usize = 50;

/// So few packages that are not shown are looked at before they are announced.
const FEW_WAITING: usize = 16;

/// The most passages of one package.
const MAX_PASSAGES: usize = 8;

/// A further passage must be at least this good, compared with the best of all.
const WORTHWHILE: f64 = 0.4;

/// A longer text is not compared with others.
const COMPARED_BYTES: usize = 8_192;

/// A longer text says much that its summary does not.
const LONG_BYTES: u64 = 1_500;

/// What went in, and what became of every candidate that was tried.
#[derive(Debug, Default)]
pub(super) struct Packed {
    pub(super) packages: Vec<PackedPackage>,
    /// What is said once about all of them.
    pub(super) common: Common,
    pub(super) tried: Vec<Explained>,
}

impl Packed {
    /// Takes what goes in, and notes what became of the others.
    fn take(&mut self, offers: Vec<Offer>) {
        for offer in offers {
            let explained = &mut self.tried[offer.tried];
            (explained.score, explained.terms) = (offer.package.score, offer.package.terms);
            explained.included = offer.included;
            if offer.included {
                explained.reason = match offer.package.form {
                    Form::Full => Fate::Fits,
                    Form::Short => Fate::FitsShortened,
                    Form::Focus => Fate::FitsAsPassages,
                    Form::Pointer => Fate::FitsAsPath,
                };
                self.packages.push(offer.package);
            }
        }
    }

    /// Critical packages first, then the report of what failed, then by score.
    fn sort(&mut self) {
        let first = |one: &PackedPackage| (one.priority == Priority::Critical, one.report);
        self.packages.sort_by(|a, b| {
            let by_score = || b.score.total_cmp(&a.score).then(b.id.cmp(&a.id));
            first(b).cmp(&first(a)).then_with(by_score)
        });
    }
}

/// What is left for packages.
struct Room {
    left: u64,
    /// What the advice to read files costs as soon as one is not shown whole.
    reading: u64,
}

impl Room {
    /// Takes so many tokens, if they are left.
    fn takes(&mut self, more: u64, whole: bool) -> bool {
        let advice = if whole { 0 } else { self.reading };
        let fits = more + advice <= self.left;
        if fits {
            (self.left, self.reading) = (self.left - more - advice, self.reading - advice);
        }
        fits
    }
}

/// Takes out what a newer package repeats, unless that is believed less or less urgent.
fn drop_repeated(selection: &mut Selection<'_>, offers: &mut Vec<Offer>, tried: &mut [Explained]) {
    for at in (0..offers.len()).rev() {
        let offer = &offers[at];
        let repeats = |other: &Offer| {
            (other.created_at, other.package.id) > (offer.created_at, offer.package.id)
                && other.package.priority >= offer.package.priority
                && other.package.report >= offer.package.report
                && other.package.trust >= offer.package.trust
                && offer.repeated_by(other)
        };
        if offers.iter().any(repeats) {
            let offer = offers.remove(at);
            tried[offer.tried].reason = Fate::ShownAlready;
            selection.discard();
        }
    }
}

/// What packages are packed with.
pub(super) struct Packer<'a> {
    pub(super) sources: Sources<'a>,
    pub(super) zone: Zone,
    pub(super) limit: usize,
    pub(super) tokenizer: Tokenizer,
    pub(super) settled: &'a Settled,
    pub(super) decisions: &'a Decisions<'a>,
    /// Which texts may go in.
    pub(super) admission: Admission,
    /// The task, if passages that answer it may go in.
    pub(super) question: Option<Question>,
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
        let reading = render::reading_tokens(self.tokenizer);
        let mut room = Room { left: budget, reading };
        let (mut misses, mut texts) = (0, HashSet::new());
        while packed.packages.len() < self.limit && misses < MISSES && selection.waiting > 0 {
            let places = (self.limit - packed.packages.len()).min(AT_ONCE);
            let mut offers =
                self.offers(selection, places, &mut texts, &mut packed.tried, redactions)?;
            if misses == 0 && packed.packages.is_empty() {
                packed.common = Common::of(offers.iter().map(|offer| &offer.package));
                let line = tokens::count(self.tokenizer, &packed.common.line());
                room.left = room.left.saturating_sub(line);
            }
            if self.question.is_some() {
                offer::value(&mut offers);
            }
            by_use::weigh(&mut offers, &selection.by_use);
            if let Some(report) = offers.iter_mut().find(|offer| offer.package.report) {
                report.key.tier = report.key.tier.max(1);
            }
            self.drop_amended(selection, &mut offers, &mut packed.tried)?;
            drop_repeated(selection, &mut offers, &mut packed.tried);
            self.mark_amended(&mut offers, &mut packed.tried)?;
            self.choose(&mut offers, &packed.common, &mut room, redactions);
            misses += offers.iter().filter(|offer| !offer.included).count();
            packed.take(offers);
        }
        self.discard_useless(selection, &mut texts, &mut packed.tried)?;
        if self.zone != Zone::Conservative {
            packed.sort();
        }
        Ok(packed)
    }

    /// More packages are announced only if one of them would help. Checked if there are only a few.
    fn discard_useless(
        &self,
        selection: &mut Selection<'_>,
        texts: &mut HashSet<String>,
        tried: &mut Vec<Explained>,
    ) -> Result<()> {
        if selection.waiting > FEW_WAITING {
            return Ok(());
        }
        let next = std::iter::from_fn(|| selection.take().transpose());
        let keys: Vec<Key> = next.collect::<Result<_>>()?;
        let ids: Vec<PackageId> = keys.iter().map(|key| key.candidate.id).collect();
        for (key, package) in keys.into_iter().zip(self.sources.store.packages_by_id(&ids)?) {
            let state = self.sources.places.map(|places| file_state(places, &package));
            let fate = self.useless(&package, state, texts);
            if fate.is_some() {
                selection.discard();
            }
            texts.insert(package.content_hash);
            tried.push(selection.explained(key, fate.unwrap_or(Fate::OverTheLimit)));
        }
        Ok(())
    }

    /// The next best of the queue, read together, without those that help nobody.
    fn offers(
        &self,
        selection: &mut Selection<'_>,
        count: usize,
        texts: &mut HashSet<String>,
        tried: &mut Vec<Explained>,
        redactions: &mut Redactions,
    ) -> Result<Vec<Offer>> {
        let next = std::iter::from_fn(|| selection.take().transpose());
        let keys: Vec<Key> = next.take(count).collect::<Result<_>>()?;
        let ids: Vec<PackageId> = keys.iter().map(|key| key.candidate.id).collect();
        let packages = self.sources.store.packages_by_id(&ids)?;
        let bodies = match &self.question {
            Some(_) => self.sources.store.package_bodies(&ids)?,
            None => ids.iter().map(|_| String::new()).collect(),
        };
        let ranked = self.passages(&bodies);
        let mut offers = Vec::new();
        for (((key, package), body), passages) in
            keys.into_iter().zip(packages).zip(&bodies).zip(ranked)
        {
            let mut explained = selection.explained(key, Fate::OverTheBudget);
            explained.trust = Some(package.trust);
            let state = self.sources.places.map(|places| file_state(places, &package));
            let mut useless = self.useless(&package, state, texts);
            if useless.is_none() {
                useless = self.speaks(&package, body)?;
            }
            if let Some(fate) = useless {
                explained.reason = fate;
                tried.push(explained);
                selection.discard();
                continue;
            }
            texts.insert(package.content_hash.clone());
            let (mut key, mut passages) = (key, passages);
            if offers.len() < alive::CHECKED {
                self.sink(&package, &mut key, &mut passages, &mut explained);
            }
            let mut offered = self.summarized(&package, &explained, redactions);
            offered.for_reference = selection.is_for_reference(&key);
            offered.report = selection.report == Some(package.id);
            offered.relevant = selection.is_chosen(&key) || self.is_relevant(&package, &passages);
            offered.addressed = key.candidate.addressed;
            offered.changed = state == Some(FileState::Changed);
            offered.elsewhere = state == Some(FileState::Elsewhere);
            offered.whole = offered.form == Form::Full && is_all_of(&offered.summary, body);
            let passages =
                if self.says_more(&passages, &package, body) { passages } else { Vec::new() };
            let text = if body.is_empty() { &package.summary } else { body };
            let substance = offer::substance(text);
            let tried_at = tried.len();
            tried.push(explained);
            offers.push(Offer {
                key,
                group: package.group,
                package: offered,
                passages,
                value: key.score,
                substance,
                created_at: package.created_at,
                said: (body.len() <= COMPARED_BYTES).then(|| (text.clone(), Likeness::of(text))),
                long: body.len() > amended::STATEMENT_BYTES,
                tried: tried_at,
                included: false,
            });
        }
        Ok(offers)
    }

    /// Takes out what a later package replaced because a person said so; of a long one, part may still apply.
    fn drop_amended(
        &self,
        selection: &mut Selection<'_>,
        offers: &mut Vec<Offer>,
        tried: &mut [Explained],
    ) -> Result<()> {
        for at in (0..offers.len()).rev() {
            let Some(decision) = self.decisions.confirmed(&offers[at].package.item())? else {
                continue;
            };
            let later = offers.iter().find(|offer| offer.package.item() == decision.later);
            let by = amended::declared(decision, later.map(|later| later.created_at));
            // It follows what replaced it.
            let most = later.map_or(f64::MAX, |later| later.package.score - f64::EPSILON);
            tried[offers[at].tried].amended_by = Some(by.clone());
            if offers[at].long {
                let package = &mut offers[at].package;
                package.score = package.score.min(most);
                package.outdated = Some(by);
            } else {
                let offer = offers.remove(at);
                tried[offer.tried].reason = Fate::Amended;
                selection.discard();
            }
        }
        Ok(())
    }

    /// Later decisions come before earlier ones about the same subject: what is found to be replaced is marked, what
    /// may be is only pointed to. Other packages are not compared: those of a session are about the same things, so
    /// being alike says little.
    fn mark_amended(&self, offers: &mut [Offer], tried: &mut [Explained]) -> Result<()> {
        let decides = |offer: &Offer| {
            offer.package.kind == PackageKind::Decisions && !offer.long && offer.said.is_some()
        };
        let compared: Vec<usize> =
            (0..offers.len()).filter(|at| decides(&offers[*at])).take(amended::COMPARED).collect();
        if compared.len() < 2 {
            return Ok(());
        }
        let spoken = compared.iter().filter_map(|at| amended::of_offer(&offers[*at]));
        let spoken: Vec<Spoken> = spoken.collect();
        for found in amended::replaced(&spoken, self.decisions)? {
            let most = found.later.map_or(f64::MAX, |later| {
                let later = &offers[compared[later]];
                later.package.score - f64::EPSILON
            });
            let offer = &mut offers[compared[found.earlier]];
            offer.package.score = offer.package.score.min(most);
            offer.value = offer.value.min(most);
            tried[offer.tried].amended_by = Some(found.by.clone());
            if found.by.how.is_marked() {
                offer.package.outdated = Some(found.by);
            } else {
                offer.passages.clear();
                offer.package.summary.clear();
                (offer.package.form, offer.package.whole) = (Form::Pointer, false);
                offer.package.later = Some(found.by);
            }
        }
        Ok(())
    }

    /// The passages of each body, best first; none without a task.
    fn passages(&self, bodies: &[String]) -> Vec<Vec<Passage>> {
        let Some(question) = &self.question else {
            return bodies.iter().map(|_| Vec::new()).collect();
        };
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        let mut ranked = question.rank(&bodies);
        let mut seen = HashSet::new();
        for passages in &mut ranked {
            // What is repeated is said once.
            passages.retain(|passage| passage.score > 0.0 && seen.insert(passage.text.clone()));
            passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.line.cmp(&b.line)));
        }
        ranked
    }

    /// Whether the passages say more about the task than the summary.
    fn says_more(&self, passages: &[Passage], package: &Package, body: &str) -> bool {
        let Some(question) = &self.question else { return false };
        let Some(shared) = passages.iter().map(|passage| passage.shared).max() else {
            return false;
        };
        // What a short text is about, its summary says best; one that merely repeats the beginning of a long
        // text says nothing that a passage does not.
        let more = match package.size_bytes > LONG_BYTES {
            true if repeats(&package.summary, body) => 0,
            true => 1,
            false => 2,
        };
        shared >= question.shared(&package.summary) + more
    }

    /// Whether a package is about the task. In a long text, a single word of the task says nothing.
    fn is_relevant(&self, package: &Package, passages: &[Passage]) -> bool {
        let Some(question) = &self.question else { return true };
        let in_passages = passages.iter().map(|passage| passage.shared).max().unwrap_or_default();
        in_passages >= question.needed()
            || question.shared(&package.summary) + question.shared(&package.path) > 0
    }

    /// Lets the texts of the offers have their turn, best first, and then what is left of the others in
    /// shorter forms.
    fn choose(
        &self,
        offers: &mut [Offer],
        common: &Common,
        room: &mut Room,
        redactions: &mut Redactions,
    ) {
        let (mut nothing_in, mut misses) = (true, 0);
        for turn in offer::turns(offers) {
            let offer = &mut offers[turn.offer];
            let is_full = offer.package.passages.len() >= MAX_PASSAGES;
            if offer.included && (is_full || turn.value < WORTHWHILE) {
                continue;
            }
            let mut longer = self.longer(offer, turn.passage, redactions);
            longer.tokens = tokens::count(self.tokenizer, &render::package(&longer, common));
            let before = if offer.included { offer.package.tokens } else { 0 };
            let more = longer.tokens.saturating_sub(before);
            if room.takes(more, longer.whole) {
                (offer.package, offer.included) = (longer, true);
                (nothing_in, misses) = (false, 0);
            } else if !offer.included && (turn.tier > 0 || nothing_in) {
                // The most important ones go before whole texts of others.
                offer.package = longer;
                self.shorten_into(offer, common, room);
                nothing_in = nothing_in && !offer.included;
            } else {
                misses += 1;
                if misses >= MISSES {
                    break;
                }
            }
        }
        // In a long list, beginnings and paths tell less than the advice to read them costs.
        if offers.len() > SHORTENED {
            return;
        }
        for offer in offers.iter_mut().filter(|offer| !offer.included) {
            if !offer.passages.is_empty() {
                offer.package = self.longer(offer, Some(0), redactions);
            }
            self.shorten_into(offer, common, room);
        }
    }

    /// The package of an offer with one more passage, or with its summary.
    fn longer(
        &self,
        offer: &Offer,
        passage: Option<usize>,
        redactions: &mut Redactions,
    ) -> PackedPackage {
        let mut longer = offer.package.clone();
        if let Some(at) = passage {
            if !offer.included {
                longer.passages.clear();
            }
            longer.summary.clear();
            (longer.form, longer.whole) = (Form::Focus, false);
            longer.passages.push(self.shown(&offer.passages[at], redactions));
            longer.flags = admit::flags(longer.passages.iter().map(|shown| shown.text.as_str()));
        }
        longer
    }

    /// What is about things that are gone sinks: the package by its summary, each passage by what it names.
    fn sink(
        &self,
        package: &Package,
        key: &mut Key,
        passages: &mut [Passage],
        explained: &mut Explained,
    ) {
        let fresh = self.sources.fresh;
        key.score = explained.terms.sink(alive::left(fresh, &package.summary));
        explained.score = key.score;
        for passage in passages.iter_mut().take(MAX_PASSAGES) {
            passage.score *= alive::left(fresh, &passage.text);
        }
        passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.line.cmp(&b.line)));
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
            self.admission.refuses(package.trust)
        }
    }

    /// Why a package may not go in because of what its text says. All of it counts, because agents are asked to
    /// read the file.
    fn speaks(&self, package: &Package, body: &str) -> Result<Option<Fate>> {
        if package.trust > Trust::Outside {
            return Ok(None);
        }
        // Bodies are read only if there is a task.
        let body = match self.question {
            Some(_) => Cow::Borrowed(body),
            None => Cow::Owned(self.sources.store.package_body(package.id)?),
        };
        Ok(self.admission.check(package.trust, [package.summary.as_str(), &*body]).err())
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
        let summary = alive::annotated(self.sources.fresh, first.as_str().to_owned());
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
            flags: admit::flags([summary.as_str()]),
            stale: Vec::new(),
            summary,
            passages: Vec::new(),
            tokens: 0,
            file_tokens: package.tokens,
            score: ranked.score,
            form,
            kind: package.kind,
            trust: package.trust,
            for_reference: false,
            changed: false,
            elsewhere: false,
            outdated: None,
            later: None,
            whole: false,
            report: false,
            relevant: true,
            addressed: false,
            terms: ranked.terms,
        }
    }

    /// A passage as the block shows it, redacted like everything that leaves.
    fn shown(&self, passage: &Passage, redactions: &mut Redactions) -> ShownPassage {
        let clean = redactions.clean(self.sources.redactor, &passage.text).one_line();
        let text = alive::annotated(self.sources.fresh, clean.as_str().to_owned());
        ShownPassage { line: passage.line, text, score: passage.score }
    }

    /// Shortens an offer until it fits; it stays out if no form of it does.
    fn shorten_into(&self, offer: &mut Offer, common: &Common, room: &mut Room) {
        let package = &mut offer.package;
        package.tokens = tokens::count(self.tokenizer, &render::package(package, common));
        while !room.takes(package.tokens, package.whole) {
            if package.form == Form::Pointer {
                return;
            }
            shorten(package, common, self.tokenizer);
        }
        offer.included = true;
    }
}
