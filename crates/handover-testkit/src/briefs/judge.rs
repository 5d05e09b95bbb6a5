//! Compares a brief with its situation's expectations, and with rules for every brief.

use std::collections::BTreeSet;

use super::play::PlayedBrief;
use super::situation::{Expectations, Situation};

/// A line of at least this length must not be repeated, or tokens are wasted.
const LONG_LINE: usize = 50;

/// What is wrong with a brief.
pub(super) fn complaints(situation: &Situation, brief: &PlayedBrief) -> Vec<String> {
    let expected = &situation.expect;
    let preface = preface(&brief.text);
    let mut complaints = Vec::new();
    for text in &expected.first {
        if !preface.contains(text) {
            complaints.push(format!("missing: {text}"));
        } else if !first_section(preface).contains(text) {
            complaints.push(format!("not first: {text}"));
        }
    }
    for text in &expected.has {
        if !preface.contains(text) {
            complaints.push(format!("missing: {text}"));
        }
    }
    for text in &expected.lacks {
        if preface.contains(text) {
            complaints.push(format!("must not be there: {text}"));
        }
    }
    for text in &expected.once {
        let count = preface.matches(text).count();
        if count != 1 {
            complaints.push(format!("{count} times instead of once: {text}"));
        }
    }
    complaints.extend(out_of_order(preface, &expected.order));
    complaints.extend(repeated(preface).map(|line| format!("said twice: {line}")));
    complaints.extend(too_long(expected, brief));
    complaints
}

/// The brief without its task, which would match all words of the task.
fn preface(text: &str) -> &str {
    text.find("\n## Your Task\n").map_or(text, |end| &text[..end])
}

/// The context up to its second section.
fn first_section(preface: &str) -> &str {
    let start = preface.find("\n### ").map_or(0, |start| start + 1);
    let ends = ["\n### ", "\n## "].map(|heading| preface[start..].find(heading));
    let end = ends.into_iter().flatten().min().map_or(preface.len(), |end| start + end);
    &preface[..end]
}

fn out_of_order(preface: &str, order: &[String]) -> Option<String> {
    let mut from = 0;
    for text in order {
        let Some(at) = preface[from..].find(text) else {
            let how = if preface.contains(text) { "too early" } else { "missing" };
            return Some(format!("{how}: {text}"));
        };
        from += at + text.len();
    }
    None
}

/// Long lines with the same text, whatever list markers precede it.
fn repeated(preface: &str) -> impl Iterator<Item = &str> {
    let mut seen = BTreeSet::new();
    preface
        .lines()
        .map(said)
        .filter(|line| line.chars().count() >= LONG_LINE)
        .filter(move |line| !seen.insert(*line))
}

/// A line without its markers: `> - `, `- [ ] `, `> L12: `.
fn said(line: &str) -> &str {
    let line = line.trim_start_matches(|c: char| !c.is_alphabetic());
    match line.strip_prefix('L').and_then(|rest| rest.split_once(": ")) {
        Some((number, rest)) if number.parse::<u32>().is_ok() => rest,
        _ => line,
    }
}

fn too_long(expected: &Expectations, brief: &PlayedBrief) -> Vec<String> {
    let mut complaints = Vec::new();
    let (tokens, advice) = (brief.tokens(), brief.advice());
    if tokens > expected.tokens {
        complaints.push(format!("{tokens} tokens, at most {} are expected", expected.tokens));
    }
    if let Some(most) = expected.advice.filter(|most| advice > *most) {
        complaints.push(format!("{advice} % general advice, at most {most} % are expected"));
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "## Context for developer\n\n### Why It Came Back\n\n> Tokens never expire.\n\n\
        ### Relevant Packages (1/1)\n\n> Refresh tokens rotate on every single use, says the lead.\n\n\
        ## SPECIALIZATION GUIDANCE (Advisory)\n\nUse `try_from`.\n\n## Your Task\n\nFix the cart\n";

    fn complain(expect: &str) -> Vec<String> {
        let text = format!("about = \"\"\n[brief]\nrole = \"developer\"\n[expect]\n{expect}\n");
        let situation: Situation = toml::from_str(&text).unwrap();
        let brief = PlayedBrief { text: TEXT.to_owned(), context: 60, specialization: 40 };
        complaints(&situation, &brief)
    }

    #[test]
    fn every_expectation_can_fail() {
        let none: Vec<String> = Vec::new();
        assert_eq!(complain("tokens = 100\nadvice = 40\nfirst = ['never expire']"), none);
        assert_eq!(complain("tokens = 100\nhas = ['rotate']\norder = ['expire', 'rotate']"), none);
        let cases = [
            ("tokens = 99", "100 tokens"),
            ("tokens = 100\nadvice = 39", "40 % general advice"),
            ("tokens = 100\nfirst = ['rotate']", "not first: rotate"),
            ("tokens = 100\nfirst = ['nowhere']", "missing: nowhere"),
            ("tokens = 100\nhas = ['Fix the cart']", "missing: Fix the cart"),
            ("tokens = 100\nlacks = ['rotate']", "must not be there: rotate"),
            ("tokens = 100\nonce = ['###']", "2 times instead of once"),
            ("tokens = 100\norder = ['rotate', 'expire']", "too early: expire"),
        ];
        for (expect, complaint) in cases {
            let found = complain(expect);
            assert!(found.len() == 1 && found[0].contains(complaint), "{expect}: {found:?}");
        }
    }

    #[test]
    fn a_long_line_must_not_be_repeated() {
        let line = "refresh tokens rotate on every single use, says the lead again";
        let text = format!("> L4: {line}\n\n- {line}\n- short\n- short\n");
        assert_eq!(repeated(&text).count(), 1);
    }
}
