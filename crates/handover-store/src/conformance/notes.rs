//! Cases of [`Notes`](crate::Notes).

use handover_model::{
    Form, ItemKind, Note, NoteKind, NoteState, ProjectId, ReceiptId, ReceiptItem, Trust,
};

use super::Backend;
use super::fixture::*;
use crate::packed::note_terms;
use crate::{Learned, NewUnit, NoteFilter, NotePostings, Store, StoreError};

fn learn(store: &dyn Store, units: &[NewUnit]) -> Learned {
    store.learn_notes(&project(), units, at(1)).unwrap()
}

fn texts(store: &dyn Store, filter: &NoteFilter) -> Vec<String> {
    let notes = store.notes(&project(), filter).unwrap();
    notes.into_iter().map(|note| note.text).collect()
}

/// The texts of notes that have a word, and how many notes are in the index.
fn found(store: &dyn Store, word: &str) -> (Vec<String>, u64) {
    let NotePostings { notes, lists } =
        store.note_postings(&project(), &[word.to_owned()]).unwrap();
    let numbers: Vec<i64> = lists[0].list().iter().map(|posting| posting.package.0).collect();
    let mut found = store.notes_by_number(&project(), &numbers).unwrap();
    found.sort_by_key(|(number, _)| *number);
    assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), numbers);
    (found.into_iter().map(|(_, note)| note.text).collect(), notes)
}

#[track_caller]
fn is_sound(store: &dyn Store) {
    for check in store.check().unwrap() {
        assert_eq!(check.problems, [""; 0], "{}", check.part);
    }
}

/// Every field reads back as it was learned.
pub fn read_back_whole(backend: &dyn Backend) {
    let store = backend.open();
    let mut new = note("a.md", "the gateway retries");
    new.text = clean("token=ghp_0123456789abcdefghijklmnopqrstuvwxyzAB");
    new.paths = vec![clean("src/a.rs")];
    new.symbols = vec![clean("Gateway"), clean("retry_all")];
    (new.state, new.reason) = (NoteState::Stale, Some(clean("reverted by 1a2b3c")));
    (new.trust, new.created_at) = (Trust::Agent, at(-9));
    let unit = NewUnit {
        kind: NoteKind::Commit,
        source: "1a2b".to_owned(),
        fingerprint: Some("x".to_owned()),
        notes: vec![new.clone()],
    };
    assert_eq!(learn(&*store, &[unit]), Learned { added: 1, kept: 0, removed: 0 });
    let expected = Note {
        id: new.id.clone(),
        project: project(),
        kind: NoteKind::Commit,
        origin: "a.md § Decisions".to_owned(),
        source: "1a2b".to_owned(),
        title: "Decisions".to_owned(),
        text: "token=[REDACTED-1]".to_owned(),
        trust: Trust::Agent,
        paths: vec!["src/a.rs".to_owned()],
        symbols: vec!["Gateway".to_owned(), "retry_all".to_owned()],
        state: NoteState::Stale,
        reason: Some("reverted by 1a2b3c".to_owned()),
        hash: "hash of the gateway retries".to_owned(),
        created_at: at(-9),
    };
    assert_eq!(store.note(&project(), &new.id).unwrap(), expected);
    assert_eq!(store.notes(&project(), &NoteFilter::default()).unwrap(), [expected]);
}

