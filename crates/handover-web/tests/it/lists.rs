//! Lists: their order and filters, which the address has; who got a record; what happened since a time.

use handover_model::{ItemKind, NoteKind, PackageId, Use};
use handover_store::{ItemUse, Packages, ReceiptStep, Receipts};

use crate::fixture::{Fixture, hides, shows};
use crate::readable::readable;
use crate::scene::login;

/// The places of texts on a page, in this order.
#[track_caller]
fn in_order(page: &str, texts: &[&str]) {
    let places: Vec<usize> = texts
        .iter()
        .map(|text| page.find(text).unwrap_or_else(|| panic!("no {text:?} in {page}")))
        .collect();
    assert!(places.is_sorted(), "{texts:?} at {places:?}");
}

#[test]
fn lists_are_sorted_as_the_address_says() {
    let fixture = Fixture::new();
    for (seconds, who, tokens) in [(10, "tech_lead", "c"), (20, "developer", "b"), (30, "qa", "a")]
    {
        fixture.receipt(seconds, who, &[], tokens);
    }
    let ids = ["r_00000010", "r_00000020", "r_00000030"];
    let sorted = |sort: &str| fixture.page_with("/sessions/s1/receipts", &[("sort", sort)]);
    in_order(&sorted("for"), &[ids[1], ids[2], ids[0]]);
    in_order(&sorted("-for"), &[ids[0], ids[2], ids[1]]);
    in_order(&sorted("when"), &ids);
    in_order(&sorted("nothing"), &[ids[2], ids[1], ids[0]]);
    let page = sorted("for");
    shows(&page, &["aria-sort=\"ascending\"", "?sort=-for\"", "?sort=tokens\"", "Sorted"]);
    for path in ["/sessions", "/runs", "/knowledge", "/errors"] {
        shows(&fixture.page_with(path, &[("sort", "-state")]), &["<h1>"]);
    }
    let login = login();
    shows(&login.page_with("/sessions", &[("sort", "session")]), &["?sort=-session\""]);
    shows(
        &login.page_with("/knowledge", &[("sort", "used"), ("type", "package")]),
        &["?type=package&amp;sort=-used\""],
    );
}

#[test]
fn every_list_is_sorted_and_can_be_kept() {
    let fixture = Fixture::new();
    let package = |nth, who, title| fixture.package(nth, who, title, "text");
    fixture.register(&[
        package(1, "developer", "Bees"),
        package(2, "tech_lead", "ants"),
        package(3, "qa", "Cats"),
    ]);
    for (nth, text) in [(10, "Bees buzz."), (20, "ants march."), (30, "Cats sleep.")] {
        fixture.note(nth, NoteKind::Manual, text);
        fixture.strategy(nth + 1, text, None);
        let retire = [("what", "package"), ("id", "1"), ("do", "retire"), ("reason", text)];
        assert_eq!(fixture.post("/changes", &retire).status, 303);
    }
    for (path, column, texts) in [
        ("/sessions/s1/packages", "package", ["ants", "Bees", "Cats"]),
        ("/notes", "note", ["ants march", "Bees buzz", "Cats sleep"]),
        ("/strategies", "insight", ["ants march", "Bees buzz", "Cats sleep"]),
    ] {
        let page = fixture.page_with(path, &[("sort", column)]);
        shows(&page, &["aria-sort=\"ascending\"", "data-views", &format!("?sort=-{column}\"")]);
        in_order(&page, &texts);
        let page = fixture.page_with(path, &[("sort", &format!("-{column}"))]);
        in_order(&page, &[texts[2], texts[1], texts[0]]);
    }
    let by_id = fixture.page_with("/changes", &[("sort", "id")]);
    in_order(&by_id, &["Bees buzz.", "ants march.", "Cats sleep."]);
    shows(&by_id, &["aria-sort=\"ascending\"", "data-views", "?sort=-id\""]);
    let back = fixture.page_with("/changes", &[("sort", "-id")]);
    in_order(&back, &["Cats sleep.", "ants march.", "Bees buzz."]);
    for path in ["/sessions", "/runs", "/errors", "/knowledge", "/sessions/s1/receipts"] {
        shows(&fixture.page(path), &["data-views"]);
    }
}

