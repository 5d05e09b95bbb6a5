//! Notes of different units that say nearly the same.

use std::collections::HashMap;

use handover_model::{Note, NoteId};
use handover_text::Likeness;

/// Of notes that say nearly the same, the newest replaces the others: pairs of an older one and the one that
/// stays. Notes are given in any order.
///
/// Differences in numbers and names matter, however alike the rest is. Nothing is replaced by what is believed
/// less, or by what others may not see.
pub fn repeats<'a>(notes: impl IntoIterator<Item = &'a Note>) -> Vec<(NoteId, NoteId)> {
    let mut notes: Vec<&Note> = notes.into_iter().collect();
    notes.sort_by(|a, b| b.created_at.cmp(&a.created_at).then_with(|| a.id.cmp(&b.id)));
    let mut alike: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    let mut kept: Vec<(&Note, Likeness)> = Vec::new();
    let mut replaced = Vec::new();
    for note in notes {
        let likeness = Likeness::of(&note.text);
        if !likeness.is_telling() {
            continue;
        }
        let signs = likeness.signs().into_iter().enumerate();
        let mut others = signs.clone().flat_map(|sign| alike.get(&sign).into_iter().flatten());
        let newer = others.find(|at| {
            let (other, theirs) = &kept[**at];
            other.source != note.source
                && other.trust >= note.trust
                && (note.kind.is_private() || !other.kind.is_private())
                && theirs.repeats(&likeness)
        });
        if let Some(at) = newer {
            replaced.push((note.id.clone(), kept[*at].0.id.clone()));
            continue;
        }
        for sign in signs {
            alike.entry(sign).or_default().push(kept.len());
        }
        kept.push((note, likeness));
    }
    replaced
}

#[cfg(test)]
mod tests {
    use handover_model::{NoteKind, NoteState, ProjectId, Timestamp, Trust};

    use super::*;

    fn note(id: &str, seconds: i64, text: &str) -> Note {
        Note {
            id: NoteId::new(id).unwrap(),
            project: ProjectId::new("p").unwrap(),
            kind: NoteKind::Doc,
            origin: id.to_owned(),
            source: id.to_owned(),
            title: String::new(),
            text: text.to_owned(),
            trust: Trust::Project,
            paths: Vec::new(),
            symbols: Vec::new(),
            state: NoteState::Live,
            reason: None,
            hash: String::new(),
            created_at: Timestamp::from_micros(seconds),
        }
    }

    fn pairs(notes: &[Note]) -> Vec<(String, String)> {
        repeats(notes).into_iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    const TEXT: &str = "The gateway retries a payment at most twice, because the bank counts every attempt as one.";

    #[test]
    fn the_newest_of_those_that_say_the_same_stays() {
        let again = TEXT.replace("at most twice", "at most twice per order");
        let notes = [
            note("old", 1, TEXT),
            note("new", 3, &again),
            note("middle", 2, TEXT),
            note(
                "other",
                4,
                "Prices are stored in cents because floats lost money in every big order.",
            ),
        ];
        let expected = [("middle", "new"), ("old", "new")];
        assert_eq!(pairs(&notes), expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn numbers_and_names_make_a_difference() {
        let text = |port: u32, name: &str| {
            format!(
                "The service {name} of the shop listens on port {port} and nowhere else on this machine."
            )
        };
        let notes = [
            note("a", 1, &text(8080, "getOrders")),
            note("b", 2, &text(9090, "getOrders")),
            note("c", 3, &text(8080, "getUsers")),
        ];
        assert_eq!(pairs(&notes), []);
    }

    #[test]
    fn nothing_is_replaced_by_what_is_believed_less_or_private() {
        let agent = Note { trust: Trust::Agent, ..note("agent", 2, TEXT) };
        assert_eq!(pairs(&[note("doc", 1, TEXT), agent.clone()]), []);
        assert_eq!(pairs(&[note("doc", 3, TEXT), agent]).len(), 1);
        let talk = Note { kind: NoteKind::Conversation, ..note("talk", 2, TEXT) };
        assert_eq!(pairs(&[note("doc", 1, TEXT), talk.clone()]), []);
        assert_eq!(pairs(&[note("doc", 3, TEXT), talk]).len(), 1);
    }

    #[test]
    fn a_unit_may_repeat_itself_and_short_texts_say_too_little() {
        let twin = Note { source: "old".to_owned(), ..note("new", 2, TEXT) };
        assert_eq!(pairs(&[note("old", 1, TEXT), twin]), []);
        assert_eq!(pairs(&[note("a", 1, "Fix the build"), note("b", 2, "Fix the build")]), []);
    }
}
