//! What an agent should know around its story: what the epic is for, what earlier stories did, and where the
//! project describes itself.

use std::fmt::Write as _;

use handover_text::cut::{cut, one_line};

use super::{TaskParts, section};
use crate::reducer::StoryRun;

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

/// The finished stories, the latest first, as far as there is room. Those that a fix is about are shown there.
fn stories(parts: &TaskParts<'_>) -> String {
    let shown_below = super::fix::others(parts);
    let is_told = |story: &&StoryRun| {
        story.is_done()
            && story.planned.id != parts.story.planned.id
            && shown_below.iter().all(|other| other.planned.id != story.planned.id)
    };
    let mut out = String::new();
    for story in parts.state.stories.iter().rev().filter(is_told) {
        let text = told(story);
        if out.len() + text.len() > STORIES {
            break;
        }
        out.push_str(&text);
    }
    out
}

/// A finished story in a few lines: what was built and decided, which tests prove it, where it is, and what its
/// review said.
pub(super) fn told(story: &StoryRun) -> String {
    let mut out = format!("{}: {}\n", story.planned.id, one_line(&story.planned.title));
    let account = story.account();
    let files: Vec<&str> = account.files.iter().take(FILES).map(String::as_str).collect();
    for (what, text) in [
        ("Built", account.built.join(" ")),
        ("Decided", account.notes.decisions.join("; ")),
        ("Files", files.join(", ")),
        ("Tests", account.notes.tests.join("; ")),
        ("Review", account.review),
    ] {
        if !text.trim().is_empty() {
            let _ = writeln!(out, "  {what}: {}", one_line(&text));
        }
    }
    let mut short = cut(&out, STORY);
    if !short.ends_with('\n') {
        short.push('\n');
    }
    short
}
