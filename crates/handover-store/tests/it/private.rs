//! A store whose private notes are in another file keeps every contract, and keeps them apart.

use std::collections::BTreeMap;

use handover_model::{Form, ItemKind, NoteKind, NoteState, ReceiptItem};
use handover_sqlite::SqliteStore;
use handover_store::conformance::Backend;
use handover_store::conformance::fixture::{at, clean, note_id, project, receipt, session, unit};
use handover_store::{
    NewReceipt, NewUnit, NoteFilter, Notes, PrivateNotes, ReceiptStep, Receipts, Store, WITHHELD,
};

/// Two files, as a shared store and the private notes of a machine.
struct Apart {
    folder: tempfile::TempDir,
}

impl Apart {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str) -> SqliteStore {
        SqliteStore::open(&self.folder.path().join(name)).unwrap()
    }
}

impl Backend for Apart {
    fn open(&self) -> Box<dyn Store + Send> {
        let shared: Box<dyn Store + Send> = Box::new(self.file("store.db"));
        let private: Box<dyn Store + Send> = Box::new(self.file("private.db"));
        Box::new(PrivateNotes { shared, private })
    }
}

handover_store::conformance_tests!(Apart::new());

fn talk(texts: &[&str]) -> NewUnit {
    NewUnit { kind: NoteKind::Conversation, ..unit("talk", texts) }
}

fn texts(store: &dyn Store) -> Vec<String> {
    let notes = store.notes(&project(), &NoteFilter::default()).unwrap();
    notes.into_iter().map(|note| note.text).collect()
}

#[test]
fn conversations_stay_out_of_the_shared_store() {
    let apart = Apart::new();
    let store = apart.open();
    store
        .learn_notes(&project(), &[unit("a.md", &["public"]), talk(&["secret talk"])], at(0))
        .unwrap();
    assert_eq!(texts(&apart.file("store.db")), ["public"]);
    assert_eq!(texts(&apart.file("private.db")), ["secret talk"]);
    assert_eq!(texts(&*store).len(), 2);
    assert_eq!(store.note_units(&project(), NoteKind::Conversation).unwrap().len(), 1);
    // Both are found, under numbers of their own.
    let words = ["public", "talk"].map(str::to_owned);
    let found = store.note_postings(&project(), &words).unwrap();
    assert_eq!(found.notes, 2);
    let numbers: Vec<i64> =
        found.lists.iter().flat_map(|list| list.list()).map(|posting| posting.package.0).collect();
    assert_eq!(numbers.len(), 2);
    assert_ne!(numbers[0], numbers[1]);
    let read = store.notes_by_number(&project(), &numbers).unwrap();
    assert_eq!(read.len(), 2);
    // A state is changed wherever the note is.
    let id = note_id("talk", "secret talk");
    let retired = store.set_note_state(&project(), &id, NoteState::Retired, None, at(1)).unwrap();
    assert_eq!(retired.kind, NoteKind::Conversation);
    store.purge_note(&project(), &id, at(2)).unwrap();
    assert_eq!(apart.file("private.db").note(&project(), &id).unwrap().text, "");
}

/// A brief that shows a private note leaves its text on this machine; the shared receipt says what it lists.
#[test]
fn texts_that_show_private_notes_stay_here() {
    let apart = Apart::new();
    let store = apart.open();
    let session = session(&*store, "s");
    store
        .learn_notes(&project(), &[unit("a.md", &["public"]), talk(&["secret talk"])], at(0))
        .unwrap();
    let put = |id: &str, note: handover_model::NoteId| {
        let new = NewReceipt {
            text: Some(clean(&format!("it shows {note}"))),
            items: vec![ReceiptItem {
                trust: handover_model::Trust::Agent,
                flags: Vec::new(),
                stale: vec![handover_model::StaleName::Gone { name: "src/old.rs".to_owned() }],
                kind: ItemKind::Note,
                id: note.to_string(),
                version: 1,
                form: Form::Full,
                score: 1.0,
                terms: BTreeMap::new(),
                tokens: 9,
                read_at: None,
                outdated: None,
                used: None,
            }],
            ..receipt(&session, id, &[])
        };
        store.put_receipt(&new).unwrap();
        new.id
    };
    let open_one = put("r_open", note_id("a.md", "public"));
    let secret = note_id("talk", "secret talk");
    let private_one = put("r_private", secret.clone());
    let shared = apart.file("store.db");
    let text = |store: &dyn Store, id| store.receipt(id).unwrap().text.unwrap();
    assert!(text(&shared, &open_one).starts_with("it shows"));
    assert_eq!(text(&shared, &private_one), WITHHELD);
    assert_eq!(shared.receipt(&private_one).unwrap().items.len(), 1);
    let stale = |store: &dyn Store, id| store.receipt(id).unwrap().items[0].stale.len();
    assert_eq!((stale(&shared, &open_one), stale(&shared, &private_one)), (1, 0));
    assert_eq!(stale(&*store, &private_one), 1);
    // Here it is complete, also on the way.
    assert_eq!(text(&*store, &private_one), format!("it shows {secret}"));
    let delivered = ReceiptStep::Delivered { host: None };
    let advanced = store.advance_receipt(&private_one, &delivered, at(1)).unwrap();
    assert_eq!(advanced.text.unwrap(), format!("it shows {secret}"));
    // Purging the note erases it; purging the session leaves nothing.
    store.purge_note(&project(), &secret, at(2)).unwrap();
    assert!(!text(&*store, &private_one).contains("it shows n_"));
    store.purge_session(&session).unwrap();
    assert!(apart.file("private.db").receipt(&private_one).is_err());
}
