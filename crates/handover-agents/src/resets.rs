//! When a usage limit is lifted, in the words of the agent programs: Claude Code names a time and its zone
//! (`resets 5:30pm (Europe/Berlin)`, earlier versions seconds since 1970), Codex a local time (`try again at
//! Nov 20th, 2026 5:12 PM`), Gemini CLI a span (`will reset after 18h31m10s`).

use std::time::Duration;

use handover_model::FailureClass;

use crate::{Captured, ClockTime, Ended, Failure, Resets, classify};

/// What introduces a time.
const AT: [&str; 4] = ["try again at ", "resets at ", "resets ", "limit reached|"];
/// What introduces a span.
const AFTER: [&str; 4] = ["reset after ", "retry in ", "retry after ", "try again in "];
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// When the limit behind a failure is lifted: as the program reported it, else as its message says.
pub(crate) fn of(failure: &Failure, reported: Option<Resets>) -> Option<Resets> {
    matches!(failure.class, FailureClass::Quota | FailureClass::RateLimit)
        .then(|| reported.or_else(|| in_message(&failure.message)))
        .flatten()
}

/// The limit that a silent program is waiting for: Gemini CLI says on standard error that it retries, maybe
/// hours later.
pub(crate) fn waited_for(ended: Ended, stderr: &Captured) -> Option<Failure> {
    if ended != Ended::IdleTimeout {
        return None;
    }
    let text = stderr.tail.as_ref().unwrap_or(&stderr.head);
    let line = text.lines().rev().find(|line| !line.trim().is_empty())?;
    let failure = classify::message(line);
    of(&failure, None).map(|_| failure)
}

fn in_message(message: &str) -> Option<Resets> {
    // Only ASCII changes, so that positions stay the same.
    let lower = message.to_ascii_lowercase();
    let after = |words: &str| lower.find(words).map(|at| &message[at + words.len()..]);
    let at = || AT.iter().find_map(|words| time(after(words)?));
    let span = || AFTER.iter().find_map(|words| span(after(words)?)).map(Resets::After);
    at().or_else(span)
}

fn time(text: &str) -> Option<Resets> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    if digits.len() == 10 {
        return digits.parse().ok().map(Resets::At);
    }
    // Some programs put a narrow space before `PM`.
    let mut words = text
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|word| !word.is_empty() && !word.eq_ignore_ascii_case("at"))
        .peekable();
    let mut clock = ClockTime::default();
    let month = words.peek().and_then(|word| month(word));
    if let Some(month) = month {
        words.next();
        let day = words.next()?.trim_end_matches(char::is_alphabetic).parse().ok()?;
        clock.date = Some((month, day));
        let is_year =
            |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
        clock.year = words.next_if(is_year).and_then(|year| year.parse().ok());
    }
    let word = words.next()?.trim_end_matches('.');
    let end = word.find(|c: char| !c.is_ascii_digit() && c != ':').unwrap_or(word.len());
    let (digits, half) = word.split_at(end);
    let half =
        if half.is_empty() { words.next_if(|word| is_half(word)).unwrap_or("") } else { half };
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let hour: i8 = hour.parse().ok()?;
    clock.hour = match half.chars().next().map(|c| c.to_ascii_lowercase()) {
        Some('p') => hour % 12 + 12,
        Some('a') => hour % 12,
        // `resets 5` could mean anything.
        _ if digits.contains(':') => hour,
        _ => return None,
    };
    clock.minute = minute.parse().ok()?;
    let zone = words.next().and_then(|word| word.strip_prefix('(')?.split(')').next());
    clock.zone = zone.map(ToOwned::to_owned);
    ((0..24).contains(&clock.hour) && (0..60).contains(&clock.minute))
        .then_some(Resets::Clock(clock))
}

fn is_half(word: &str) -> bool {
    let word = word.trim_end_matches(['.', ',']);
    ["am", "pm"].iter().any(|half| word.eq_ignore_ascii_case(half))
}

fn month(word: &str) -> Option<i8> {
    let start = word.get(..3)?.to_ascii_lowercase();
    let at = MONTHS.iter().position(|month| *month == start)?;
    i8::try_from(at + 1).ok()
}

