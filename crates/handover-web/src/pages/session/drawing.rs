//! Draws a session as SVG: a lane per role, time from left to right, and lines from authors to recipients. The
//! number of columns and lines is bounded; marks that are close together are merged into one with a count.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_model::{ReceiptState, SessionId};
use maud::{Markup, html};

use super::graph::{EdgeSource, Reach, SessionGraph, reach_of};
use super::layout::{LANE, Layout, TOP, View, WIDTH};
use crate::view::{count, plural, role_name, short_date, single_line, time_of_day};

/// Fewer than this many marks of one kind in a cell are drawn one by one.
const SINGLE: usize = 3;
/// Lines that are drawn.
const LINES: usize = 160;

/// The activity of one role during one column.
#[derive(Default)]
struct Cell {
    packages: Vec<usize>,
    reasoning: Vec<usize>,
    receipts: Vec<usize>,
}

/// All edges between the same two cells.
#[derive(Default)]
struct Connector {
    count: usize,
    reach: Option<Reach>,
}

/// A session, laid out.
pub(super) struct Drawing<'a> {
    session: &'a SessionId,
    graph: &'a SessionGraph,
    layout: Layout,
    cells: BTreeMap<CellKey, Cell>,
    lines: Vec<(ConnectorKey, Connector)>,
    /// Lines that are not drawn.
    hidden: usize,
}

impl<'a> Drawing<'a> {
    pub(super) fn new(session: &'a SessionId, graph: &'a SessionGraph, view: &View) -> Self {
        let layout = Layout::new(graph, view);
        let mut cells: BTreeMap<CellKey, Cell> = BTreeMap::new();
        for (at, package) in graph.packages.iter().enumerate().filter(|(_, p)| view.shows(p.at)) {
            let cell = (layout.lane(package.producer.as_str()), layout.column(package.at));
            cells.entry(cell).or_default().packages.push(at);
        }
        for (at, entry) in graph.reasoning.iter().enumerate().filter(|(_, e)| view.shows(e.at)) {
            let cell = (layout.lane(entry.role.as_str()), layout.column(entry.at));
            cells.entry(cell).or_default().reasoning.push(at);
        }
        let receipts = graph.receipts.iter().enumerate();
        for (at, receipt) in receipts.filter(|(_, receipt)| view.shows(receipt.created_at)) {
            let cell = (layout.lane(receipt.role.as_str()), layout.column(receipt.created_at));
            cells.entry(cell).or_default().receipts.push(at);
        }
        let (lines, hidden) = lines(graph, &layout, view);
        Self { session, graph, layout, cells, lines, hidden }
    }

    pub(super) fn lanes(&self) -> &[String] {
        &self.layout.lanes
    }

    pub(super) fn height(&self) -> f64 {
        self.layout.height()
    }

    /// What it shows, in a sentence.
    pub(super) fn summary(&self) -> String {
        summary(self.graph, &self.layout)
    }

    /// For the page: names of the lanes that stay while the picture scrolls.
    pub(super) fn on_the_page(&self) -> Markup {
        let height = self.height();
        html! {
            div class="lanes" {
                ol class="lane-names" aria-hidden="true" {
                    @for lane in self.lanes() { li { (role_name(lane)) } }
                }
                div class="scroll" tabindex="0" role="region" aria-label="Graph of the session, scrolls sideways" {
                    svg class="picture" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) }
                        role="group" aria-label=(self.summary()) { (self.inside()) }
                }
            }
            @if self.hidden > 0 {
                p class="note" { (count(self.hidden)) " thinner lines are not drawn." }
            }
        }
    }

    /// Axis, lanes, lines and marks.
    pub(super) fn inside(&self) -> Markup {
        let layout = &self.layout;
        html! {
            (axis(layout))
            @for (at, _) in layout.lanes.iter().enumerate() {
                @let y = TOP + LANE * (at as f64 + 0.5);
                line class="lane" x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
            }
            g class="ways" {
                @for ((from, to, is_reasoning), line) in &self.lines {
                    (curve(layout, *from, *to, *is_reasoning, line))
                }
            }
            @for ((lane, column), cell) in &self.cells {
                (marks(self.session, self.graph, layout, *lane, *column, cell))
            }
        }
    }
}

