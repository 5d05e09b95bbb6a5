//! From symptom to cause: the pages of stories and steps, receipts with task and outcome, comparing, asking why.

use handover_model::{RunPhase, Verdict};
use handover_store::{NewVerdict, Verdicts};
use serde_json::json;

use crate::fixture::{Fixture, at, hides, role, shows};
use crate::run_scene::{Ends, STORIES, play, play_saying};

fn failing(story: &str, phase: RunPhase, _: u32) -> Ends {
    Ends::With(match (story, phase) {
        ("1-1-login", RunPhase::Review) => Verdict::Failed,
        ("1-2-logout", _) => Verdict::Blocked,
        (_, RunPhase::Review) => Verdict::Passed,
        _ => Verdict::Complete,
    })
}

#[test]
fn a_failed_review_is_two_clicks_from_the_run() {
    let fixture = Fixture::new();
    let run = play(&fixture, "run_1", &STORIES, failing);
    let page = fixture.page(&format!("/runs/{run}"));
    let step = "/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=1";
    shows(&page, &[step, "/runs/run_1/stories?story=1-1-login", "class=\"waterfall\""]);
    hides(&page, &["title=\"review said"]);
    let story = fixture.page_with("/runs/run_1/stories", &[("story", "1-1-login")]);
    shows(&story, &["review said failed.", step, "Steps", "Retry it", "handover run 1 --resume"]);
    let asked = [("story", "1-1-login"), ("phase", "review"), ("attempt", "1")];
    let step = fixture.page_with("/runs/run_1/steps", &asked);
    shows(
        &step,
        &[
            "Review 1",
            "review said failed.",
            "$0.25",
            "what it was given",
            "<summary>The brief</summary>",
            "Before: <bdi>gates 1</bdi>",
        ],
    );
    let asked = [("story", "1-1-login"), ("phase", "dev"), ("attempt", "1")];
    let step = fixture.page_with("/runs/run_1/steps", &asked);
    shows(&step, &["<del>-t0", "<ins>+t1 &lt;b&gt;bold&lt;/b&gt;", "Its output was not kept"]);
    for asked in [[("story", "x"), ("phase", "dev")], [("story", "1-1-login"), ("phase", "x")]] {
        assert_eq!(fixture.get("/runs/run_1/steps", &asked).status, 404);
    }
    assert_eq!(fixture.get("/runs/run_1/stories", &[("story", "x")]).status, 404);
}

#[test]
fn what_landed_is_on_the_page_of_its_story_and_found_by_its_commit() {
    let fixture = Fixture::new();
    let run = play(&fixture, "run_1", &STORIES, |_, phase, _| {
        Ends::With(if phase == RunPhase::Review { Verdict::Passed } else { Verdict::Complete })
    });
    let story = |id: &str| fixture.page_with("/runs/run_1/stories", &[("story", id)]);
    // Each commit lands on the one before it.
    shows(&story("1-1-login"), &["What landed", "<ins>+c0ffee1234-1-1-login"]);
    shows(
        &story("1-2-logout"),
        &["<del>-c0ffee1234-1-1-login", "<ins>+c0ffee1234-1-2-logout", "href=\"#landed\""],
    );
    let link = "/runs/run_1/stories?story=1-1-login#landed";
    shows(&fixture.page(&format!("/runs/{run}")), &[link]);
    shows(&fixture.page(&format!("/runs/{run}/journal")), &[link]);
    let search = |words: &str| fixture.page_with("/search", &[("q", words)]);
    shows(&search("C0FFEE1"), &["Commit", link, "/runs/run_1/stories?story=1-2-logout#landed"]);
    hides(&search("c0ffee"), &["#landed"]);
    hides(&search("c0ffee2"), &["#landed"]);

    let blocked = Fixture::new();
    play(&blocked, "run_1", &STORIES, |_, _, _| Ends::With(Verdict::Blocked));
    let page = blocked.page_with("/runs/run_1/stories", &[("story", "1-1-login")]);
    hides(&page, &["What landed"]);
}

