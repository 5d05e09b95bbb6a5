//! Charts, drawn on the server. Sizes are attributes of drawings, so nothing is styled inline.

use maud::{Markup, html};

use super::{Tone, plain};

/// One bar of a chart.
pub(crate) struct Bar {
    pub(crate) name: String,
    pub(crate) link: Option<String>,
    pub(crate) value: f64,
    /// The value as people read it.
    pub(crate) shown: String,
    pub(crate) note: String,
}

/// Bars beside each other's names: a table whose figures can be seen.
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
                        td class="number" { (bar.shown) }
                        td class="number muted" { (bar.note) }
                    }
                }
            }
        }
    }
}

/// How much of something is used; decoration beside a figure.
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

/// One part of a whole.
pub(crate) struct Share {
    pub(crate) name: String,
    pub(crate) value: f64,
}

/// Parts of a whole in a row, each with another shade; decoration beside figures.
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
                    title { (plain(&share.name)) }
                }
            }
        }
    }
}

/// A line of values between 0 and 1, with a line that they must pass.
pub(crate) fn spark(values: &[f64], line: f64, label: &str) -> Markup {
    const WIDTH: f64 = 240.0;
    const HEIGHT: f64 = 40.0;
    let y = |value: f64| HEIGHT - 3.0 - value.clamp(0.0, 1.0) * (HEIGHT - 6.0);
    let step = WIDTH / (values.len().max(2) - 1) as f64;
    let points: Vec<String> = values
        .iter()
        .enumerate()
        .map(|(at, value)| format!("{:.1},{:.1}", at as f64 * step, y(*value)))
        .collect();
    html! {
        svg class="spark" viewBox="0 0 240 40" preserveAspectRatio="none" role="img" aria-label=(label) {
            line class="mark" x1="0" x2="240" y1=(format!("{:.1}", y(line))) y2=(format!("{:.1}", y(line))) {}
            polyline points=(points.join(" ")) {}
        }
    }
}
