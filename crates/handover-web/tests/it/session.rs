//! The page of a session: graph, timeline, undelivered packages; and the overview.

use handover_model::GroupId;
use handover_store::{GroupUpdate, Groups, ReceiptStep};
use serde_json::json;

use crate::fixture::{Fixture, at, hides, shows};

#[test]
fn marks_show_how_far_packages_got() {
    let fixture = Fixture::new();
    let read = fixture.register(&[fixture.package(1, "developer", "Was read", "text")]);
    let delivered = fixture.register(&[fixture.package(2, "developer", "Was delivered", "text")]);
    fixture.register(&[fixture.package(3, "qa_expert", "Was lost", "text")]);
    fixture.receipt(10, "tech_lead", &read, "block");
    let receipt = fixture.assemble(20, "tech_lead", &delivered, "block");
    fixture.advance(&receipt, 21, &ReceiptStep::Delivered { host: None });
    let page = fixture.page("/sessions/s1");
    shows(
        &page,
        &[
            "developer wrote Was read (read)",
            "developer wrote Was delivered (delivered)",
            "qa expert wrote Was lost (reached nobody)",
            "2 of 3",
            "class=\"sent read\"",
            "class=\"sent delivered\"",
            "class=\"sent nobody\"",
            "class=\"brief confirmed\"",
            "class=\"brief delivered\"",
        ],
    );
    let picture = page.split("class=\"waterfall\"").next().unwrap();
    assert_eq!(picture.matches("class=\"lane\"").count(), 3, "one lane per role");
}

#[test]
fn many_packages_of_one_moment_are_stacked() {
    let fixture = Fixture::new();
    let new: Vec<_> = (0..8)
        .map(|n| {
            let mut package = fixture.package(n, "developer", &format!("Finding {n}"), "text");
            package.created_at = at(1);
            package
        })
        .collect();
    let ids = fixture.register(&new);
    fixture.receipt(10, "tech_lead", &ids[..3], "block");
    let page = fixture.page("/sessions/s1");
    shows(&page, &["developer wrote 8 packages: 1 read, 2 confirmed, 5 reached nobody"]);
}

#[test]
fn reasoning_and_several_briefs_share_a_mark() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", "First thought");
    fixture.think(1, "developer", "Second thought");
    let failed = fixture.assemble(50, "qa_expert", &[], "block");
    let reason = fixture.redactor.clean("crashed");
    fixture.advance(&failed, 50, &ReceiptStep::Failed { reason });
    let page = fixture.page("/sessions/s1");
    shows(&page, &["developer: 2 pieces of reasoning", "class=\"brief failed\""]);
    shows(&page, &["brief failed: 0 packages"]);
}

#[test]
fn the_timeline_shows_what_happened() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "OAuth tokens", "text")]);
    fixture.think(2, "developer", "Rotate them");
    fixture.receipt(3, "tech_lead", &ids, "block");
    fixture.event(
        5,
        "verdict",
        json!({"role": "tech_lead", "verdict": "passed_with_fixes", "summary": "Looks good"}),
    );
    let page = fixture.page("/sessions/s1");
    let timeline = page.split("class=\"tale\"").nth(1).unwrap();
    shows(
        timeline,
        &[
            "wrote <a href=\"/packages/1\">",
            " for everyone",
            "Rotate them",
            "brief delivered: 1 package",
            "opened <a href=\"/packages/1\">",
            "passed with fixes",
            "Looks good",
        ],
    );
}

#[test]
fn agents_without_a_verdict_are_bars_too() {
    let fixture = Fixture::new();
    fixture.receipt(1, "tech_lead", &[], "block");
    let working = fixture.assemble(99_900, "developer", &[], "block");
    fixture.advance(&working, 99_900, &ReceiptStep::Delivered { host: None });
    fixture.assemble(99_910, "qa_expert", &[], "block");
    let page = fixture.page("/sessions/s1");
    let falls = page.split("class=\"waterfall\"").nth(1).unwrap().split("</svg>").next().unwrap();
    shows(
        falls,
        &["developer: at work, 1 m 40 s", "tech lead: no verdict", "/receipts/r_00099900"],
    );
    assert_eq!(falls.matches("data-grows").count(), 1, "{falls}");
    hides(falls, &["r_00099910"]);
    // Nobody is at work in a session that is closed.
    let close = [("what", "session"), ("id", "s1"), ("do", "close")];
    assert_eq!(fixture.post("/changes", &close).status, 303);
    hides(&fixture.page("/sessions/s1"), &["at work", "data-grows"]);
}

#[test]
fn the_guard_is_news_only_if_it_refuses() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", "Something");
    let role = "developer";
    fixture.event(2, "guard", json!({"role": role, "allowed": true, "reasons": []}));
    let reasons = ["the prompt has no brief"];
    fixture.event(3, "guard", json!({"role": role, "allowed": false, "reasons": reasons}));
    let page = fixture.page("/sessions/s1");
    let timeline = page.split("class=\"tale\"").nth(1).unwrap();
    assert_eq!(timeline.matches("guard").count(), 1, "{timeline}");
    shows(timeline, &["refused by the guard", "the prompt has no brief"]);
}

#[test]
fn the_timeline_is_bounded() {
    let fixture = Fixture::new();
    for n in 0..100 {
        fixture.think(n, "developer", &format!("Thought {n:03}"));
    }
    let page = fixture.page("/sessions/s1");
    let timeline = page.split("class=\"tale\"").nth(1).unwrap();
    shows(timeline, &["Thought 099", "Thought 060"]);
    hides(timeline, &["Thought 059"]);
}

#[test]
fn groups_are_listed() {
    let fixture = Fixture::new();
    let id = GroupId::new("login").unwrap();
    let update = GroupUpdate {
        title: Some(fixture.redactor.clean("Log in with OAuth")),
        ..GroupUpdate::new(fixture.session.clone(), id, at(1))
    };
    fixture.store.set_group(&update).unwrap();
    shows(&fixture.page("/sessions/s1"), &["Groups", "login", "Log in with OAuth", "pending"]);
}

#[test]
fn an_empty_session_shows_the_first_commands() {
    let fixture = Fixture::new();
    let page = fixture.page("/sessions/s1");
    shows(
        &page,
        &["Nothing has happened here yet.", "handover package add docs/notes.md --session s1"],
    );
    hides(&page, &["<svg class=\"picture\""]);
}

#[test]
fn sessions_are_listed_with_their_counts() {
    let fixture = Fixture::new();
    fixture.register(&[fixture.package(1, "developer", "Finding", "text")]);
    fixture.think(2, "developer", "Thought");
    let page = fixture.page("/sessions");
    shows(&page, &["href=\"/sessions/s1\"", "active"]);
}

#[test]
fn the_overview_lists_what_needs_a_person() {
    let fixture = Fixture::new();
    fixture.event(1, "degraded", json!({"reason": "the store was locked"}));
    fixture.crashed_run("run_1", "7");
    let failed = fixture.assemble(99_000, "developer", &[], "block");
    let reason = fixture.redactor.clean("crashed");
    fixture.advance(&failed, 99_001, &ReceiptStep::Failed { reason });
    let page = fixture.page("/");
    shows(
        &page,
        &[
            "Needs a person",
            "brief failed",
            "developer in s1",
            "degraded",
            "the store was locked",
            "Epic 7",
            "interrupted",
        ],
    );
}

#[test]
fn a_calm_overview_says_so() {
    let fixture = Fixture::new();
    let page = fixture.page("/");
    shows(&page, &["no run is waiting", "no briefs yet"]);
}
