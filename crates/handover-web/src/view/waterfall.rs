//! Waterfalls: bars from a beginning to an end, a lane for each name, to scale. Pauses in which nothing ran are
//! shortened, and marked.

use handover_model::Timestamp;
use maud::{Markup, html};

use super::{Tone, time_of_day};

/// A bar.
pub(crate) struct Span {
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
    pub(crate) tone: Tone,
    /// Written into the bar if it is wide enough.
    pub(crate) name: String,
    /// All about it in a line.
    pub(crate) note: String,
    pub(crate) link: Option<String>,
    /// Whether it has no end yet: the script asks for it again from time to time.
    pub(crate) grows: bool,
}

/// The bars of one name.
pub(crate) struct Lane {
    pub(crate) name: String,
    pub(crate) spans: Vec<Span>,
}

const WIDTH: f64 = 1_000.0;
const ROW: f64 = 26.0;
const BAR: f64 = 18.0;
const TOP: f64 = 22.0;
/// The narrowest bar: 24 px is what a finger needs, and it has the height of its row besides.
const NARROWEST: f64 = 6.0;
/// A pause longer than this share of what ran is shortened to it.
const PAUSE: f64 = 0.06;

/// Real time to the picture's: pauses are shortened.
struct Scale {
    /// The beginning of each busy stretch, its end, and where it starts in the picture.
    stretches: Vec<(f64, f64, f64)>,
    width: f64,
}

impl Scale {
    fn of(lanes: &[Lane]) -> Self {
        let micros = |time: Timestamp| time.as_micros() as f64;
        let mut spans: Vec<(f64, f64)> = lanes
            .iter()
            .flat_map(|lane| &lane.spans)
            .map(|span| (micros(span.from), micros(span.to).max(micros(span.from))))
            .collect();
        spans.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut busy: Vec<(f64, f64)> = Vec::new();
        for (from, to) in spans {
            match busy.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(to),
                _ => busy.push((from, to)),
            }
        }
        let worked: f64 = busy.iter().map(|(from, to)| to - from).sum::<f64>().max(1.0);
        let (mut stretches, mut at) = (Vec::new(), 0.0);
        let mut last: Option<f64> = None;
        for (from, to) in busy {
            if let Some(last) = last {
                at += (from - last).min(worked * PAUSE);
            }
            stretches.push((from, to, at));
            at += to - from;
            last = Some(to);
        }
        Self { stretches, width: at.max(1.0) }
    }

    fn at(&self, time: Timestamp) -> f64 {
        let time = time.as_micros() as f64;
        let stretch = self.stretches.iter().rfind(|(from, ..)| *from <= time);
        let at = stretch.map_or(0.0, |(from, to, at)| at + (time.min(*to) - from));
        at / self.width * WIDTH
    }
}

pub(crate) fn waterfall(label: &str, lanes: &[Lane]) -> Markup {
    let scale = Scale::of(lanes);
    let height = TOP + ROW * lanes.len() as f64;
    html! {
        div class="lanes falls" {
            ul class="lane-names" aria-hidden="true" { @for lane in lanes { li { bdi { (lane.name) } } } }
            div class="scroll" tabindex="0" role="region" aria-label=(label) {
                svg class="waterfall" width=(WIDTH) height=(height) viewBox=(format!("0 0 {WIDTH} {height}")) role="group" aria-label=(label) {
                    g class="axis" { @for (_, _, at) in &scale.stretches {
                        @let x = at / scale.width * WIDTH;
                        line x1=(format!("{x:.1}")) x2=(format!("{x:.1}")) y1="16" y2=(height) {}
                    } (hours(&scale)) }
                    @for (row, lane) in lanes.iter().enumerate() {
                        @let y = TOP + ROW * row as f64;
                        line class="lane" x1="0" x2=(WIDTH) y1=(y + ROW) y2=(y + ROW) {}
                        @for span in &lane.spans { (bar(&scale, span, y)) }
                    }
                }
            }
        }
    }
}

