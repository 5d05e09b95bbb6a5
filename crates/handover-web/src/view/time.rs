//! Relative times with the exact time as a tooltip.

use handover_model::Timestamp;
use maud::{Markup, html};

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

pub(crate) fn relative_time(now: Timestamp, time: Timestamp) -> Markup {
    html! {
        time datetime=(time) title=(exact_time(time)) data-ago { (ago(now, time)) }
    }
}

/// How long ago. The script uses the same wording.
fn ago(now: Timestamp, time: Timestamp) -> String {
    let gone = now.as_micros().saturating_sub(time.as_micros());
    match gone {
        ..0 => exact_time(time),
        gone if gone < 45 * SECOND => "just now".to_owned(),
        gone if gone < 90 * MINUTE => format!("{} min ago", (gone + MINUTE / 2) / MINUTE),
        gone if gone < 36 * HOUR => format!("{} h ago", (gone + HOUR / 2) / HOUR),
        gone if gone < 14 * DAY => format!("{} days ago", (gone + DAY / 2) / DAY),
        _ => time.day_in_words(),
    }
}

/// The time of day, which the script makes the reader's.
pub(crate) fn clock(time: Timestamp) -> Markup {
    html! { time datetime=(time) title=(exact_time(time)) { (time.to_string().get(11..19).unwrap_or_default()) } }
}

/// Day and time, which the script makes the reader's.
pub(crate) fn moment(time: Timestamp) -> Markup {
    html! { time datetime=(time) data-exact { (exact_time(time)) } }
}

/// What is true until the script has made times the reader's.
pub(crate) fn utc_note() -> Markup {
    html! { span data-utc { " Times are UTC." } }
}

pub(crate) fn exact_time(time: Timestamp) -> String {
    let text = time.to_string();
    match (text.get(..10), text.get(11..19)) {
        (Some(day), Some(clock)) => format!("{day} {clock} UTC"),
        _ => text,
    }
}

pub(crate) fn time_of_day(time: Timestamp) -> String {
    time.to_string().get(11..16).unwrap_or_default().to_owned()
}

/// The date without its year: `15 Nov`.
pub(crate) fn short_date(time: Timestamp) -> String {
    let words = time.day_in_words();
    let mut parts = words.split(' ');
    let (day, month) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    format!("{day} {}", month.get(..3).unwrap_or(month))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn describes_how_long_ago() {
        let now: Timestamp = "2026-11-15T12:00:00Z".parse().unwrap();
        let shown = |time: &str| ago(now, time.parse().unwrap());
        assert_eq!(shown("2026-11-15T11:59:30Z"), "just now");
        assert_eq!(shown("2026-11-15T11:48:00Z"), "12 min ago");
        assert_eq!(shown("2026-11-15T09:10:00Z"), "3 h ago");
        assert_eq!(shown("2026-11-12T12:00:00Z"), "3 days ago");
        assert_eq!(shown("2025-11-12T12:00:00Z"), "12 November 2025");
        assert_eq!(shown("2026-11-15T12:00:01Z"), "2026-11-15 12:00:01 UTC");
        assert_eq!((time_of_day(now), short_date(now)), ("12:00".to_owned(), "15 Nov".to_owned()));
    }

    #[test]
    fn units_change_at_their_limits() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let shown =
            |seconds: i64| ago(now, Timestamp::from_micros(now.as_micros() - seconds * SECOND));
        for (seconds, expected) in [
            (0, "just now"),
            (44, "just now"),
            (45, "1 min ago"),
            (89, "1 min ago"),
            (90, "2 min ago"),
            (89 * 60, "89 min ago"),
            (90 * 60, "2 h ago"),
            (35 * 3_600, "35 h ago"),
            (36 * 3_600, "2 days ago"),
            (13 * 86_400, "13 days ago"),
            (14 * 86_400, "1 January 2027"),
        ] {
            assert_eq!(shown(seconds), expected, "{seconds} s");
        }
        assert_eq!(shown(-1), "2027-01-15 08:00:01 UTC", "the future is exact");
    }

    #[test]
    fn the_script_can_recompute_a_relative_time() {
        let now = Timestamp::from_micros(1_800_000_000_000_000);
        let html = relative_time(now, now).into_string();
        assert_eq!(
            html,
            "<time datetime=\"2027-01-15T08:00:00.000Z\" title=\"2027-01-15 08:00:00 UTC\" data-ago>just now</time>"
        );
    }
}
