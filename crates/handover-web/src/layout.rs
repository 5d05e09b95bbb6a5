//! What stands around every page: its head, the way to the others, the search, the theme.

use maud::{DOCTYPE, Markup, html};

use crate::{PageRequest, PageResponse, Site, asset, show};

/// A page before it has its surroundings.
pub(crate) struct Page {
    /// What it is called.
    pub(crate) title: String,
    /// The part of the dashboard that it belongs to.
    pub(crate) part: Part,
    /// The pages above it: where they are, and what they are called.
    pub(crate) above: Vec<(String, String)>,
    /// What is on it.
    pub(crate) body: Markup,
}

/// The parts of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Overview,
    Sessions,
    Runs,
    Errors,
    Strategies,
    Search,
}

const PARTS: [(Part, &str, &str); 5] = [
    (Part::Overview, "/", "Overview"),
    (Part::Sessions, "/sessions", "Sessions"),
    (Part::Runs, "/runs", "Runs"),
    (Part::Errors, "/errors", "Errors"),
    (Part::Strategies, "/strategies", "Strategies"),
];

/// The cookie that remembers the theme.
const THEME: &str = "handover_theme";
const THEMES: [&str; 3] = ["auto", "light", "dark"];

/// The page as it goes out.
pub(crate) fn whole(site: &Site<'_>, request: &PageRequest, page: &Page) -> PageResponse {
    let cookie = request.cookies.iter().find(|(name, _)| name == THEME);
    let theme = cookie
        .and_then(|(_, value)| THEMES.into_iter().find(|theme| theme == value))
        .unwrap_or("auto");
    let query = request.field("q").filter(|_| page.part == Part::Search).unwrap_or_default();
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme=(theme) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (show::plain(&page.title)) " · " (site.project) " · Handover" }
                link rel="icon" type="image/svg+xml" href=(asset::ICON.path);
                link rel="stylesheet" href=(asset::STYLE.path);
                script src=(asset::SCRIPT.path) defer {}
            }
            body {
                a class="skip" href="#main" { "Skip to content" }
                header class="top" {
                    a class="brand" href="/" { "Handover" span { (site.project) } }
                    nav aria-label="Parts" {
                        @for (part, link, name) in PARTS {
                            a href=(link) aria-current=[(part == page.part).then_some("page")] { (name) }
                        }
                    }
                    form class="search" action="/search" role="search" {
                        input type="search" name="q" value=(show::plain(query)) aria-label="Search everything"
                            placeholder="Search everything" maxlength="200";
                    }
                }
                main id="main" {
                    @if !page.above.is_empty() {
                        nav class="above" aria-label="Above" {
                            @for (link, name) in &page.above { a href=(link) { (name) } " / " }
                        }
                    }
                    (page.body)
                }
                footer {
                    p { span id="live" role="status" {} }
                    nav aria-label="Theme" {
                        "Theme "
                        @for name in THEMES {
                            a href={ "/theme?to=" (name) "&back=" (back(request)) } rel="nofollow"
                                aria-current=[(name == theme).then_some("true")] { (name) }
                        }
                    }
                }
            }
        }
    };
    PageResponse::html(document.into_string())
}

fn back(request: &PageRequest) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &request.query {
        query.append_pair(name, value);
    }
    let query = query.finish();
    let here =
        if query.is_empty() { request.path.clone() } else { format!("{}?{query}", request.path) };
    form_urlencoded::byte_serialize(here.as_bytes()).collect()
}

/// Remembers the theme and goes back to where it was chosen.
pub(crate) fn choose_theme(request: &PageRequest) -> PageResponse {
    let chosen = request.field("to").and_then(|to| THEMES.into_iter().find(|theme| *theme == to));
    // Only a place here: no other host, however it is written.
    let local = |path: &&str| {
        path.starts_with('/')
            && !path.starts_with("//")
            && path.bytes().all(|b| b.is_ascii_graphic() && b != b'\\')
    };
    let back = request.field("back").filter(local).unwrap_or("/").to_owned();
    let mut response = PageResponse::see(back);
    if let Some(theme) = chosen {
        let cookie =
            format!("{THEME}={theme}; Path=/; Max-Age=31536000; SameSite=Strict; HttpOnly");
        response.headers.push(("set-cookie", cookie));
    }
    response
}

/// A page that says what went wrong, and what to do next.
pub(crate) fn trouble(title: &str, what: &str, next: &Markup) -> Page {
    Page {
        title: title.to_owned(),
        part: Part::Search,
        above: Vec::new(),
        body: html! {
            h1 { (title) }
            p class="lead" { (show::said(what)) }
            p { (next) }
        },
    }
}
