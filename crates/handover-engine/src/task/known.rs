//! What an agent should know around its story: what the epic is for, what earlier stories did, and where the
//! project describes itself.

use std::fmt::Write as _;

use handover_model::{RunPhase, StoryState};
use handover_text::cut::{cut, one_line};

use super::{TaskParts, section};
use crate::reducer::{PhaseEnd, StoryRun};

const EPIC: usize = 4_000;
/// How much is said about earlier stories: of each, and of all. The latest come first.
const STORY: usize = 700;
const STORIES: usize = 6_000;
const FILES: usize = 8;

pub(super) fn add(out: &mut String, parts: &TaskParts<'_>) {
    if !parts.documents.epic.trim().is_empty() {
        section(out, "The epic", "markdown", parts.documents.epic.trim(), EPIC);
    }
    let earlier = stories(parts);
    if !earlier.is_empty() {
        section(out, "What earlier stories of this epic did", "text", &earlier, STORIES);
    }
    if !parts.documents.pointers.is_empty() {
        let _ = writeln!(
            out,
            "The project describes itself in `{}`.\n",
            parts.documents.pointers.join("`, `")
        );
    }
}

/// The finished stories, the latest first, as far as there is room.
fn stories(parts: &TaskParts<'_>) -> String {
    let is_done = |story: &&StoryRun| {
        story.state == StoryState::Done && story.planned.id != parts.story.planned.id
    };
    let mut out = String::new();
    for story in parts.state.stories.iter().rev().filter(is_done) {
        let text = told(story);
        if out.len() + text.len() > STORIES {
            break;
        }
        out.push_str(&text);
    }
    out
}

/// A finished story in a few lines: what was built and decided, where, and what its review said.
pub(super) fn told(story: &StoryRun) -> String {
    let mut out = format!("{}: {}\n", story.planned.id, one_line(&story.planned.title));
    let last = |phases: &[RunPhase]| {
        story.record.iter().rev().find(|end: &&PhaseEnd| phases.contains(&end.phase))
    };
    if let Some(work) = last(&[RunPhase::Dev, RunPhase::Fix]) {
        let _ = writeln!(out, "  Built: {}", one_line(&work.summary));
        if !work.notes.decisions.is_empty() {
            let _ = writeln!(out, "  Decided: {}", one_line(&work.notes.decisions.join("; ")));
        }
        let files: Vec<&str> = work.files.iter().take(FILES).map(String::as_str).collect();
        if !files.is_empty() {
            let _ = writeln!(out, "  Files: {}", files.join(", "));
        }
    }
    if let Some(review) = last(&[RunPhase::Review]).filter(|end| !end.summary.trim().is_empty()) {
        let _ = writeln!(out, "  Review: {}", one_line(&review.summary));
    }
    let mut short = cut(&out, STORY);
    if !short.ends_with('\n') {
        short.push('\n');
    }
    short
}
