//! The list of receipts and the page of one.

use handover_model::{ItemKind, ReceiptItem};
use handover_store::{Packages, ReceiptStep};

use crate::fixture::{Fixture, hides, item, shows};
use crate::readable::readable;

#[test]
fn a_receipt_shows_its_candidates_and_text() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")]);
    let receipt = fixture.receipt(2, "tech_lead", &ids, "The block. password=hunter2sEcret");
    let page = fixture.page(&format!("/receipts/{receipt}"));
    shows(
        &page,
        &[
            "What the tech lead was given",
            "confirmed",
            "1 package, 300 tokens",
            "Token lifetime",
            " by developer",
            "task 0.70 + priority 0.30",
            "The block.",
            "This is the first brief of this role.",
            "1 secret was removed when its text was stored; the brief shows a placeholder.",
            "handover receipt verify",
        ],
    );
    hides(&page, &["hunter2sEcret"]);
}

#[test]
fn a_receipt_is_compared_with_the_previous_one_of_its_role() {
    let fixture = Fixture::new();
    let first = fixture.register(&[fixture.package(1, "developer", "Old finding", "text")]);
    let second = fixture.register(&[fixture.package(2, "developer", "New finding", "text")]);
    fixture.receipt(3, "tech_lead", &first, "line one\nline two\n");
    fixture.receipt(4, "qa_expert", &first, "unrelated\n");
    let receipt = fixture.receipt(5, "tech_lead", &second, "line one\nline three\n");
    let page = fixture.page(&format!("/receipts/{receipt}"));
    shows(
        &page,
        &[
            "/receipts/r_00000003",
            "Previous brief",
            "<ins>+ line three",
            "<del>- line two",
            "<span>  line one",
        ],
    );
    let change = page.split("id=\"change\"").nth(1).unwrap();
    shows(change, &["New finding", "Old finding"]);
    hides(&page, &["unrelated"]);
}

#[test]
fn how_much_of_a_reasoning_was_passed_on_is_no_score() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")]);
    fixture.think(2, "developer", "Rotate them");
    let reasoning = ReceiptItem {
        score: 0.0,
        terms: [(ReceiptItem::CHARACTERS.to_owned(), 900.0)].into(),
        ..item(ItemKind::Reasoning, "1")
    };
    let package = item(ItemKind::Package, &ids[0].to_string());
    let receipt = fixture.given(3, "tech_lead", vec![package, reasoning]);
    let page = fixture.page(&format!("/receipts/{receipt}"));
    hides(&page, &["characters", "900.00"]);
    // The best score fills its bar, and a piece of reasoning has none.
    shows(&page, &["x=\"0.0%\" width=\"70.0%\"", "x=\"70.0%\" width=\"30.0%\""]);
    let text = readable(&page);
    let row = text.lines().find(|line| line.starts_with("| reasoning")).unwrap();
    assert!(row.contains("| fresh | – | |"), "{row}");
    let other = fixture.given(4, "developer", Vec::new());
    let path = format!("/receipts/{receipt}/compare");
    let compared = fixture.page_with(&path, &[("with", other.as_str())]);
    shows(&compared, &["score 100", "whole"]);
    hides(&compared, &["score 0", "score –", "characters"]);
}

#[test]
fn a_new_version_of_a_package_is_a_change_of_it() {
    let fixture = Fixture::new();
    let mut package = fixture.package(1, "developer", "Token lifetime", "text");
    let first = fixture.register(&[package.clone()])[0];
    package.content_hash = "corrected".to_owned();
    let second = fixture.register(&[package])[0];
    assert_eq!(fixture.store.package(second).unwrap().version, 2);
    let given = |seconds, id: handover_model::PackageId, version| {
        let package = ReceiptItem { version, ..item(ItemKind::Package, &id.to_string()) };
        fixture.given(seconds, "tech_lead", vec![package])
    };
    let (old, new) = (given(2, first, 1), given(3, second, 2));
    let page = fixture.page(&format!("/receipts/{new}"));
    let change = page.split("id=\"change\"").nth(1).unwrap();
    shows(change, &[", v1 → v2"]);
    hides(change, &["class=\"plus\"", "class=\"minus\"", "The same items."]);
    let path = format!("/receipts/{new}/compare");
    let compared = readable(&fixture.page_with(&path, &[("with", old.as_str())]));
    let rows: Vec<&str> = compared.lines().filter(|line| line.contains("Token lifetime")).collect();
    assert_eq!(rows.len(), 1, "{compared}");
    assert!(rows[0].ends_with("| in whole, v2, score 100 | in whole, v1, score 100"), "{rows:?}");
}

