//! Pages stay small, however large the session is.

use handover_model::{RunPhase, Verdict};

use crate::fixture::{Fixture, hides, role, shows};
use crate::run_scene::{Ends, STORIES, play, play_saying};

const MOST: usize = 200_000;

/// Plain, quoted and in terminal colours: each takes more bytes on a page than in the log.
fn long_log(line: &str) -> String {
    (0..).map(|n| format!("{n} {line}\n")).take(6_000).collect()
}

#[test]
fn steps_stay_small_whatever_their_agents_printed() {
    let mut fixture = Fixture::new();
    fixture.added = "\"<&>\" + ".repeat(20_000).replace("+ ", "\n+");
    let said = "\"The port\" is <taken> & gone.\n".repeat(3_000);
    let script = |_: &str, phase, _| {
        Ends::With(if phase == RunPhase::Review { Verdict::Failed } else { Verdict::Complete })
    };
    play_saying(&fixture, "run_1", &STORIES, &said, script);
    fixture.let_go_of("1");
    play(&fixture, "run_2", &STORIES, script);
    let words = format!("{} & <so> on", "\"token\" ".repeat(12));
    let event = |n: usize| {
        let text = format!("{n} {words}");
        serde_json::json!({"type": "assistant", "message": {"id": "m", "content": [{"type": "text", "text": text}]}})
    };
    let logs = [
        long_log(&words),
        long_log("\u{1b}[31mred\u{1b}[0m & \"green\""),
        (0..5_000).map(|n| format!("{}\n", event(n))).collect(),
        "\"".repeat(900_000),
        format!("short\n{}\nlast words\n", "\"".repeat(900_000)),
    ];
    for log in &logs {
        for run in ["run_1", "run_2"] {
            fixture.log(&format!("{run}/1-1-login/dev-1.log"), log);
            fixture.log(&format!("{run}/1-1-login/review-1.log"), log);
            for phase in ["dev", "gates", "review"] {
                let asked = [("story", "1-1-login"), ("phase", phase), ("attempt", "1")];
                let page = fixture.page_with(&format!("/runs/{run}/steps"), &asked);
                assert!(page.len() < MOST, "{run} {phase} has {} bytes", page.len());
                if phase == "dev" {
                    shows(&page, &["lines did not fit on this page."]);
                }
                if phase != "gates" {
                    let path = format!("<bdi>.handover/runs/{run}/1-1-login/{phase}-1.log</bdi>");
                    shows(&page, &["The rest is in", &path]);
                }
            }
            let pages = [format!("/runs/{run}"), format!("/runs/{run}/journal")];
            for path in pages.iter().chain([&format!("/runs/{run}/report.html")]) {
                let page = fixture.page(path);
                assert!(page.len() < MOST, "{path} has {} bytes", page.len());
            }
            let story =
                fixture.page_with(&format!("/runs/{run}/stories"), &[("story", "1-1-login")]);
            assert!(story.len() < MOST, "the story has {} bytes", story.len());
        }
    }
    // The newest entries are those that are kept.
    fixture.log("run_2/1-1-login/dev-1.log", &logs[0]);
    let asked = [("story", "1-1-login"), ("phase", "dev"), ("attempt", "1")];
    let page = fixture.page_with("/runs/run_2/steps", &asked);
    shows(&page, &[">5999 ", ">5900 "]);
    hides(&page, &[">5000 "]);
}

#[test]
fn pages_stay_small_with_ten_thousand_packages() {
    let fixture = Fixture::new();
    let roles: Vec<String> = (0..20).map(|n| format!("role_{n}")).collect();
    let mut ids = Vec::new();
    for part in 0..20 {
        let new: Vec<_> = (0..500)
            .map(|n| {
                let number = part * 500 + n;
                let who = &roles[usize::try_from(number).unwrap() % 20];
                fixture.package(
                    number,
                    who,
                    &format!("What was found out about part {number}"),
                    "text",
                )
            })
            .collect();
        ids.extend(fixture.register(&new));
    }
    for n in 0..300 {
        let at = usize::try_from(n).unwrap();
        fixture.receipt(n * 33 + 40, &roles[at % 20], &ids[at * 33..at * 33 + 7], "block");
        fixture.think(n * 33, &roles[at % 20], "A decision that explains itself at some length");
    }
    let pages = [
        "/",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1/packages",
        "/sessions/s1/reasoning",
        "/sessions/s1/receipts",
        "/packages/1",
        "/receipts/r_00000040",
        "/errors",
        "/strategies",
        "/notes",
        "/runs",
        "/knowledge",
        "/changes",
        "/away",
        "/sessions/s1/picture.svg",
    ];
    for path in pages {
        let page = fixture.page(path);
        assert!(page.len() < MOST, "{path} has {} bytes", page.len());
    }
    let search = fixture.get("/search", &[("q", "part")]);
    assert!(search.status == 200 && search.body.len() < MOST);

    let session = fixture.page("/sessions/s1");
    assert!(session.contains("10,000"), "the total is shown");
    assert!(
        session.contains("7,900") && session.contains("reached nobody"),
        "undelivered packages stand out"
    );
    assert!(session.contains("others"), "twenty roles share twelve lanes");
    let older = fixture.get("/sessions/s1/packages", &[("from", "9990"), ("reach", "all")]);
    let older = String::from_utf8(older.body).unwrap();
    assert!(older.contains("part 0<") && older.contains("Newer") && !older.contains("Older"));
    let only = fixture.get("/sessions/s1/packages", &[("role", role("role_3").as_str())]);
    let only = String::from_utf8(only.body).unwrap();
    assert!(only.contains("part 9983<") && !only.contains("part 9984<") && only.contains("Older"));
    let none = fixture.get("/sessions/s1/packages", &[("role", "no such role")]);
    assert!(String::from_utf8(none.body).unwrap().contains("None matches."));
}
