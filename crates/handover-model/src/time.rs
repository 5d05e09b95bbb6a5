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
        let (min, max) =
            (jiff::Timestamp::MIN.as_microsecond(), jiff::Timestamp::MAX.as_microsecond());
        Self(micros.clamp(min, max))
    }

    /// Microseconds since 1970.
    pub fn as_micros(self) -> i64 {
        self.0
    }

    /// This time plus some seconds.
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self::from_micros(self.0.saturating_add(seconds.saturating_mul(1_000_000)))
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
        Ok(Self(time.as_microsecond()))
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
}
