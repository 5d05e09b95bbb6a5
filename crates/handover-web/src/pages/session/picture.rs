//! A session as a picture: a lane for each role, time from left to right, and lines from whoever made
//! something to whoever was given it. However much happened, there are at most so many columns and
//! lines; what is close together becomes one mark with a number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use handover_model::{ReceiptState, SessionId, Timestamp};
use maud::{Markup, html};

use super::scene::{From, Reach, Scene, reach_of};
use crate::show::{clock, count, day, plain, plural, role_name};

/// The most columns, lanes, places where a lane and a column meet, and lines.
const COLUMNS: usize = 44;
const LANES: usize = 12;
const PLACES: usize = 320;
const LINES: usize = 240;
/// Sizes, in the units of the drawing.
const WIDTH: f64 = 1_000.0;
const LANE: f64 = 72.0;
const TOP: f64 = 30.0;
const EDGE: f64 = 26.0;
/// Fewer than this many marks of one kind in a cell are drawn one by one.
const SINGLE: usize = 3;
const OTHERS: &str = "others";

/// Pauses that may end a column, in microseconds: the shortest that gives few enough is taken.
const PAUSES: [i64; 9] = [
    0,
    1_000_000,
    5_000_000,
    30_000_000,
    120_000_000,
    600_000_000,
    3_600_000_000,
    21_600_000_000,
    86_400_000_000,
];

/// Where everything is.
struct Plan {
    lanes: Vec<String>,
    /// When each column begins.
    columns: Vec<Timestamp>,
}

impl Plan {
    fn of(scene: &Scene) -> Self {
        let mut first: BTreeMap<&str, (usize, Timestamp)> = BTreeMap::new();
        let seen = scene
            .sent
            .iter()
            .map(|sent| (sent.producer.as_str(), sent.at))
            .chain(scene.thoughts.iter().map(|thought| (thought.role.as_str(), thought.at)))
            .chain(
                scene.receipts.iter().map(|receipt| (receipt.role.as_str(), receipt.created_at)),
            );
        let mut times = Vec::new();
        for (role, at) in seen {
            let entry = first.entry(role).or_insert((0, at));
            entry.0 += 1;
            entry.1 = entry.1.min(at);
            times.push(at.as_micros());
        }
        times.sort_unstable();
        let mut roles: Vec<(&str, (usize, Timestamp))> = first.into_iter().collect();
        // The busiest have a lane; lanes are in the order in which their roles came up.
        roles.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let rest = roles.len() > LANES;
        roles.truncate(if rest { LANES - 1 } else { LANES });
        roles.sort_by_key(|(_, (_, at))| *at);
        let mut lanes: Vec<String> = roles.into_iter().map(|(role, _)| role.to_owned()).collect();
        if rest {
            lanes.push(OTHERS.to_owned());
        }
        let most = (PLACES / lanes.len().max(1)).min(COLUMNS);
        Self { lanes, columns: columns(&times, most) }
    }

    fn lane(&self, role: &str) -> usize {
        let last = self.lanes.len().saturating_sub(1);
        self.lanes.iter().position(|lane| lane == role).unwrap_or(last)
    }

    fn column(&self, at: Timestamp) -> usize {
        self.columns.partition_point(|start| *start <= at).saturating_sub(1)
    }

    fn x(&self, column: usize) -> f64 {
        let step = (WIDTH - 2.0 * EDGE) / self.columns.len().max(1) as f64;
        EDGE + step * (column as f64 + 0.5)
    }

    fn height(&self) -> f64 {
        TOP + LANE * self.lanes.len() as f64
    }
}