/// The times at which work began, as far as they do not overlap, each minute once. The first says that they are
/// UTC, until the script makes them the reader's.
fn hours(scale: &Scale) -> Markup {
    let mut free = f64::MIN;
    let mut shown: Vec<(f64, Timestamp)> = Vec::new();
    for (from, _, at) in &scale.stretches {
        let (x, time) = (at / scale.width * WIDTH, Timestamp::from_micros(*from as i64));
        let is_same = shown.last().is_some_and(|(_, last)| time_of_day(*last) == time_of_day(time));
        if x >= free && x < WIDTH - 34.0 && !is_same {
            free = x + if shown.is_empty() { 74.0 } else { 46.0 };
            shown.push((x, time));
        }
    }
    html! {
        @for (nth, (x, time)) in shown.iter().enumerate() {
            text x=(format!("{:.1}", x + 2.0)) y="12" data-time=(time) { (time_of_day(*time)) @if nth == 0 { " UTC" } }
        }
    }
}

fn bar(scale: &Scale, span: &Span, y: f64) -> Markup {
    let x = scale.at(span.from);
    let width = (scale.at(span.to) - x).max(NARROWEST);
    let x = x.min(WIDTH - width);
    // About seven units a character.
    let fits = span.name.chars().count() as f64 * 7.0 + 8.0 < width;
    let drawing = html! {
        title { (span.note) }
        rect class={ "bar " (span.tone.class()) } x=(format!("{x:.1}")) y=(y + 4.0) width=(format!("{width:.1}")) height=(BAR) rx="3" data-grows[span.grows] {}
        @if fits { text class="in" x=(format!("{:.1}", x + 6.0)) y=(y + 17.0) { (span.name) } }
    };
    match &span.link {
        Some(link) => html! { a href=(link) data-drawer aria-label=(span.note) { (drawing) } },
        None => html! { g { (drawing) } },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(from: i64, to: i64) -> Span {
        let at = |seconds: i64| Timestamp::from_micros(seconds * 1_000_000);
        let (name, note) = ("dev".to_owned(), "dev 1".to_owned());
        Span { from: at(from), to: at(to), tone: Tone::Good, name, note, link: None, grows: false }
    }

    #[test]
    fn bars_are_to_scale_and_pauses_are_short() {
        let lanes = [
            Lane { name: "a".to_owned(), spans: vec![span(0, 100), span(100_000, 100_100)] },
            Lane { name: "b".to_owned(), spans: vec![span(50, 100)] },
        ];
        let scale = Scale::of(&lanes);
        let at = |seconds: i64| scale.at(Timestamp::from_micros(seconds * 1_000_000));
        let first = at(100) - at(0);
        assert!(
            (first - (at(100_100) - at(100_000))).abs() < 0.1,
            "the same duration, the same width"
        );
        assert!((at(50) - at(0) - first / 2.0).abs() < 0.1);
        let pause = at(100_000) - at(100);
        assert!(pause > 0.0 && pause < first, "{pause} {first}");
        assert!((at(100_100) - WIDTH).abs() < 0.1, "the end is the right edge");
    }

    #[test]
    fn a_minute_is_written_once() {
        let spans = (0..10).map(|nth| span(nth * 5, nth * 5 + 2)).chain([span(70, 90)]);
        let lanes = [Lane { name: "a".to_owned(), spans: spans.collect() }];
        let html = waterfall("Steps", &lanes).into_string();
        assert_eq!((html.matches(">00:00 UTC<").count(), html.matches("00:00").count()), (1, 2));
        assert_eq!(html.matches(">00:01<").count(), 1, "{html}");
    }

    #[test]
    fn short_steps_can_be_seen_and_reached() {
        let mut short = span(0, 0);
        short.link = Some("/runs/x".to_owned());
        let lanes = [Lane { name: "a".to_owned(), spans: vec![short, span(1, 10_000)] }];
        let html = waterfall("Steps", &lanes).into_string();
        assert!(html.contains("width=\"6.0\""), "{html}");
        assert!(html.contains("<a href=\"/runs/x\""), "{html}");
    }
}
