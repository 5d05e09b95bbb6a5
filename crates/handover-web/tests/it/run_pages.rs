//! The pages of runs with real journals: stories, phases, costs, logs, reports.

use handover_model::{RunId, RunPhase, Verdict};
use handover_web::{Method, PageRequest, PageResponse, report};
use insta::assert_snapshot;

use crate::fixture::{FORM_TOKEN, Fixture, hides, shows};
use crate::readable::{news, readable};
use crate::run_scene::{Ends, STORIES, play};

/// Every agent succeeds at once.
fn smooth(_: &str, phase: RunPhase, _: u32) -> Ends {
    Ends::With(if phase == RunPhase::Review { Verdict::Passed } else { Verdict::Complete })
}

/// The second story is blocked.
fn blocking(story: &str, phase: RunPhase, attempt: u32) -> Ends {
    if story == "1-2-logout" { Ends::With(Verdict::Blocked) } else { smooth(story, phase, attempt) }
}

/// The developer of the first story is still working.
fn unfinished(_: &str, _: RunPhase, _: u32) -> Ends {
    Ends::Never
}

/// The review of the first story never passes.
fn failing(story: &str, phase: RunPhase, attempt: u32) -> Ends {
    if story == "1-1-login" && phase == RunPhase::Review {
        Ends::With(Verdict::Failed)
    } else {
        smooth(story, phase, attempt)
    }
}

/// A store with one run.
struct RunPage {
    fixture: Fixture,
    run: RunId,
}

impl RunPage {
    fn of(ends: fn(&str, RunPhase, u32) -> Ends) -> Self {
        Self::with(&STORIES, ends)
    }

    /// With thirty stories, all of which succeed.
    fn long() -> Self {
        let stories: Vec<(String, String)> =
            (0..30).map(|n| (format!("1-{n:02}-story"), format!("Story {n}"))).collect();
        let stories: Vec<(&str, &str)> =
            stories.iter().map(|(id, title)| (id.as_str(), title.as_str())).collect();
        Self::with(&stories, smooth)
    }

    fn with(stories: &[(&str, &str)], ends: fn(&str, RunPhase, u32) -> Ends) -> Self {
        let fixture = Fixture::new();
        let run = play(&fixture, "run_1", stories, ends);
        Self { fixture, run }
    }

    fn page(&self) -> String {
        self.fixture.page(&format!("/runs/{}", self.run))
    }

    fn report(&self) -> String {
        self.fixture.with_site(false, |site| report(site, &self.run)).unwrap()
    }
}

fn post(fixture: &Fixture, path: &str, fields: &[(&str, &str)]) -> PageResponse {
    let mut request = PageRequest::get(path);
    request.method = Method::Post;
    request.form = [("token", FORM_TOKEN)]
        .iter()
        .chain(fields)
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    fixture.answer(&request, true)
}

