//! Charts as server-rendered SVG. Sizes are attributes, because inline styles are forbidden.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::{Tone, single_line};

pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) link: Option<String>,
    pub(crate) value: f64,
    /// The formatted value.
    pub(crate) label: String,
    pub(crate) note: String,
}

/// A bar chart as a table.
pub(crate) fn bars(caption: &str, list: &[Bar]) -> Markup {
    let most = list.iter().map(|bar| bar.value).fold(0.0, f64::max);
    html! {
        table class="bars" {
            caption { (caption) }
            tbody {
                @for bar in list {
                    tr {
                        th scope="row" {
                            @match &bar.link {
                                Some(link) => a href=(link) { bdi { (bar.name) } },
                                None => bdi { (bar.name) },
                            }
                        }
                        td class="wide" { (meter(bar.value, most, Tone::Calm)) }
                        td class="number" { (bar.label) }
                        td class="number muted" { (bar.note) }
                    }
                }
            }
        }
    }
}

/// A progress bar; decoration next to a number.
pub(crate) fn meter(value: f64, most: f64, tone: Tone) -> Markup {
    html! {
        svg class={ "meter " (tone.class()) } aria-hidden="true" focusable="false" {
            rect class="all" width="100%" height="100%" rx="2" {}
            rect class="used" width=(percent(value, most)) height="100%" rx="2" {}
        }
    }
}

fn percent(value: f64, most: f64) -> String {
    let part = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
    format!("{:.1}%", part * 100.0)
}

/// One segment of [`shares`].
pub(crate) struct Share {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// A stacked bar; decoration next to numbers.
pub(crate) fn shares(list: &[Share], most: f64) -> Markup {
    let mut at = 0.0;
    html! {
        svg class="shares" aria-hidden="true" focusable="false" {
            rect class="all" width="100%" height="100%" rx="2" {}
            @for (number, share) in list.iter().enumerate() {
                @let from = at;
                ({ at += share.value.max(0.0); "" })
                rect class={ "shade-" (number % 6) } x=(percent(from, most))
                    width=(percent(share.value.max(0.0), most)) height="100%" {
                    title { (single_line(&share.name)) }
                }
            }
        }
    }
}

/// A step chart of values between 0 and 1, with a threshold.
pub(crate) fn step_chart(values: &[f64], line: f64, meaning: &str, label: &str) -> Markup {
    const WIDTH: f64 = 560.0;
    const HEIGHT: f64 = 110.0;
    const MOST: usize = 120;
    let y = |value: f64| format!("{:.1}", HEIGHT - 8.0 - value.clamp(0.0, 1.0) * (HEIGHT - 16.0));
    let values = &values[values.len().saturating_sub(MOST)..];
    let step = WIDTH / values.len().max(1) as f64;
    let mut path = String::new();
    for (at, value) in values.iter().enumerate() {
        let start = if at == 0 { "M0 " } else { "V" };
        let _ = write!(path, "{start}{}H{:.1}", y(*value), step * (at + 1) as f64);
    }
    html! {
        svg class="steps-chart" viewBox="0 0 600 110" role="img" aria-label=(label) {
            @for mark in [0.0, 1.0] {
                line class="edge" x1="0" x2="560" y1=(y(mark)) y2=(y(mark)) {}
                text x="568" y=(y(mark)) dy="4" { (mark) }
            }
            line class="mark" x1="0" x2="560" y1=(y(line)) y2=(y(line)) {}
            text x="568" y=(y(line)) dy="4" { (line) }
            text class="meaning" x="4" y=(y(line)) dy="-5" { (meaning) }
            path d=(path) {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meters_are_clamped_to_their_maximum() {
        let width = |value, most| {
            let html = meter(value, most, Tone::Good).into_string();
            let used = html.split("class=\"used\" width=\"").nth(1).unwrap();
            used.split('"').next().unwrap().to_owned()
        };
        assert_eq!(width(1.0, 4.0), "25.0%");
        assert_eq!(width(9.0, 4.0), "100.0%");
        assert_eq!(width(-1.0, 4.0), "0.0%");
        assert_eq!(width(1.0, 0.0), "0.0%");
    }

    #[test]
    fn bars_link_and_label_their_values() {
        let bar = |name: &str, link: Option<&str>, value| Bar {
            name: name.to_owned(),
            link: link.map(str::to_owned),
            value,
            label: format!("${value}"),
            note: "note".to_owned(),
        };
        let html = bars("Cost", &[bar("<a>", None, 2.0), bar("b", Some("/x"), 1.0)]).into_string();
        assert!(html.contains("<caption>Cost</caption>"), "{html}");
        assert!(html.contains("&lt;a&gt;") && html.contains("<a href=\"/x\">"), "{html}");
        assert!(html.contains("100.0%") && html.contains("50.0%"), "{html}");
    }

    #[test]
    fn shares_are_stacked() {
        let share = |name: &str, value| Share { name: name.to_owned(), value };
        let list = [share("a", 1.0), share("negative", -5.0), share("b", 2.0)];
        let html = shares(&list, 4.0).into_string();
        assert!(html.contains("x=\"0.0%\" width=\"25.0%\""), "{html}");
        assert!(html.contains("x=\"25.0%\" width=\"0.0%\""), "{html}");
        assert!(html.contains("x=\"25.0%\" width=\"50.0%\""), "{html}");
    }

    #[test]
    fn step_charts_show_the_latest_values() {
        let html = step_chart(&[0.0, 1.0], 0.5, "threshold", "label").into_string();
        assert!(html.contains("d=\"M0 102.0H280.0V8.0H560.0\""), "{html}");
        assert!(html.contains("aria-label=\"label\"") && html.contains("threshold"), "{html}");
        let many = vec![0.3; 500];
        let path = step_chart(&many, 0.5, "", "").into_string();
        let path = path.split("path d=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        assert_eq!(path.matches('H').count(), 120, "{path}");
    }
}
