//! Every line of the tables against its own examples.

use std::collections::BTreeSet;

use super::super::scan;
use super::*;
use crate::redact::Hit;

/// Writes out an example: `(ab)5` is `ababa`.
fn expand(example: &str) -> String {
    let mut out = String::new();
    let mut rest = example;
    while let Some((before, tail)) = rest.split_once('(') {
        let (unit, tail) = tail.split_once(')').expect("a closing bracket");
        let digits = tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let len = tail[..digits].parse().expect("a length");
        out.push_str(before);
        out.extend(unit.chars().cycle().take(len));
        rest = &tail[digits..];
    }
    out + rest
}

fn hits(text: &str) -> Vec<Hit<'_>> {
    let mut hits = Vec::new();
    scan::patterns(text, &mut hits);
    hits
}

#[test]
fn matches_only_the_positive_example_of_each_row() {
    for vendor in TABLES.iter().copied().flatten() {
        let yes = expand(vendor.yes);
        let found = hits(&yes);
        let names: BTreeSet<_> = found.iter().map(|h| h.rule).collect();
        assert!(!found.is_empty(), "{} does not find {yes}", vendor.name);
        // Formats overlap; the example must at least be found by a rule that knows the prefix.
        let own = vendor.patterns.iter().any(|p| {
            let pattern = Pattern::new(p);
            yes.match_indices(pattern.literal()).any(|(at, _)| {
                let end = pattern.matches(yes.as_bytes(), at);
                end.and_then(|end| pattern.extend(yes.as_bytes(), at, end)).is_some()
            })
        });
        assert!(own, "{} does not match {yes}, only {names:?} do", vendor.name);
        let no = expand(vendor.no);
        assert_eq!(hits(&no), [], "{} finds {no}", vendor.name);
    }
}

#[test]
fn rule_names_are_unique_and_kebab_case() {
    let mut seen = BTreeSet::new();
    for vendor in TABLES.iter().copied().flatten() {
        assert!(seen.insert(vendor.name), "{} twice", vendor.name);
        assert!(
            vendor.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        );
    }
    assert!(seen.len() >= 200, "{} formats", seen.len());
}