#[test]
fn a_finished_run() {
    assert_snapshot!(readable(&RunPage::of(smooth).page()), @r"
    [Runs](/runs) /
    # Epic 1 done
    Run run_1 started 28 h ago, last active 27 h ago, records in session [s1](/sessions/s1), branch handover/epic-1
    [Download as HTML](/runs/run_1/report.html)
    {button } Copy link
    Stories done: 2 of 2
    Cost: $1.00 48,000 tokens
    Agent and gate time: 4 m 23 s 28 turns
    Right now: –
    Your branch was not fast-forwarded: main has moved on
    ## Stories and phases
    Verdict, duration and cost of every agent and gate; each leads to its cause.
    | Story | State | dev | gates | review | Time | Cost | Commit or branch
    | [Sign in with OAuth](/runs/run_1/stories?story=1-1-login)
    1-1-login
    | done |
    [complete](/runs/run_1/steps?story=1-1-login&amp;phase=dev&amp;attempt=1) 1 m 05 s $0.25
    |
    [passed](/runs/run_1/steps?story=1-1-login&amp;phase=gates&amp;attempt=1) 1.5 s
    |
    [passed](/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=1) 1 m 05 s $0.25
    | 2 m 11 s | $0.50 | [c0ffee1234](/runs/run_1/stories?story=1-1-login#landed)
    | [Sign out everywhere](/runs/run_1/stories?story=1-2-logout)
    1-2-logout
    | done |
    [complete](/runs/run_1/steps?story=1-2-logout&amp;phase=dev&amp;attempt=1) 1 m 05 s $0.25
    |
    [passed](/runs/run_1/steps?story=1-2-logout&amp;phase=gates&amp;attempt=1) 1.5 s
    |
    [passed](/runs/run_1/steps?story=1-2-logout&amp;phase=review&amp;attempt=1) 1 m 05 s $0.25
    | 2 m 11 s | $0.50 | [c0ffee1234](/runs/run_1/stories?story=1-2-logout#landed)
    ## Time
    When each step ran, to scale; pauses are shortened.
    - 1-1-login
    - 1-2-logout
    (The steps of the run over time)
    [
    * dev 1: complete, 16 m 30 s
    ](/runs/run_1/steps?story=1-1-login&amp;phase=dev&amp;attempt=1)[
    * gates 1: passed, –
    ](/runs/run_1/steps?story=1-1-login&amp;phase=gates&amp;attempt=1)[
    * review 1: passed, 1.0 s
    ](/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=1)[
    * dev 1: complete, 1.0 s
    ](/runs/run_1/steps?story=1-2-logout&amp;phase=dev&amp;attempt=1)[
    * gates 1: passed, –
    ](/runs/run_1/steps?story=1-2-logout&amp;phase=gates&amp;attempt=1)[
    * review 1: passed, 1.0 s
    ](/runs/run_1/steps?story=1-2-logout&amp;phase=review&amp;attempt=1)
    ## Cost
    $1.00 in total, as reported by the agent programs.
    By story
    | 1-1-login | | $0.50 | 24,000 tokens
    | 1-2-logout | | $0.50 | 24,000 tokens
    By phase
    | dev | | $0.50 | 2 m 10 s
    | gates | | $0.00 | 3.0 s
    | review | | $0.50 | 2 m 10 s
    By role
    | developer | | $0.50 |
    | tech lead | | $0.50 |
    ## Agent output
    review 1 of 1-2-logout, the last lines.
    Nothing yet.
    ## Journal
    The last entries of 25. [All of it](/runs/run_1/journal)
    | No. | Time | Kind | What | Story | Outcome
    | 14 | 08:16:41 | intent | [agent dev 1](/runs/run_1/steps?story=1-2-logout&amp;phase=dev&amp;attempt=1) | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | –
    | 15 | 08:16:42 | result | [phase ended dev 1](/runs/run_1/steps?story=1-2-logout&amp;phase=dev&amp;attempt=1) | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | complete
    | 16 | 08:16:42 | intent | gates 1 | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | –
    | 17 | 08:16:42 | result | gates ended 1 | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | passed
    | 18 | 08:16:42 | intent | [agent review 1](/runs/run_1/steps?story=1-2-logout&amp;phase=review&amp;attempt=1) | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | –
    | 19 | 08:16:43 | result | [phase ended review 1](/runs/run_1/steps?story=1-2-logout&amp;phase=review&amp;attempt=1) | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | passed
    | 20 | 08:16:43 | intent | commit | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | –
    | 21 | 08:16:43 | result | committed | [1-2-logout](/runs/run_1/stories?story=1-2-logout) | [c0ffee1234…](/runs/run_1/stories?story=1-2-logout#landed)
    | 22 | 08:16:43 | intent | merge | – | –
    | 23 | 08:16:43 | result | merged | – | –
    | 24 | 08:16:43 | intent | finish | – | –
    | 25 | 08:16:43 | result | ended | – | done
    ");
}

#[test]
fn a_failed_run() {
    let (finished, failed) = (RunPage::of(smooth), RunPage::of(failing));
    let news = news(&failed.page(), &finished.page());
    let is_entry = |line: &&str| line.contains(" | intent | ") || line.contains(" | result | ");
    let (entries, news): (Vec<&str>, Vec<&str>) = news.lines().partition(is_entry);
    assert_eq!(entries.last(), Some(&"| 31 | 08:16:45 | result | ended | – | failed"));
    assert_snapshot!(news.join("\n"), @r"
    # Epic 1 failed
    Stories done: 1 of 2 1 failed
    Cost: $1.50 72,000 tokens
    Agent and gate time: 6 m 34 s 42 turns
    Some stories failed; their work is kept on separate branches.
    1-1-login failed: the review failed after 1 fix: review said failed.
    handover run 1
    | Story | State | dev | gates | review | fix | Time | Cost | Commit or branch
    the review failed after 1 fix: review said failed.
    | failed |
    [passed](/runs/run_1/steps?story=1-1-login&amp;phase=gates&amp;attempt=2) 1.5 s
    [failed](/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=1) 1 m 05 s $0.25
    [failed](/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=2) 1 m 05 s $0.25
    [complete](/runs/run_1/steps?story=1-1-login&amp;phase=fix&amp;attempt=1) 1 m 05 s $0.25
    | 4 m 23 s | $1.00 | handover/epic-1-1-1-login
    | | 2 m 11 s | $0.50 | [c0ffee1234](/runs/run_1/stories?story=1-2-logout#landed)
    * review 1: failed, 1.0 s
    * fix 1: complete, 1.0 s
    ](/runs/run_1/steps?story=1-1-login&amp;phase=fix&amp;attempt=1)[
    * gates 2: passed, –
    ](/runs/run_1/steps?story=1-1-login&amp;phase=gates&amp;attempt=2)[
    * review 2: failed, 1.0 s
    ](/runs/run_1/steps?story=1-1-login&amp;phase=review&amp;attempt=2)[
    $1.50 in total, as reported by the agent programs.
    | 1-1-login | | $1.00 | 48,000 tokens
    | fix | | $0.25 | 1 m 05 s
    | gates | | $0.00 | 4.5 s
    | review | | $0.75 | 3 m 15 s
    | developer | | $0.75 |
    | tech lead | | $0.75 |
    The last entries of 31. [All of it](/runs/run_1/journal)
    ");
}

#[test]
fn the_list_of_runs() {
    assert_snapshot!(readable(&RunPage::of(blocking).fixture.page("/runs")), @r"
    # Runs
    A run works through the stories of an epic: one agent develops, the project's own gates check, another agent reviews, and what passes is committed.
    ## All runs
    Newest first.
    | Run | State | Stories done | Stories done, as a bar | Cost | Agent time | Started
    | [Epic 1](/runs/run_1)
    run_1
    | blocked | 1 of 2 | | $0.75 | 3 m 16 s | 28 h ago
    ");
}

#[test]
fn answers_of_an_unknown_run_are_not_found() {
    let RunPage { fixture, .. } = RunPage::of(blocking);
    assert_eq!(post(&fixture, "/runs/run_2/answers", &[("text", "x")]).status, 404);
}

#[test]
fn a_running_agent_is_shown_with_its_log() {
    let at_work = RunPage::of(unfinished);
    let folder = format!(".handover/runs/{}/1-1-login", at_work.run);
    let folder = at_work.fixture.root().join(folder);
    fs_err::create_dir_all(&folder).unwrap();
    let mut lines: Vec<String> = (0..60).map(|n| format!("line {n:02}")).collect();
    lines.push(r#"{"type": "assistant", "message": {"text": "Reading <b>files</b>"}}"#.to_owned());
    lines.push("password=hunter2sEcret".to_owned());
    fs_err::write(folder.join("dev-1.log"), lines.join("\n")).unwrap();
    let page = at_work.page();
    shows(
        &page,
        &[
            "at work",
            "Agent output",
            "line 59",
            "line 22",
            "assistant: Reading &lt;b&gt;files&lt;/b&gt;",
        ],
    );
    hides(&page, &["line 21\n", "hunter2sEcret", "Nothing yet."]);
}

#[test]
fn an_agent_without_a_log_says_so() {
    shows(&RunPage::of(smooth).page(), &["Agent output", "Nothing yet."]);
}

#[test]
fn the_whole_journal_has_pages() {
    let RunPage { fixture, run } = RunPage::long();
    let path = format!("/runs/{run}/journal");
    // It opens at the end.
    let last = fixture.page(&path);
    shows(&last, &["Earlier"]);
    hides(&last, &["Later"]);
    let first = fixture.page_with(&path, &[("from", "0")]);
    shows(&first, &["started", "Later", "journal?from=200"]);
    hides(&first, &["Earlier"]);
    for from in ["99999", "18446744073709551615", "-1", "x"] {
        let page = fixture.page_with(&path, &[("from", from)]);
        hides(&page, &["Later"]);
    }
}

#[test]
fn the_cost_of_many_stories_is_summed_up() {
    let page = RunPage::long().page();
    // 30 stories of two agents at $0.25: 23 separate bars, 7 in one.
    shows(
        &page,
        &["$15.00 in total", "7 others", "$3.50", "<bdi>developer</bdi>", "<bdi>tech lead</bdi>"],
    );
}

#[test]
fn a_report_covers_the_whole_run_without_links() {
    let html = RunPage::of(smooth).report();
    shows(
        &html,
        &[
            "Sign in with OAuth",
            "c0ffee1234",
            "Final messages of the agents",
            "dev said complete.",
            "Your branch was not fast-forwarded: ",
            "main has moved on",
        ],
    );
    hides(&html, &["<a ", "href=", "<script", "<form"]);
}

#[test]
fn hostile_journals_stay_text() {
    let nasty = "<script>window.pwned=1</script>\u{202e}\" onload=\"x";
    let run = RunPage::with(&[("1-1-login", nasty), ("1-2-logout", "Plain")], blocking);
    let (list, overview) = (run.fixture.page("/runs"), run.fixture.page("/"));
    for page in [run.page(), list, overview, run.report()] {
        hides(&page, &["<script>", "\u{202e}", "\" onload=\"x"]);
    }
    shows(&run.page(), &["&lt;script&gt;"]);
}
