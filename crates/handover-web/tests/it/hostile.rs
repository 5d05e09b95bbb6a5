//! Text from agents and files is data on every page.

use handover_model::{JournalKind, NoteKind, RunPhase, Topic, Verdict};
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, Events, NewEvent, NewStrategy, ReasoningFilter,
    Reasonings, Strategies, StrategyFilter,
};
use handover_web::{PageRequest, demo_paths};
use serde_json::json;

use crate::fixture::{Fixture, at, role};
use crate::run_scene::{Ends, play, play_saying};

/// A story of a run with a hostile title.
const STORY: &str = "1-1-login";

/// Scripts, attributes, bidirectional text, terminal codes, invisible characters.
const NASTY: [&str; 6] = [
    "<script>window.pwned = 1</script><img src=x onerror=pwned()>",
    "\"><svg onload=pwned()>' onmouseover='pwned()' x=\"",
    "invoice\u{202e}fdp.exe \u{2066}turned\u{200f} round",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7} \u{9b}5mblink",
    "a\u{200b}b\u{feff}c\u{0}d\u{8}e\u{fffd}\u{fffe}",
    "</pre></style></title><a href=\"javascript:pwned()\">go</a>",
];

fn huge() -> String {
    "W".repeat(10_000)
}

#[test]
fn untrusted_text_never_becomes_markup() {
    let mut fixture = Fixture::new();
    let all = format!("{} {}", NASTY.join(" "), huge());
    fixture.added = all.clone();
    let fixture = fixture;
    let ids = fixture.register(&[fixture.package(
        1,
        "developer",
        &all,
        &format!("# {all}\n\n{all}\n\n<b>{all}</b>\n"),
    )]);
    fixture.think(2, "developer", &all);
    fixture.receipt(3, "tech_lead", &ids, &all);
    fixture.task(7, "tech_lead", &all);
    let thought =
        fixture.store.reasoning(&fixture.session, &ReasoningFilter::default()).unwrap()[0].id;
    let clean = |text: &str| fixture.redactor.clean(text);
    let sighting = ErrorSighting {
        project: fixture.project(),
        signature: CleanSignature::new(Some(NASTY[0]), &all, &[], &fixture.redactor),
        language: Some(clean(NASTY[1])),
        ttl_days: 90,
        session: Some(fixture.session.clone()),
        group: None,
        role: Some(role("developer")),
        command: Some(clean(&all)),
        now: at(4),
        trust: handover_model::Trust::Agent,
    };
    let error = fixture.store.resolve_error(&sighting, &clean(&all)).unwrap();
    fixture
        .store
        .learn_strategies(&[NewStrategy {
            project: fixture.project(),
            topic: Topic::Architecture,
            insight: clean(&NASTY.join(" ")),
            language: Some(clean(NASTY[0])),
            framework: Some(clean(NASTY[1])),
            source: thought,
            now: at(5),
            trust: handover_model::Trust::Agent,
        }])
        .unwrap();
    fixture
        .store
        .log_event(&NewEvent {
            session: fixture.session.clone(),
            group: None,
            kind: "verdict".parse().unwrap(),
            payload: fixture
                .redactor
                .clean_json(json!({"role": NASTY[0], "verdict": NASTY[1], "summary": all})),
            key: None,
            now: at(6),
        })
        .unwrap();
    let edit = [("what", "package"), ("id", "1"), ("do", "edit"), ("summary", &*all)];
    assert_eq!(fixture.post("/changes", &edit).status, 303);
    let note = fixture.note(8, NoteKind::Conversation, &all);
    let strategy =
        fixture.store.strategies(&fixture.project(), &StrategyFilter::default()).unwrap();
    let title = NASTY.join(" ");
    let run = play(&fixture, "run_1", &[(STORY, &title)], |_, _, _| Ends::With(Verdict::Blocked));
    fixture.append(&run, JournalKind::Note, json!({"note": all, "text": all}), None);
    fixture.let_go_of("1");
    let steps = said_in_runs(&fixture, &title, &all);
    let ids = [
        ("{session}", "s1"),
        ("{package}", "1"),
        ("{receipt}", "r_00000003"),
        ("{run}", run.as_str()),
        ("{error}", &*error.hash),
        ("{strategy}", &*strategy[0].id),
        ("{note}", note.as_str()),
        ("1-4-invoice-mail", STORY),
    ];
    for (name, path) in demo_paths() {
        let path = ids.iter().fold(path, |path, (from, to)| path.replace(from, to));
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        let query: Vec<(&str, &str)> =
            query.split('&').filter_map(|field| field.split_once('=')).collect();
        for may_write in [true, false] {
            let mut request = PageRequest::get(path);
            request.query = query.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
            let answer = fixture.answer(&request, may_write);
            assert_eq!(answer.status, 200, "{name} {path}");
            check(name, &String::from_utf8(answer.body).unwrap());
        }
    }
    for (path, story, phase) in &steps {
        let asked = [("story", &**story), ("phase", phase), ("attempt", "1")];
        let page = fixture.page_with(path, &asked);
        assert!(page.contains("invoice"), "{path} {story} {phase} has nothing of it");
        check(path, &page);
    }
    for path in [
        "/runs/run_2",
        "/runs/run_2/journal",
        "/runs/run_2/report.html",
        "/runs/run_3",
        "/runs/run_3/report.html",
        "/packages/2",
        "/sessions/s1/picture.svg",
        "/sessions/s1/report.html",
        "/receipts/r_00000003/report.html",
        "/runs/run_1/report.html",
    ] {
        check(path, &fixture.page(path));
    }
    let compared = fixture.page_with("/receipts/r_00000003/compare", &[("with", "r_00000007")]);
    check("compare", &compared);
    for query in NASTY.into_iter().chain([all.as_str(), "developer"]) {
        let page = fixture.get("/search", &[("q", query)]);
        check("/search", &String::from_utf8(page.body).unwrap());
        for path in ["/nothing", "/errors/x"] {
            let page = fixture.get(path, &[("q", query), ("role", query), ("from", query)]);
            check(path, &String::from_utf8(page.body).unwrap());
        }
        for (path, name) in [("/knowledge", "q"), ("/receipts/r_00000003", "why"), ("/", "done")] {
            let page = fixture.get(path, &[(name, query), ("type", query), ("trust", query)]);
            check(path, &String::from_utf8(page.body).unwrap());
        }
        for path in ["/runs/x/steps", "/receipts/r_00000003/compare"] {
            let page = fixture.get(path, &[("story", query), ("phase", query), ("with", query)]);
            check(path, &String::from_utf8(page.body).unwrap());
        }
        for path in ["/sessions", "/runs", "/errors", "/knowledge", "/sessions/s1/receipts"] {
            let page = fixture.get(path, &[("sort", query), (query, query), ("used", query)]);
            check(path, &String::from_utf8(page.body).unwrap());
        }
        for path in ["/away", "/sessions/s1", "/sessions/s1/picture.svg"] {
            let fields = [("since", query), ("from", query), ("to", query), ("theme", query)];
            check(path, &String::from_utf8(fixture.get(path, &fields).body).unwrap());
        }
        for (path, what) in [("/changes", "edit"), ("/changes", "retire"), ("/runs/x/act", "skip")]
        {
            let fields = [("what", "package"), ("do", what), ("id", query), ("back", query)];
            let page = fixture.post(path, &[&fields[..], &[("summary", query)]].concat());
            check(path, &String::from_utf8(page.body).unwrap());
        }
        let page = fixture.get("/sessions/s1/packages", &[("role", query)]);
        check("/sessions/s1/packages", &String::from_utf8(page.body).unwrap());
    }
}

