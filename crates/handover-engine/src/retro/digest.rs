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

#[cfg(test)]
mod tests {
    use handover_model::{RunPhase, Verdict};

    use super::*;
    use crate::reducer::Event;
    use crate::testing::{self, ended, event, finding, opened, start};

    #[test]
    fn a_story_fits_in_a_few_lines() {
        let mut state = start(testing::story(), &["a", "b"]);
        state.apply(&opened("a"));
        let mut end = ended("a", RunPhase::Dev, Some(Verdict::Complete));
        end.summary = "built\nit".to_owned();
        end.findings = vec![finding("low", "a.rs:1", "a\nname")];
        end.files = (0..14).map(|n| format!("f{n}")).collect();
        end.spent.cost_usd = 0.25;
        end.spent.tokens = 12;
        end.spent.duration_ms = 2_500;
        state.apply(&event(end));
        state.apply(&Event::Committed { story: "a".to_owned(), commit: "c".to_owned() });
        let text = digest(&state, handover_text::tokens::for_model(None), 10_000);
        assert_eq!(
            text,
            "Epic 1: 2 stories, 1 pending, 1 done. 0.2500 USD, 12 tokens, 2 seconds of agents.\n\n\
             Story a: Title of a\nState: done \nSteps: dev 1 complete\ndev 1 said: built it\n\
             - found [low] a.rs:1 a name\n\
             Files: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11 and 2 more\n\n\
             Story b: Title of b\nState: pending"
        );
    }

    #[test]
    fn exactly_as_many_files_as_fit_are_listed_without_a_rest() {
        let mut state = start(testing::story(), &["a"]);
        state.apply(&opened("a"));
        let mut end = ended("a", RunPhase::Dev, Some(Verdict::Complete));
        end.files = (0..FILES).map(|n| format!("f{n}")).collect();
        state.apply(&event(end));
        let text = digest(&state, handover_text::tokens::for_model(None), 10_000);
        assert!(text.ends_with("f10, f11"), "{text}");
    }
}