/// What is still there stays, what is new is added, what is gone goes; the fingerprint is that of the last
/// time.
pub fn a_unit_is_replaced_as_a_whole(backend: &dyn Backend) {
    let store = backend.open();
    let before = unit("a.md", &["one", "two"]);
    assert_eq!(learn(&*store, &[before.clone(), unit("b.md", &["other"])]).added, 3);
    assert_eq!(learn(&*store, &[before]), Learned { added: 0, kept: 2, removed: 0 });
    let mut after = unit("a.md", &["two", "three", "four"]);
    after.fingerprint = Some("blob of the second".to_owned());
    assert_eq!(learn(&*store, &[after]), Learned { added: 2, kept: 1, removed: 1 });
    let mut all = texts(&*store, &NoteFilter::default());
    all.sort();
    assert_eq!(all, ["four", "other", "three", "two"]);
    let units = store.note_units(&project(), NoteKind::Doc).unwrap();
    let units: Vec<_> =
        units.iter().map(|unit| (unit.source.as_str(), unit.fingerprint.as_str())).collect();
    assert_eq!(units, [("a.md", "blob of the second"), ("b.md", "blob of 1")]);
    assert!(store.note_units(&project(), NoteKind::Commit).unwrap().is_empty());
    is_sound(&*store);
}

/// A person's decision outlives what the source says, even if the note is gone for a while; what the source
/// says counts otherwise.
pub fn states_are_kept_and_changed(backend: &dyn Backend) {
    let store = backend.open();
    learn(&*store, &[unit("a.md", &["alpha", "beta"])]);
    let (alpha, beta) = (note_id("a.md", "alpha"), note_id("a.md", "beta"));
    let set = |id, state, reason: Option<&str>| {
        let reason = reason.map(clean);
        store.set_note_state(&project(), id, state, reason.as_ref(), at(2)).unwrap()
    };
    let retired = set(&alpha, NoteState::Retired, Some("wrong"));
    assert_eq!((retired.state, retired.reason.as_deref()), (NoteState::Retired, Some("wrong")));
    assert_eq!(found(&*store, "alpha"), (vec![], 1));
    // Learned again, it stays retired; so it does if it was gone.
    let mut again = unit("a.md", &["alpha", "beta"]);
    again.notes[1].state = NoteState::Stale;
    again.notes[1].reason = Some(clean("src/a.rs is gone"));
    learn(&*store, &[again]);
    assert_eq!(store.note(&project(), &alpha).unwrap().state, NoteState::Retired);
    assert_eq!(store.note(&project(), &beta).unwrap().reason.as_deref(), Some("src/a.rs is gone"));
    assert_eq!(learn(&*store, &[unit("a.md", &["beta"])]).removed, 0);
    assert_eq!(learn(&*store, &[unit("a.md", &["alpha", "beta"])]).kept, 2);
    assert_eq!(store.note(&project(), &alpha).unwrap().reason.as_deref(), Some("wrong"));
    assert_eq!(store.note(&project(), &beta).unwrap().state, NoteState::Live);
    assert_eq!(set(&alpha, NoteState::Live, None).reason, None);
    assert_eq!(found(&*store, "alpha"), (vec!["alpha".to_owned()], 2));
    // Amended notes stay in the index.
    set(&beta, NoteState::Amended, Some("amended by x"));
    learn(&*store, &[unit("a.md", &["alpha", "beta"])]);
    assert_eq!(store.note(&project(), &beta).unwrap().state, NoteState::Amended);
    assert_eq!(found(&*store, "beta").0, ["beta"]);
    is_sound(&*store);
}

/// Newest first, then by id; by kind, state and unit; at most so many.
pub fn listed_newest_first_and_filtered(backend: &dyn Backend) {
    let store = backend.open();
    let mut docs = unit("a.md", &["b", "a", "late"]);
    docs.notes[2].created_at = at(9);
    let mut commit = unit("c0ffee", &["commit"]);
    commit.kind = NoteKind::Commit;
    commit.notes[0].created_at = at(3);
    learn(&*store, &[docs, commit]);
    let retired = NoteState::Retired;
    store.set_note_state(&project(), &note_id("a.md", "b"), retired, None, at(5)).unwrap();
    let all = NoteFilter::default();
    assert_eq!(texts(&*store, &all), ["late", "commit", "a", "b"]);
    let list = |filter: &NoteFilter| texts(&*store, filter);
    assert_eq!(list(&NoteFilter { limit: Some(2), ..all.clone() }), ["late", "commit"]);
    let page = |skip, limit| NoteFilter { skip, limit, ..NoteFilter::default() };
    assert_eq!(list(&page(1, Some(2))), ["commit", "a"]);
    assert_eq!(list(&page(3, None)), ["b"]);
    assert!(list(&page(4, Some(9))).is_empty());
    assert_eq!(list(&NoteFilter { kind: Some(NoteKind::Commit), ..all.clone() }), ["commit"]);
    assert_eq!(list(&NoteFilter { state: Some(retired), ..all.clone() }), ["b"]);
    let of_unit = NoteFilter { source: Some("c0ffee".to_owned()), ..all };
    assert_eq!(list(&of_unit), ["commit"]);
}

