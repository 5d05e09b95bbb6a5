//! A digest of all stories of an epic that fits a token budget, from the journal.

use std::fmt::Write as _;

use handover_model::{StoryState, Tokenizer};
use handover_text::cut::{cut_to_tokens, one_line};

use crate::reducer::{State, StoryRun};
use crate::story::Criterion;
use crate::words::count;

/// How many files of a story are listed.
const FILES: usize = 12;

/// The acceptance criteria of stories, by id.
pub type Criteria = [(String, Vec<Criterion>)];

/// The epic in at most `budget` tokens. Stories share the budget evenly, and what one does not need
/// goes to the others.
pub fn digest(state: &State, criteria: &Criteria, tokenizer: Tokenizer, budget: u64) -> String {
    let head = summary(state);
    let mut left = budget.saturating_sub(handover_text::tokens::count(tokenizer, &head));
    let texts = state.stories.iter().map(|unit| story(unit, criteria));
    let mut texts: Vec<(usize, String)> = texts.enumerate().collect();
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

/// The state of a story; one that an earlier run finished is done.
fn shown(story: &StoryRun) -> StoryState {
    if story.is_done() { StoryState::Done } else { story.state }
}

fn summary(state: &State) -> String {
    let spent = state.spent();
    let all = StoryState::ALL.iter().filter_map(|wanted| {
        let count = state.stories.iter().filter(|story| shown(story) == *wanted).count();
        (count > 0).then(|| format!("{count} {wanted}"))
    });
    format!(
        "Epic {}: {}, {}. Agents used {} tokens in {} ({}).\n",
        state.plan.epic,
        count(state.stories.len() as u64, "story"),
        all.collect::<Vec<_>>().join(", "),
        spent.tokens,
        count(spent.duration_ms / 1_000, "second"),
        spent.price(),
    )
}

fn story(story: &StoryRun, criteria: &Criteria) -> String {
    let (id, title, path) = (&story.planned.id, &story.planned.title, &story.planned.path);
    let mut out = format!("Story {id}: {} ({path})\n", one_line(title));
    let is_earlier = story.is_done() && story.state != StoryState::Done;
    let reason = if is_earlier { "by an earlier run".to_owned() } else { one_line(&story.reason) };
    let _ = writeln!(out, "State: {}", format!("{} {reason}", shown(story)).trim_end());
    for criterion in of(criteria, &story.planned.id) {
        let _ = writeln!(out, "{}: {}", criterion.id, one_line(&criterion.text));
    }
    let steps: Vec<String> = story
        .lines
        .iter()
        .map(|line| format!("{} {} {}", line.phase, line.attempt, line.verdict))
        .collect();
    if !steps.is_empty() {
        let _ = writeln!(out, "Steps: {}", steps.join(", "));
    }
    for end in &story.record {
        if !end.summary.trim().is_empty() || !end.findings.is_empty() {
            let said = format!("{} {} said: {}", end.phase, end.attempt, one_line(&end.summary));
            let _ = writeln!(out, "{}", said.trim_end());
        }
        for finding in &end.findings {
            let text = one_line(&finding.text);
            let _ = writeln!(out, "- found [{}] {} {text}", finding.severity, finding.place);
        }
    }
    let account = story.account();
    // What agents of this run said is above.
    let is_new = story.record.is_empty();
    for (is_told, what, text) in [
        (is_new, "Built", account.built.join(" ")),
        (true, "Decided", account.notes.decisions.join("; ")),
        (true, "Tests", account.notes.tests.join("; ")),
        (is_new, "Review", account.review),
    ] {
        if is_told && !text.trim().is_empty() {
            let _ = writeln!(out, "{what}: {}", one_line(&text));
        }
    }
    if !account.files.is_empty() {
        let more = account.files.len().saturating_sub(FILES);
        let files: Vec<&str> = account.files.iter().take(FILES).map(String::as_str).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(out, "Files: {}{more}", files.join(", "));
    }
    out
}

fn of<'a>(criteria: &'a Criteria, id: &str) -> impl Iterator<Item = &'a Criterion> {
    let id = id.to_owned();
    criteria.iter().filter(move |(story, _)| *story == id).flat_map(|(_, all)| all)
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
        let text = digest(&state, &[], handover_text::tokens::for_model(None), 10_000);
        assert_eq!(
            text,
            "Epic 1: 2 stories, 1 pending, 1 done. Agents used 12 tokens in 2 seconds (0.2500 USD).\n\n\
             Story a: Title of a (docs/stories/a.md)\nState: done\nSteps: dev 1 complete\ndev 1 said: built it\n\
             - found [low] a.rs:1 a name\n\
             Files: f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11 and 2 more\n\n\
             Story b: Title of b (docs/stories/b.md)\nState: pending"
        );
    }

    #[test]
    fn exactly_as_many_files_as_fit_are_listed_without_a_rest() {
        let mut state = start(testing::story(), &["a"]);
        state.apply(&opened("a"));
        let mut end = ended("a", RunPhase::Dev, Some(Verdict::Complete));
        end.files = (0..FILES).map(|n| format!("f{n}")).collect();
        state.apply(&event(end));
        let text = digest(&state, &[], handover_text::tokens::for_model(None), 10_000);
        assert!(text.ends_with("f10, f11"), "{text}");
    }
}