/// Two runs in which every step says it, one that fails and one with scenarios, with the logs of their agents; the
/// pages of what they did: address, story, phase.
fn said_in_runs(fixture: &Fixture, title: &str, all: &str) -> Vec<(String, String, &'static str)> {
    let log = [
        json!({"type": "assistant", "message": {"id": "m1", "content": [
            {"type": "text", "text": all},
            {"type": "tool_use", "id": "t1", "name": all, "input": {"command": all}},
        ]}}),
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": all, "is_error": true},
        ]}}),
        json!({"type": "result", "subtype": "error", "is_error": true, "result": all}),
    ];
    let log: String = log.iter().map(|event| format!("{event}\n")).collect();
    let mut pages = Vec::new();
    for (run, review) in [("run_2", Verdict::Failed), ("run_3", Verdict::Passed)] {
        play_saying(fixture, run, &[(STORY, title)], all, |_, phase, _| {
            Ends::With(if phase == RunPhase::Review { review } else { Verdict::Complete })
        });
        fixture.let_go_of("1");
        for phase in ["dev", "review"] {
            fixture.log(&format!("{run}/{STORY}/{phase}-1.log"), &format!("{log}{all}\n"));
        }
        for phase in ["dev", "gates", "review", "fix"] {
            pages.push((format!("/runs/{run}/steps"), STORY.to_owned(), phase));
        }
        pages.push((format!("/runs/{run}/stories"), STORY.to_owned(), ""));
    }
    pages.push(("/runs/run_3/steps".to_owned(), "epic-1".to_owned(), "uat"));
    pages
}

