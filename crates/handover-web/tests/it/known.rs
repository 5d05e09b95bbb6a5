//! What the project knows: filters that reach everything, and pages of strategies and errors.

use handover_model::Trust;
use handover_store::Strategies as _;

use crate::fixture::{Fixture, hides, shows};

#[test]
fn a_filter_chooses_from_more_than_the_best_matches() {
    let fixture = Fixture::new();
    let mut all: Vec<_> = (1..=150)
        .map(|nth| fixture.package(nth, "developer", "tokens tokens", "tokens tokens tokens"))
        .collect();
    let mut said = fixture.package(200, "developer", "What a person wrote", "One word of tokens.");
    said.trust = Trust::Person;
    all.push(said);
    fixture.register(&all);
    let page = fixture.page_with("/knowledge", &[("q", "tokens"), ("trust", "person")]);
    shows(&page, &["What a person wrote", "1 record"]);
    hides(&page, &[">tokens tokens<"]);
}

#[test]
fn stale_is_a_state_of_every_kind() {
    let fixture = Fixture::new();
    fixture.register(&[
        fixture.package(1, "developer", "Prices are in src/price.rs", "x"),
        fixture.package(2, "developer", "Nothing is named here", "x"),
    ]);
    fixture.strategy(10, "Round in src/price.rs, once.", None);
    fixture.error(20, "rounding differs", Some("round once, in src/price.rs"));
    let page = fixture.page_with("/knowledge", &[("state", "stale")]);
    let is_there =
        ["Prices are in src/price.rs", "Round in src/price.rs, once.", "rounding differs"];
    shows(&page, &is_there);
    shows(&page, &["3 records", "src/in_cents.rs"]);
    hides(&page, &["Nothing is named here"]);
    let live = fixture.page_with("/knowledge", &[("state", "live")]);
    hides(&live, &is_there);
    shows(&live, &["Nothing is named here"]);
}

#[test]
fn strategies_and_errors_have_pages_that_say_who_got_them() {
    let fixture = Fixture::new();
    fixture.strategy(10, "One refresh at a time, behind a <b>lock</b>.", Some("rust"));
    let hash = fixture.error(20, "rounding differs", Some("round once"));
    let strategies = fixture.store.strategies(&fixture.project(), &Default::default()).unwrap();
    let path = format!("/strategies/{}", strategies[0].id);
    shows(&fixture.page("/strategies"), &[&format!("href=\"{path}\"")]);
    shows(&fixture.page("/knowledge"), &[&format!("href=\"{path}\"")]);
    let got = ["Who got it", "It has reached nobody yet."];
    let page = fixture.page(&path);
    shows(&page, &["behind a &lt;b&gt;lock&lt;/b&gt;.", "rust", "Helped"]);
    shows(&page, &got);
    shows(&fixture.page(&format!("/errors/{hash}")), &got);
    assert_eq!(fixture.get("/strategies/none", &[]).status, 404);
    let fields = [
        ("what", "strategy"),
        ("id", strategies[0].id.as_str()),
        ("do", "retire"),
        ("back", &path),
        ("reason", "wrong"),
    ];
    assert_eq!(fixture.post("/changes", &fields).status, 303);
    shows(&fixture.page(&path), &["retired", "wrong", "Changed by hand"]);
    shows(&fixture.page("/changes"), &[&format!("href=\"{path}\"")]);
}

#[test]
fn pages_about_what_is_known_lead_to_each_other() {
    let fixture = Fixture::new();
    let all = ["/knowledge", "/notes", "/strategies", "/errors", "/use", "/changes"];
    for page in all {
        let html = fixture.page(page);
        shows(&html, &[&format!("href=\"{page}\" aria-current=\"page\"")]);
        for other in all.iter().filter(|other| **other != page) {
            shows(&html, &[&format!("<a href=\"{other}\">")]);
        }
    }
}
