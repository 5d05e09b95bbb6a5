//! Notes: the list by kind, and the page of one.

use handover_model::{Form, ItemKind, NoteKind, NoteState, ReceiptId, ReceiptItem, StaleName};
use handover_store::{NewReceipt, Notes, Receipts};

use crate::fixture::{Fixture, at, hides, shows};

#[test]
fn notes_are_listed_by_kind() {
    let fixture = Fixture::new();
    let doc = fixture.note(1, NoteKind::Doc, "Prices are cents.");
    fixture.note(2, NoteKind::Commit, "Floats lost a cent.");
    fixture.note(3, NoteKind::Commit, "Retries are idempotent.");
    fixture
        .store
        .set_note_state(&fixture.project(), &doc, NoteState::Retired, None, at(4))
        .unwrap();
    let page = fixture.page("/notes");
    shows(
        &page,
        &[
            "3 notes, newest first",
            &format!("href=\"/notes/{doc}\""),
            "Prices are cents.",
            "docs/1.md § Prices",
            "retired",
            "href=\"/notes?kind=commit\"",
            ">agent<",
        ],
    );
    let commits = fixture.page_with("/notes", &[("kind", "commit")]);
    shows(&commits, &["2 notes", "Floats lost a cent."]);
    hides(&commits, &["Prices are cents."]);
    shows(&fixture.page_with("/notes", &[("kind", "nonsense")]), &["3 notes"]);
    shows(&fixture.page_with("/notes", &[("kind", "memory")]), &["No notes yet."]);
}

#[test]
fn a_note_shows_its_origin_and_its_text() {
    let fixture = Fixture::new();
    let note =
        fixture.note(1, NoteKind::Doc, "Prices are cents.\n<script>alert(1)</script>\u{202e}");
    let id = ReceiptId::new("r_shows").unwrap();
    let plain = fixture.receipt(2, "developer", &[], "block");
    let kept = fixture.store.receipt(&plain).unwrap();
    fixture
        .store
        .put_receipt(&NewReceipt {
            id,
            session: fixture.session.clone(),
            group: None,
            role: kept.role,
            iteration: 0,
            model: None,
            tokenizer: kept.tokenizer,
            zone: kept.zone,
            tokens: 9,
            prompt_hash: kept.prompt_hash,
            sections: Vec::new(),
            items: vec![ReceiptItem {
                trust: handover_model::Trust::Agent,
                flags: Vec::new(),
                stale: vec![StaleName::Gone { name: "src/old_<b>price</b>.rs".to_owned() }],
                kind: ItemKind::Note,
                id: note.to_string(),
                version: 1,
                form: Form::Full,
                score: 1.0,
                terms: std::collections::BTreeMap::new(),
                tokens: 9,
                read_at: None,
                outdated: None,
                used: None,
            }],
            left_out: Vec::new(),
            left_out_counts: std::collections::BTreeMap::new(),
            redactions: std::collections::BTreeMap::new(),
            trimmed: Vec::new(),
            provided: kept.provided,
            task: None,
            text: Some(fixture.redactor.clean("Prices are cents.")),
            claim: false,
            now: at(3),
        })
        .unwrap();
    let page = fixture.page(&format!("/notes/{note}"));
    shows(&page, &["docs/1.md § Prices", "src/price.rs", "&lt;script&gt;alert(1)", note.as_str()]);
    hides(&page, &["<script>alert", "\u{202e}"]);
    // What became of the file that it names.
    shows(&page, &["Since then", "renamed to src/in_cents.rs"]);
    // The receipt names it, and says what was gone by then.
    let receipt = fixture.page("/receipts/r_shows");
    shows(&receipt, &["1 note", &format!("href=\"/notes/{note}\""), "no longer exists"]);
    shows(&receipt, &["src/old_&lt;b&gt;price"]);
    // A part of the id is enough.
    shows(&fixture.page("/notes/00000001"), &["Prices are cents."]);
    fixture.store.purge_note(&fixture.project(), &note, at(5)).unwrap();
    let page = fixture.page(&format!("/notes/{note}"));
    shows(&page, &["It was erased", "purged"]);
    hides(&page, &["Prices are cents."]);
    assert_eq!(fixture.get("/notes/nothing", &[]).status, 404);
}

#[test]
fn without_notes_the_command_is_shown() {
    shows(&Fixture::new().page("/notes"), &["No notes yet.", "handover learn"]);
}