#[test]
fn identical_briefs_have_no_difference() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "Finding", "text")]);
    fixture.receipt(2, "tech_lead", &ids, "same");
    let receipt = fixture.receipt(3, "tech_lead", &ids, "same");
    let page = fixture.page(&format!("/receipts/{receipt}"));
    shows(&page, &["The same items.", "There was none to remove."]);
    hides(&page, &["Line by line"]);
}

#[test]
fn a_failed_receipt_shows_the_reason() {
    let fixture = Fixture::new();
    let receipt = fixture.assemble(1, "developer", &[], "block");
    let reason = fixture.redactor.clean("the agent <crashed>");
    fixture.advance(&receipt, 2, &ReceiptStep::Failed { reason });
    let page = fixture.page(&format!("/receipts/{receipt}"));
    shows(&page, &["Failed", "the agent &lt;crashed&gt;", "nothing from others", "not yet"]);
    shows(&fixture.page("/sessions/s1/receipts"), &["the agent &lt;crashed&gt;", "failed"]);
    shows(&fixture.page("/"), &["brief failed"]);
}

#[test]
fn a_delivered_receipt_names_its_host() {
    let fixture = Fixture::new();
    let receipt = fixture.assemble(1, "developer", &[], "block");
    let host = Some(fixture.redactor.clean("claude"));
    fixture.advance(&receipt, 2, &ReceiptStep::Delivered { host });
    shows(&fixture.page(&format!("/receipts/{receipt}")), &["handed to claude", "not yet"]);
}

#[test]
fn the_list_is_filtered_by_role() {
    let fixture = Fixture::new();
    fixture.receipt(1, "developer", &[], "block");
    fixture.receipt(2, "qa_expert", &[], "block");
    let page = fixture.page_with("/sessions/s1/receipts", &[("role", "qa_expert")]);
    shows(&page, &["/receipts/r_00000002", "Only for qa expert", "Show all"]);
    hides(&page, &["/receipts/r_00000001"]);
}

#[test]
fn many_receipts_are_pages() {
    let fixture = Fixture::new();
    for seconds in 0..205 {
        let who = if seconds % 100 == 0 { "qa_expert" } else { "developer" };
        fixture.receipt(seconds, who, &[], "block");
    }
    let list = |query: &[(&str, &str)]| fixture.page_with("/sessions/s1/receipts", query);
    let first = list(&[]);
    shows(&first, &["/receipts/r_00000204", "/receipts/r_00000005", "the latest 200", "Older"]);
    hides(&first, &["/receipts/r_00000004", "Newer"]);
    let second = list(&[("from", "200"), ("sort", "for")]);
    shows(&second, &["/receipts/r_00000004", "201 to 205", "?sort=for&amp;from=0", "Newer"]);
    hides(&second, &["/receipts/r_00000005", "Older"]);
    hides(&list(&[("role", "qa_expert")]), &["Older", "Newer", "the latest"]);
    // The previous brief of a role may be far back.
    shows(&fixture.page("/receipts/r_00000200"), &["/receipts/r_00000100", "Previous brief"]);
}

#[test]
fn a_session_without_receipts_shows_the_command() {
    let fixture = Fixture::new();
    let page = fixture.page("/sessions/s1/receipts");
    shows(&page, &["No receipts yet.", "handover assemble --role developer"]);
}