fn summary(graph: &SessionGraph, layout: &Layout) -> String {
    format!(
        "{} in {}, {} and {} of reasoning passed on",
        plural(graph.receipts.len(), "agent", "agents"),
        plural(layout.lanes.len(), "role", "roles"),
        plural(graph.packages.len(), "package", "packages"),
        plural(graph.reasoning.len(), "piece", "pieces"),
    )
}

/// Time labels: where they fit, and with the date where it changes. The first says that they are UTC, until the
/// script of a page makes them the reader's.
fn axis(layout: &Layout) -> Markup {
    let mut last_x = f64::MIN;
    let (mut last_day, mut last) = (String::new(), String::new());
    let mut labels = Vec::new();
    for (column, start) in layout.columns.iter().enumerate() {
        let x = layout.x(column);
        let (today, now) = (short_date(*start), time_of_day(*start));
        let is_first = labels.is_empty();
        let text = match today == last_day {
            true if now == last => continue,
            true => now.clone(),
            false if is_first => format!("{today} {now} UTC"),
            false => format!("{today} {now}"),
        };
        let room = if text.len() > 5 { 96.0 } else { 58.0 };
        if x - last_x >= room {
            last_x = x + if is_first {
                64.0
            } else if text.len() > 5 {
                38.0
            } else {
                0.0
            };
            (last_day, last) = (today, now);
            labels.push((x, *start, text));
        }
    }
    html! {
        g class="axis" aria-hidden="true" {
            @for (x, start, text) in labels {
                line x1=(round(x)) x2=(round(x)) y1="20" y2=(layout.height()) {}
                text x=(round((x - 4.0).max(0.0))) y="13" data-time=(start) { (text) }
            }
        }
    }
}

/// Lane and column.
type CellKey = (usize, usize);

/// Start, end, and whether the line carries reasoning.
type ConnectorKey = (CellKey, CellKey, bool);

/// The lines, the strongest last so that they are on top, and how many are omitted.
fn lines(
    graph: &SessionGraph,
    layout: &Layout,
    view: &View,
) -> (Vec<(ConnectorKey, Connector)>, usize) {
    let mut lines: BTreeMap<ConnectorKey, Connector> = BTreeMap::new();
    for edge in &graph.edges {
        let Some(receipt) = graph.receipts.get(edge.to) else { continue };
        let (role, at, is_reasoning) = match edge.from {
            EdgeSource::Package(at) => match graph.packages.get(at) {
                Some(package) => (&package.producer, package.at, false),
                None => continue,
            },
            EdgeSource::Reasoning(at) => match graph.reasoning.get(at) {
                Some(entry) => (&entry.role, entry.at, true),
                None => continue,
            },
        };
        if !view.shows(at) || !view.shows(receipt.created_at) {
            continue;
        }
        let from = (layout.lane(role.as_str()), layout.column(at));
        let to = (layout.lane(receipt.role.as_str()), layout.column(receipt.created_at));
        let line = lines.entry((from, to, is_reasoning)).or_default();
        line.count += 1;
        let reach = if edge.read_at.is_some() { Reach::Read } else { reach_of(receipt.state) };
        line.reach = line.reach.max(Some(reach));
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(key, line)| (line.reach, line.count, *key));
    let hidden = lines.len().saturating_sub(LINES);
    (lines.split_off(hidden), hidden)
}

fn curve(
    layout: &Layout,
    from: CellKey,
    to: CellKey,
    is_reasoning: bool,
    line: &Connector,
) -> Markup {
    let (x1, x2) = (layout.x(from.1), layout.x(to.1));
    let y1 = lane_y(from.0) + if is_reasoning { REASONING_Y } else { PACKAGE_Y };
    let y2 = lane_y(to.0);
    let bend = ((x2 - x1) / 2.0).abs().max(14.0);
    let mut path = String::new();
    let _ = write!(
        path,
        "M{} {}C{} {} {} {} {} {}",
        round(x1),
        round(y1),
        round(x1 + bend),
        round(y1),
        round(x2 - bend),
        round(y2),
        round(x2),
        round(y2)
    );
    let kind = if is_reasoning { "thought" } else { "sent" };
    let reach = line.reach.unwrap_or(Reach::Undelivered).class();
    let width = 1.0 + (line.count as f64).log2() * 0.6;
    html! {
        path class={ (kind) " " (reach) } data-from={ (from.0) "-" (from.1) } data-to={ (to.0) "-" (to.1) }
            d=(path) stroke-width=(round(width.min(5.0))) {}
    }
}

