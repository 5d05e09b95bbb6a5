//! Notes and places in the text that the agent sees.

use std::fmt::Write;

use handover_model::{NoteKind, NoteState, Timestamp, Tokenizer, short_id};
use handover_text::quote::quote_inline;
use handover_text::{cut, tokens};

use super::render::{class, path, warning};
use super::{PackedNote, ShownPlace};

/// What to do with notes that contradict each other.
const NEWEST: &str = "Where these disagree, the newest counts.";

/// How much is said of what a conversation is about.
const TOPIC_CHARS: usize = 72;

/// The most tokens of what introduces notes.
pub(super) fn known_heading_tokens(tokenizer: Tokenizer) -> u64 {
    tokens::count(tokenizer, &format!("\n### What is already known (8)\n\n{NEWEST}\n"))
}

/// The most tokens of what introduces places.
pub(super) fn places_heading_tokens(tokenizer: Tokenizer) -> u64 {
    tokens::count(tokenizer, "\n### Where to look (8)\n\n")
}

/// Tokens of places, counted one by one.
pub(super) fn tokens_of_places(places: &[ShownPlace], tokenizer: Tokenizer) -> u64 {
    if places.is_empty() {
        return 0;
    }
    let lines = places.iter().map(|one| tokens::count(tokenizer, &place(one)));
    places_heading_tokens(tokenizer) + lines.sum::<u64>()
}

pub(super) fn known(text: &mut String, notes: &[PackedNote]) {
    if notes.is_empty() {
        return;
    }
    let _ = write!(text, "\n### What is already known ({})\n\n", notes.len());
    if notes.len() > 1 {
        let _ = writeln!(text, "{NEWEST}");
    }
    for item in notes {
        text.push_str(&note(item));
    }
}

pub(super) fn places(text: &mut String, places: &[ShownPlace]) {
    if places.is_empty() {
        return;
    }
    let _ = write!(text, "\n### Where to look ({})\n\n", places.len());
    for one in places {
        text.push_str(&place(one));
    }
}

/// A file and why it matters.
pub(super) fn place(place: &ShownPlace) -> String {
    format!("- {}{}: {}\n", path(&place.path), class(place.trust), quote_inline(&place.why))
}

/// Where a note comes from, without the tail of a conversation's long id.
fn short_origin(kind: NoteKind, origin: &str) -> String {
    let parts = origin.split_once(':').and_then(|(program, rest)| {
        let (conversation, _) = rest.split_once('#').unwrap_or((rest, ""));
        Some((program, conversation.get(..8)?))
    });
    match (kind, parts) {
        (NoteKind::Conversation, Some((program, start))) => format!("{program} {start}"),
        _ => origin.to_owned(),
    }
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

/// A note: where it comes from, when, who says it, and what.
pub(super) fn note(note: &PackedNote) -> String {
    let PackedNote { origin, text, trust, state, reason, created_at, topic, .. } = note;
    let origin = quote_inline(&short_origin(note.kind, origin));
    let mut line = format!("**{origin}**, {}", date(*created_at));
    if trust.is_shown() {
        let _ = write!(line, ", {trust}");
    }
    if *state == NoteState::Stale {
        let reason = reason.as_deref().unwrap_or("its source has changed");
        let _ = write!(line, ", stale: {}", quote_inline(reason));
    }
    let topic = topic.as_deref().map(|topic| topic.trim_end_matches(['…', '.', ':', '?']));
    if let Some(topic) = topic.filter(|topic| !topic.is_empty() && !text.contains(topic)) {
        let _ = write!(line, ", on “{}”", quote_inline(&cut::cut(topic, TOPIC_CHARS)));
    }
    for one in &note.earlier {
        let _ = write!(line, ", newer than note {} on this", short_id(one.id.as_str()));
    }
    let mut out = format!("{}{line}:\n", warning(&note.flags));
    for statement in text.lines() {
        // Handover says this, not the note.
        match note.marked(statement) {
            Some((since, said)) => writeln!(out, "{since}{}", quote_inline(said)),
            None => writeln!(out, "> {}", quote_inline(statement)),
        }
        .ok();
    }
    out
}
