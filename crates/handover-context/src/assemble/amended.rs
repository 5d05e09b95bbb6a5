//! Later beats earlier: which of the statements that are about to go in were replaced by a later one.
//!
//! What a person confirmed or rejected counts; everything else is found by `handover_text::amend`. A statement is
//! replaced only by one that is trusted enough, so that nothing from outside can take back what the project says.

use std::cell::OnceCell;

use handover_model::{
    AmendedBy, AmendedHow, Amendment, AmendmentDecision, ItemKind, ItemRef, Note, NoteKind,
    ProjectId, Timestamp, Trust,
};
use handover_store::{Result, Store};
use handover_text::amend::{self, Facts};
use handover_text::statement;

use super::PackedPackage;
use super::offer::Offer;

/// How many statements of a kind are compared, best first.
pub(crate) const COMPARED: usize = 16;

/// A longer text is more than one statement: part of it still applies, whatever a later one says.
pub(crate) const STATEMENT_BYTES: usize = 1_600;

/// A statement with what the rule needs to know.
pub(crate) struct Spoken {
    pub(crate) item: ItemRef,
    pub(crate) at: Timestamp,
    /// Tells statements of the same time apart.
    pub(crate) order: i64,
    /// Statements of one document or commit hold together and never replace each other.
    pub(crate) source: Option<String>,
    pub(crate) trust: Trust,
    pub(crate) facts: Facts,
    pub(crate) long: bool,
    /// It asks something, so it decides nothing.
    pub(crate) asks: bool,
}

/// A statement that a later one replaced, both by their places in the list.
#[derive(Debug)]
pub(crate) struct Replaced {
    pub(crate) earlier: usize,
    /// The later one, if it is in the list.
    pub(crate) later: Option<usize>,
    pub(crate) by: AmendedBy,
    /// Whether part of the earlier one still applies.
    pub(crate) in_part: bool,
}

/// What people decided in a project, read once and only if there is something to decide.
pub(crate) struct Decisions<'a> {
    store: &'a dyn Store,
    project: &'a ProjectId,
    all: OnceCell<Vec<Amendment>>,
}

impl<'a> Decisions<'a> {
    pub(crate) fn new(store: &'a dyn Store, project: &'a ProjectId) -> Self {
        Self { store, project, all: OnceCell::new() }
    }

    fn all(&self) -> Result<&[Amendment]> {
        if self.all.get().is_none() {
            let all = self.store.amendments(self.project)?;
            // Nobody else sets it.
            self.all.set(all).ok();
        }
        Ok(self.all.get().map(Vec::as_slice).unwrap_or_default())
    }

    fn about(&self, earlier: &ItemRef, later: &ItemRef) -> Result<Option<AmendmentDecision>> {
        let same = |one: &&Amendment| one.earlier == *earlier && one.later == *later;
        Ok(self.all()?.iter().find(same).map(|one| one.decision))
    }

    /// The replacement of a statement that a person confirmed.
    pub(crate) fn confirmed(&self, earlier: &ItemRef) -> Result<Option<&Amendment>> {
        let confirmed = |one: &&Amendment| {
            one.earlier == *earlier && one.decision == AmendmentDecision::Confirmed
        };
        Ok(self.all()?.iter().find(confirmed))
    }
}

/// The statements that others replace, each at most once, in the order of the list.
pub(crate) fn replaced(statements: &[Spoken], decisions: &Decisions<'_>) -> Result<Vec<Replaced>> {
    let mut all = Vec::new();
    for at in 0..statements.len() {
        all.extend(replacement_of(statements, at, decisions)?);
    }
    Ok(all)
}

/// The replacement of one statement among others, by what people decided and by the rule.
pub(crate) fn replacement_of(
    statements: &[Spoken],
    earlier: usize,
    decisions: &Decisions<'_>,
) -> Result<Option<Replaced>> {
    match decisions.confirmed(&statements[earlier].item)? {
        Some(decision) => Ok(Some(confirmed(statements, earlier, decision))),
        None => find(statements, earlier, decisions),
    }
}

fn confirmed(statements: &[Spoken], earlier: usize, decision: &Amendment) -> Replaced {
    let later = statements.iter().position(|one| one.item == decision.later);
    let by = declared(decision, later.map(|later| statements[later].at));
    Replaced { earlier, later, by, in_part: statements[earlier].long }
}

