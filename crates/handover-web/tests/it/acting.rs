//! Forms: what they change, who may send them, and what the log says.

use handover_model::{NoteKind, NoteState, RecordState, SessionStatus};
use handover_store::{
    ErrorFilter, ErrorPatterns, NoteFilter, Notes, OperationFilter, Operations, Packages, Sessions,
    Strategies, StrategyFilter,
};
use handover_web::PageResponse;

use crate::fixture::{Fixture, at, hides, shows};
use crate::scene::login;

#[track_caller]
fn location(response: &PageResponse) -> &str {
    assert_eq!(response.status, 303, "{}", String::from_utf8_lossy(&response.body));
    let (_, path) = response.headers.iter().find(|(name, _)| *name == "location").unwrap();
    path
}

fn actions(fixture: &Fixture) -> Vec<String> {
    let all = fixture.store.operations(&fixture.project(), &OperationFilter::default()).unwrap();
    all.iter().rev().map(|one| format!("{} {:?}", one.action, one.author)).collect()
}

#[test]
fn a_package_is_retired_restored_and_the_change_undone() {
    let fixture = Fixture::new();
    let id = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")])[0];
    let name = id.to_string();
    let path = format!("/packages/{id}");
    let state = || fixture.store.package(id).unwrap();
    let retire = [
        ("what", "package"),
        ("id", &*name),
        ("do", "retire"),
        ("reason", "the <b>service</b> is gone"),
        ("back", &*path),
    ];
    let back = fixture.post("/changes", &retire);
    assert_eq!(location(&back), format!("{path}?done=op_0001"));
    assert_eq!(state().state, RecordState::Retired);
    assert_eq!(state().reason.as_deref(), Some("the <b>service</b> is gone"));
    let page = fixture.page_with(&path, &[("done", "op_0001")]);
    shows(&page, &["Retired ", "the &lt;b&gt;service&lt;/b&gt; is gone", "id=\"done\""]);

    let undo = [("what", "operation"), ("id", "op_0001"), ("do", "undo"), ("back", &*path)];
    location(&fixture.post("/changes", &undo));
    assert_eq!(state().state, RecordState::Live);
    // What was undone cannot be undone again.
    let again = fixture.post("/changes", &undo);
    assert_eq!(again.status, 409);
    shows(&String::from_utf8(again.body).unwrap(), &["Nothing was changed", "was undone by"]);
    let by = "Some(\"dashboard, token t1\")";
    assert_eq!(actions(&fixture), [format!("retire {by}"), format!("undo {by}")]);
    let log = fixture.page("/changes");
    shows(&log, &["Retired ", "Undid a change of ", "dashboard, token t1", "undone"]);
}

#[test]
fn notes_strategies_errors_and_sessions_can_be_changed() {
    let fixture = login();
    let project = fixture.project();
    let strategy = fixture.store.strategies(&project, &StrategyFilter::default()).unwrap();
    let strategy = strategy[0].id.clone();
    let error = fixture.store.errors(&project, &ErrorFilter::default()).unwrap()[0].hash.clone();
    for (what, id) in [("strategy", &*strategy), ("error", &*error)] {
        for verb in ["retire", "restore", "retire"] {
            let fields = [("what", what), ("id", id), ("do", verb), ("back", "/strategies")];
            assert!(location(&fixture.post("/changes", &fields)).starts_with("/strategies?done="));
        }
    }
    let strategies = fixture.store.strategies(&project, &StrategyFilter::default()).unwrap();
    assert_eq!(
        strategies.iter().find(|one| one.id == strategy).unwrap().state,
        RecordState::Retired
    );
    for (verb, status) in [
        ("close", SessionStatus::Completed),
        ("reopen", SessionStatus::Active),
        ("fail", SessionStatus::Failed),
    ] {
        let fields = [("what", "session"), ("id", "s1"), ("do", verb), ("back", "/sessions/s1")];
        location(&fixture.post("/changes", &fields));
        assert_eq!(fixture.store.session(&fixture.session).unwrap().status, status);
    }
    let note = fixture.note(50, NoteKind::Manual, "Prices are cents.");
    let fields = [("what", "note"), ("id", note.as_str()), ("do", "retire"), ("reason", "")];
    assert_eq!(location(&fixture.post("/changes", &fields)).split('?').next(), Some("/changes"));
    let notes = fixture.store.notes(&project, &NoteFilter::default()).unwrap();
    assert_eq!(notes.iter().find(|one| one.id == note).unwrap().state, NoteState::Retired);
}