#[test]
fn the_output_of_an_agent_is_a_conversation() {
    let fixture = Fixture::new();
    play(&fixture, "run_1", &STORIES, failing);
    let log = "I look at <b>src</b> first.\npassword=hunter2sEcret\n";
    fixture.log("run_1/1-1-login/dev-1.log", log);
    let asked = [("story", "1-1-login"), ("phase", "dev"), ("attempt", "1")];
    let page = fixture.page_with("/runs/run_1/steps", &asked);
    shows(&page, &["Conversation", "I look at &lt;b&gt;src&lt;/b&gt; first."]);
    hides(&page, &["hunter2sEcret"]);
}

/// All that says why a step ended as it did, with markup in it.
#[test]
fn every_cause_is_text_on_the_page_of_its_step() {
    let fixture = Fixture::new();
    let said = "The <i>port</i> is \"taken\".";
    let shown = "The &lt;i&gt;port&lt;/i&gt; is &quot;taken&quot;.";
    play_saying(&fixture, "run_1", &STORIES, said, |story, phase, _| {
        Ends::With(match (story, phase) {
            ("1-1-login", RunPhase::Review) => Verdict::Failed,
            (_, RunPhase::Review) => Verdict::Passed,
            _ => Verdict::Complete,
        })
    });
    let of_step = |story: &str, phase: &str, attempt: &str| {
        let asked = [("story", story), ("phase", phase), ("attempt", attempt)];
        fixture.page_with("/runs/run_1/steps", &asked)
    };
    let review = of_step("1-1-login", "review", "1");
    shows(&review, &["Findings", "1 finding", &format!("<p class=\"words\"><bdi>{shown}</bdi>")]);
    shows(&review, &["Changes that it was not allowed to make were reverted:"]);
    let gates = of_step("1-1-login", "gates", "1");
    shows(
        &gates,
        &[
            "What fails now and did not before",
            &format!("<li><code><bdi>{shown}</bdi></code></li>"),
            &format!("<pre class=\"log whole\" tabindex=\"0\">{shown}</pre>"),
        ],
    );
    hides(&of_step("1-1-login", "gates", "2"), &["What fails now", "Output of the gates"]);
    let story = fixture.page_with("/runs/run_1/stories", &[("story", "1-1-login")]);
    shows(&story, &[&format!("<code><bdi>{shown}</bdi></code>"), "It changed how it is tested:"]);
    for page in [&review, &gates, &story, &fixture.page("/runs/run_1/report.html")] {
        hides(page, &["<i>"]);
    }

    fixture.let_go_of("1");
    play_saying(&fixture, "run_2", &STORIES[..1], said, |_, phase, _| {
        Ends::With(if phase == RunPhase::Review { Verdict::Passed } else { Verdict::Complete })
    });
    let asked = [("story", "epic-1"), ("phase", "uat"), ("attempt", "1")];
    let scenarios = fixture.page_with("/runs/run_2/steps", &asked);
    shows(&scenarios, &["2 scenarios", &format!("<strong><bdi>{shown}</bdi></strong>")]);
    // What went wrong comes first.
    let at = |word: &str| scenarios.find(word).unwrap_or_else(|| panic!("no {word}: {scenarios}"));
    assert!(at(">failed</span> <strong>") < at(">passed</span> <strong>"));
    hides(&scenarios, &["<i>"]);
}

#[test]
fn the_log_of_an_agent_program_is_a_conversation_with_folded_tools() {
    let fixture = Fixture::new();
    play_saying(&fixture, "run_1", &STORIES, "said", failing);
    let log = [
        json!({"type": "assistant", "message": {"id": "m1", "content": [
            {"type": "text", "text": "I look <b>first</b>."},
            {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls <src>"}},
        ]}}),
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "no <src> here, password=hunter2sEcret", "is_error": true},
        ]}}),
        json!({"type": "result", "subtype": "error", "is_error": true, "result": "It is <gone>."}),
    ];
    let log: Vec<String> = log.iter().map(ToString::to_string).collect();
    fixture.log("run_1/1-1-login/dev-1.log", &format!("{}\nnot <json>\n", log.join("\n")));
    let asked = [("story", "1-1-login"), ("phase", "dev"), ("attempt", "1")];
    let page = fixture.page_with("/runs/run_1/steps", &asked);
    shows(
        &page,
        &[
            "<li class=\"text\"><p class=\"words\"><bdi>I look &lt;b&gt;first&lt;/b&gt;.</bdi>",
            "<li class=\"tool failed\"><details><summary><strong><bdi>Bash</bdi></strong>",
            "no &lt;src&gt; here",
            "<li class=\"result\">",
            "It is &lt;gone&gt;.",
            "<li class=\"line\"><pre>not &lt;json&gt;</pre>",
            "4 entries. Tool calls unfold.",
        ],
    );
    hides(&page, &["hunter2", "The rest is in"]);
}

