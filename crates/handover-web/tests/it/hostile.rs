//! What agents and files say is data, on every page.

use handover_model::Topic;
use handover_store::{
    CleanSignature, ErrorPatterns, ErrorSighting, Events, NewEvent, NewStrategy, ReasoningFilter,
    Reasonings, Strategies,
};
use serde_json::json;

use crate::scene::{Scene, at, role};

/// Scripts, attributes, turned text, terminal codes, what hides.
const NASTY: [&str; 6] = [
    "<script>window.pwned = 1</script><img src=x onerror=pwned()>",
    "\"><svg onload=pwned()>' onmouseover='pwned()' x=\"",
    "invoice\u{202e}fdp.exe \u{2066}turned\u{200f} round",
    "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;http://evil.example\u{7}link\u{1b}]8;;\u{7} \u{9b}5mblink",
    "a\u{200b}b\u{feff}c\u{0}d\u{8}e\u{fffd}\u{fffe}",
    "</pre></style></title><a href=\"javascript:pwned()\">go</a>",
];

/// A word of ten thousand letters.
fn huge() -> String {
    "W".repeat(10_000)
}

#[test]
fn nothing_that_was_written_becomes_markup() {
    let scene = Scene::new();
    let all = format!("{} {}", NASTY.join(" "), huge());
    let ids = scene.register(&[scene.package(
        1,
        "developer",
        &all,
        &format!("# {all}\n\n{all}\n\n<b>{all}</b>\n"),
    )]);
    scene.think(2, "developer", &all);
    scene.receipt(3, "tech_lead", &ids, &all);
    let thought = scene.store.reasoning(&scene.session, &ReasoningFilter::default()).unwrap()[0].id;
    let clean = |text: &str| scene.redactor.clean(text);
    let sighting = ErrorSighting {
        project: scene.project(),
        signature: CleanSignature::new(Some(NASTY[0]), &all, &[], &scene.redactor),
        language: Some(clean(NASTY[1])),
        ttl_days: 90,
        session: Some(scene.session.clone()),
        group: None,
        role: Some(role("developer")),
        command: Some(clean(&all)),
        now: at(4),
    };
    let error = scene.store.resolve_error(&sighting, &clean(&all)).unwrap();
    scene
        .store
        .learn_strategies(&[NewStrategy {
            project: scene.project(),
            topic: Topic::Architecture,
            insight: clean(&NASTY.join(" ")),
            language: Some(clean(NASTY[0])),
            framework: Some(clean(NASTY[1])),
            source: thought,
            now: at(5),
        }])
        .unwrap();
    scene
        .store
        .log_event(&NewEvent {
            session: scene.session.clone(),
            group: None,
            kind: "verdict".parse().unwrap(),
            payload: scene
                .redactor
                .clean_json(json!({"role": NASTY[0], "verdict": NASTY[1], "summary": all})),
            key: None,
            now: at(6),
        })
        .unwrap();
    let error = format!("/errors/{}", error.hash);
    let pages = [
        "/",
        "/sessions",
        "/sessions/s1",
        "/sessions/s1/packages",
        "/sessions/s1/reasoning",
        "/sessions/s1/receipts",
        "/packages/1",
        "/receipts/r_00000003",
        "/errors",
        &error,
        "/strategies",
    ];
    for path in pages {
        check(path, &scene.page(path));
    }
    for query in NASTY.into_iter().chain([all.as_str(), "developer"]) {
        let page = scene.get("/search", &[("q", query)]);
        check("/search", &String::from_utf8(page.body).unwrap());
        for path in ["/nothing", "/errors/x"] {
            let page = scene.get(path, &[("q", query), ("role", query), ("from", query)]);
            check(path, &String::from_utf8(page.body).unwrap());
        }
        let page = scene.get("/sessions/s1/packages", &[("role", query)]);
        check("/sessions/s1/packages", &String::from_utf8(page.body).unwrap());
    }
}

#[track_caller]
fn check(path: &str, page: &str) {
    for sign in ["<script>", "<img", "<svg onload", "href=\"javascript", "evil.example\u{7}", "<b>"]
    {
        assert!(!page.contains(sign), "{sign} on {path}");
    }
    // An attribute of ours that was closed too early would show as one of these outside of quotes.
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
fn a_theme_leads_back_here_and_nowhere_else() {
    let scene = Scene::new();
    let to = |back: &str| {
        let response = scene.get("/theme", &[("to", "dark"), ("back", back)]);
        assert_eq!(response.status, 303);
        let value =
            |name: &str| response.headers.iter().find(|(key, _)| *key == name).unwrap().1.clone();
        assert!(value("set-cookie").starts_with("handover_theme=dark;"));
        value("location")
    };
    assert_eq!(to("/sessions/s1?x=1"), "/sessions/s1?x=1");
    for elsewhere in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/a\r\nset-cookie: x=1",
        "",
        "/\u{e9}",
    ] {
        assert_eq!(to(elsewhere), "/", "{elsewhere:?}");
    }
    let response = scene.get("/theme", &[("to", "pink;x=1")]);
    assert!(response.headers.iter().all(|(name, _)| *name != "set-cookie"));
}

#[test]
fn what_is_not_there_is_said_and_where_to_go() {
    let scene = Scene::new();
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
        let response = scene.get(path, &[]);
        assert_eq!(response.status, 404, "{path}");
        let page = String::from_utf8(response.body).unwrap();
        assert!(page.contains("Not found") && page.contains("overview"), "{path}");
    }
    assert!(scene.page("/sessions/s1").contains("Nothing has happened here yet."));
    assert!(scene.page("/runs").contains("handover run 1"));
    assert!(scene.page("/errors").contains("handover error resolve"));
    assert!(scene.page("/strategies").contains("handover strategy extract"));
    assert!(scene.page("/search").contains("Nothing asked yet."));
}
