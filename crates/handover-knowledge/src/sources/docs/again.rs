//! What a document says today where a note was learned from it.

use std::collections::HashSet;
use std::path::Path;

use handover_model::{Note, SectionNow, Timestamp};
use handover_text::Redactor;

use super::{Committed, Root, drafts};

/// A section with this share of common words is the same one under another heading.
const SAME: f64 = 0.5;

/// Reads the section of a document that a note was learned from. A document that may not be read is left alone.
pub fn section_now(root: &Path, note: &Note, redactor: &Redactor) -> SectionNow {
    let text = match Root::of(root).read(&note.source).map(|bytes| bytes.map(String::from_utf8)) {
        Ok(Some(Ok(text))) => text,
        Ok(None) => return SectionNow::Gone,
        Ok(Some(Err(_))) | Err(_) => return SectionNow::Same,
    };
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    };
    // Markup that was taken out makes them differ; then the document is split again.
    // Most lines are lines of the document, which is seen sooner than that they are part of one.
    let has = |line: &String| {
        text.lines().any(|there| there.trim() == line.as_str()) || text.contains(line.as_str())
    };
    if lines(&note.text).iter().all(has) {
        return SectionNow::Same;
    }
    let sections = drafts(&note.source, &text, &Committed::Everything, Timestamp::from_micros(0));
    let sections: Vec<(String, String)> = sections
        .into_iter()
        .map(|draft| (draft.origin, redactor.clean(&draft.text).as_str().to_owned()))
        .collect();
    if sections.iter().any(|(_, text)| *text == note.text) {
        return SectionNow::Same;
    }
    let before = words(&note.text);
    let likeness = |text: &str| {
        let now = words(text);
        let both = before.intersection(&now).count();
        both as f64 / (before.len() + now.len() - both).max(1) as f64
    };
    let best = sections
        .iter()
        .map(|(origin, text)| (*origin == note.origin, likeness(text), text))
        .filter(|(same_place, likeness, _)| *same_place || *likeness >= SAME)
        .max_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    match best {
        Some((_, _, text)) => SectionNow::Changed(text.clone()),
        None => SectionNow::Gone,
    }
}

fn words(text: &str) -> HashSet<&str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect()
}
