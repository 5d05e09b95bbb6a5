//! Human-readable numbers, money, durations, sizes.

use handover_engine::Price;

/// With thousands separators.
pub(crate) fn count(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

pub(crate) fn plural(number: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(number), if number == 1 { one } else { many })
}

/// The verb after a number of things.
pub(crate) const fn was(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

/// `3 of 7`.
pub(crate) fn fraction(part: usize, whole: usize) -> String {
    format!("{} of {}", count(part), count(whole))
}

pub(crate) fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
}

/// A cost that may be unknown, or only the part that is known.
pub(crate) fn price(price: Price) -> String {
    price.said(money).unwrap_or_else(|| "unknown".to_owned())
}

pub(crate) fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    match seconds {
        0 if ms == 0 => "–".to_owned(),
        0 => format!("{ms} ms"),
        1..=9 => format!("{:.1} s", ms as f64 / 1_000.0),
        10..=59 => format!("{seconds} s"),
        60..=3_599 => format!("{} m {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} m", seconds / 3_600, seconds % 3_600 / 60),
    }
}

pub(crate) fn bytes(size: u64) -> String {
    match size {
        0..1_000 => format!("{size} B"),
        1_000..1_000_000 => format!("{:.1} kB", size as f64 / 1e3),
        _ => format!("{:.1} MB", size as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separates_thousands() {
        let shown = [0, 7, 999, 1_000, 12_345, 999_999, 1_234_567].map(|n: u64| count(n));
        assert_eq!(shown, ["0", "7", "999", "1,000", "12,345", "999,999", "1,234,567"]);
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(count(-1_i64), count(u64::MAX), "a number that cannot be is not hidden");
    }

    #[test]
    fn singular_and_plural() {
        let stories = |n| plural(n, "story", "stories");
        assert_eq!([0, 1, 2].map(stories), ["0 stories", "1 story", "2 stories"]);
        assert_eq!(fraction(3, 1_000), "3 of 1,000");
    }

    #[test]
    fn small_amounts_keep_their_digits() {
        let shown = [0.0, 0.000_04, 0.004, 0.009_99, 0.01, 12.345, 1_000.0].map(money);
        assert_eq!(
            shown,
            ["$0.00", "$0.0000", "$0.0040", "$0.0100", "$0.01", "$12.35", "$1000.00"]
        );
    }

    #[test]
    fn durations_have_two_units_at_most() {
        let shown = [0, 12, 999, 1_000, 1_500, 9_999, 10_000, 59_999, 60_000, 65_000, 3_599_999]
            .map(duration);
        assert_eq!(
            shown,
            [
                "–",
                "12 ms",
                "999 ms",
                "1.0 s",
                "1.5 s",
                "10.0 s",
                "10 s",
                "59 s",
                "1 m 00 s",
                "1 m 05 s",
                "59 m 59 s",
            ]
        );
        assert_eq!(
            [3_600_000, 4_000_000, 90_000_000].map(duration),
            ["1 h 00 m", "1 h 06 m", "25 h 00 m"]
        );
    }

    #[test]
    fn sizes_change_their_unit_at_a_thousand() {
        let shown = [0, 12, 999, 1_000, 1_234, 999_900, 1_000_000, 52_428_800].map(bytes);
        assert_eq!(
            shown,
            ["0 B", "12 B", "999 B", "1.0 kB", "1.2 kB", "999.9 kB", "1.0 MB", "52.4 MB"]
        );
    }
}
