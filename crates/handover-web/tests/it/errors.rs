//! Error patterns and strategies.

use crate::fixture::{Fixture, hides, shows};

#[test]
fn patterns_are_listed_with_their_confidence() {
    let fixture = Fixture::new();
    fixture.error(1, "cannot read property x of undefined", None);
    fixture.error(2, "connect ECONNREFUSED", Some("docker compose up -d db"));
    let page = fixture.page("/errors");
    shows(
        &page,
        &[
            "2 patterns",
            "unsolved",
            "nothing yet",
            "docker compose up -d db",
            "TypeError",
            "typescript",
        ],
    );
}

#[test]
fn a_pattern_shows_solution_confidence_and_sightings() {
    let fixture = Fixture::new();
    let hash = fixture.error(1, "connect ECONNREFUSED", Some("docker compose up -d db"));
    fixture.error(2, "connect ECONNREFUSED", Some("docker compose up -d db"));
    let page = fixture.page(&format!("/errors/{hash}"));
    shows(
        &page,
        &[
            "Solved by: ",
            "docker compose up -d db",
            "2 times, first",
            "Confidence over time",
            "npm test",
            "href=\"/sessions/s1\"",
            &hash,
        ],
    );
    shows(&fixture.page(&format!("/errors/{}", &hash[..8])), &["Solved by: "]);
}

#[test]
fn an_unsolved_pattern_says_so() {
    let fixture = Fixture::new();
    let hash = fixture.error(1, "boom", None);
    shows(&fixture.page(&format!("/errors/{hash}")), &["Nobody has solved it yet."]);
}

#[test]
fn an_ambiguous_or_unknown_hash_is_not_found() {
    let fixture = Fixture::new();
    fixture.error(1, "boom", None);
    fixture.error(2, "bang", None);
    assert_eq!(fixture.get("/errors/zzz", &[]).status, 404);
}

#[test]
fn strategies_are_listed_with_their_technology() {
    let fixture = Fixture::new();
    fixture.strategy(1, "Adapters per provider keep changes local.", Some("rust"));
    fixture.strategy(2, "Retry with backoff.", None);
    let page = fixture.page("/strategies");
    shows(&page, &["2 strategies", "Adapters per provider", "rust", "everything", "architecture"]);
}

#[test]
fn empty_lists_show_the_commands() {
    let fixture = Fixture::new();
    shows(&fixture.page("/errors"), &["No errors yet.", "handover error resolve"]);
    let page = fixture.page("/strategies");
    shows(&page, &["No strategies yet.", "handover strategy extract"]);
    hides(&page, &["<table"]);
}