/// Words of the title, the paths, the symbols and the text lead to a note, with their weights.
pub fn found_by_their_words(backend: &dyn Backend) {
    let store = backend.open();
    let mut new = unit("a.md", &["the gateway is retried", "unrelated"]);
    new.notes[0].title = clean("Timeouts");
    new.notes[0].paths = vec![clean("src/billing/charge.rs")];
    new.notes[0].symbols = vec![clean("retryPolicy")];
    learn(&*store, &[new]);
    for word in ["timeout", "bill", "retrypolicy", "polici", "gateway"] {
        assert_eq!(found(&*store, word), (vec!["the gateway is retried".to_owned()], 2), "{word}");
    }
    assert_eq!(found(&*store, "nothing").0, [""; 0]);
    let expected = note_terms(
        NoteKind::Doc,
        "Timeouts",
        &["src/billing/charge.rs", "retryPolicy"],
        "the gateway is retried",
    );
    let packed = expected.packed();
    let words: Vec<String> = ["gateway", "timeout"].map(ToOwned::to_owned).into();
    let lists = store.note_postings(&project(), &words).unwrap().lists;
    for (word, list) in words.iter().zip(lists) {
        let mut entries = crate::packed::unpack_terms(&packed).unwrap().map(Result::unwrap);
        let expected = entries.find(|entry| entry.term == word.as_bytes()).unwrap();
        assert_eq!(list.list()[0].counts, expected.counts, "{word}");
    }
}

/// A document that was deleted is no longer known.
pub fn a_unit_that_is_gone_takes_its_notes(backend: &dyn Backend) {
    let store = backend.open();
    learn(&*store, &[unit("a.md", &["one", "two"]), unit("b.md", &["three"])]);
    let mut gone = unit("a.md", &[]);
    gone.fingerprint = None;
    assert_eq!(learn(&*store, &[gone]), Learned { added: 0, kept: 0, removed: 2 });
    assert_eq!(texts(&*store, &NoteFilter::default()), ["three"]);
    assert_eq!(store.note_units(&project(), NoteKind::Doc).unwrap().len(), 1);
    assert_eq!(found(&*store, "three").1, 1);
    is_sound(&*store);
}

/// A receipt that shows notes.
fn shown(store: &dyn Store, id: &str, notes: &[&handover_model::NoteId]) -> ReceiptId {
    let session = session(store, "s1");
    let mut new = receipt(&session, id, &[]);
    new.items = notes
        .iter()
        .map(|note| ReceiptItem {
            kind: ItemKind::Note,
            id: note.to_string(),
            version: 1,
            form: Form::Focus,
            score: 1.0,
            terms: Default::default(),
            tokens: 9,
            read_at: None,
            outdated: None,
            used: None,
            trust: Trust::Agent,
            flags: Vec::new(),
            stale: vec![handover_model::StaleName::Gone { name: "src/old.rs".to_owned() }],
        })
        .collect();
    store.put_receipt(&new).unwrap();
    new.id
}

