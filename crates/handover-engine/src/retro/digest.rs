//! A digest of all stories of an epic that fits a token budget, from the journal.

use std::fmt::Write as _;

use handover_model::Tokenizer;
use handover_text::cut::{cut_to_tokens, one_line};

use crate::reducer::{State, StoryRun};
use crate::report::counts;

/// How many files of a story are listed.
const FILES: usize = 12;

/// The epic in at most `budget` tokens. Stories share the budget evenly, and what one does not need
/// goes to the others.
pub fn digest(state: &State, tokenizer: Tokenizer, budget: u64) -> String {
    let head = summary(state);
    let mut left = budget.saturating_sub(handover_text::tokens::count(tokenizer, &head));
    let mut texts: Vec<(usize, String)> = state.stories.iter().map(story).enumerate().collect();
    // Short ones first, so that the others can use the rest of their share.
    texts.sort_by_key(|(at, text)| (text.len(), *at));
    let mut waiting = texts.len() as u64;
    for (_, text) in &mut texts {
        *text = cut_to_tokens(text, tokenizer, left / waiting.max(1));
        left = left.saturating_sub(handover_text::tokens::count(tokenizer, text));
        waiting -= 1;
    }
    texts.sort_by_key(|(at, _)| *at);
    let stories: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    cut_to_tokens(&format!("{head}\n{}", stories.join("\n\n")), tokenizer, budget)
}

fn summary(state: &State) -> String {
    let spent = state.spent();
    let counts: Vec<String> =
        counts(state).into_iter().map(|(state, count)| format!("{count} {state}")).collect();
    format!(
        "Epic {}: {} stories, {}. {:.4} USD, {} tokens, {} seconds of agents.\n",
        state.plan.epic,
        state.stories.len(),
        counts.join(", "),
        spent.cost_usd,
        spent.tokens,
        spent.duration_ms / 1_000
    )
}

fn story(story: &StoryRun) -> String {
    let mut out = format!("Story {}: {}\n", story.planned.id, one_line(&story.planned.title));
    let _ = writeln!(out, "State: {} {}", story.state, one_line(&story.reason));
    let steps: Vec<String> = story
        .lines
        .iter()
        .map(|line| format!("{} {} {}", line.phase, line.attempt, line.verdict))
        .collect();
    if !steps.is_empty() {
        let _ = writeln!(out, "Steps: {}", steps.join(", "));
    }
    for end in &story.record {
        let _ = writeln!(out, "{} {} said: {}", end.phase, end.attempt, one_line(&end.summary));
        for finding in &end.findings {
            let text = one_line(&finding.text);
            let _ = writeln!(out, "- found [{}] {} {text}", finding.severity, finding.place);
        }
    }
    if let Some(end) = story.record.iter().rev().find(|end| !end.files.is_empty()) {
        let more = end.files.len().saturating_sub(FILES);
        let files: Vec<&str> = end.files.iter().take(FILES).map(String::as_str).collect();
        let _ = write!(out, "Files: {}", files.join(", "));
        let _ =
            writeln!(out, "{}", if more > 0 { format!(" and {more} more") } else { String::new() });
    }
    out
}