#[test]
fn knowledge_has_pages() {
    let fixture = Fixture::new();
    let all: Vec<_> = (1..=90)
        .map(|nth| fixture.package(nth, "developer", &format!("Tokens, part {nth} of it"), "text"))
        .collect();
    fixture.register(&all);
    for nth in 0..60 {
        fixture.note(1_000 + nth, NoteKind::Manual, &format!("Tokens, note {nth} of it"));
    }
    for words in ["", "tokens"] {
        let page = |from: &str| fixture.page_with("/knowledge", &[("q", words), ("from", from)]);
        let (first, second) = (page("0"), page("100"));
        shows(&first, &["1 to 100", "from=100\" rel=\"next\""]);
        shows(&second, &["150 records, 101 to 150", "from=0\" rel=\"prev\""]);
        hides(&second, &["rel=\"next\""]);
        // Each record is on one of them.
        let rows = |page: &str| page.matches("<th scope=\"row\">").count();
        assert_eq!((rows(&first), rows(&second)), (100, 50), "{words:?}");
        for nth in 1..=90 {
            let title = format!("Tokens, part {nth} of it");
            let there = [first.contains(&title), second.contains(&title)];
            assert!(there[0] != there[1], "{title} {there:?} {words:?}");
        }
    }
    let page = fixture.page_with("/knowledge", &[("q", "tokens")]);
    shows(&page, &["More than 100 records, 1 to 100."]);
    shows(&fixture.page("/knowledge"), &["150 records, 1 to 100."]);
    hides(&fixture.page("/knowledge"), &["words find the rest"]);
    let older: Vec<_> = (91..=140)
        .map(|nth| fixture.package(nth, "developer", &format!("Tokens, part {nth} of it"), "text"))
        .collect();
    fixture.register(&older);
    let page = fixture.page("/knowledge");
    shows(
        &page,
        &["of the newest of each kind", "the newest 100 packages of each", "words find the rest"],
    );
    let behind = fixture.page_with("/knowledge", &[("from", "4294967295")]);
    shows(&behind, &["rel=\"prev\""]);
}

#[test]
fn knowledge_is_filtered_by_use() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[
        fixture.package(1, "developer", "Opened by somebody", "text"),
        fixture.package(2, "developer", "Given, never used", "text"),
        fixture.package(3, "developer", "Never given", "text"),
    ]);
    let receipt = fixture.receipt(10, "tech_lead", &ids[..2], "block");
    let used =
        |id: PackageId, used| ItemUse { kind: ItemKind::Package, item: id.to_string(), used };
    let uses = [used(ids[0], Use::Opened), used(ids[1], Use::Unused)];
    fixture.store.mark_used(&receipt, &uses).unwrap();
    let titles = ["Opened by somebody", "Given, never used", "Never given"];
    for (nth, word) in ["used", "unused", "unknown"].into_iter().enumerate() {
        let page = fixture.page_with("/knowledge", &[("used", word)]);
        for (other, title) in titles.iter().enumerate() {
            assert_eq!(page.contains(title), other == nth, "{title} for {word}");
        }
    }
    let all = fixture.page_with("/knowledge", &[("sort", "-used")]);
    in_order(&all, &["Opened by somebody", "Given, never used", "Never given"]);
    shows(&all, &["1 of 1", "0 of 1"]);
    let package = fixture.page(&format!("/packages/{}", ids[0]));
    shows(&package, &["Who got it", "tech lead", "opened"]);
    shows(&fixture.page(&format!("/packages/{}", ids[1])), &["unused"]);
    shows(&fixture.page(&format!("/packages/{}", ids[2])), &["It has reached nobody yet."]);
}

#[test]
fn a_summary_is_edited_and_that_is_undone() {
    let fixture = Fixture::new();
    let id = fixture.register(&[fixture.package(1, "developer", "Token lifetime", "text")])[0];
    let name = id.to_string();
    let edit = |id: &str, summary: &str| {
        let fields = [
            ("what", "package"),
            ("id", id),
            ("do", "edit"),
            ("summary", summary),
            ("back", "/packages/1"),
        ];
        fixture.post("/changes", &fields)
    };
    let done = edit(&name, "<b>Shorter</b>\nthan an hour, password=hunter2sEcretOfAll");
    assert_eq!(done.status, 303, "{}", String::from_utf8_lossy(&done.body));
    let location = done.headers[0].1.clone();
    let latest = fixture.store.package_history(id).unwrap().pop().unwrap();
    assert!(location.starts_with(&format!("/packages/{}?done=op_", latest.id)), "{location}");
    assert!(latest.summary.starts_with("<b>Shorter</b> than an hour"), "{}", latest.summary);
    assert!(!latest.summary.contains("hunter2"));
    let (path, query) = location.split_once("?done=").unwrap();
    let page = fixture.page_with(path, &[("done", query)]);
    shows(&page, &["&lt;b&gt;Shorter&lt;/b&gt;", "id=\"done\"", "Changed by hand", "token t1"]);
    // Readers cannot, and neither can it be the summary of what has a newer version, or nothing.
    for (id, summary) in [(&*name, "late"), (&*latest.id.to_string(), "  "), ("x", "y")] {
        assert_eq!(edit(id, summary).status, 409, "{id} {summary:?}");
    }
    let fields = [("what", "package"), ("id", &*name), ("do", "edit"), ("summary", "x")];
    assert_eq!(fixture.post_as(false, "/changes", &fields).status, 404);
    let undo = [("what", "operation"), ("id", query), ("do", "undo"), ("back", "/changes")];
    assert_eq!(fixture.post("/changes", &undo).status, 303);
    let latest = fixture.store.package_history(id).unwrap().pop().unwrap();
    assert_eq!((latest.version, latest.summary.as_str()), (3, "Token lifetime"));
    let log = fixture.page("/changes");
    shows(&log, &["Replaced ", "Undid a change of ", "dashboard, token t1"]);
}

