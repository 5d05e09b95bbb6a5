//! The list of packages and the page of one.

use handover_model::{PackageKind, Priority};
use handover_store::Supersede;

use crate::fixture::{Fixture, hides, role, shows};

#[test]
fn a_package_shows_its_text_versions_and_readers() {
    let fixture = Fixture::new();
    let mut first = fixture.package(1, "developer", "Token lifetime", "# Tokens\n\nTen minutes.");
    first.consumers = vec![role("qa_expert")];
    first.priority = Priority::Critical;
    let ids = fixture.register(&[first]);
    let mut second = fixture.package(2, "developer", "Token lifetime", "# Tokens\n\nFive minutes.");
    second.supersede = Supersede::Package(ids[0]);
    let newer = fixture.register(&[second]);
    fixture.receipt(3, "tech_lead", &newer, "block");

    let page = fixture.page(&format!("/packages/{}", newer[0]));
    shows(&page, &["Five minutes.", "tech lead", "v2", "v1", "2 versions", "confirmed"]);
    hides(&page, &["Superseded by a later version"]);
    let older = fixture.page(&format!("/packages/{}", ids[0]));
    shows(
        &older,
        &["Ten minutes.", "Superseded by a later version", "qa expert", "critical priority"],
    );
}

#[test]
fn an_undelivered_package_says_so() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "Finding", "text")]);
    let page = fixture.page(&format!("/packages/{}", ids[0]));
    shows(&page, &["It has reached nobody yet.", "handover assemble --role developer"]);
    // Its file never existed on this machine.
    shows(&page, &["docs/1.md", "gone"]);
}

#[test]
fn a_long_text_is_truncated() {
    let fixture = Fixture::new();
    let body = format!("# Long\n\n{}\n\nTHE END", "words and words ".repeat(10_000));
    fixture.register(&[fixture.package(1, "developer", "Long", &body)]);
    let page = fixture.page("/packages/1");
    shows(&page, &["Truncated; the rest is in the file."]);
    hides(&page, &["THE END"]);
}

#[test]
fn secrets_are_redacted_on_the_page() {
    let fixture = Fixture::new();
    let body = "# Key\n\npassword=hunter2sEcret";
    fixture.register(&[fixture.package(1, "developer", "Key", body)]);
    hides(&fixture.page("/packages/1"), &["hunter2sEcret"]);
}

#[test]
fn the_list_is_filtered_by_role_and_reach() {
    let fixture = Fixture::new();
    let mut research = fixture.package(1, "developer", "Delivered finding", "text");
    research.kind = PackageKind::Research;
    let ids = fixture.register(&[research]);
    fixture.register(&[fixture.package(2, "qa_expert", "Lost finding", "text")]);
    fixture.receipt(3, "tech_lead", &ids, "block");

    let all = fixture.page("/sessions/s1/packages");
    shows(&all, &["Delivered finding", "Lost finding", "2 packages", "everyone"]);
    let lost = fixture.page_with("/sessions/s1/packages", &[("reach", "nobody")]);
    shows(&lost, &["Lost finding", "Newest first, that reached nobody", "Show all"]);
    hides(&lost, &["Delivered finding"]);
    let by_role = fixture.page_with("/sessions/s1/packages", &[("role", "developer")]);
    shows(&by_role, &["Delivered finding", ", by <bdi>developer</bdi>"]);
    hides(&by_role, &["Lost finding"]);
    let nobody = fixture.page_with("/sessions/s1/packages", &[("role", "investigator")]);
    shows(&nobody, &["None matches."]);
}

#[test]
fn the_list_has_pages() {
    let fixture = Fixture::new();
    let new: Vec<_> = (0..250)
        .map(|n| fixture.package(n, "developer", &format!("Finding {n:03}"), "text"))
        .collect();
    fixture.register(&new);
    let first = fixture.page("/sessions/s1/packages");
    shows(&first, &["Finding 249", "Finding 150", "Older", "from=100"]);
    hides(&first, &["Finding 149", "Newer"]);
    let second = fixture.page_with("/sessions/s1/packages", &[("from", "100")]);
    shows(&second, &["Finding 149", "Finding 050", "Older", "Newer"]);
    let last =
        fixture.page_with("/sessions/s1/packages", &[("from", "200"), ("role", "developer")]);
    shows(&last, &["Finding 000", "Newer", "?role=developer&amp;from=100"]);
    hides(&last, &["Older"]);
    let beyond = fixture.page_with("/sessions/s1/packages", &[("from", "9999")]);
    shows(&beyond, &["Newer"]);
    hides(&beyond, &["Finding", "Older"]);
    let nonsense = fixture.page_with("/sessions/s1/packages", &[("from", "x")]);
    shows(&nonsense, &["Finding 249"]);
}

#[test]
fn an_empty_list_shows_the_command() {
    let fixture = Fixture::new();
    let page = fixture.page("/sessions/s1/packages");
    shows(&page, &["No packages yet.", "handover package add docs/notes.md"]);
}