#[test]
fn a_receipt_has_its_task_its_outcome_and_its_step() {
    let fixture = Fixture::new();
    let run = play(&fixture, "run_1", &STORIES, failing);
    let receipts = fixture.page("/sessions/s1/receipts");
    shows(&receipts, &["Rotate the tokens."]);
    let page = fixture.page("/receipts/r_00001001");
    let step = format!("/runs/{run}/steps?story=1-1-login&amp;phase=review&amp;attempt=1");
    shows(&page, &["Rotate the tokens.", "review said failed.", &step, "Compare with another"]);
    let alone = fixture.task(20, "developer", "Fix it. password=hunter2sEcret");
    let page = fixture.page(&format!("/receipts/{alone}"));
    shows(&page, &["Fix it.", "No verdict.", "The brief was never delivered."]);
    hides(&page, &["hunter2sEcret"]);
    fixture
        .store
        .add_verdict(&NewVerdict {
            session: fixture.session.clone(),
            group: None,
            role: role("developer"),
            agent_id: None,
            iteration: 0,
            receipt: Some(alone.clone()),
            verdict: Verdict::Failed,
            summary: Some(fixture.redactor.clean("The <i>port</i> is taken.")),
            findings: vec![fixture.redactor.clean("src/a.rs:3: off by one")],
            now: at(30),
            trust: handover_model::Trust::Agent,
        })
        .unwrap();
    let page = fixture.page(&format!("/receipts/{alone}"));
    shows(&page, &["The &lt;i&gt;port&lt;/i&gt; is taken.", "off by one", "failed"]);
}

#[test]
fn two_receipts_are_compared_side_by_side() {
    let fixture = Fixture::new();
    let one = fixture.register(&[fixture.package(1, "developer", "Old finding", "text")]);
    let two = fixture.register(&[fixture.package(2, "developer", "New finding", "text")]);
    let left = fixture.receipt(3, "tech_lead", &one, "line one\n");
    let right = fixture.receipt(4, "qa_expert", &two, "line two\n");
    let path = format!("/receipts/{left}/compare");
    shows(&fixture.page(&path), &["Choose a second receipt.", "qa expert"]);
    let page = fixture.page_with(&path, &[("with", right.as_str())]);
    shows(&page, &["Old finding", "New finding", "not a candidate", "+ line one", "- line two"]);
    // The end of an id is enough.
    shows(&fixture.page_with(&path, &[("with", "0004")]), &["New finding"]);
    assert_eq!(fixture.get(&path, &[("with", "nothing")]).status, 404);
}

#[test]
fn a_receipt_says_why_something_is_not_in_it() {
    let fixture = Fixture::new();
    let one = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")]);
    fixture.register(&[fixture.package(2, "developer", "Later finding", "text")]);
    let receipt = fixture.receipt(3, "tech_lead", &one, "block");
    let path = format!("/receipts/{receipt}");
    let why = |name: &str| fixture.page_with(&path, &[("why", name)]);
    shows(&why("docs/1.md"), &["The agent got version 1", "/packages/1"]);
    shows(&why("docs/2.md"), &["left out", "/packages/2"]);
    shows(&why("99"), &["Nothing is known as"]);
    shows(&why("nothing like it"), &["Nothing is known as"]);
    hides(&fixture.page(&path), &["Nothing is known as"]);
}