#[track_caller]
fn check(path: &str, page: &str) {
    for sign in ["<script>", "<img", "<svg onload", "href=\"javascript", "evil.example\u{7}", "<b>"]
    {
        assert!(!page.contains(sign), "{sign} on {path}");
    }
    // An attribute that was closed too early would show up as one of these.
    for sign in [" onerror=\"", " onload=\"", " onmouseover=\"", " style=\""] {
        assert!(!page.contains(sign), "{sign} on {path}");
    }
    let hidden = page.chars().find(|c| {
        matches!(c, '\u{0}'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    });
    assert_eq!(hidden, None, "on {path}");
}

#[test]
fn theme_redirects_stay_local() {
    let fixture = Fixture::new();
    let to = |back: &str| {
        let response = fixture.get("/theme", &[("to", "dark"), ("back", back)]);
        assert_eq!(response.status, 303);
        let value =
            |name: &str| response.headers.iter().find(|(key, _)| *key == name).unwrap().1.clone();
        assert!(value("set-cookie").starts_with("handover_theme=dark;"));
        value("location")
    };
    assert_eq!(to("/sessions/s1?x=1"), "/sessions/s1?x=1");
    for external in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/a\r\nset-cookie: x=1",
        "",
        "/\u{e9}",
    ] {
        assert_eq!(to(external), "/", "{external:?}");
    }
    let response = fixture.get("/theme", &[("to", "pink;x=1")]);
    assert!(response.headers.iter().all(|(name, _)| *name != "set-cookie"));
}

#[test]
fn missing_records_are_explained() {
    let fixture = Fixture::new();
    for path in [
        "/sessions/none",
        "/packages/99",
        "/packages/x",
        "/receipts/none",
        "/runs/none",
        "/errors/none",
        "/a/b/c",
        "/%2e%2e/x",
    ] {
        let response = fixture.get(path, &[]);
        assert_eq!(response.status, 404, "{path}");
        let page = String::from_utf8(response.body).unwrap();
        assert!(page.contains("Not found") && page.contains("overview"), "{path}");
    }
    assert!(fixture.page("/sessions/s1").contains("Nothing has happened here yet."));
    assert!(fixture.page("/runs").contains("handover run 1"));
    assert!(fixture.page("/errors").contains("handover error resolve"));
    assert!(fixture.page("/strategies").contains("handover strategy extract"));
    assert!(fixture.page("/search").contains("No query yet."));
}
