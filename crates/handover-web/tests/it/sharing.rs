//! Pages as files to send, and rows that lead on.

use handover_model::{RunPhase, Verdict};

use crate::fixture::{FORM_TOKEN, Fixture, hides, shows};
use crate::run_scene::{Ends, STORIES, play, play_saying};
use crate::scene::login;

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

#[test]
fn a_file_is_the_same_whoever_saves_it() {
    let fixture = login();
    let run = play(&fixture, "run_1", &STORIES, |_, _, _| Ends::With(Verdict::Blocked));
    for page in ["/sessions/s1", "/receipts/r_rich", &format!("/runs/{run}")] {
        let request = handover_web::PageRequest::get(&format!("{page}/report.html"));
        let writer = fixture.answer(&request, true);
        assert_eq!(writer.status, 200, "{page}");
        let text = String::from_utf8(writer.body).unwrap();
        assert_eq!(text, String::from_utf8(fixture.answer(&request, false).body).unwrap());
        hides(&text, &["<label", "<details class=\"act\"", "<summary>Retire", FORM_TOKEN]);
    }
}

#[test]
fn a_file_has_neither_nonce_nor_the_path_of_a_result() {
    let fixture = Fixture::new();
    let task = "Do it.\n\nWrite one JSON object to the file `/home/me/.x/result-1.json` (the variable \
        HANDOVER_RESULT holds that path):\n\n{\"nonce\": \"0123456789abcdef\", \"story\": \"1-1\"}";
    let receipt = fixture.task(10, "developer", task);
    let page = format!("/receipts/{receipt}");
    shows(&fixture.page(&page), &["0123456789abcdef", "/home/me"]);
    let file = fixture.page(&format!("{page}/report.html"));
    hides(&file, &["0123456789abcdef", "/home/me"]);
    shows(
        &file,
        &["Do it.", "&quot;nonce&quot;: &quot;…&quot;", "&quot;story&quot;", "HANDOVER_RESULT"],
    );
}

#[test]
fn the_file_of_a_run_says_why_its_steps_failed() {
    let fixture = Fixture::new();
    let run =
        play_saying(&fixture, "run_1", &STORIES, "The <i>port</i> is taken.", |story, phase, _| {
            Ends::With(match (story, phase) {
                ("1-1-login", RunPhase::Review) => Verdict::Failed,
                (_, RunPhase::Review) => Verdict::Passed,
                _ => Verdict::Complete,
            })
        });
    let file = fixture.page(&format!("/runs/{run}/report.html"));
    let (_, causes) = file.split_once("Why steps failed").unwrap();
    let (causes, _) = causes.split_once("Final messages of the agents").unwrap();
    shows(
        causes,
        &[
            "<bdi>gates 1</bdi>",
            "What fails now and did not before",
            "<pre class=\"log whole\" tabindex=\"0\">The &lt;i&gt;port&lt;/i&gt; is taken.</pre>",
            "<bdi>review 1</bdi>",
            "<h3>Findings</h3>",
            "<p class=\"words\"><bdi>The &lt;i&gt;port&lt;/i&gt; is taken.</bdi>",
        ],
    );
    hides(causes, &["<bdi>dev 1</bdi>", "<bdi>gates 2</bdi>"]);
    // Its reader can neither follow a link nor send a form.
    hides(&file, &["leads to its cause", "Answer them above"]);
    shows(&fixture.page(&format!("/runs/{run}")), &["each leads to its cause"]);

    let smooth = Fixture::new();
    let run = play(&smooth, "run_1", &STORIES, |_, phase, _| {
        Ends::With(if phase == RunPhase::Review { Verdict::Passed } else { Verdict::Complete })
    });
    hides(&smooth.page(&format!("/runs/{run}/report.html")), &["Why steps failed"]);
}
