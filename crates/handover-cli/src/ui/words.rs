//! Numbers, times and scores as people read them.

use handover_model::Timestamp;

use super::width_of;

/// A number of things: `1 group`, `2 groups`, `3 entries`.
pub(crate) fn count(number: impl TryInto<u64>, one: &str) -> String {
    let number = number.try_into().unwrap_or(u64::MAX);
    let stem = one.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number, stem) {
        (1, _) => format!("1 {one}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        (_, None) => format!("{number} {one}s"),
    }
}

/// How long ago something was: `just now`, `5 min ago`, `3 h ago`, `2 days ago`; after a month, the day.
pub(crate) fn ago(then: Timestamp, now: Timestamp) -> String {
    const MINUTE: i64 = 60;
    const HOUR: i64 = 60 * MINUTE;
    const DAY: i64 = 24 * HOUR;
    let seconds = now.as_micros().saturating_sub(then.as_micros()) / 1_000_000;
    match seconds {
        // A clock that is ahead of ours says nothing useful.
        ..MINUTE => "just now".to_owned(),
        MINUTE..HOUR => format!("{} min ago", seconds / MINUTE),
        HOUR..DAY => format!("{} h ago", seconds / HOUR),
        DAY.. if seconds < 30 * DAY => {
            format!("{} ago", count((seconds / DAY).unsigned_abs(), "day"))
        }
        _ => then.to_string().chars().take(10).collect(),
    }
}

/// The narrowest text that is broken into lines.
const NARROWEST: usize = 16;

/// A line as several, none wider than the terminal; all but the first are indented.
pub(super) fn wrapped(line: &str, width: usize, indent: usize) -> String {
    let indent = if indent + NARROWEST > width { 0 } else { indent };
    if line.contains('\n') || width < NARROWEST {
        return line.to_owned();
    }
    let start = line.len() - line.trim_start().len();
    let mut text = line[..start].to_owned();
    let mut used = start;
    // Spaces within a line stay as they are.
    for (nth, word) in line[start..].split(' ').enumerate() {
        let wide = width_of(word);
        if nth > 0 && !word.is_empty() && used + 1 + wide > width {
            text.truncate(text.trim_end_matches(' ').len());
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            used = indent;
        } else if nth > 0 {
            text.push(' ');
            used += 1;
        }
        // A word that is longer than a line is broken anywhere.
        for letter in word.chars() {
            let wide = width_of(letter.encode_utf8(&mut [0; 4]));
            if used + wide > width && used > indent {
                text.push('\n');
                text.push_str(&" ".repeat(indent));
                used = indent;
            }
            text.push(letter);
            used += wide;
        }
    }
    text
}

/// A score as a share of the best one, from 0 to 100.
pub(crate) fn share(score: f64, best: f64) -> String {
    let share = if best > 0.0 && score.is_finite() { score / best } else { 0.0 };
    format!("{:.0}", (share * 100.0).clamp(0.0, 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let text = "1-2-b is failed: the gates failed after 2 fixes: cargo: adds_a_very_long_name_of_a_test";
        for width in [20, 40, 80] {
            let lines = wrapped(text, width, 2);
            assert!(lines.lines().all(|line| line.len() <= width), "{width}: {lines}");
            let letters = |text: &str| text.split_whitespace().collect::<String>();
            assert_eq!(letters(&lines), letters(text));
        }
        assert_eq!(wrapped("a b", 80, 2), "a b");
    }

    #[test]
    fn plural_forms_are_right() {
        assert_eq!(count(1_u32, "group"), "1 group");
        assert_eq!(count(0_u32, "group"), "0 groups");
        assert_eq!(count(2_usize, "entry"), "2 entries");
        assert_eq!(count(2_usize, "day"), "2 days");
        assert_eq!(count(3_usize, "strategy"), "3 strategies");
    }

    #[test]
    fn times_are_relative_to_now() {
        let now: Timestamp = "2026-03-31T12:00:00Z".parse().unwrap();
        for (then, told) in [
            ("2026-03-31T11:59:30Z", "just now"),
            ("2026-03-31T13:00:00Z", "just now"),
            ("2026-03-31T11:55:00Z", "5 min ago"),
            ("2026-03-31T09:00:00Z", "3 h ago"),
            ("2026-03-30T11:00:00Z", "1 day ago"),
            ("2026-03-20T11:00:00Z", "11 days ago"),
            ("2026-01-02T11:00:00Z", "2026-01-02"),
        ] {
            assert_eq!(ago(then.parse().unwrap(), now), told, "{then}");
        }
    }

    #[test]
    fn lines_break_between_words() {
        let line = "In         package 1 “How tax is rounded” v1 (full), agent, score 100";
        for width in [20, 30, 60] {
            let text = wrapped(line, width, 11);
            assert!(text.lines().all(|line| width_of(line) <= width), "{text}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&text), words(line));
            assert!(
                text.lines().skip(1).all(|line| line.starts_with(' ') == (width > 26)),
                "{text}"
            );
        }
        assert_eq!(wrapped(line, 200, 11), line);
    }

    #[test]
    fn scores_are_shares_of_the_best() {
        assert_eq!(share(14.5, 14.5), "100");
        assert_eq!(share(0.5, 1.0), "50");
        assert_eq!(share(-0.2, 1.0), "0");
        assert_eq!(share(1.0, 0.0), "0");
        assert_eq!(share(f64::NAN, 1.0), "0");
    }
}