/// What a person said replaces a statement; since then, if the later one is not at hand.
pub(crate) fn declared(decision: &Amendment, at: Option<Timestamp>) -> AmendedBy {
    AmendedBy {
        item: decision.later.clone(),
        at: at.unwrap_or(decision.decided_at),
        how: AmendedHow::Declared,
        confirmed: true,
    }
}

/// The later statement that replaces one, by the rule. The earlier one stays in sight, marked: the rule may be wrong, and
/// a reader sees both.
fn find(
    statements: &[Spoken],
    earlier: usize,
    decisions: &Decisions<'_>,
) -> Result<Option<Replaced>> {
    let old = &statements[earlier];
    let mut best: Option<(usize, amend::Replacement)> = None;
    for (at, new) in statements.iter().enumerate() {
        if !may_replace(old, new) {
            continue;
        }
        let Some(found) = amend::replacement(&old.facts, &new.facts) else { continue };
        let sure = |found: amend::Replacement| (found.how.is_certain(), found.score);
        let better = best.is_none_or(|(_, best)| sure(found) > sure(best));
        if better && decisions.about(&old.item, &new.item)? != Some(AmendmentDecision::Rejected) {
            best = Some((at, found));
        }
    }
    Ok(best.map(|(later, found)| {
        let Spoken { item, at, .. } = &statements[later];
        let by = AmendedBy { item: item.clone(), at: *at, how: found.how, confirmed: false };
        Replaced { earlier, later: Some(later), by, in_part: true }
    }))
}

/// Whether one statement is later than the other, independent of it, and trusted enough.
fn may_replace(earlier: &Spoken, later: &Spoken) -> bool {
    (earlier.at, earlier.order) < (later.at, later.order)
        && (earlier.source.is_none() || earlier.source != later.source)
        && later.trust >= earlier.trust.min(Trust::Project)
        && !later.asks
}

/// Whether any part of a text is a question: `while you're in there, where do we store them`.
fn asks(text: &str) -> bool {
    text.split([',', ';', '.', '\n']).any(statement::asks)
}

/// The date of a replacement, as a brief shows it.
pub(crate) fn since(by: &AmendedBy) -> String {
    let date: String = by.at.to_string().chars().take(10).collect();
    format!("[outdated] since {date}: ")
}

/// A note as others refer to it.
pub(crate) fn item_of(note: &Note) -> ItemRef {
    ItemRef { kind: ItemKind::Note, id: note.id.to_string() }
}

/// A note as a statement.
pub(crate) fn of_note(note: &Note, number: i64) -> Spoken {
    let said_by_person = note.text.contains("\nPerson: ");
    let (heading, source, trust) = match note.kind {
        // What a person agreed to, the person said.
        NoteKind::Conversation if said_by_person => ("", None, Trust::Person),
        NoteKind::Conversation | NoteKind::Manual => ("", None, note.trust),
        NoteKind::Doc | NoteKind::Commit | NoteKind::Memory => {
            (note.title.as_str(), Some(note.source.clone()), note.trust)
        }
    };
    let item = item_of(note);
    let facts = Facts::of(heading, &note.text);
    let asks = facts.is_statement() && asks(&note.text);
    Spoken { item, at: note.created_at, order: number, source, trust, facts, long: false, asks }
}

/// A decision that may go in, as a statement.
pub(super) fn of_offer(offer: &Offer) -> Option<Spoken> {
    let (text, _) = offer.said.as_ref()?;
    let (facts, long) = of_package(text, None);
    let PackedPackage { id, trust, .. } = &offer.package;
    Some(Spoken {
        item: offer.package.item(),
        at: offer.created_at,
        order: id.0,
        source: None,
        trust: *trust,
        facts,
        long,
        asks: false,
    })
}

/// A package's text as a statement: its heading and what follows; of a long one, the passage that answers the task.
pub(crate) fn of_package(body: &str, passage: Option<&str>) -> (Facts, bool) {
    let body = without_front_matter(body).trim_start();
    let (heading, rest) = match body.strip_prefix('#') {
        Some(titled) => titled.trim_start_matches('#').split_once('\n').unwrap_or((titled, "")),
        None => ("", body),
    };
    match passage.filter(|_| body.len() > STATEMENT_BYTES) {
        Some(passage) => (Facts::of(heading, passage), true),
        None => (Facts::of(heading, rest), body.len() > STATEMENT_BYTES),
    }
}

fn without_front_matter(body: &str) -> &str {
    let Some(rest) = body.strip_prefix("---\n") else { return body };
    rest.split_once("\n---\n").map_or(body, |(_, rest)| rest)
}
