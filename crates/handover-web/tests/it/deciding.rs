//! What a person decides about a run that waits, through its forms.

use handover_model::{EpicId, LockOwner, RunId, Verdict};
use handover_store::{LockClaim, Runs};

use crate::fixture::{Fixture, at, hides, shows};
use crate::run_scene::{Ends, STORIES, play};

/// A run whose stories all ask something.
fn asking() -> (Fixture, RunId) {
    let fixture = Fixture::new();
    let run = play(&fixture, "run_1", &STORIES, |_, _, _| Ends::With(Verdict::Escalate));
    (fixture, run)
}

fn act(run: &RunId) -> String {
    format!("/runs/{run}/act")
}

fn entries(fixture: &Fixture, run: &RunId) -> usize {
    fixture.store.journal(run, 1).unwrap().len()
}

fn last_entries(fixture: &Fixture, run: &RunId, count: usize) -> String {
    let journal = fixture.store.journal(run, 1).unwrap();
    let last = journal.iter().rev().take(count).rev().map(|entry| entry.entry.to_string());
    last.collect::<Vec<_>>().join("\n")
}

#[test]
fn a_skipped_story_is_in_the_journal_with_who_did_it() {
    let (fixture, run) = asking();
    let before = entries(&fixture, &run);
    let reason = "not <b>now</b>, password=hunter2sEcretOfAll";
    let skip = [("do", "skip"), ("story", "1-1-login"), ("reason", reason)];
    let done = fixture.post(&act(&run), &skip);
    assert_eq!(done.status, 303, "{}", String::from_utf8_lossy(&done.body));
    assert_eq!(done.headers[0].1, format!("/runs/{run}/stories?story=1-1-login"));
    assert_eq!(entries(&fixture, &run), before + 1);
    let entry = last_entries(&fixture, &run, 1);
    shows(&entry, &["1-1-login", "skipped by dashboard, token t1: not <b>now</b>"]);
    hides(&entry, &["hunter2"]);
    let page = fixture.page_with(&format!("/runs/{run}/stories"), &[("story", "1-1-login")]);
    shows(&page, &["skipped by dashboard, token t1", "&lt;b&gt;now&lt;/b&gt;", "Retry it"]);
    hides(&page, &["hunter2", "<b>now"]);

    // It is settled, and the other one is not.
    let again = fixture.post(&act(&run), &skip);
    assert_eq!(again.status, 409);
    shows(&String::from_utf8(again.body).unwrap(), &["Nothing was changed"]);
    let other = fixture.page_with(&format!("/runs/{run}/stories"), &[("story", "1-2-logout")]);
    hides(&other, &["skipped by"]);
    assert_eq!(entries(&fixture, &run), before + 1);
}

#[test]
fn giving_up_ends_every_open_story() {
    let (fixture, run) = asking();
    let before = entries(&fixture, &run);
    let done = fixture.post(&act(&run), &[("do", "abandon"), ("reason", "")]);
    assert_eq!((done.status, done.headers[0].1.clone()), (303, format!("/runs/{run}")));
    assert_eq!(entries(&fixture, &run), before + 2);
    let journal = last_entries(&fixture, &run, 2);
    let words = "the run was abandoned by dashboard, token t1\"";
    shows(&journal, &["1-1-login", "1-2-logout", words]);
    assert_eq!(fixture.post(&act(&run), &[("do", "abandon")]).status, 409, "nothing is open");
}

#[test]
fn nothing_is_decided_without_right_sense_or_while_the_run_works() {
    let (fixture, run) = asking();
    let before = entries(&fixture, &run);
    let skip = [("do", "skip"), ("story", "1-1-login")];
    assert_eq!(fixture.post_as(false, &act(&run), &skip).status, 404, "a reader");
    let forged = [("token", "wrong"), skip[0], skip[1]];
    assert_eq!(fixture.post(&act(&run), &forged).status, 403);
    for (fields, status) in [
        ([("do", "skip"), ("story", "no-such-story")], 409),
        ([("do", "explode"), ("story", "1-1-login")], 400),
        ([("do", ""), ("story", "")], 400),
    ] {
        assert_eq!(fixture.post(&act(&run), &fields).status, status, "{fields:?}");
    }
    assert_eq!(fixture.post("/runs/none/act", &skip).status, 404);

    let owner = LockOwner { host: "elsewhere".to_owned(), pid: 1, started: None, boot: None };
    let epic = EpicId::new("1").unwrap();
    let claim = LockClaim { epic, owner, until: at(200_000), over: None, now: at(99_999) };
    let fence = fixture.store.lock_epic(&claim).unwrap();
    let busy = fixture.post(&act(&run), &skip);
    assert_eq!(busy.status, 409);
    shows(&String::from_utf8(busy.body).unwrap(), &["The run is at work"]);
    assert_eq!(entries(&fixture, &run), before);
    fixture.store.unlock_epic(&claim.epic, fence).unwrap();
    assert_eq!(fixture.post(&act(&run), &skip).status, 303);

    // Readers see no forms, and a run that is over has none.
    hides(&fixture.page(&format!("/runs/{run}")), &["method=\"post\""]);
    let over = Fixture::new();
    let run = play(&over, "run_1", &STORIES, |_, _, _| Ends::With(Verdict::Failed));
    assert_eq!(over.post(&act(&run), &[("do", "abandon")]).status, 409);
}
