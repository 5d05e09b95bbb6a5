//! Human-readable numbers, money, durations, sizes.

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

/// `3 of 7`.
pub(crate) fn fraction(part: usize, whole: usize) -> String {
    format!("{} of {}", count(part), count(whole))
}

pub(crate) fn money(usd: f64) -> String {
    if usd > 0.0 && usd < 0.01 { format!("${usd:.4}") } else { format!("${usd:.2}") }
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
    fn formats_numbers() {
        assert_eq!(count(1_234_567_u64), "1,234,567");
        assert_eq!(
            (plural(1, "story", "stories"), fraction(3, 1_000)),
            ("1 story".into(), "3 of 1,000".into())
        );
        assert_eq!((money(0.004), money(12.345)), ("$0.0040".to_owned(), "$12.35".to_owned()));
        let durations: Vec<String> = [12, 1_500, 42_000, 65_000, 4_000_000].map(duration).into();
        assert_eq!(durations, ["12 ms", "1.5 s", "42 s", "1 m 05 s", "1 h 06 m"]);
        assert_eq!((bytes(12), bytes(1_234)), ("12 B".to_owned(), "1.2 kB".to_owned()));
    }
}
