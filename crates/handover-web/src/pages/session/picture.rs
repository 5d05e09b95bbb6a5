//! The picture of a session: which part of it is shown, and the picture as a file of its own.

use handover_model::{SessionId, Timestamp};
use maud::{Markup, PreEscaped, html};

use super::drawing::{self, Drawing};
use super::graph::SessionGraph;
use super::layout::{LANE, TOP, View, WIDTH};
use crate::asset;
use crate::error::PageError;
use crate::page::Route;
use crate::request::PageRequest;
use crate::response::PageResponse;
use crate::site::Site;
use crate::steps::escaped;
use crate::view::{count, moment, role_name, section, unlinked};

/// With fewer moments there is nothing to zoom into.
const ZOOMED: usize = 12;
/// Room for the names of the lanes and for the line below, in SVG units.
const NAMES: f64 = 160.0;
const BELOW: f64 = 34.0;

/// The view that an address asks for; a time that cannot be read is no limit.
pub(super) fn view(request: &PageRequest) -> View {
    let time = |name: &str| request.query(name).and_then(|time| time.parse().ok());
    let is_to_scale = request.query("scale") == Some("time");
    View { from: time("from"), to: time("to"), is_to_scale }
}

/// The query of a view, with its `?`.
fn query(view: &View) -> String {
    let mut fields = Vec::new();
    for (name, time) in [("from", view.from), ("to", view.to)] {
        if let Some(time) = time {
            fields.push(format!("{name}={}", escaped(&time.to_string())));
        }
    }
    if view.is_to_scale {
        fields.push("scale=time".to_owned());
    }
    if fields.is_empty() { String::new() } else { format!("?{}", fields.join("&")) }
}

/// The picture with everything around it.
pub(super) fn render(id: &SessionId, graph: &SessionGraph, route: &Route<'_>) -> Markup {
    let view = view(route.request);
    let note = html! {
        "Time runs from left to right" @if view.is_to_scale { ", to scale" } @else { "; pauses are left out" }
        ". Lines lead from the author of something to the agents that received it."
        @if let Some(since) = graph.since { " The session is longer: this is what happened since " (moment(since)) ", the lists have the rest." }
    };
    let drawing = Drawing::new(id, graph, &view);
    section(
        "picture",
        "Who knew what, and from whom",
        note,
        html! {
            (drawing::legend())
            (controls(id, graph, &view))
            (drawing.on_the_page())
        },
    )
}

/// Another scale, another part, a file.
fn controls(id: &SessionId, graph: &SessionGraph, view: &View) -> Markup {
    let link = |view: &View| format!("/sessions/{id}{}", query(view));
    let halves = halves(graph, view);
    let is_part = view.from.is_some() || view.to.is_some();
    let file = format!("/sessions/{id}/picture.svg{}", query(view));
    html! {
        nav class="pages" aria-label="The picture" {
            @if view.is_to_scale { a href=(link(&View { is_to_scale: false, ..*view })) { "Without pauses" } }
            @else { a href=(link(&View { is_to_scale: true, ..*view })) { "To scale" } }
            @if let Some((earlier, later)) = &halves {
                a href=(link(earlier)) { "Zoom into the first half" }
                a href=(link(later)) { "Zoom into the second half" }
            }
            @if is_part { a href=(link(&View { is_to_scale: view.is_to_scale, ..View::default() })) { "Everything" } }
            a href=(file) download={ "session-" (id) ".svg" } { "As SVG" }
            button type="button" class="plain" data-png=(file) data-name={ "session-" (id) ".png" } hidden { "As PNG" }
        }
    }
}

/// The two halves of what is shown, by time; none if there is little.
fn halves(graph: &SessionGraph, view: &View) -> Option<(View, View)> {
    let mut times: Vec<i64> = graph
        .moments()
        .filter(|(_, at)| view.shows(*at))
        .map(|(_, at)| at.as_micros() / 1_000)
        .collect();
    times.sort_unstable();
    let (&first, &last) = (times.first()?, times.last()?);
    times.dedup();
    if times.len() < ZOOMED {
        return None;
    }
    // The address has milliseconds.
    let at = |millis: i64| Some(Timestamp::from_micros(millis * 1_000));
    let middle = first + (last - first) / 2;
    let earlier = View { from: at(first), to: at(middle), ..*view };
    let later = View { from: at(middle), to: at(last + 1), ..*view };
    Some((earlier, later))
}

