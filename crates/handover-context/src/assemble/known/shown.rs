//! What is shown of a note.

use handover_model::{Form, Note, NoteKind};
use handover_text::cut;

use super::super::passages::{Passage, Question};

/// A longer note is shown by its best passages; a statement may be longer, since it stands with others.
const SHOWN_CHARS: usize = 400;
const STATED_CHARS: usize = 480;

/// Few texts have more characters to a token. A note that would not fit even then is not prepared.
const CHARS_PER_TOKEN: usize = 6;

/// How much is shown of a note.
fn most_chars(kind: NoteKind) -> usize {
    match kind {
        NoteKind::Conversation => STATED_CHARS,
        NoteKind::Doc | NoteKind::Commit | NoteKind::Memory | NoteKind::Manual => SHOWN_CHARS,
    }
}

/// A note as it is shown: all of it if it is short, else its best passage with those around it.
pub(super) fn shown(note: &Note, question: Option<&Question>) -> (String, Form) {
    let most = most_chars(note.kind);
    let whole = cut::one_line(&note.text);
    if whole.chars().count() <= most {
        return (titled(note, whole), Form::Full);
    }
    let ranked = question.map(|question| question.rank(&[&note.text])).unwrap_or_default();
    let passages: &[Passage] = ranked.first().map_or(&[], Vec::as_slice);
    if passages.is_empty() {
        return (titled(note, cut::cut(&whole, most)), Form::Short);
    }
    let best = (0..passages.len())
        .max_by(|a, b| passages[*a].score.total_cmp(&passages[*b].score).then(b.cmp(a)))
        .unwrap_or_default();
    let (mut first, mut last) = (best, best);
    let mut length = passages[best].text.chars().count();
    // What follows completes a statement more often than what precedes it.
    loop {
        let after = passages.get(last + 1).map(|next| next.text.chars().count());
        let before = first.checked_sub(1).map(|at| passages[at].text.chars().count());
        match (after, before) {
            (Some(more), _) if length + more < most => {
                last += 1;
                length += more + 1;
            }
            (_, Some(more)) if length + more < most => {
                first -= 1;
                length += more + 1;
            }
            _ => break,
        }
    }
    let texts: Vec<&str> =
        passages[first..=last].iter().map(|passage| passage.text.as_str()).collect();
    (titled(note, texts.join(" ")), Form::Focus)
}

/// A text with the title of its note, unless that stands elsewhere: a document's heading is part of its origin,
/// what a conversation is about stands above its statements.
fn titled(note: &Note, text: String) -> String {
    let title = cut::one_line(&note.title);
    let repeats = title.is_empty()
        || matches!(note.kind, NoteKind::Doc | NoteKind::Conversation)
        || text.to_lowercase().contains(&title.trim_end_matches('…').to_lowercase());
    if repeats { text } else { format!("{title}: {text}") }
}

/// The least tokens that a note takes.
pub(super) fn least_tokens(note: &Note) -> u64 {
    (note.text.len().min(most_chars(note.kind)) / CHARS_PER_TOKEN) as u64
}
