//! Renders a retrospective as two files. Text from agents is quoted, so that it cannot pose as
//! structure.

use std::fmt::Write as _;

use handover_model::{StoryState, Timestamp};
use handover_text::quote::{quote_block, quote_inline};

use super::handoff::{IN_FILE, Section};
use crate::data::{Lesson, Retro};
use crate::reducer::State;

/// Where a retrospective comes from.
#[derive(Debug, Clone)]
pub struct RetroInfo<'a> {
    /// The run.
    pub run: &'a str,
    /// The agents it is based on.
    pub by: &'a str,
    /// The date shown.
    pub at: Timestamp,
}

/// The retrospective, for people.
pub fn retrospective(retro: &Retro, state: &State, about: &RetroInfo<'_>) -> String {
    let epic = &state.plan.epic;
    let mut out = format!("# Retrospective of epic {epic}\n\n");
    let _ = writeln!(out, "- **Date:** {}", date(about.at));
    let _ = writeln!(out, "- **Run:** {}", quote_inline(about.run));
    let _ = writeln!(out, "- **By:** {}\n", quote_inline(about.by));
    if !retro.summary.is_empty() {
        let _ = writeln!(out, "{}\n", quote_block(&retro.summary).trim_end());
    }
    out.push_str("## Stories\n\n| story | state | fixes | USD | why |\n|---|---|---|---|---|\n");
    for story in &state.stories {
        let cell = |text: &str| quote_inline(text).replace('|', "\\|");
        let (state, why) = match (story.state, story.is_done()) {
            (StoryState::Done, _) => (StoryState::Done, ""),
            (_, true) => (StoryState::Done, "in an earlier run"),
            (state, false) => (state, story.reason.as_str()),
        };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            cell(&story.planned.id),
            state,
            story.fixes(),
            story.spent().price().cell(),
            cell(why)
        );
    }
    out.push('\n');
    for (heading, lessons) in [
        ("What went well", &retro.went_well),
        ("What did not", &retro.went_badly),
        ("What to do", &retro.actions),
    ] {
        list(&mut out, heading, lessons);
    }
    lists(&mut out, retro);
    out
}

/// The handoff for the next epic. Its front matter makes it a package.
pub fn handoff(retro: &Retro, state: &State, about: &RetroInfo<'_>) -> String {
    let epic = &state.plan.epic;
    let done = state.stories.iter().filter(|story| story.is_done()).count();
    let mut out = format!(
        "---\ntype: handoff\nepic: '{epic}'\nproducer: project_manager\npriority: high\nrun: {}\n\
         date: {}\nstories_done: {done}\nstories: {}\n---\n# Handoff of epic {epic}\n\n## Summary\n\n",
        about.run,
        date(about.at),
        state.stories.len()
    );
    let summary = if retro.summary.is_empty() {
        format!("What epic {epic} established, for those who build on it.")
    } else {
        retro.summary.clone()
    };
    let _ = writeln!(out, "{}\n", quote_inline(&summary));
    lists(&mut out, retro);
    out
}

fn lists(out: &mut String, retro: &Retro) {
    for section in Section::ALL {
        list(out, section.heading(), section.of(retro));
    }
}

fn list(out: &mut String, heading: &str, lessons: &[Lesson]) {
    if lessons.is_empty() {
        return;
    }
    let _ = writeln!(out, "## {heading}\n");
    for lesson in lessons {
        let _ = write!(out, "- {}", quote_inline(&lesson.line()));
        if !lesson.file.is_empty() && lesson.file != lesson.text {
            let _ = write!(out, "{IN_FILE}{}", quote_inline(&lesson.file));
        }
        out.push('\n');
    }
    out.push('\n');
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}
