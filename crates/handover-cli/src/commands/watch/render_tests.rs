use std::collections::BTreeMap;

use handover_engine::Price;
use handover_engine::stats::UseOf;
use handover_model::{ItemKind, ReceiptId, ReceiptState, Timestamp};
use unicode_width::UnicodeWidthStr as _;

use super::super::scene::{AgentLane, Ongoing, RunLane, Scene, SessionLane, StoryLane};
use super::{View, everything, screen, wrapped};

const MINUTE: i64 = 60_000_000;

fn now() -> Timestamp {
    Timestamp::from_micros(1_794_820_724_000_000)
}

fn agent(n: u32, role: &str, state: ReceiptState, said: Option<(&str, &str)>) -> AgentLane {
    AgentLane {
        receipt: ReceiptId::new(format!("r_{n:032x}")).unwrap(),
        at: Timestamp::from_micros(now().as_micros() - i64::from(n) * MINUTE),
        role: role.to_owned(),
        group: (n == 1).then(|| "login".to_owned()),
        state,
        tokens: 812,
        got: BTreeMap::from([(ItemKind::Package, 3), (ItemKind::Error, 1)]),
        used: (n == 2).then_some(UseOf { items: 4, used: 2, tokens: 1_180, used_tokens: 410 }),
        said: said.map(|(verdict, summary)| (verdict.to_owned(), summary.to_owned())),
    }
}

fn story(id: &str, state: &str, steps: &[(&str, &str)], question: &str) -> StoryLane {
    let steps = steps.iter().map(|(step, verdict)| ((*step).to_owned(), (*verdict).to_owned()));
    StoryLane {
        id: id.to_owned(),
        state: state.to_owned(),
        price: Price::new(1.5, 0),
        steps: steps.collect(),
        reason: String::new(),
        question: question.to_owned(),
    }
}

fn scene() -> Scene {
    let done =
        [("dev", "complete"), ("gates", "failed"), ("fix", "complete"), ("review", "passed")];
    Scene {
        project: "shop".to_owned(),
        runs: vec![RunLane {
            epic: "1".to_owned(),
            state: "blocked".to_owned(),
            price: Price::new(3.0, 0),
            waits_until: None,
            stories: vec![
                story("1-1-cart-totals", "done", &done, ""),
                story(
                    "1-4-invoice-mail",
                    "blocked",
                    &[("dev", "blocked")],
                    "Which account sends\ninvoices?",
                ),
            ],
        }],
        sessions: vec![SessionLane {
            id: "login-rework".to_owned(),
            packages: 9,
            agents: vec![
                agent(1, "qa_expert", ReceiptState::Delivered, None),
                agent(
                    2,
                    "developer",
                    ReceiptState::Confirmed,
                    Some((
                        "complete",
                        "Refreshes wait for each other, whatever the server; 500 tries and nobody was signed out",
                    )),
                ),
                agent(
                    90,
                    "tech_lead",
                    ReceiptState::Failed,
                    Some(("not started", "the program\u{1b}[31m is missing")),
                ),
            ],
        }],
    }
}

fn text(view: &View, size: (usize, usize)) -> String {
    let lines = screen(&scene(), &Ongoing::default(), view, now(), size);
    lines.iter().map(|line| line.paint(false)).collect::<Vec<_>>().join("\n")
}

#[test]
fn shows_lanes_in_80_columns() {
    insta::assert_snapshot!(text(&View { chosen: 1, opened: None }, (80, 17)), @r#"
    Handover · shop  1 run · 3 agents · $3.00  1 question for you

    RUN epic 1  blocked  1 of 2 done  $3.00
      ✓ 1-1-cart-totals          $1.50   dev✓ gates✗ fix✓ review✓
      ■ 1-4-invoice-mail         $1.50   dev✗
        ? Which account sends invoices?
          handover run answer 1-4-invoice-mail "…" --resume

    SESSION login-rework  3 agents, 9 packages
      ○ qa expert · login  1 min ago  812 tokens  got 3 packages, 1 error
    > ● developer  2 min ago  812 tokens  got 3 packages, 1 error, used 34 %
          complete  Refreshes wait for each other, whatever the server; 500 tries a…
      ✗ tech lead  1 h ago  812 tokens  got 3 packages, 1 error
          not started  the program [31m is missing


    ↑↓ choose an agent · Enter its receipt · q quit
    "#);
}

#[test]
fn keeps_the_chosen_agent_in_sight() {
    let shown = text(&View { chosen: 2, opened: None }, (60, 8));
    assert!(shown.contains("> ✗ tech lead"), "{shown}");
    assert!(!shown.contains("RUN epic"), "{shown}");
}

#[test]
fn every_size_is_filled_exactly() {
    let long = ("缓存 ".repeat(40).lines().map(str::to_owned).collect(), 0);
    for view in
        [View::default(), View { chosen: 7, opened: None }, View { chosen: 0, opened: Some(long) }]
    {
        for width in 1..120 {
            for height in [1, 2, 3, 7, 24, 60] {
                let lines = screen(&scene(), &Ongoing::default(), &view, now(), (width, height));
                assert_eq!(lines.len(), height);
                for line in lines {
                    let line = line.paint(false);
                    assert!(line.width() <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn agents_cannot_steer_the_terminal() {
    for line in everything(&scene(), now()) {
        assert!(!line.paint(false).contains(['\u{1b}', '\n']), "{line:?}");
    }
}

#[test]
fn long_lines_are_broken_between_words() {
    assert_eq!(wrapped("a cent is missing", 9), ["a cent is ", "missing"]);
    assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
    assert_eq!(wrapped("", 9), [""]);
}

#[test]
fn a_run_that_is_led_from_here_shows_what_is_being_done_and_what_happened() {
    let ongoing = Ongoing {
        run: Some(("1".to_owned(), "02:07".to_owned())),
        stories: BTreeMap::from([(
            "1-4-invoice-mail".to_owned(),
            "dev 1 00:41 \u{1b}[31mreads\nmail.rs".to_owned(),
        )]),
        log: (1..=9).map(|n| format!("event {n}")).collect(),
    };
    let lines = screen(&scene(), &ongoing, &View::default(), now(), (80, 24));
    let text: Vec<String> = lines.iter().map(|line| line.paint(false)).collect();
    assert_eq!(text.len(), 24);
    assert!(text.iter().any(|line| line.starts_with("RUN epic 1") && line.ends_with("02:07")));
    assert!(text.iter().any(|line| line.contains("dev 1 00:41")), "{text:#?}");
    assert!(text.iter().all(|line| !line.contains('\u{1b}')), "{text:#?}");
    // A fifth of the screen is for what happened last.
    assert_eq!(text[19..23], ["event 6", "event 7", "event 8", "event 9"]);
    assert!(text[23].contains("Ctrl-C stop the run"));
}

#[test]
fn a_run_that_waits_for_a_usage_limit_says_until_when() {
    let mut scene = scene();
    scene.runs[0].waits_until = Some(now().plus_seconds(42 * 60));
    let lines: Vec<String> =
        everything(&scene, now()).iter().map(|line| line.paint(false)).collect();
    let waits = lines.iter().find(|line| line.contains("usage limit")).unwrap();
    assert!(waits.starts_with("  in 43 min: "), "{waits}");
}