#[test]
fn what_may_be_replaced_is_decided() {
    let fixture = Fixture::new();
    let project = fixture.project();
    let earlier = fixture.note(10, NoteKind::Manual, "We use PostgreSQL 15 for the orders.");
    let later = fixture.note(20, NoteKind::Manual, "We use PostgreSQL 17 for the orders now.");
    let reason = fixture.redactor.clean(&format!("amended by {later}"));
    fixture
        .store
        .set_note_state(&project, &earlier, NoteState::Amended, Some(&reason), at(21))
        .unwrap();
    let path = format!("/notes/{earlier}");
    let state = || fixture.store.note(&project, &earlier).unwrap().state;
    let writer = fixture.answer(&handover_web::PageRequest::get(&path), true);
    shows(&String::from_utf8(writer.body).unwrap(), &["It is outdated", "It still counts"]);
    hides(&fixture.page(&path), &["It is outdated", "It still counts"]);
    let decide = |what: &str, id: &str, verb: &str| {
        fixture.post("/changes", &[("what", what), ("id", id), ("do", verb), ("back", &path)])
    };
    location(&decide("note", earlier.as_str(), "confirm"));
    assert_eq!(state(), NoteState::Amended);
    shows(&fixture.page(&path), &["Replaced by", "confirmed"]);
    location(&decide("note", earlier.as_str(), "reject"));
    assert_eq!(state(), NoteState::Live);
    shows(&fixture.page(&path), &["Replaced by", "rejected"]);
    let by = "Some(\"dashboard, token t1\")";
    assert_eq!(actions(&fixture), [format!("confirm {by}"), format!("reject {by}")]);
    // Nothing replaces a package that is alone.
    let alone = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")])[0];
    for verb in ["confirm", "reject"] {
        assert_eq!(decide("package", &alone.to_string(), verb).status, 409, "{verb}");
    }
}

#[test]
fn a_solution_is_judged() {
    let fixture = login();
    let errors = || fixture.store.errors(&fixture.project(), &ErrorFilter::default()).unwrap();
    let find = |is_solved: bool| {
        errors().into_iter().find(|one| one.solution.is_some() == is_solved).unwrap()
    };
    let solved = find(true);
    let path = format!("/errors/{}", solved.hash);
    let page = |path: &str| {
        let answer = fixture.answer(&handover_web::PageRequest::get(path), true);
        String::from_utf8(answer.body).unwrap()
    };
    shows(&page(&path), &["It worked", "It did not"]);
    hides(&page(&format!("/errors/{}", find(false).hash)), &["It worked", "It did not"]);
    hides(&fixture.page(&path), &["It worked"]);
    let judge = |verb: &str| {
        let fields = [("what", "error"), ("id", &*solved.hash), ("do", verb), ("back", &*path)];
        location(&fixture.post("/changes", &fields));
        find(true).confidence
    };
    let (worked, failed) = (judge("confirm"), judge("reject"));
    assert!(worked > solved.confidence, "{worked} is not above {}", solved.confidence);
    assert!(failed < worked, "{failed} is not below {worked}");
}

#[test]
fn nothing_changes_without_right_token_or_sense() {
    let fixture = Fixture::new();
    let id = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")])[0];
    let name = id.to_string();
    let retire = [("what", "package"), ("id", &*name), ("do", "retire")];
    assert_eq!(fixture.post_as(false, "/changes", &retire).status, 404, "a reader");
    for token in ["", "wrong"] {
        let fields = [("token", token), retire[0], retire[1], retire[2]];
        let response = fixture.post("/changes", &fields);
        assert_eq!(response.status, 403, "token {token:?}");
        shows(&String::from_utf8(response.body).unwrap(), &["Nothing was changed"]);
    }
    for fields in [
        [("what", "package"), ("id", "x"), ("do", "retire")],
        [("what", "session"), ("id", "s1"), ("do", "retire")],
        [("what", "operation"), ("id", "op_none"), ("do", "undo")],
    ] {
        assert_eq!(fixture.post("/changes", &fields).status, 409, "{fields:?}");
    }
    assert_eq!(fixture.post("/changes", &[("what", "planet"), ("do", "retire")]).status, 400);
    assert_eq!(fixture.post("/changes", &[]).status, 400);
    assert_eq!(fixture.store.package(id).unwrap().state, RecordState::Live);
    assert!(actions(&fixture).is_empty());
    // Pages for readers have no forms that write.
    for path in ["/packages/1", "/sessions/s1", "/changes"] {
        hides(&fixture.page(path), &["method=\"post\""]);
    }
}

#[test]
fn forms_lead_back_to_our_pages_only() {
    let fixture = Fixture::new();
    for (nth, back) in
        ["https://evil.example/", "//evil.example", "/\\evil.example", "x"].into_iter().enumerate()
    {
        let verb = if nth % 2 == 0 { "close" } else { "reopen" };
        let fields = [("what", "session"), ("id", "s1"), ("do", verb), ("back", back)];
        assert!(location(&fixture.post("/changes", &fields)).starts_with("/changes?done="));
    }
}