/// Notes of a source, their unit and the texts that showed them are gone; they can be learned again.
pub fn forgetting_leaves_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let mut talk = unit("talk.jsonl", &["said once"]);
    talk.kind = NoteKind::Conversation;
    learn(&*store, &[talk.clone(), unit("a.md", &["one"]), unit("b.md", &["two"])]);
    let of_talk = shown(&*store, "r1", &[&note_id("talk.jsonl", "said once")]);
    let of_doc = shown(&*store, "r2", &[&note_id("a.md", "one")]);
    let gone = store.forget_notes(&project(), NoteKind::Conversation, None, at(2)).unwrap();
    assert_eq!(gone, [note_id("talk.jsonl", "said once")]);
    let text = |id| store.receipt(id).unwrap().text.unwrap_or_default();
    assert!(text(&of_talk).starts_with("[erased"), "{}", text(&of_talk));
    assert_eq!(text(&of_doc), "## Context");
    // The names in a note are its words.
    let stale = |id| store.receipt(id).unwrap().items[0].stale.len();
    assert_eq!((stale(&of_talk), stale(&of_doc)), (0, 1));
    let one = "a.md".to_owned();
    let gone = store.forget_notes(&project(), NoteKind::Doc, Some(&one), at(2)).unwrap();
    assert_eq!(gone, [note_id("a.md", "one")]);
    assert_eq!(texts(&*store, &NoteFilter::default()), ["two"]);
    assert!(store.note_units(&project(), NoteKind::Conversation).unwrap().is_empty());
    assert_eq!(found(&*store, "said"), (vec![], 1));
    assert_eq!(learn(&*store, &[talk]).added, 1);
    let none = store.forget_notes(&project(), NoteKind::Memory, None, at(2)).unwrap();
    assert!(none.is_empty());
    is_sound(&*store);
}

/// Id and hash stay, and so the note is not learned again; nothing else is left of it.
pub fn purging_leaves_a_hash(backend: &dyn Backend) {
    let store = backend.open();
    learn(&*store, &[unit("a.md", &["secret plan", "two"])]);
    let id = note_id("a.md", "secret plan");
    let receipt = shown(&*store, "r1", &[&id, &note_id("a.md", "two")]);
    let purged = store.purge_note(&project(), &id, at(2)).unwrap();
    assert_eq!((purged.text.as_str(), purged.title.as_str()), ("", ""));
    assert_eq!(purged.hash, "hash of secret plan");
    assert_eq!((purged.state, purged.reason.as_deref()), (NoteState::Retired, Some("purged")));
    let kept = store.receipt(&receipt).unwrap();
    assert!(kept.text.unwrap().contains(id.as_str()));
    assert_eq!((kept.items[0].stale.len(), kept.items[1].stale.len()), (0, 1));
    assert_eq!(learn(&*store, &[unit("a.md", &["secret plan", "two"])]).added, 0);
    assert_eq!(store.note(&project(), &id).unwrap(), purged);
    assert_eq!(found(&*store, "plan"), (vec![], 1));
    // Without the note, too: it may be in another store.
    let other = shown(&*store, "r2", &[&note_id("a.md", "two")]);
    assert_eq!(store.erase_delivered(&project(), &[note_id("a.md", "two")]).unwrap(), 2);
    assert!(store.receipt(&other).unwrap().text.unwrap().starts_with("[erased"));
    is_sound(&*store);
}

/// The same note in two projects is two notes.
pub fn projects_do_not_mix(backend: &dyn Backend) {
    let store = backend.open();
    let other = ProjectId::new("other").unwrap();
    learn(&*store, &[unit("a.md", &["one"])]);
    store.learn_notes(&other, &[unit("a.md", &["one", "two"])], at(1)).unwrap();
    assert_eq!(found(&*store, "one"), (vec!["one".to_owned()], 1));
    store.forget_notes(&other, NoteKind::Doc, None, at(2)).unwrap();
    assert_eq!(texts(&*store, &NoteFilter::default()), ["one"]);
    let missing = store.note(&other, &note_id("a.md", "one"));
    assert!(matches!(missing, Err(StoreError::NotFound { .. })));
    assert_eq!(found(&*store, "one").1, 1);
    let numbers: Vec<i64> = (0..10).collect();
    assert!(store.notes_by_number(&other, &numbers).unwrap().is_empty());
}