/// When columns begin: where there was a pause, or, where things happen all the time, at equal steps.
fn columns(times: &[i64], most: usize) -> Vec<Timestamp> {
    let starts = |pause: i64| -> Vec<i64> {
        let mut starts = Vec::new();
        let mut last = None;
        for &time in times {
            if last.is_none_or(|last| time - last > pause) {
                starts.push(time);
            }
            last = Some(time);
        }
        starts
    };
    let by_pause = PAUSES.iter().map(|pause| starts(*pause)).find(|starts| starts.len() <= most);
    let starts = match (by_pause, times.first(), times.last()) {
        (Some(starts), ..) if starts.len() >= most / 4 || times.len() <= most => starts,
        (_, Some(&first), Some(&last)) => {
            let step = ((last - first) / most as i64).max(1);
            let used: BTreeSet<i64> =
                times.iter().map(|time| ((time - first) / step).min(most as i64 - 1)).collect();
            used.into_iter().map(|column| first + column * step).collect()
        }
        (starts, ..) => starts.unwrap_or_default(),
    };
    starts.into_iter().map(Timestamp::from_micros).collect()
}

/// What one cell holds: who did what in one stretch of time.
#[derive(Default)]
struct Cell {
    sent: Vec<usize>,
    thoughts: Vec<usize>,
    receipts: Vec<usize>,
}

/// Lines that begin and end at the same marks.
#[derive(Default)]
struct Line {
    count: usize,
    reach: Option<Reach>,
}

/// The picture.
pub(super) fn picture(session: &SessionId, scene: &Scene) -> Markup {
    let plan = Plan::of(scene);
    let mut cells: BTreeMap<(usize, usize), Cell> = BTreeMap::new();
    for (at, sent) in scene.sent.iter().enumerate() {
        let place = (plan.lane(sent.producer.as_str()), plan.column(sent.at));
        cells.entry(place).or_default().sent.push(at);
    }
    for (at, thought) in scene.thoughts.iter().enumerate() {
        let place = (plan.lane(thought.role.as_str()), plan.column(thought.at));
        cells.entry(place).or_default().thoughts.push(at);
    }
    for (at, receipt) in scene.receipts.iter().enumerate() {
        let place = (plan.lane(receipt.role.as_str()), plan.column(receipt.created_at));
        cells.entry(place).or_default().receipts.push(at);
    }
    let (lines, hidden) = lines(scene, &plan);
    let height = plan.height();
    html! {
        div class="lanes" {
            ol class="lane-names" aria-hidden="true" {
                @for lane in &plan.lanes { li { (role_name(lane)) } }
            }
            div class="scroll" tabindex="0" role="region" aria-label="Picture of the session, scrolls sideways" {
                svg class="picture" width=(WIDTH) height=(height) viewBox={ "0 0 " (WIDTH) " " (height) }
                    role="group" aria-label=(summary(scene, &plan)) {
                    (axis(&plan))
                    @for (at, _) in plan.lanes.iter().enumerate() {
                        @let y = TOP + LANE * (at as f64 + 0.5);
                        line class="lane" x1="0" x2=(WIDTH) y1=(y) y2=(y) {}
                    }
                    g class="ways" {
                        @for ((from, to, is_thought), line) in &lines {
                            (way(&plan, *from, *to, *is_thought, line))
                        }
                    }
                    @for ((lane, column), cell) in &cells {
                        (marks(session, scene, &plan, *lane, *column, cell))
                    }
                }
            }
        }
        @if hidden > 0 {
            p class="note" { (count(hidden)) " thinner lines are not drawn." }
        }
    }
}

fn summary(scene: &Scene, plan: &Plan) -> String {
    format!(
        "{} in {}, {} and {} of reasoning on their way",
        plural(scene.receipts.len(), "agent", "agents"),
        plural(plan.lanes.len(), "role", "roles"),
        plural(scene.sent.len(), "package", "packages"),
        plural(scene.thoughts.len(), "piece", "pieces"),
    )
}