#[test]
fn what_happened_since_a_time() {
    let fixture = login();
    fixture.note(60, NoteKind::Manual, "Prices are cents.");
    let since = |time: &str| fixture.page_with("/away", &[("since", time)]);
    let all = since("2020-01-01T00:00:00Z");
    shows(
        &all,
        &[
            "While you were away",
            "Briefs that never arrived",
            "the agent was killed",
            "How tokens rotate",
            "Prices are cents.",
            "connect ECONNREFUSED",
        ],
    );
    let nothing = since("2030-01-01T00:00:00Z");
    shows(&nothing, &["Nothing happened."]);
    hides(&nothing, &["How tokens rotate"]);
    // Nonsense is the last day, in which nothing happened here.
    let nonsense = since("<b>soon</b>");
    shows(&nonsense, &["Nothing happened.", "24 h ago"]);
    hides(&nonsense, &["<b>soon"]);
}

#[test]
fn a_long_absence_is_counted_to_its_end() {
    let fixture = Fixture::new();
    for seconds in 0..600 {
        let receipt = fixture.assemble(seconds, "developer", &[], "block");
        let step = match seconds % 50 {
            0 => ReceiptStep::Failed { reason: fixture.redactor.clean("the agent was killed") },
            _ => ReceiptStep::Delivered { host: None },
        };
        fixture.advance(&receipt, seconds, &step);
    }
    for seconds in 0..60 {
        fixture.register(&[fixture.package(seconds, "developer", "Finding", "text")]);
    }
    let page = fixture.page_with("/away", &[("since", "2020-01-01T00:00:00Z")]);
    let text = readable(&page);
    for line in [
        "Agents briefed: 588 176,400 tokens",
        "Failed: 12 briefs that never arrived",
        "12, the latest 10",
        "Packages: at least 50 written",
        "at least 50 packages, newest first.",
        "- and at least 40 others",
    ] {
        assert!(text.lines().any(|other| other == line), "no {line:?} in {text}");
    }
}

#[test]
fn notes_reasoning_runs_changes_and_sessions_are_pages() {
    let fixture = Fixture::new();
    for seconds in 0..201 {
        fixture.note(seconds, NoteKind::Manual, &format!("Note {seconds:03}"));
    }
    for seconds in 0..151 {
        fixture.think(seconds, "developer", &format!("Thought {seconds:03}"));
    }
    for number in 0..21 {
        fixture.crashed_run(&format!("run_{number:02}"), &number.to_string());
    }
    for number in 0..101 {
        let verb = if number % 2 == 0 { "close" } else { "reopen" };
        let fields = [("what", "session"), ("id", "s1"), ("do", verb)];
        assert_eq!(fixture.post("/changes", &fields).status, 303);
    }
    for (path, size, newest, oldest) in [
        ("/notes", "200", "Note 200", "Note 000"),
        ("/sessions/s1/reasoning", "150", "Thought 150", "Thought 000"),
        ("/runs", "20", "run_20", "run_00"),
        ("/changes", "100", "0101</code>", "0001</code>"),
    ] {
        let first = fixture.page(path);
        shows(&first, &[newest, "Older", &format!("from={size}"), &format!("the latest {size}")]);
        hides(&first, &[oldest, "Newer"]);
        let second = fixture.page_with(path, &[("from", size)]);
        shows(&second, &[oldest, "Newer"]);
        hides(&second, &[newest, "Older"]);
        let beyond = fixture.page_with(path, &[("from", "99999")]);
        shows(&beyond, &["Newer"]);
    }
}

#[test]
fn the_overview_says_what_happened_since_the_last_visit() {
    let fixture = login();
    let visit = |cookies: &[(&str, &str)]| {
        let mut request = handover_web::PageRequest::get("/");
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        request.cookies = cookies.iter().map(own).collect();
        fixture.answer(&request, false)
    };
    let first = visit(&[]);
    hides(&String::from_utf8(first.body.clone()).unwrap(), &["Since your last visit"]);
    let (_, cookie) = first.headers.iter().find(|(name, _)| *name == "set-cookie").unwrap();
    assert!(cookie.starts_with("handover_seen=") && cookie.contains("HttpOnly"), "{cookie}");
    let back = visit(&[("handover_seen", "2027-01-15T00:00:00Z")]);
    let page = String::from_utf8(back.body).unwrap();
    shows(
        &page,
        &["Since your last visit", "2 agents briefed", "1 brief failed", "/away?since=2027"],
    );
    let hostile = visit(&[("handover_seen", "<script>"), ("handover_before", "\"><script>")]);
    hides(&String::from_utf8(hostile.body).unwrap(), &["Since your last visit", "<script>"]);
}