/// Vertical offsets of marks from the middle of their lane.
const PACKAGE_Y: f64 = -20.0;
const REASONING_Y: f64 = 21.0;

fn lane_y(lane: usize) -> f64 {
    TOP + LANE * (lane as f64 + 0.5)
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn marks(
    session: &SessionId,
    graph: &SessionGraph,
    layout: &Layout,
    lane: usize,
    column: usize,
    cell: &Cell,
) -> Markup {
    let (x, y) = (layout.x(column), lane_y(lane));
    let role = layout.lanes.get(lane).map(String::as_str).unwrap_or_default();
    html! {
        g data-at={ (lane) "-" (column) } {
        @if cell.packages.len() <= SINGLE {
            @for (nth, at) in cell.packages.iter().enumerate() {
                @if let Some(package) = graph.packages.get(*at) {
                    @let name = format!("{} wrote {} ({})", role_name(role), single_line(&package.title), package.reach.label());
                    a href={ "/packages/" (package.id) } {
                        title { (name) }
                        rect class={ "sent " (package.reach.class()) @if !package.is_latest { " old" } }
                            x=(round(x - 6.0 + 5.0 * nth as f64)) y=(round(y + PACKAGE_Y - 6.0 - 4.0 * nth as f64))
                            width="12" height="12" rx="2.5" {}
                    }
                }
            }
        } @else {
            (package_stack(session, graph, role, x, y, cell))
        }
        @if !cell.reasoning.is_empty() { (reasoning_mark(session, graph, role, x, y, cell)) }
        @if !cell.receipts.is_empty() { (brief_mark(session, graph, role, x, y, cell)) }
        }
    }
}

/// Many packages in one cell: a stack whose layers show how far they got.
fn package_stack(
    session: &SessionId,
    graph: &SessionGraph,
    role: &str,
    x: f64,
    y: f64,
    cell: &Cell,
) -> Markup {
    const HIGH: f64 = 30.0;
    let all = cell.packages.len();
    let of = |reach: Reach| {
        cell.packages
            .iter()
            .filter(|at| graph.packages.get(**at).is_some_and(|s| s.reach == reach))
            .count()
    };
    let layers = [Reach::Read, Reach::Confirmed, Reach::Delivered, Reach::Undelivered];
    let counts: Vec<(Reach, usize)> = layers.into_iter().map(|reach| (reach, of(reach))).collect();
    let labels: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reach, number)| format!("{} {}", count(*number), reach.label()))
        .collect();
    let name = format!("{} wrote {} packages: {}", role_name(role), count(all), labels.join(", "));
    let mut top = y + PACKAGE_Y + 8.0;
    html! {
        a href={ "/sessions/" (session) "/packages?role=" (role) } {
            title { (name) }
            @for (reach, number) in counts {
                @let high = HIGH * number as f64 / all as f64;
                ({ top -= high; "" })
                @if number > 0 {
                    rect class={ "sent layer " (reach.class()) } x=(round(x - 8.0)) y=(round(top))
                        width="16" height=(round(high)) {}
                }
            }
            text class="number" x=(round(x + 11.0)) y=(round(y + PACKAGE_Y + 4.0)) { (count(all)) }
        }
    }
}

fn reasoning_mark(
    session: &SessionId,
    graph: &SessionGraph,
    role: &str,
    x: f64,
    y: f64,
    cell: &Cell,
) -> Markup {
    let first = cell.reasoning.first().and_then(|at| graph.reasoning.get(*at));
    let name = match (cell.reasoning.len(), first) {
        (1, Some(entry)) => {
            format!("{} on {}: {}", role_name(role), entry.phase, single_line(&entry.content))
        }
        (number, _) => format!("{}: {} pieces of reasoning", role_name(role), count(number)),
    };
    let reached = cell
        .reasoning
        .iter()
        .any(|at| graph.reasoning.get(*at).is_some_and(|entry| entry.reach > Reach::Undelivered));
    html! {
        a href={ "/sessions/" (session) "/reasoning?role=" (role) } {
            title { (name) }
            circle class={ "thought" @if reached { " reached" } } cx=(round(x)) cy=(round(y + REASONING_Y)) r="4.5" {}
            @if cell.reasoning.len() > 1 {
                text class="number" x=(round(x + 8.0)) y=(round(y + REASONING_Y + 4.0)) { (count(cell.reasoning.len())) }
            }
        }
    }
}