/// The picture of a session as an SVG file, if that is what the path names.
pub(crate) fn file(site: &Site<'_>, request: &PageRequest) -> Option<PageResponse> {
    let id = request.path.strip_prefix("/sessions/")?.strip_suffix("/picture.svg")?;
    let id = SessionId::new(id).ok()?;
    let text = svg(site, &id, request).ok()?;
    // Its styles are inside, and it has nothing else that could be loaded or run.
    let policy = "default-src 'none'; style-src 'unsafe-inline'".to_owned();
    Some(PageResponse {
        status: 200,
        content_type: "image/svg+xml; charset=utf-8",
        headers: vec![("content-security-policy", policy)],
        body: text.into_bytes(),
    })
}

fn svg(site: &Site<'_>, id: &SessionId, request: &PageRequest) -> Result<String, PageError> {
    let graph = site.store.reading(|store| {
        store.session(id)?;
        SessionGraph::read(store, id)
    })?;
    let view = view(request);
    let drawing = Drawing::new(id, &graph, &view);
    let style = match request.query("theme") {
        Some("light") => style(false),
        Some("dark") => style(true),
        _ => format!("{}@media (prefers-color-scheme: dark) {{{}}}", style(false), style(true)),
    };
    let (width, height) = (NAMES + WIDTH, drawing.height() + BELOW);
    let drawn = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(width) height=(height) viewBox=(format!("0 0 {width} {height}")) role="img" {
            title { "Session " (id) ": " (drawing.summary()) }
            style { (PreEscaped(style)) }
            rect class="sheet" width=(width) height=(height) {}
            @for (at, lane) in drawing.lanes().iter().enumerate() {
                @let y = TOP + LANE * (at as f64 + 0.5) + 4.0;
                text class="name" x="14" y=(y) { (name(lane)) }
            }
            g class="picture" transform=(format!("translate({NAMES} 0)")) { (drawing.inside()) }
            text class="below" x="14" y=(height - 12.0) {
                (site.project) " · session " (id) " · " (count(graph.receipts.len())) " briefs · squares: what agents wrote, circles: agents that were briefed, lines: what each one was given"
            }
        }
    };
    Ok(unlinked(&drawn.into_string(), "g").chars().map(in_xml).collect())
}

/// As much of the name of a lane as there is room for.
fn name(lane: &str) -> String {
    handover_text::cut::cut(&role_name(lane), 22)
}

/// What XML cannot have is replaced.
fn in_xml(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'.. => c,
        _ => '\u{fffd}',
    }
}

/// The rules of the page's style sheet for the picture, with the colours of one theme in place of variables: not
/// every program that shows SVG knows those.
fn style(is_dark: bool) -> String {
    let sheet = asset::STYLE.text;
    let part = sheet.split("/* The picture of a session */").nth(1).unwrap_or_default();
    let part = part.split("/*").next().unwrap_or_default();
    let is_drawn =
        |line: &&str| ![" a:", "legend", "lanes", "lane-names"].iter().any(|of| line.contains(of));
    let rules = part.lines().filter(is_drawn);
    let own = ".sheet { fill: var(--sheet); }\n.name { fill: var(--ink); font-size: 13px; }\n\
               .below { fill: var(--muted); font-size: 11.5px; }\ntext { font-family: system-ui, sans-serif; }";
    let mut text: String = rules.chain(own.lines()).map(|line| format!("{line}\n")).collect();
    for line in sheet.lines() {
        let Some((name, value)) = line.trim().split_once(": light-dark(") else { continue };
        let Some((light, dark)) = value.trim_end_matches(");").split_once(", ") else { continue };
        text = text.replace(&format!("var({name})"), if is_dark { dark } else { light });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_style_has_colours_instead_of_variables() {
        for is_dark in [false, true] {
            let style = style(is_dark);
            assert!(style.contains("rect.sent.read { fill: #"), "{style}");
            for sign in ["var(", "color-mix", "light-dark", "url(", "@import", "<"] {
                assert!(!style.contains(sign), "{sign}: {style}");
            }
        }
        assert_ne!(style(false), style(true));
    }

    #[test]
    fn a_view_reads_back_from_its_address() {
        let at = |millis: i64| Some(Timestamp::from_micros(1_800_000_000_000_000 + millis * 1_000));
        let view = View { from: at(1), to: at(5_005), is_to_scale: true };
        let text = query(&view);
        let mut request = PageRequest::get("/sessions/s1");
        request.query = form_urlencoded::parse(&text.as_bytes()[1..]).into_owned().collect();
        assert_eq!(super::view(&request), view);
        assert_eq!(query(&View::default()), "");
        request.query = vec![("from".to_owned(), "soon".to_owned())];
        assert_eq!(super::view(&request), View::default());
    }

    #[test]
    fn characters_that_xml_cannot_have_are_replaced() {
        let text: String = "a\u{0}b\u{fffe}c\u{1f600}".chars().map(in_xml).collect();
        assert_eq!(text, "a\u{fffd}b\u{fffd}c\u{1f600}");
    }
}