/// The times above the picture: where there is room, and with the day where that changes.
fn axis(plan: &Plan) -> Markup {
    let mut last_x = f64::MIN;
    let mut last_day = String::new();
    let mut labels = Vec::new();
    for (column, start) in plan.columns.iter().enumerate() {
        let x = plan.x(column);
        let today = day(*start);
        let text =
            if today == last_day { clock(*start) } else { format!("{today} {}", clock(*start)) };
        let room = if text.len() > 5 { 96.0 } else { 58.0 };
        if x - last_x >= room {
            last_x = x + if text.len() > 5 { 38.0 } else { 0.0 };
            last_day = today;
            labels.push((x, text));
        }
    }
    html! {
        g class="axis" aria-hidden="true" {
            @for (x, text) in labels {
                line x1=(round(x)) x2=(round(x)) y1="20" y2=(plan.height()) {}
                text x=(round((x - 4.0).max(0.0))) y="13" { (text) }
            }
        }
    }
}

/// Where a line begins or ends: lane and column.
type Spot = (usize, usize);

/// Where a line begins, where it ends, and whether reasoning is on it.
type Course = (Spot, Spot, bool);

/// The lines, the strongest last so that they lie on top, and how many are left out.
fn lines(scene: &Scene, plan: &Plan) -> (Vec<(Course, Line)>, usize) {
    let mut lines: BTreeMap<Course, Line> = BTreeMap::new();
    for way in &scene.ways {
        let Some(receipt) = scene.receipts.get(way.to) else { continue };
        let (role, at, is_thought) = match way.from {
            From::Sent(at) => match scene.sent.get(at) {
                Some(sent) => (&sent.producer, sent.at, false),
                None => continue,
            },
            From::Thought(at) => match scene.thoughts.get(at) {
                Some(thought) => (&thought.role, thought.at, true),
                None => continue,
            },
        };
        let from = (plan.lane(role.as_str()), plan.column(at));
        let to = (plan.lane(receipt.role.as_str()), plan.column(receipt.created_at));
        let line = lines.entry((from, to, is_thought)).or_default();
        line.count += 1;
        let reach = if way.read_at.is_some() { Reach::Read } else { reach_of(receipt.state) };
        line.reach = line.reach.max(Some(reach));
    }
    let mut lines: Vec<_> = lines.into_iter().collect();
    lines.sort_by_key(|(key, line)| (line.reach, line.count, *key));
    let hidden = lines.len().saturating_sub(LINES);
    (lines.split_off(hidden), hidden)
}

fn way(plan: &Plan, from: Spot, to: Spot, is_thought: bool, line: &Line) -> Markup {
    let (x1, x2) = (plan.x(from.1), plan.x(to.1));
    let y1 = lane_y(from.0) + if is_thought { THOUGHT_Y } else { SENT_Y };
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
    let kind = if is_thought { "thought" } else { "sent" };
    let reach = line.reach.unwrap_or(Reach::Nobody).class();
    let width = 1.0 + (line.count as f64).log2() * 0.6;
    html! {
        path class={ (kind) " " (reach) } data-from={ (from.0) "-" (from.1) } data-to={ (to.0) "-" (to.1) }
            d=(path) stroke-width=(round(width.min(5.0))) {}
    }
}

/// Where marks are, from the middle of their lane.
const SENT_Y: f64 = -20.0;
const THOUGHT_Y: f64 = 21.0;

