//! What became of the items of a brief, once its agent has ended.

use handover_handoff::{Ended, Ending, Handoff, read_ending};
use handover_model::{
    ItemKind, NoteId, NoteKind, NoteState, ProjectId, ToolCall, Trace, Trust, Use,
};
use handover_store::{NewNote, NewUnit, Notes as _, Receipts as _};

use crate::world::{World, at, receipt_id};

fn world() -> World {
    let world = World::new();
    world.package("docs/rotation.md", "Tokens rotate every 47 minutes, see max_token_age.");
    world.package("docs/audit.md", "Every refresh is audited with its trace id.");
    world.package("docs/backup.md", "Backups are sealed with pgBackRest.");
    world
}

/// The conversation of an agent that reads one file and says something.
fn trace(handoff: &Handoff, path: &str, said: &str) -> Trace {
    let mut trace = Trace::default();
    trace.given(handoff.prompt.text());
    trace.called(ToolCall {
        id: "t1".to_owned(),
        name: "Read".to_owned(),
        input: format!(r#"{{"file_path": "/p/{path}"}}"#),
    });
    trace.shown("t1", false, "# Audit");
    trace.said(said);
    trace
}

fn end(world: &World, handoff: &Handoff, trace: Option<&Trace>) -> Ended {
    let debrief = read_ending("done");
    let ending = Ending::new(&handoff.assignment, &debrief, at(9));
    world.handoffs().ended(Ending { trace, ..ending }).unwrap()
}

/// What became of the packages of a receipt, by path.
fn uses(world: &World, name: &str) -> Vec<(String, Option<Use>)> {
    use handover_store::Packages as _;
    let items = world.receipt(name).items.into_iter();
    let mut uses: Vec<_> = items
        .map(|item| {
            let package = world.store.package(item.id.parse().unwrap()).unwrap();
            (package.path, item.used)
        })
        .collect();
    uses.sort();
    uses
}

fn expected(audit: Use, backup: Use, rotation: Use) -> Vec<(String, Option<Use>)> {
    [("docs/audit.md", audit), ("docs/backup.md", backup), ("docs/rotation.md", rotation)]
        .map(|(path, used)| (path.to_owned(), Some(used)))
        .to_vec()
}

#[test]
fn is_kept_even_if_the_agent_leaves_no_debrief() {
    let world = world();
    let handoff = world.started("developer", "1", 1);
    assert!(uses(&world, "1").iter().all(|(_, used)| used.is_none()));
    let seen = trace(&handoff, "docs/audit.md", "I set max_token_age, so that it is safe.");
    assert_eq!(end(&world, &handoff, Some(&seen)), Ended::Nothing);
    assert_eq!(uses(&world, "1"), expected(Use::Opened, Use::Unused, Use::Echoed));
    // An agent that is continued has still used what it used.
    let more = trace(&handoff, "src/main.rs", "docs/backup.md does not matter.");
    end(&world, &handoff, Some(&more));
    assert_eq!(uses(&world, "1"), expected(Use::Opened, Use::Named, Use::Echoed));
}

#[test]
fn is_unknown_without_a_conversation_or_a_delivery() {
    let world = world();
    let handoff = world.started("developer", "1", 1);
    end(&world, &handoff, None);
    let mut silent = Trace::default();
    silent.given(handoff.prompt.text());
    end(&world, &handoff, Some(&silent));
    let unknown = |name: &str| uses(&world, name).iter().all(|(_, used)| used.is_none());
    assert!(unknown("1"));
    let lost = world.handoffs().prepare(&world.request("2", 2)).unwrap().handoff;
    world.handoffs().failed(&receipt_id("2"), "the program is gone", at(3)).unwrap();
    end(&world, &lost, Some(&trace(&lost, "docs/audit.md", "done")));
    assert!(unknown("2"), "it never had the brief");
}

#[test]
fn a_file_that_a_hook_saw_being_read_was_opened() {
    let world = world();
    let handoff = world.started("developer", "1", 1);
    let item = &world.receipt("1").items[0];
    let first = item.id.parse().unwrap();
    world.store.mark_read(&receipt_id("1"), first, at(2)).unwrap();
    let mut seen = Trace::default();
    seen.said("done");
    end(&world, &handoff, Some(&seen));
    let opened: Vec<_> = world.receipt("1").items.into_iter().map(|item| item.used).collect();
    assert_eq!(opened, [Some(Use::Opened), Some(Use::Unused), Some(Use::Unused)]);
}

/// A note of this source about the task.
fn learn(world: &World, kind: NoteKind, source: &str, id: &str, text: &str) {
    let clean = |text: &str| world.redactor.clean(text);
    let note = NewNote {
        id: NoteId::new(id).unwrap(),
        origin: clean(source),
        title: clean("Tokens"),
        text: clean(text),
        trust: Trust::Project,
        paths: Vec::new(),
        symbols: Vec::new(),
        state: NoteState::Live,
        reason: None,
        hash: text.to_owned(),
        created_at: at(0),
    };
    let fingerprint = Some("1".to_owned());
    let unit = NewUnit { kind, source: source.to_owned(), fingerprint, notes: vec![note] };
    let project = ProjectId::new("p").unwrap();
    world.store.learn_notes(&project, &[unit], at(0)).unwrap();
}

#[test]
fn notes_are_judged_by_their_words_and_documents_by_their_file_too() {
    let world = World::new();
    let read = "Refresh tokens are kept in the vault.";
    learn(&world, NoteKind::Doc, "docs/vault.md", "n_1", read);
    let said = "Refresh tokens expire after 47 minutes, see max_token_age.";
    learn(&world, NoteKind::Commit, "1a2b3c4d5e", "n_2", said);
    let other = "Refresh tokens are audited by auditd on every node.";
    learn(&world, NoteKind::Commit, "5e4d3c2b1a", "n_3", other);
    let handoff = world.started("developer", "1", 1);
    let seen = trace(&handoff, "docs/vault.md", "I set max_token_age, so that it is safe.");
    end(&world, &handoff, Some(&seen));
    let notes = world.receipt("1").items.into_iter().filter(|item| item.kind == ItemKind::Note);
    let mut uses: Vec<_> = notes.map(|note| (note.id, note.used)).collect();
    uses.sort();
    let expected = [("n_1", Use::Opened), ("n_2", Use::Echoed), ("n_3", Use::Unused)];
    assert_eq!(uses, expected.map(|(id, used)| (id.to_owned(), Some(used))));
}
