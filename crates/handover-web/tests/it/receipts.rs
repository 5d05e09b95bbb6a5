//! The list of receipts and the page of one.

use handover_store::ReceiptStep;

use crate::fixture::{Fixture, hides, shows};

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
            "1 more had been removed when the texts were stored",
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
fn a_session_without_receipts_shows_the_command() {
    let fixture = Fixture::new();
    let page = fixture.page("/sessions/s1/receipts");
    shows(&page, &["No receipts yet.", "handover assemble --role developer"]);
}
