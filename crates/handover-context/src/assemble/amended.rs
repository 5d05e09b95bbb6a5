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
use handover_text::amend::{self, Compared, Facts};
use handover_text::statement;

use super::PackedPackage;
use super::offer::Offer;

/// How many statements of a kind are compared, best first.
pub(crate) const COMPARED: usize = 16;

/// A longer text is more than one statement: part of it still applies, whatever a later one says.
pub(crate) const STATEMENT_BYTES: usize = 1_600;

/// A question begins within so many words.
const FIRST_WORDS: usize = 5;

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
    /// It was said in a conversation, where a later remark is often about the same without changing it.
    pub(crate) remark: bool,
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
    let compared = Compared::of(statements.iter().map(|one| &one.facts));
    let mut all = Vec::new();
    for at in 0..statements.len() {
        all.extend(replacement_among(statements, at, &compared, decisions)?);
    }
    Ok(all)
}

/// The replacement of one statement among others, by what people decided and by the rule.
pub(crate) fn replacement_of(
    statements: &[Spoken],
    earlier: usize,
    decisions: &Decisions<'_>,
) -> Result<Option<Replaced>> {
    let compared = Compared::of(statements.iter().map(|one| &one.facts));
    replacement_among(statements, earlier, &compared, decisions)
}

fn replacement_among(
    statements: &[Spoken],
    earlier: usize,
    compared: &Compared,
    decisions: &Decisions<'_>,
) -> Result<Option<Replaced>> {
    match decisions.confirmed(&statements[earlier].item)? {
        Some(decision) => Ok(Some(confirmed(statements, earlier, decision))),
        None => find(statements, earlier, compared, decisions),
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
    compared: &Compared,
    decisions: &Decisions<'_>,
) -> Result<Option<Replaced>> {
    let old = &statements[earlier];
    let mut best: Option<(usize, amend::Replacement)> = None;
    for (at, new) in statements.iter().enumerate() {
        if !may_replace(old, new) {
            continue;
        }
        let Some(found) = amend::replacement(&old.facts, &new.facts, compared) else { continue };
        if !found.how.is_marked() && (old.remark || new.remark) && !found.holds_for_remarks() {
            continue;
        }
        let sure = |found: amend::Replacement| (found.how.is_marked(), found.score);
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

/// Whether any part of a text is a question: `while you're in there, where do we store them`, but not `do not store them`
/// or `what runs is a tag`.
fn asks(text: &str) -> bool {
    text.split([',', ';', '.', '\n']).any(|part| {
        part.trim_end().ends_with('?') || (statement::asks(part) && has_order_of_question(part))
    })
}

/// Whether a verb stands before whom it is about: `do we`, `where is`, `which one should`.
fn has_order_of_question(part: &str) -> bool {
    const BE: &[&str] = &["are", "is"];
    const HELPING: &[&str] =
        &["can", "could", "did", "do", "does", "shall", "should", "will", "would"];
    const ASKING: &[&str] = &["how", "what", "when", "where", "which", "who", "why"];
    // The others may begin a clause: `which is out of support`.
    const ALWAYS: &[&str] = &["how", "what", "why"];
    const ABOUT: &[&str] = &[
        "a", "an", "he", "i", "it", "our", "people", "she", "that", "the", "there", "these",
        "they", "this", "those", "we", "you", "your",
    ];
    const SHORT: &[&str] = &["any", "how's", "what's"];
    let plain = statement::plain(part);
    let words = plain.split(|c| !statement::is_of_word(c)).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.take(FIRST_WORDS).collect();
    let has = |list: &[&str], at: usize| words.get(at).is_some_and(|word| list.contains(word));
    let first = |at: &usize| [BE, HELPING, ASKING, SHORT].iter().any(|list| has(list, *at));
    let Some(at) = (0..words.len()).find(first) else { return false };
    if has(ASKING, at) {
        return (has(ALWAYS, at) && has(BE, at + 1))
            || has(HELPING, at + 1)
            || has(HELPING, at + 2);
    }
    has(SHORT, at) || has(ABOUT, at + 1)
}

/// What marks a replaced statement, with the date of what replaced it. It is true even if the later one only adds to it.
pub(crate) fn since(by: &AmendedBy) -> String {
    let date: String = by.at.to_string().chars().take(10).collect();
    match by.how {
        AmendedHow::Declared | AmendedHow::NamesOld | AmendedHow::OtherValue => {
            format!("[outdated] since {date}: ")
        }
        AmendedHow::Otherwise | AmendedHow::SameSubject => {
            format!("[outdated] where {date} says otherwise: ")
        }
    }
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
    let remark = note.kind == NoteKind::Conversation;
    let (at, order, long) = (note.created_at, number, false);
    Spoken { item, at, order, source, trust, facts, long, asks, remark }
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
        remark: false,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_told_from_orders() {
        for text in [
            "while you're in there, where do we store them",
            "ok. should it be Redis",
            "which one do you want?",
            "What is the limit of uploads?",
            "any reason to keep it",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "Secrets come from Vault. Do not commit them.",
            "There is one long branch. What runs is a tag.",
            "Log it once, where the error is handled.",
            "The old image had 3.9, which is out of support.",
        ] {
            assert!(!asks(text), "{text}");
        }
    }
}
