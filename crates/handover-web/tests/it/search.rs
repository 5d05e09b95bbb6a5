//! Search over all records.

use handover_model::NoteKind;
use handover_store::{ErrorFilter, ErrorPatterns, Strategies, StrategyFilter};

use crate::fixture::{Fixture, hides, shows};
use crate::scene::login;

fn results(fixture: &Fixture, query: &str) -> String {
    fixture.page_with("/search", &[("q", query)])
}

#[test]
fn notes_errors_and_strategies_are_found_by_a_part_of_their_id() {
    let fixture = login();
    let note = fixture.note(60, NoteKind::Manual, "Prices are cents.");
    let errors = fixture.store.errors(&fixture.project(), &ErrorFilter::default()).unwrap();
    let strategies =
        fixture.store.strategies(&fixture.project(), &StrategyFilter::default()).unwrap();
    for (id, link) in [
        (note.as_str(), format!("/notes/{note}")),
        (errors[0].hash.as_str(), format!("/errors/{}", errors[0].hash)),
        (strategies[0].id.as_str(), format!("/strategies/{}", strategies[0].id)),
    ] {
        for part in [&id[..8], &id[id.len() - 8..]] {
            let page = fixture.page_with("/search", &[("q", part)]);
            let by_name = page.split("id=\"ids\"").nth(1).unwrap_or_default();
            assert!(by_name.contains(&format!("href=\"{link}\"")), "{part}: {page}");
        }
    }
    for other in ["tokens", "zzzz99", "a1"] {
        let page = fixture.page_with("/search", &[("q", other)]);
        let by_name = page.split("id=\"ids\"").nth(1).unwrap_or_default();
        hides(by_name, &["href=\"/notes/", "By name</h2>"]);
    }
}

#[test]
fn every_kind_of_record_is_found() {
    let fixture = Fixture::new();
    let body = "# Gateway\n\nThe gateway times out.";
    let ids = fixture.register(&[fixture.package(1, "developer", "Gateway timeouts", body)]);
    fixture.think(2, "developer", "Replace the gateway client.");
    let hash = fixture.error(3, "gateway timeout", Some("raise the limit"));
    fixture.strategy(4, "Gateway calls need a deadline.", None);
    fixture.receipt(5, "tech_lead", &ids, "block");
    let note = fixture.note(6, NoteKind::Commit, "The gateway is behind a queue.");
    let page = results(&fixture, "gateway");
    shows(
        &page,
        &[
            "found for “<bdi>gateway</bdi>”",
            "href=\"/packages/1\"",
            "Replace the gateway client.",
            &format!("href=\"/errors/{hash}\""),
            "Gateway calls need a deadline.",
            &format!("href=\"/notes/{note}\""),
            "The gateway is behind a queue.",
        ],
    );
}

#[test]
fn ids_are_found() {
    let fixture = Fixture::new();
    fixture.receipt(5, "tech_lead", &[], "block");
    fixture.crashed_run("run_42", "7");
    shows(&results(&fixture, "r_00000005"), &["href=\"/receipts/r_00000005\""]);
    shows(&results(&fixture, "run_42"), &["href=\"/runs/run_42\""]);
    shows(&results(&fixture, "epic 7"), &["href=\"/runs/run_42\""]);
    shows(&results(&fixture, "s1"), &["href=\"/sessions/s1\""]);
}

#[test]
fn words_are_found_in_any_form_and_forgiven() {
    let fixture = Fixture::new();
    fixture.think(1, "developer", "Replace the clients of the gateway.");
    shows(&results(&fixture, "GATEWAY client"), &["Replace the clients"]);
    let page = results(&fixture, "gatweay");
    shows(&page, &["Replace the clients", "Nothing has “<bdi>gatweay</bdi>”", "gateway"]);
    shows(&results(&fixture, "lighthouse"), &["Nothing found."]);
}

#[test]
fn an_empty_query_explains_the_search() {
    let fixture = Fixture::new();
    for query in ["", "   "] {
        shows(&results(&fixture, query), &["No query yet."]);
    }
}

#[test]
fn a_long_query_is_truncated() {
    let fixture = Fixture::new();
    let page = results(&fixture, &"x".repeat(5_000));
    let main = page.split("<main").nth(1).unwrap().split("</main>").next().unwrap();
    hides(main, &[&"x".repeat(201)]);
}
