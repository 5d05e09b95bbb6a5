//! The picture of a session: to scale, a part of it, as a file; and of a session that is too long to be read whole.

use crate::fixture::{Fixture, hides, shows};
use crate::scene::login;

#[test]
fn the_picture_is_a_file_with_its_styles_inside() {
    let fixture = login();
    let file = |query: &[(&str, &str)]| {
        let response = fixture.get("/sessions/s1/picture.svg", query);
        assert_eq!(response.status, 200);
        assert_eq!(response.content_type, "image/svg+xml; charset=utf-8");
        let policy = &response.headers.iter().find(|(name, _)| name.contains("policy")).unwrap().1;
        assert!(policy.starts_with("default-src 'none'; style-src 'unsafe-inline'"), "{policy}");
        String::from_utf8(response.body).unwrap()
    };
    let svg = file(&[]);
    shows(
        &svg,
        &[
            "<svg xmlns=\"http://www.w3.org/2000/svg\"",
            "prefers-color-scheme: dark",
            "requirements engineer",
            "shop · session s1",
            "How tokens rotate",
        ],
    );
    hides(&svg, &["<a ", "href", "var(", "<script", "url("]);
    hides(&file(&[("theme", "dark")]), &["prefers-color-scheme", "#fbfaf7"]);
    assert_ne!(file(&[("theme", "light")]), file(&[("theme", "dark")]));
    assert_ne!(file(&[]), file(&[("scale", "time")]));
    for missing in ["/sessions/none/picture.svg", "/sessions/../picture.svg"] {
        assert_eq!(fixture.get(missing, &[]).status, 404, "{missing}");
    }
}

#[test]
fn a_part_of_a_session_is_shown() {
    let fixture = Fixture::new();
    for n in 0..40 {
        fixture.think(n * 60, if n < 20 { "developer" } else { "tech_lead" }, "A thought");
    }
    let page = fixture.page("/sessions/s1");
    shows(&page, &["To scale", "Zoom into the first half", "As SVG", "picture.svg"]);
    let link = |page: &str, words: &str| {
        let (before, _) = page.split_once(&format!(">{words}<")).unwrap();
        let (_, link) = before.rsplit_once("href=\"").unwrap();
        link.trim_end_matches('"').replace("&amp;", "&")
    };
    let go = |link: &str| {
        let (path, query) = link.split_once('?').unwrap();
        let query: Vec<(String, String)> = query
            .split('&')
            .map(|field| field.split_once('=').unwrap())
            .map(|(name, value)| (name.to_owned(), value.replace("%3A", ":")))
            .collect();
        let query: Vec<(&str, &str)> =
            query.iter().map(|(name, value)| (&**name, &**value)).collect();
        fixture.page_with(path, &query)
    };
    let first = go(&link(&page, "Zoom into the first half"));
    shows(&first, &["1 role", "Everything"]);
    hides(&first, &["aria-label=\"0 agents in 2 roles"]);
    let scaled = go(&link(&first, "To scale"));
    shows(&scaled, &["to scale", "Without pauses", "Everything"]);
    let whole = go(&link(&scaled, "Everything"));
    shows(&whole, &["2 roles", "to scale"]);
}

#[test]
fn of_a_very_long_session_the_newest_part_is_shown() {
    let fixture = Fixture::new();
    let old = fixture.package(1, "historian", "From long ago", "text");
    fixture.register(&[old]);
    for n in 0..1_100 {
        fixture.assemble(100 + n, "developer", &[], "block");
    }
    let page = fixture.page("/sessions/s1");
    shows(&page, &["The session is longer", "Receipts 1,100", "Packages 1"]);
    hides(&page, &["historian"]);
    shows(&fixture.page("/sessions/s1/packages"), &["From long ago", "reached nobody"]);
}
