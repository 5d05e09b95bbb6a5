//! The passages of a long text that answer a task, in their order, within a number of tokens.

use std::collections::{BTreeMap, BTreeSet};

use handover_model::Tokenizer;
use handover_text::cut::cut_to_tokens;
use handover_text::fence::{FenceLine, Fences};
use handover_text::{tokens, words};

/// How much of a text is looked at; what follows is only in the package.
const LOOKED_AT: usize = 512 * 1024;

/// Stands for what is left out between two passages.
const GAP: &str = "[…]";

/// The passages of a text that answer a task. The first one is always among them: it says what the text is about.
pub(super) fn excerpt(text: &str, task: &str, tokenizer: Tokenizer, room: u64) -> String {
    let passages = passages(up_to(text, LOOKED_AT));
    let mut chosen = BTreeSet::new();
    let mut used = 0;
    let between = tokens::count(tokenizer, &format!("\n\n{GAP}\n\n"));
    for (position, passage) in by_worth(&passages, task) {
        let cost = tokens::count(tokenizer, passage) + between;
        if used + cost <= room {
            chosen.insert(position);
            used += cost;
        }
    }
    match (chosen.is_empty(), passages.first()) {
        (true, Some(first)) => cut_to_tokens(first, tokenizer, room),
        _ => joined(&passages, &chosen),
    }
}

fn up_to(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// The passages in the order of their worth: the first one, then those with the rarest words of the task.
fn by_worth<'t>(passages: &[&'t str], task: &str) -> Vec<(usize, &'t str)> {
    let asked: BTreeSet<String> = words::terms(task).into_iter().collect();
    let terms = |passage: &&str| -> BTreeSet<String> {
        words::terms(passage).into_iter().filter(|term| asked.contains(term)).collect()
    };
    let found: Vec<BTreeSet<String>> = passages.iter().map(terms).collect();
    let mut often: BTreeMap<&str, f64> = BTreeMap::new();
    for term in found.iter().flatten() {
        *often.entry(term).or_default() += 1.0;
    }
    let rarity = |term: &String| (1.0 + passages.len() as f64 / often[term.as_str()]).ln();
    let mut scored: Vec<(f64, usize)> = found
        .iter()
        .enumerate()
        .map(|(position, terms)| (terms.iter().map(rarity).sum(), position))
        .collect();
    if let Some(first) = scored.first_mut() {
        first.0 = f64::INFINITY;
    }
    // Where nothing speaks for one of them, the earlier one goes first.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scored.into_iter().map(|(_, position)| (position, passages[position])).collect()
}

/// The passages that were chosen, with a sign where something is missing.
fn joined(passages: &[&str], chosen: &BTreeSet<usize>) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let mut next = 0;
    for position in chosen {
        if *position != next {
            parts.push(GAP);
        }
        parts.push(passages[*position]);
        next = position + 1;
    }
    if next < passages.len() {
        parts.push(GAP);
    }
    parts.join("\n\n")
}

/// The paragraphs of a text, a block of code each being one, without the debrief: that is said in other words.
fn passages(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fences = Fences::default();
    let (mut start, mut at, mut is_debrief) = (0, 0, false);
    let mut end_at = |start: usize, end: usize| {
        let passage = text[start..end].trim_end().trim_start_matches(['\n', '\r']);
        if !passage.trim().is_empty() {
            found.push(passage);
        }
    };
    for whole in text.split_inclusive('\n') {
        let line = whole.trim_end_matches(['\n', '\r']);
        let end = at + whole.len();
        match fences.line(line) {
            FenceLine::Opens(language) => {
                is_debrief = language.split_whitespace().next() == Some("handover");
                end_at(start, at);
                start = at;
            }
            FenceLine::Closes => {
                if !is_debrief {
                    end_at(start, end);
                }
                (start, is_debrief) = (end, false);
            }
            FenceLine::Outside | FenceLine::Indented if line.trim().is_empty() => {
                end_at(start, end);
                start = end;
            }
            FenceLine::Outside | FenceLine::Indented | FenceLine::Inside => {}
        }
        at = end;
    }
    if !is_debrief {
        end_at(start, text.len());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "# Report\n\nI looked at everything.\n\nThe cache is warm.\n\n```rust\nlet a = 1;\n\nlet b = 2;\n```\n\n\
        Refresh tokens rotate under one lock.\n\n```handover\nverdict: complete\n\nsummary: x\n```\n";

    #[test]
    fn paragraphs_and_blocks_of_code_are_passages_and_the_debrief_is_none() {
        let found = passages(REPORT);
        assert_eq!(
            found,
            [
                "# Report",
                "I looked at everything.",
                "The cache is warm.",
                "```rust\nlet a = 1;\n\nlet b = 2;\n```",
                "Refresh tokens rotate under one lock."
            ]
        );
        assert_eq!(passages("one\n```\nopen"), ["one", "```\nopen"]);
        assert_eq!(passages("one\n```handover\nverdict: x"), ["one"]);
        assert!(passages(" \n\n").is_empty());
    }

    #[test]
    fn what_answers_the_task_is_kept_in_its_order() {
        let tokenizer = Tokenizer::Claude;
        let all = excerpt(REPORT, "", tokenizer, 10_000);
        assert!(all.starts_with("# Report\n\nI looked") && !all.contains(GAP), "{all}");
        let between = tokens::count(tokenizer, &format!("\n\n{GAP}\n\n"));
        let room = |passages: [&str; 2]| -> u64 {
            passages.iter().map(|passage| tokens::count(tokenizer, passage) + between).sum()
        };
        let found = passages(REPORT);
        let short =
            excerpt(REPORT, "Do refresh tokens rotate?", tokenizer, room([found[0], found[4]]));
        assert_eq!(short, "# Report\n\n[…]\n\nRefresh tokens rotate under one lock.");
        let first = excerpt(REPORT, "", tokenizer, room([found[0], found[1]]));
        assert_eq!(first, "# Report\n\nI looked at everything.\n\n[…]");
    }

    #[test]
    fn a_first_passage_that_is_too_long_is_cut() {
        let long = "word ".repeat(500);
        let cut = excerpt(&long, "", Tokenizer::Claude, 20);
        assert!(cut.ends_with('…') && tokens::count(Tokenizer::Claude, &cut) <= 20, "{cut}");
        assert_eq!(excerpt("", "task", Tokenizer::Claude, 20), "");
        assert_eq!(up_to("aé", 2), "a");
    }
}
