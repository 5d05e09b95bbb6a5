//! The time type: UTC, stored in microseconds, displayed in milliseconds.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize, Serializer};

/// A point in time in UTC; the default is the start of 1970.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(try_from = "String")]
pub struct Timestamp(i64);

/// A text that is not an RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}` is not a time; expected RFC 3339, such as 2026-11-15T10:00:00Z")]
pub struct InvalidTimestamp {
    /// The text that was given.
    pub value: String,
}

impl Timestamp {
    /// From microseconds since 1970, as stored. Values outside the calendar's range are clamped.
    pub fn from_micros(micros: i64) -> Self {
        // Whole seconds: the calendar has no microseconds beyond its last second.
        let seconds = |time: jiff::Timestamp| time.as_second() * 1_000_000;
        Self(micros.clamp(seconds(jiff::Timestamp::MIN), seconds(jiff::Timestamp::MAX)))
    }

    /// Microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// This time plus some seconds.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
    }

    /// So many days before.
    pub fn days_before(self, days: u32) -> Self {
        Self::from_micros(self.0.saturating_sub(i64::from(days).saturating_mul(86_400_000_000)))
    }

    /// The day in words, such as `8 May 2023`, as people would search for it.
    pub fn day_in_words(self) -> String {
        const MONTHS: [&str; 12] = [
            "January",
            "February",
            "March",
            "April",
            "May",
            "June",
            "July",
            "August",
            "September",
            "October",
            "November",
            "December",
        ];
        let Ok(time) = jiff::Timestamp::from_microsecond(self.0) else { return String::new() };
        let date = jiff::tz::Offset::UTC.to_datetime(time).date();
        let month = usize::try_from(date.month() - 1).ok().and_then(|month| MONTHS.get(month));
        format!("{} {} {}", date.day(), month.unwrap_or(&""), date.year())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_microsecond(self.0) {
            Ok(time) if f.width().is_none() => write!(f, "{time:.3}"),
            Ok(time) => f.pad(&format!("{time:.3}")),
            Err(_) => write!(f, "{}µs", self.0),
        }
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        let time: jiff::Timestamp = text
            .parse()
            .map_err(|_| InvalidTimestamp { value: text.chars().take(64).collect() })?;
        Ok(Self::from_micros(time.as_microsecond()))
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;
    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn shows_milliseconds_in_utc() {
        let time: Timestamp = "2026-11-15T11:00:00.123456+01:00".parse().unwrap();
        assert_eq!(time.to_string(), "2026-11-15T10:00:00.123Z");
        assert_eq!(time.day_in_words(), "15 November 2026");
    }

    #[test]
    fn never_panics_at_the_edges() {
        assert!(!Timestamp::from_micros(i64::MAX).to_string().is_empty());
        assert!(!Timestamp::from_micros(i64::MIN).day_in_words().is_empty());
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn text_and_json_omit_microseconds() {
        let time = Timestamp::from_micros(1_700_000_000_123_456);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.123Z");
        assert_eq!(serde_json::to_string(&time).unwrap(), "\"2023-11-14T22:13:20.123Z\"");
        let read: Timestamp = serde_json::from_str("\"2023-11-14T22:13:20.123Z\"").unwrap();
        assert_eq!(read.as_micros(), 1_700_000_000_123_000);
        assert_eq!(format!("[{time:>26}]"), "[  2023-11-14T22:13:20.123Z]");
    }

    #[test]
    fn days_are_subtracted_without_overflow() {
        let time: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        assert_eq!(time.days_before(2).to_string(), "2026-02-27T12:00:00.000Z");
        let first = Timestamp::from_micros(i64::MIN);
        assert_eq!(first.days_before(u32::MAX), first);
    }

    #[test]
    fn seconds_are_added_without_overflow() {
        let time = Timestamp::from_micros(5_000_000);
        assert_eq!(time.plus_seconds(2).as_micros(), 7_000_000);
        assert_eq!(time.plus_seconds(-6).as_micros(), -1_000_000);
        assert!(time.plus_seconds(i64::MAX) > time && time.plus_seconds(i64::MIN) < time);
    }

    #[test]
    fn days_are_written_out() {
        for (text, day) in [
            ("2023-05-08T23:59:59Z", "8 May 2023"),
            ("2023-05-09T00:00:00+01:00", "8 May 2023"),
            ("2024-02-29T12:00:00Z", "29 February 2024"),
            ("1999-12-31T00:00:00Z", "31 December 1999"),
            ("2000-01-01T00:00:00Z", "1 January 2000"),
        ] {
            assert_eq!(text.parse::<Timestamp>().unwrap().day_in_words(), day);
        }
    }

    #[test]
    fn invalid_times_are_quoted_in_part() {
        let error = "x".repeat(100).parse::<Timestamp>().unwrap_err();
        assert_eq!(error.value.len(), 64);
        assert!(serde_json::from_str::<Timestamp>("\"today\"").is_err());
        assert!(serde_json::from_str::<Timestamp>("17").is_err());
    }

    proptest! {
        #[test]
        fn text_round_trips_to_the_millisecond(micros in -60_000_000_000_000_000..200_000_000_000_000_000_i64) {
            let time = Timestamp::from_micros(micros);
            let read: Timestamp = time.to_string().parse().unwrap();
            prop_assert!((read.as_micros() - micros).abs() < 1_000);
            prop_assert_eq!(read.to_string(), time.to_string());
        }
    }

    #[test]
    fn every_month_has_its_name() {
        let day = |month: u32| {
            format!("2026-{month:02}-03T00:00:00Z").parse::<Timestamp>().unwrap().day_in_words()
        };
        let months: Vec<String> = (1..=12).map(day).collect();
        assert_eq!(
            months.join(", "),
            "3 January 2026, 3 February 2026, 3 March 2026, 3 April 2026, 3 May 2026, \
            3 June 2026, 3 July 2026, 3 August 2026, 3 September 2026, 3 October 2026, 3 November 2026, 3 December 2026"
        );
    }

    #[test]
    fn times_outside_the_calendar_are_clamped() {
        let (least, most) = (Timestamp::from_micros(i64::MIN), Timestamp::from_micros(i64::MAX));
        assert!(least < Timestamp::default() && Timestamp::default() < most);
        assert_eq!(least.plus_seconds(-1), least);
        assert_eq!(most.plus_seconds(1), most);
        for time in [least, most] {
            assert_eq!(
                time.to_string().parse::<Timestamp>().unwrap().to_string(),
                time.to_string()
            );
        }
    }

    proptest! {
        #[test]
        fn adding_and_subtracting_seconds_cancels(micros in -1_000_000_000_000_i64..1_000_000_000_000, seconds in -100_000_i64..100_000) {
            let time = Timestamp::from_micros(micros);
            let later = time.plus_seconds(seconds);
            prop_assert_eq!(later.as_micros() - micros, seconds * 1_000_000);
            prop_assert_eq!(later.plus_seconds(-seconds), time);
        }

        /// Text sorts like time, which is what listings rely on.
        #[test]
        fn text_sorts_like_time(one in 0_i64..4_000_000_000_000, other in 0_i64..4_000_000_000_000) {
            let text = |millis: i64| Timestamp::from_micros(millis * 1_000).to_string();
            prop_assert_eq!(text(one).cmp(&text(other)), one.cmp(&other));
        }
    }
}
