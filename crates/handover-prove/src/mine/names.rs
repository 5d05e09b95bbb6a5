//! Names that a test shares with the fix and with nothing before: no agent can guess them. And names that a prompt shares
//! with the fix alone: they give it away.

use std::collections::BTreeSet;

/// Shorter ones are counters and the like.
const LEAST_CHARS: usize = 4;

/// Words that the lines of tests and those of the code both brought. Comments do not count.
pub fn new_names(tests: &[&str], code: &[&str]) -> BTreeSet<String> {
    let of_tests: BTreeSet<&str> = tests.iter().flat_map(|line| names(line)).collect();
    let of_code = code.iter().flat_map(|line| names(line));
    of_code.filter(|name| of_tests.contains(name)).map(str::to_owned).collect()
}

/// What a prompt calls by its name in code, and only the lines of the fix have. What its test needs, too, is part of the
/// task.
pub fn told_names<'p>(prompt: &'p str, tests: &[&str], code: &[&str]) -> Vec<&'p str> {
    let around = |c: char| !c.is_alphanumeric() && c != '_';
    let code: Vec<String> =
        code.iter().map(|line| names(line).collect::<Vec<_>>().join(".")).collect();
    let named = prompt.split_whitespace().filter(|word| {
        word.contains(['`', '_', '(']) || word.trim_matches(around).contains(['.', ':'])
    });
    let named =
        named.map(|word| word.trim_matches(around)).filter(|word| word.len() >= LEAST_CHARS);
    let in_fix = |word: &str| {
        let parts = names(word).collect::<Vec<_>>().join(".");
        !parts.is_empty()
            && code.iter().any(|line| format!(".{line}.").contains(&format!(".{parts}.")))
    };
    named.filter(|word| in_fix(word) && !tests.iter().any(|line| line.contains(word))).collect()
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

    #[test]
    fn a_prompt_must_not_name_what_only_the_fix_has() {
        let (tests, code) =
            (["assert border(2)"], ["    return shlex.split(text)", "    border_of = text"]);
        assert_eq!(told_names("sanitizing with `shlex.split`", &tests, &code), ["shlex.split"]);
        assert_eq!(told_names("`border(2)` fails, and so does `other`", &tests, &code), [""; 0]);
        assert_eq!(told_names("the text is lost. It is split", &tests, &code), [""; 0]);
    }
}