/// A span such as `18h31m10s`, `34.5s` or `3 days 4 hours`.
fn span(mut text: &str) -> Option<Duration> {
    let mut all = 0.0;
    loop {
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let Ok(count) = text[..end].parse::<f64>() else { break };
        let rest = text[end..].trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
        let unit = rest[..end].to_ascii_lowercase();
        all += count
            * match unit.as_str() {
                "ms" => 0.001,
                _ if unit.starts_with('s') => 1.0,
                _ if unit.starts_with('m') => 60.0,
                _ if unit.starts_with('h') => 3_600.0,
                _ if unit.starts_with('d') => 86_400.0,
                _ => return None,
            };
        text = rest[end..].trim_start();
    }
    (all > 0.0).then(|| Duration::try_from_secs_f64(all).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(date: Option<(i8, i8)>, hour: i8, minute: i8) -> ClockTime {
        ClockTime { date, hour, minute, ..ClockTime::default() }
    }

    #[test]
    fn reads_what_the_programs_say() {
        let berlin = Some("Europe/Berlin".to_owned());
        for (message, expected) in [
            // Claude Code
            (
                "You've hit your session limit · resets 5:30pm (Europe/Berlin)",
                Resets::Clock(ClockTime { zone: berlin.clone(), ..clock(None, 17, 30) }),
            ),
            (
                "You've hit your weekly limit · resets Nov 20, 12am (Europe/Berlin)",
                Resets::Clock(ClockTime { zone: berlin, ..clock(Some((11, 20)), 0, 0) }),
            ),
            (
                "You've hit your limit · resets Jan 2, 2027, 9\u{202f}am (UTC)",
                Resets::Clock(ClockTime {
                    year: Some(2027),
                    zone: Some("UTC".to_owned()),
                    ..clock(Some((1, 2)), 9, 0)
                }),
            ),
            ("Claude AI usage limit reached|1763400000", Resets::At(1_763_400_000)),
            // Codex
            (
                "You've hit your usage limit. Upgrade to Pro or try again at 5:12 PM.",
                Resets::Clock(clock(None, 17, 12)),
            ),
            (
                "You've hit your usage limit. Try again at Nov 20th, 2026 12:05 AM.",
                Resets::Clock(ClockTime { year: Some(2026), ..clock(Some((11, 20)), 0, 5) }),
            ),
            (
                "You've hit your usage limit. Try again in 3 days 4 hours 5 minutes.",
                Resets::After(Duration::from_secs(273_900)),
            ),
            // Gemini CLI
            (
                "You have exhausted your capacity on this model. Your quota will reset after 18h31m10s.",
                Resets::After(Duration::from_secs(66_670)),
            ),
            ("Please retry in 34.5s", Resets::After(Duration::from_millis(34_500))),
            ("quota\nSuggested retry after 90s.", Resets::After(Duration::from_secs(90))),
        ] {
            assert_eq!(in_message(message), Some(expected), "{message}");
        }
    }

    #[test]
    fn an_unclear_time_is_none() {
        for message in [
            "You've hit your usage limit.",
            "resets soon",
            "resets 5",
            "resets 25:00",
            "try again in a while",
            "retry in 5 parsecs",
            "try again at ",
            "resets Nov",
        ] {
            assert_eq!(in_message(message), None, "{message}");
        }
    }

    #[test]
    fn a_program_that_waits_silently_has_said_why() {
        let said = |text: &str| Captured { head: text.to_owned(), tail: None, total: 1 };
        let gemini = "Ripgrep is missing.\nAttempt 1 failed: You have exhausted your capacity on this model. \
            Your quota will reset after 2h13m7s.. Retrying after 9360386ms...\n";
        let failure = waited_for(Ended::IdleTimeout, &said(gemini)).unwrap();
        assert_eq!(failure.class, FailureClass::Quota);
        assert_eq!(of(&failure, None), Some(Resets::After(Duration::from_secs(7_987))));
        assert_eq!(waited_for(Ended::WallTimeout, &said(gemini)), None);
        assert_eq!(waited_for(Ended::IdleTimeout, &said("thinking\n")), None);
    }

    #[test]
    fn only_a_usage_limit_is_waited_for() {
        let failure = |class| Failure { class, message: "try again in 5s".to_owned() };
        assert!(of(&failure(FailureClass::Quota), None).is_some());
        assert_eq!(of(&failure(FailureClass::Quota), Some(Resets::At(7))), Some(Resets::At(7)));
        assert_eq!(of(&failure(FailureClass::Server), Some(Resets::At(7))), None);
    }
}
