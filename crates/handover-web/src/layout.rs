//! The frame of every page: head, navigation, search, theme.

use maud::{DOCTYPE, Markup, html};

use crate::form::is_local;
use crate::page::Page;
use crate::request::PageRequest;
use crate::response::PageResponse;
use crate::site::Site;
use crate::{asset, view};

/// An entry of the top navigation.
pub(crate) struct NavEntry {
    pub(crate) path: &'static str,
    pub(crate) label: &'static str,
}

/// What surrounds the content of a page.
pub(crate) struct Frame<'a> {
    pub(crate) site: &'a Site<'a>,
    pub(crate) request: &'a PageRequest,
    pub(crate) nav: &'a [NavEntry],
    /// The path of the current navigation entry.
    pub(crate) section: &'a str,
    /// What the form did that led here.
    pub(crate) done: Option<&'a Markup>,
}

/// The cookie that stores the theme.
const THEME: &str = "handover_theme";
const THEMES: [&str; 3] = ["auto", "light", "dark"];

/// The complete HTML document.
pub(crate) fn render(frame: &Frame<'_>, page: &Page) -> PageResponse {
    let Frame { site, request, nav, section, done } = frame;
    let theme = theme(request);
    let query = request.query("q").filter(|_| *section == "/search").unwrap_or_default();
    let document = html! {
        (DOCTYPE)
        html lang="en" data-theme=(theme) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (view::single_line(&page.title)) " · " (site.project) " · Handover" }
                link rel="icon" type="image/svg+xml" href=(asset::ICON.path);
                link rel="stylesheet" href=(asset::STYLE.path);
                script src=(asset::SCRIPT.path) defer {}
            }
            body {
                a class="skip" href="#main" { "Skip to content" }
                header class="top" {
                    a class="brand" href="/" { "Handover" span { (site.project) } }
                    nav aria-label="Parts" {
                        @for entry in *nav {
                            a href=(entry.path) aria-current=[(entry.path == *section).then_some("page")] { (entry.label) }
                        }
                    }
                    form class="search" action="/search" role="search" {
                        input type="search" name="q" value=(view::single_line(query)) aria-label="Search everything"
                            placeholder="Search everything" maxlength="200";
                    }
                }
                main id="main" {
                    @if !page.breadcrumbs.is_empty() {
                        nav class="above" aria-label="Above" {
                            @for (link, name) in &page.breadcrumbs { a href=(link) { (name) } " / " }
                        }
                    }
                    @if let Some(done) = done { (done) }
                    (page.body)
                }
                footer {
                    p { span id="live" role="status" {} }
                    nav aria-label="Theme" {
                        "Theme "
                        @for name in THEMES {
                            a href={ "/theme?to=" (name) "&back=" (current_address(request)) } rel="nofollow"
                                aria-current=[(name == theme).then_some("true")] { (name) }
                        }
                    }
                }
            }
        }
    };
    PageResponse::html(document.into_string())
}

/// The theme that was chosen.
pub(crate) fn theme(request: &PageRequest) -> &'static str {
    let cookie = request.cookies.iter().find(|(name, _)| name == THEME);
    cookie.and_then(|(_, value)| THEMES.into_iter().find(|theme| theme == value)).unwrap_or("auto")
}

/// The address of this page, as the value of a query parameter.
fn current_address(request: &PageRequest) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in &request.query {
        query.append_pair(name, value);
    }
    let query = query.finish();
    let address =
        if query.is_empty() { request.path.clone() } else { format!("{}?{query}", request.path) };
    form_urlencoded::byte_serialize(address.as_bytes()).collect()
}

/// Stores the theme in a cookie and redirects back.
pub(crate) fn choose_theme(request: &PageRequest) -> PageResponse {
    let chosen = request.query("to").and_then(|to| THEMES.into_iter().find(|theme| *theme == to));
    let back = request.query("back").filter(|path| is_local(path)).unwrap_or("/").to_owned();
    let mut response = PageResponse::redirect(back);
    if let Some(theme) = chosen {
        let cookie =
            format!("{THEME}={theme}; Path=/; Max-Age=31536000; SameSite=Strict; HttpOnly");
        response.headers.push(("set-cookie", cookie));
    }
    response
}
