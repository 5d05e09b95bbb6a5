//! The reasoning of a session.

use handover_model::{Confidence, GroupId, Phase, Trust};
use handover_store::{NewReasoning, Reasonings};

use crate::fixture::{Fixture, at, hides, role, shows};

#[test]
fn entries_are_chronological_with_phase_and_references() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", "Rotate tokens.");
    let new = NewReasoning {
        session: fixture.session.clone(),
        group: GroupId::new("login").ok(),
        role: role("qa_expert"),
        agent_id: None,
        iteration: 0,
        phase: Phase::Blockers,
        confidence: Some(Confidence::High),
        content: fixture.redactor.clean("The gateway is down."),
        references: vec![fixture.redactor.clean("src/gateway.rs")],
        now: at(2),
        trust: Trust::Agent,
    };
    fixture.store.add_reasoning(&new).unwrap();
    let page = fixture.page("/sessions/s1/reasoning");
    shows(&page, &["group login", "high confidence", "src/gateway.rs", "blockers", "Oldest first"]);
    let (first, second) =
        (page.find("Rotate tokens.").unwrap(), page.find("The gateway is down.").unwrap());
    assert!(first < second);
}

#[test]
fn entries_can_be_filtered_by_role() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", "Mine.");
    fixture.think(2, "qa_expert", "Theirs.");
    let page = fixture.page_with("/sessions/s1/reasoning", &[("role", "developer")]);
    shows(&page, &["Mine.", "Only by developer", "Show all"]);
    hides(&page, &["Theirs."]);
}

#[test]
fn only_the_latest_entries_are_shown() {
    let fixture = Fixture::new();
    for n in 0..160 {
        fixture.think(n, "developer", &format!("Entry number {n:03}."));
    }
    let page = fixture.page("/sessions/s1/reasoning");
    shows(
        &page,
        &["Oldest first, the latest 150 of 160.", "Entry number 159.", "Entry number 010."],
    );
    hides(&page, &["Entry number 009."]);
}

#[test]
fn long_entries_are_truncated() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", &format!("{} THE END", "word ".repeat(500)));
    hides(&fixture.page("/sessions/s1/reasoning"), &["THE END"]);
}

#[test]
fn a_session_without_reasoning_shows_the_command() {
    let fixture = Fixture::new();
    let page = fixture.page("/sessions/s1/reasoning");
    shows(&page, &["No reasoning yet.", "handover reasoning add"]);
}
