//! Pages as files to send, and rows that lead on.

use handover_model::Verdict;

use crate::fixture::{Fixture, hides, shows};
use crate::run_scene::{Ends, STORIES, play};

#[test]
fn a_session_a_receipt_and_a_run_are_files_to_send() {
    let fixture = Fixture::new();
    let run = play(&fixture, "run_1", &STORIES, |_, _, _| Ends::With(Verdict::Blocked));
    let receipt = fixture.receipt(50_000, "developer", &[], "block");
    for page in ["/sessions/s1".to_owned(), format!("/receipts/{receipt}"), format!("/runs/{run}")]
    {
        let html = fixture.page(&page);
        shows(
            &html,
            &[&format!("href=\"{page}/report.html\" download"), &format!("data-copy=\"{page}\"")],
        );
        let file = fixture.get(&format!("{page}/report.html"), &[]);
        assert_eq!(file.status, 200, "{page}");
        let headers: Vec<_> =
            file.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
        assert!(
            headers
                .iter()
                .any(|one| one.starts_with("content-disposition: attachment; filename=\"")),
            "{headers:?}"
        );
        assert!(
            headers
                .iter()
                .any(|one| one.starts_with("content-security-policy: default-src 'none'")),
            "{headers:?}"
        );
        let text = String::from_utf8(file.body).unwrap();
        hides(&text, &["href=", "<form", "<button", "<script", "report.html"]);
    }
    for missing in [
        "/sessions/none/report.html",
        "/receipts/r_none/report.html",
        "/x/report.html",
        "/runs/report.html",
    ] {
        assert_eq!(fixture.get(missing, &[]).status, 404, "{missing}");
    }
    let journal = fixture.page(&format!("/runs/{run}/journal"));
    shows(
        &journal,
        &[&format!("href=\"/runs/{run}/steps?story=1-1-login&amp;phase=dev&amp;attempt=1\"")],
    );
    shows(&fixture.page("/sessions/s1"), &[&format!("href=\"/runs/{run}\"")]);
}
