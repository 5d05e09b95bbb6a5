//! Times as a clock on this machine shows them. Agent programs tell people when a usage limit is lifted.

use std::path::{Path, PathBuf};

use handover_agents::ClockTime;
use handover_model::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::env;

/// A time without seconds may have just passed.
const JUST_NOW: i64 = 600;

/// The next time that a clock shows this.
pub(crate) fn next_at(clock: &ClockTime) -> Option<Timestamp> {
    next_after(env::now(), clock, &zone(clock.zone.as_deref()))
}

fn next_after(now: Timestamp, clock: &ClockTime, zone: &TimeZone) -> Option<Timestamp> {
    let at = |date: Date| {
        let time = zone.to_timestamp(date.at(clock.hour, clock.minute, 0, 0)).ok()?;
        Some(Timestamp::from_micros(time.as_microsecond()))
    };
    let is_ahead = |time: &Timestamp| *time > now.plus_seconds(-JUST_NOW);
    let today = zone.to_datetime(jiff::Timestamp::from_microsecond(now.as_micros()).ok()?).date();
    match (clock.date, clock.year) {
        (Some((month, day)), Some(year)) => at(Date::new(year, month, day).ok()?),
        (Some((month, day)), None) => {
            let in_year = |year| Date::new(year, month, day).ok().and_then(at);
            in_year(today.year()).filter(is_ahead).or_else(|| in_year(today.year() + 1))
        }
        (None, _) => at(today).filter(is_ahead).or_else(|| at(today.tomorrow().ok()?)),
    }
}

/// A time to the minute, as a clock on this machine shows it.
pub(crate) fn to_the_minute(time: Timestamp) -> String {
    minute_in(time, zone(None))
}

fn minute_in(time: Timestamp, zone: TimeZone) -> String {
    let time = jiff::Timestamp::from_microsecond(time.as_micros()).unwrap_or_default();
    time.to_zoned(zone).strftime("%Y-%m-%d %H:%M %Z").to_string()
}

/// A time zone by its name, else the local one.
fn zone(name: Option<&str>) -> TimeZone {
    let local = env::var("TZ").map(|name| name.trim_start_matches(':').to_owned());
    let file = match name.map(ToOwned::to_owned).or(local) {
        Some(name) if matches!(name.as_str(), "UTC" | "GMT") => return TimeZone::UTC,
        Some(name) if Path::new(&name).is_absolute() => PathBuf::from(name),
        Some(name) if !name.contains("..") => Path::new("/usr/share/zoneinfo").join(name),
        Some(_) | None => PathBuf::from("/etc/localtime"),
    };
    let read = fs_err::read(&file).ok().and_then(|data| TimeZone::tzif("local", &data).ok());
    read.unwrap_or(TimeZone::UTC)
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};

    use super::*;

    fn next(now: &str, date: Option<(i8, i8)>, year: Option<i16>, hour: i8) -> String {
        let zone = TimeZone::fixed(Offset::constant(1));
        let clock = ClockTime { year, date, hour, minute: 30, zone: None };
        next_after(now.parse().unwrap(), &clock, &zone).unwrap().to_string()
    }

    #[test]
    fn a_time_is_shown_with_its_zone() {
        let time: Timestamp = "2026-11-18T23:30:40Z".parse().unwrap();
        assert_eq!(minute_in(time, TimeZone::UTC), "2026-11-18 23:30 UTC");
        let east = TimeZone::fixed(Offset::constant(1));
        assert_eq!(minute_in(time, east), "2026-11-19 00:30 +01");
    }

    #[test]
    fn a_time_is_the_next_that_the_clock_shows() {
        let now = "2026-11-18T16:00:00Z";
        assert_eq!(next(now, None, None, 19), "2026-11-18T18:30:00.000Z");
        assert_eq!(next(now, None, None, 3), "2026-11-19T02:30:00.000Z", "it is tomorrow");
        assert_eq!(next(now, Some((11, 20)), None, 9), "2026-11-20T08:30:00.000Z");
        assert_eq!(next(now, Some((1, 2)), None, 9), "2027-01-02T08:30:00.000Z");
        assert_eq!(next(now, Some((1, 2)), Some(2028), 9), "2028-01-02T08:30:00.000Z");
        // Seconds are not shown, so it may be a moment ago.
        assert_eq!(next("2026-11-18T18:30:40Z", None, None, 19), "2026-11-18T18:30:00.000Z");
    }
}