/// Agents that received a brief, or should have.
fn brief_mark(
    session: &SessionId,
    graph: &SessionGraph,
    role: &str,
    x: f64,
    y: f64,
    cell: &Cell,
) -> Markup {
    let receipts: Vec<_> = cell.receipts.iter().filter_map(|at| graph.receipts.get(*at)).collect();
    // The worst state is shown: it is the one to look at.
    let rank = |state: ReceiptState| match state {
        ReceiptState::Failed => 0,
        ReceiptState::Assembled => 1,
        ReceiptState::Delivered => 2,
        ReceiptState::Confirmed => 3,
    };
    let Some(worst) = receipts.iter().min_by_key(|receipt| rank(receipt.state)) else {
        return html! {};
    };
    let (link, name) = match receipts.as_slice() {
        [one] => (
            format!("/receipts/{}", one.id),
            format!("{} was briefed: {} tokens, {}", role_name(role), count(one.tokens), one.state),
        ),
        many => (
            format!("/sessions/{session}/receipts?role={role}"),
            format!(
                "{} was briefed {} times; the worst is {}",
                role_name(role),
                many.len(),
                worst.state
            ),
        ),
    };
    html! {
        a href=(link) {
            title { (name) }
            circle class={ "brief " (worst.state) } cx=(round(x)) cy=(round(y)) r="9" {}
            @match worst.state {
                ReceiptState::Confirmed => path class="sign" d=(format!("M{} {}l3 3l5-6", round(x - 4.0), round(y))) {},
                ReceiptState::Failed => path class="sign" d=(format!("M{} {}l6 6m0-6l-6 6", round(x - 3.0), round(y - 3.0))) {},
                ReceiptState::Assembled | ReceiptState::Delivered => {},
            }
            @if receipts.len() > 1 {
                text class="number" x=(round(x + 12.0)) y=(round(y + 4.0)) { (count(receipts.len())) }
            }
        }
    }
}

pub(super) fn legend() -> Markup {
    let sent = |reach: Reach, words: &str| {
        html! {
            li {
                svg width="14" height="14" aria-hidden="true" { rect class={ "sent " (reach.class()) } x="1" y="1" width="12" height="12" rx="2.5" {} }
                (words)
            }
        }
    };
    let brief = |state: ReceiptState, words: &str| {
        html! {
            li {
                svg width="20" height="20" aria-hidden="true" {
                    circle class={ "brief " (state) } cx="10" cy="10" r="8" {}
                    @match state {
                        ReceiptState::Confirmed => path class="sign" d="M6 10l3 3l5-6" {},
                        ReceiptState::Failed => path class="sign" d="M7 7l6 6m0-6l-6 6" {},
                        ReceiptState::Assembled | ReceiptState::Delivered => {},
                    }
                }
                (words)
            }
        }
    };
    html! {
        div class="legend" {
            ul aria-label="Packages" {
                li class="head" { "Package" }
                (sent(Reach::Read, "read"))
                (sent(Reach::Confirmed, "arrived"))
                (sent(Reach::Delivered, "delivered"))
                (sent(Reach::Undelivered, "reached nobody"))
            }
            ul aria-label="Agents" {
                li class="head" { "Agent briefed" }
                (brief(ReceiptState::Confirmed, "confirmed"))
                (brief(ReceiptState::Delivered, "delivered"))
                (brief(ReceiptState::Assembled, "never sent"))
                (brief(ReceiptState::Failed, "failed"))
            }
            ul aria-label="Reasoning" {
                li class="head" { "Reasoning" }
                li {
                    svg width="14" height="14" aria-hidden="true" { circle class="thought reached" cx="7" cy="7" r="4.5" {} }
                    "passed on"
                }
                li {
                    svg width="14" height="14" aria-hidden="true" { circle class="thought" cx="7" cy="7" r="4.5" {} }
                    "kept"
                }
            }
        }
    }
}