fn lane_y(lane: usize) -> f64 {
    TOP + LANE * (lane as f64 + 0.5)
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

fn marks(
    session: &SessionId,
    scene: &Scene,
    plan: &Plan,
    lane: usize,
    column: usize,
    cell: &Cell,
) -> Markup {
    let (x, y) = (plan.x(column), lane_y(lane));
    let role = plan.lanes.get(lane).map(String::as_str).unwrap_or_default();
    html! {
        g data-at={ (lane) "-" (column) } {
        @if cell.sent.len() <= SINGLE {
            @for (nth, at) in cell.sent.iter().enumerate() {
                @if let Some(sent) = scene.sent.get(*at) {
                    @let name = format!("{} wrote {} ({})", role_name(role), plain(&sent.title), sent.reach.words());
                    a href={ "/packages/" (sent.id) } {
                        title { (name) }
                        rect class={ "sent " (sent.reach.class()) @if !sent.is_latest { " old" } }
                            x=(round(x - 6.0 + 5.0 * nth as f64)) y=(round(y + SENT_Y - 6.0 - 4.0 * nth as f64))
                            width="12" height="12" rx="2.5" {}
                    }
                }
            }
        } @else {
            (pile(session, scene, role, x, y, cell))
        }
        @if !cell.thoughts.is_empty() { (thoughts(session, scene, role, x, y, cell)) }
        @if !cell.receipts.is_empty() { (briefed(session, scene, role, x, y, cell)) }
        }
    }
}

/// Many packages in one place: a pile whose layers say how far they came.
fn pile(session: &SessionId, scene: &Scene, role: &str, x: f64, y: f64, cell: &Cell) -> Markup {
    const HIGH: f64 = 30.0;
    let all = cell.sent.len();
    let of = |reach: Reach| {
        cell.sent.iter().filter(|at| scene.sent.get(**at).is_some_and(|s| s.reach == reach)).count()
    };
    let layers = [Reach::Read, Reach::Confirmed, Reach::Delivered, Reach::Nobody];
    let counts: Vec<(Reach, usize)> = layers.into_iter().map(|reach| (reach, of(reach))).collect();
    let said: Vec<String> = counts
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(reach, number)| format!("{} {}", count(*number), reach.words()))
        .collect();
    let name = format!("{} wrote {} packages: {}", role_name(role), count(all), said.join(", "));
    let mut top = y + SENT_Y + 8.0;
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
            text class="number" x=(round(x + 11.0)) y=(round(y + SENT_Y + 4.0)) { (count(all)) }
        }
    }
}

fn thoughts(session: &SessionId, scene: &Scene, role: &str, x: f64, y: f64, cell: &Cell) -> Markup {
    let first = cell.thoughts.first().and_then(|at| scene.thoughts.get(*at));
    let name = match (cell.thoughts.len(), first) {
        (1, Some(thought)) => {
            format!("{} on {}: {}", role_name(role), thought.phase, plain(&thought.content))
        }
        (number, _) => format!("{}: {} pieces of reasoning", role_name(role), count(number)),
    };
    let reached = cell
        .thoughts
        .iter()
        .any(|at| scene.thoughts.get(*at).is_some_and(|thought| thought.reach > Reach::Nobody));
    html! {
        a href={ "/sessions/" (session) "/reasoning?role=" (role) } {
            title { (name) }
            circle class={ "thought" @if reached { " reached" } } cx=(round(x)) cy=(round(y + THOUGHT_Y)) r="4.5" {}
            @if cell.thoughts.len() > 1 {
                text class="number" x=(round(x + 8.0)) y=(round(y + THOUGHT_Y + 4.0)) { (count(cell.thoughts.len())) }
            }
        }
    }
}

/// Agents that were given something, or should have been.
fn briefed(session: &SessionId, scene: &Scene, role: &str, x: f64, y: f64, cell: &Cell) -> Markup {
    let receipts: Vec<_> = cell.receipts.iter().filter_map(|at| scene.receipts.get(*at)).collect();
    // The worst one shows: it is the one to look at.
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

/// What the marks mean.
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
                (sent(Reach::Nobody, "reached nobody"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_moments_have_a_column_each_and_many_share_them() {
        let few: Vec<i64> = (0..10).map(|n| n * 3).collect();
        assert_eq!(columns(&few, COLUMNS).len(), 10);
        // Work, a pause, work: the pause parts them.
        let paused: Vec<i64> = (0..30)
            .flat_map(|part| (0..10).map(move |n| part * 3_600_000_000 + n * 1_000_000))
            .collect();
        assert_eq!(columns(&paused, COLUMNS).len(), 30);
        let steady: Vec<i64> = (0..10_000).map(|n| n * 1_000_000).collect();
        assert_eq!(columns(&steady, COLUMNS).len(), COLUMNS);
        assert!(columns(&[], COLUMNS).is_empty());
        assert_eq!(columns(&[5; 500], COLUMNS).len(), 1);
    }
}
