//! Times: as far away as they are, with the exact moment behind.

use handover_model::Timestamp;
use maud::{Markup, html};

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
/// How long a day is.
pub(crate) const DAY: i64 = 24 * HOUR;

/// A moment as seen from now.
pub(crate) fn when(now: Timestamp, time: Timestamp) -> Markup {
    html! {
        time datetime=(time) title=(moment(time)) data-ago { (ago(now, time)) }
    }
}

/// How long ago a moment was. The script says it in the same words.
fn ago(now: Timestamp, time: Timestamp) -> String {
    let gone = now.as_micros().saturating_sub(time.as_micros());
    match gone {
        ..0 => moment(time),
        gone if gone < 45 * SECOND => "just now".to_owned(),
        gone if gone < 90 * MINUTE => format!("{} min ago", (gone + MINUTE / 2) / MINUTE),
        gone if gone < 36 * HOUR => format!("{} h ago", (gone + HOUR / 2) / HOUR),
        gone if gone < 14 * DAY => format!("{} days ago", (gone + DAY / 2) / DAY),
        _ => time.day_in_words(),
    }
}

/// The exact moment.
pub(crate) fn moment(time: Timestamp) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(clock)) => format!("{day} {clock} UTC"),
        _ => text,
    }
}

/// The time of day.
pub(crate) fn clock(time: Timestamp) -> String {
    time.to_string().get(11..16).unwrap_or_default().to_owned()
}

/// The day, without its year.
pub(crate) fn day(time: Timestamp) -> String {
    let words = time.day_in_words();
    let mut parts = words.split(' ');
    let (day, month) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{day} {}", month.get(..3).unwrap_or(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_as_far_away_as_people_say() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let said = |time: &str| ago(now, time.parse().unwrap());
        assert_eq!(said("2026-11-15T11:59:30Z"), "just now");
        assert_eq!(said("2026-11-15T11:48:00Z"), "12 min ago");
        assert_eq!(said("2026-11-15T09:10:00Z"), "3 h ago");
        assert_eq!(said("2026-11-12T12:00:00Z"), "3 days ago");
        assert_eq!(said("2025-11-12T12:00:00Z"), "12 November 2025");
        assert_eq!(said("2026-11-15T12:00:01Z"), "2026-11-15 12:00:01 UTC");
        assert_eq!((clock(now), day(now)), ("12:00".to_owned(), "15 Nov".to_owned()));
    }
}
