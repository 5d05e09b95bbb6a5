//! Names that a test shares with the fix and with nothing before: no agent can guess them.

use std::collections::BTreeSet;

/// Shorter ones are counters and the like.
const LEAST_CHARS: usize = 4;

/// Words that the lines of tests and those of the code both brought. Comments do not count.
pub fn new_names(tests: &[&str], code: &[&str]) -> BTreeSet<String> {
    let of_tests: BTreeSet<&str> = tests.iter().flat_map(|line| names(line)).collect();
    let of_code = code.iter().flat_map(|line| names(line));
    of_code.filter(|name| of_tests.contains(name)).map(str::to_owned).collect()
}

fn names(line: &str) -> impl Iterator<Item = &str> {
    let line = line.trim_start();
    let is_comment = ["//", "#", "*", "/*", "<!--"].iter().any(|start| line.starts_with(start));
    let line = if is_comment { "" } else { line };
    let line = line.split_once(" // ").map_or(line, |(before, _)| before);
    let line = line.split_once("  # ").map_or(line, |(before, _)| before);
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|name| name.len() >= LEAST_CHARS && !name.starts_with(|c: char| c.is_numeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_both_say_counts() {
        let tests = ["assert widget.with_border(2)  # see the handbook", "x = 1"];
        let code = ["def with_border(self, by):", "    # in the handbook", "    raise ValueError"];
        let found: Vec<String> = new_names(&tests, &code).into_iter().collect();
        assert_eq!(found, ["with_border"]);
    }
}