/// More notes than a page has room for, learned in one go or in several.
pub fn many_are_found_as_few(backend: &dyn Backend) {
    let store = backend.open();
    let units: Vec<NewUnit> = (0..60)
        .map(|n| {
            let texts: Vec<String> = (0..6).map(|m| format!("gateway rule {n} {m}")).collect();
            unit(&format!("{n}.md"), &texts.iter().map(String::as_str).collect::<Vec<_>>())
        })
        .collect();
    let (front, back) = units.split_at(17);
    learn(&*store, front);
    for units in back.chunks(20) {
        learn(&*store, units);
    }
    let (all, notes) = found(&*store, "gateway");
    assert_eq!((all.len(), notes), (360, 360));
    assert_eq!(all[0], "gateway rule 0 0");
    learn(&*store, &[unit("0.md", &["gateway rule 0 3"])]);
    assert_eq!(found(&*store, "gateway").1, 355);
    is_sound(&*store);
}

/// A rebuilt index is the same as before.
pub fn reindexing_changes_nothing(backend: &dyn Backend) {
    let store = backend.open();
    learn(&*store, &[unit("a.md", &["gateway one", "gateway two", "gateway three"])]);
    let retired = NoteState::Retired;
    let id = note_id("a.md", "gateway two");
    store.set_note_state(&project(), &id, retired, None, at(2)).unwrap();
    let before = found(&*store, "gateway");
    assert_eq!(before.0, ["gateway one", "gateway three"]);
    store.reindex(None).unwrap();
    assert_eq!(found(&*store, "gateway"), before);
    is_sound(&*store);
}

/// A word that is written wrong finds the nearest ones, in the index and among what is not merged yet.
pub fn words_alike_are_found(backend: &dyn Backend) {
    let store = backend.open();
    learn(&*store, &[unit("a.md", &["the gateway retries", "circuit breakers", "gateways"])]);
    let like = |word: &str, slips| store.note_words_like(&project(), word, slips).unwrap();
    assert_eq!(like("gatweay", 1), ["gateway"]);
    assert_eq!(like("circiut", 1), ["circuit"]);
    assert_eq!(like("lighthouse", 2), [""; 0]);
    let other = ProjectId::new("elsewhere").unwrap();
    assert_eq!(store.note_words_like(&other, "gatweay", 1).unwrap(), [""; 0]);

    let session = session(&*store, "s");
    register(&*store, package(&session, "a.md", "idempotency keys"));
    assert_eq!(store.words_like(&session, "idempotnecy", 2).unwrap().len(), 1);
    assert_eq!(store.words_like(&session, "gatweay", 1).unwrap(), [""; 0]);
}

/// Numbers are listed by kind.
pub fn numbers_by_kind(backend: &dyn Backend) {
    let store = backend.open();
    let talk = NewUnit { kind: NoteKind::Conversation, ..unit("talk", &["two"]) };
    learn(&*store, &[unit("a.md", &["one", "three"]), talk]);
    let numbers = |kind| store.note_numbers(&project(), kind).unwrap();
    let read = |kind| {
        let mut texts: Vec<String> = store
            .notes_by_number(&project(), &numbers(kind))
            .unwrap()
            .into_iter()
            .map(|(_, note)| note.text)
            .collect();
        texts.sort_unstable();
        texts
    };
    assert_eq!(read(NoteKind::Doc), ["one", "three"]);
    assert_eq!(read(NoteKind::Conversation), ["two"]);
    assert!(numbers(NoteKind::Memory).is_empty());
    assert!(numbers(NoteKind::Doc).is_sorted());
}
