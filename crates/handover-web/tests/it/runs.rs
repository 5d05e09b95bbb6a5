//! Runs, their journals, and the exported report.

use handover_model::JournalKind;
use handover_web::{ReportError, report};
use serde_json::json;

use crate::fixture::{Fixture, hides, shows};

#[test]
fn a_run_that_was_never_planned_can_be_shown() {
    let fixture = Fixture::new();
    let run = fixture.crashed_run("run_1", "1");
    let page = fixture.page(&format!("/runs/{run}"));
    shows(&page, &["Epic 1", "interrupted", "It crashed before it was planned.", "handover run 1"]);
    shows(&fixture.page("/runs"), &["href=\"/runs/run_1\"", "Epic 1", "interrupted", "0 of 0"]);
}

#[test]
fn a_rejected_answer_leaves_the_browser_at_the_run() {
    let fixture = Fixture::new();
    let run = fixture.crashed_run("run_1", "1");
    shows(&fixture.page(&format!("/runs/{run}/answers")), &["Epic 1"]);
}

#[test]
fn a_project_without_runs_shows_the_commands() {
    let fixture = Fixture::new();
    shows(&fixture.page("/runs"), &["No run yet.", "handover run 1 --dry-run"]);
}

#[test]
fn the_report_of_a_run_is_self_contained() {
    let fixture = Fixture::new();
    let run = fixture.crashed_run("run_1", "1");
    let html = fixture.with_site(false, |site| report(site, &run)).unwrap();
    shows(&html, &["<!DOCTYPE html>", "Epic 1", "run_1", "<style>"]);
    hides(&html, &["<script", "<link", "src=", "href="]);
}

#[test]
fn a_report_of_an_unknown_run_is_an_error() {
    let fixture = Fixture::new();
    let unknown = "run_none".parse().unwrap();
    let error = fixture.with_site(false, |site| report(site, &unknown)).unwrap_err();
    assert!(matches!(error, ReportError::NotFound { .. }), "{error}");
    assert_eq!(error.to_string(), "there is no run `run_none`");
}

#[test]
fn an_unreadable_journal_is_an_error_page() {
    let fixture = Fixture::new();
    let run = fixture.crashed_run("run_1", "1");
    let nonsense = json!({"event": "started", "plan": "nonsense"});
    fixture.journal(&run, &[(JournalKind::Result, nonsense)]);
    let response = fixture.get(&format!("/runs/{run}"), &[]);
    assert_eq!(response.status, 500);
    let page = String::from_utf8(response.body).unwrap();
    shows(&page, &["This run cannot be read", "handover run journal"]);
    shows(&fixture.page("/runs"), &["unreadable"]);
}
