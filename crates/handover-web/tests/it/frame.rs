//! The frame of every page: navigation, title, theme, forms, assets.

use handover_model::{Coverage, NoteKind};
use handover_store::Strategies as _;
use handover_web::{Method, PageRequest, demo_paths};

use crate::fixture::{FORM_TOKEN, Fixture, hides, shows};

#[test]
fn every_page_of_the_table_has_a_frame() {
    let fixture = Fixture::new();
    let ids = fixture.register(&[fixture.package(1, "developer", "Finding", "# Finding\n\ntext")]);
    let receipt = fixture.receipt(2, "tech_lead", &ids, "block");
    let error = fixture.error(3, "boom", Some("wait"));
    let note = fixture.note(4, NoteKind::Doc, "Prices are cents.");
    fixture.strategy(5, "One refresh at a time.", None);
    let strategies = fixture.store.strategies(&fixture.project(), &Default::default()).unwrap();
    let strategy = strategies[0].id.clone();
    let run = fixture.crashed_run("run_1", "1");
    for (name, path) in demo_paths() {
        let path = path
            .replace("{session}", "s1")
            .replace("{package}", "1")
            .replace("{receipt}", receipt.as_str())
            .replace("{error}", &error)
            .replace("{strategy}", &strategy)
            .replace("{note}", note.as_str())
            .replace("{run}", run.as_str());
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        // A run that crashed has no stories; without a name the run itself is shown.
        let query = if ["story", "step"].contains(&name) { "" } else { query };
        let query: Vec<(&str, &str)> = query.split('&').filter_map(|q| q.split_once('=')).collect();
        let page = fixture.page_with(path, &query);
        shows(&page, &["<!DOCTYPE html>", "<h1", "id=\"main\"", " · shop · Handover</title>"]);
        assert_eq!(page.matches("<h1").count(), 1, "{name}");
        assert_eq!(page.matches("<nav aria-label=\"Parts\"").count(), 1, "{name}");
    }
}

#[test]
fn the_current_section_is_marked() {
    let fixture = Fixture::new();
    let current = |path: &str| {
        let page = fixture.page(path);
        let nav =
            page.split("aria-label=\"Parts\"").nth(1).unwrap().split("</nav>").next().unwrap();
        let marked: Vec<&str> =
            nav.split("<a ").filter(|link| link.contains("aria-current")).collect();
        marked.iter().map(|link| link.split('"').nth(1).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(current("/"), ["/"]);
    assert_eq!(current("/sessions"), ["/sessions"]);
    assert_eq!(current("/sessions/s1/packages"), ["/sessions"]);
    assert_eq!(current("/runs"), ["/runs"]);
    assert_eq!(current("/knowledge"), ["/knowledge"]);
    assert_eq!(current("/errors"), ["/knowledge"]);
    assert_eq!(current("/strategies"), ["/knowledge"]);
    assert!(current("/search").is_empty(), "the search is not in the navigation");
}

#[test]
fn breadcrumbs_lead_to_the_enclosing_pages() {
    let fixture = Fixture::new();
    fixture.register(&[fixture.package(1, "developer", "Finding", "text")]);
    let page = fixture.page("/packages/1");
    let crumbs = page.split("class=\"above\"").nth(1).unwrap().split("</nav>").next().unwrap();
    shows(
        crumbs,
        &["href=\"/sessions\"", "href=\"/sessions/s1\"", "href=\"/sessions/s1/packages\""],
    );
    hides(&fixture.page("/sessions"), &["class=\"above\""]);
}

#[test]
fn a_trailing_slash_is_ignored() {
    let fixture = Fixture::new();
    fixture.page("/sessions/");
    fixture.page("/sessions/s1/");
}

#[test]
fn the_theme_comes_from_a_cookie() {
    let fixture = Fixture::new();
    let page = |theme: &str| {
        let mut request = PageRequest::get("/");
        request.cookies = vec![("handover_theme".to_owned(), theme.to_owned())];
        String::from_utf8(fixture.answer(&request, false).body).unwrap()
    };
    shows(&page("dark"), &["data-theme=\"dark\""]);
    shows(&page("light"), &["data-theme=\"light\""]);
    shows(&page("pink"), &["data-theme=\"auto\""]);
    shows(&fixture.page("/"), &["data-theme=\"auto\""]);
}

#[test]
fn theme_links_return_to_the_same_page_and_query() {
    let fixture = Fixture::new();
    let page = fixture.page_with("/search", &[("q", "a b")]);
    shows(&page, &["/theme?to=dark&amp;back=%2Fsearch%3Fq%3Da%2Bb"]);
}

#[test]
fn the_search_box_keeps_the_query_on_the_search_page_only() {
    let fixture = Fixture::new();
    shows(&fixture.page_with("/search", &[("q", "tokens")]), &["value=\"tokens\""]);
    hides(&fixture.page_with("/sessions", &[("q", "tokens")]), &["value=\"tokens\""]);
}

#[test]
fn assets_are_served_by_their_hash() {
    let fixture = Fixture::new();
    let page = fixture.page("/");
    for kind in ["style", "live", "icon"] {
        let prefix = format!("/assets/{kind}.");
        let path = page.split('"').find(|part| part.starts_with(&prefix)).unwrap();
        let asset = fixture.get(path, &[]);
        assert_eq!(asset.status, 200, "{path}");
        assert!(asset.headers.iter().any(|(_, value)| value.contains("immutable")));
        assert!(!asset.body.is_empty());
    }
    assert_eq!(fixture.get("/assets/style.css", &[]).status, 404);
}

#[test]
fn forms_need_write_access_and_an_entry() {
    let fixture = Fixture::new();
    let run = fixture.crashed_run("run_1", "1");
    let post = |path: &str, may_write: bool| {
        let mut request = PageRequest::get(path);
        request.method = Method::Post;
        request.form = vec![
            ("text".to_owned(), "8080".to_owned()),
            ("token".to_owned(), FORM_TOKEN.to_owned()),
        ];
        fixture.answer(&request, may_write).status
    };
    assert_eq!(post("/", true), 404);
    assert_eq!(post("/sessions/s1", true), 404);
    let answers = format!("/runs/{run}/answers");
    assert_eq!(post(&answers, false), 404);
    assert_eq!(post("/runs/none/answers", true), 404);
    assert_eq!(post(&answers, true), 400);
}

#[test]
fn the_overview_says_whether_subagents_were_covered() {
    let mut fixture = Fixture::new();
    assert!(!fixture.page("/").contains("id=\"coverage\""), "nobody knows");
    fixture.coverage = Some([(Coverage::Briefed, 4), (Coverage::Exempt, 1)].into());
    let line = "Subagents of the last 7 days: 4 briefed, 1 exempt, 0 refused, 0 missed.";
    shows(&fixture.page("/"), &[line]);
    fixture.coverage = Some([(Coverage::Missed, 2)].into());
    shows(&fixture.page("/"), &["2 missed.", "handover coverage"]);
}
