//! Why a note in use is not among the candidates of a task.

use handover_model::Note;
use handover_store::Result;

use super::fate::MENTION;
use super::subject::Library;
use crate::rank::{NoteScores, Wording};

/// How many notes are read at once to find one among them.
const AT_ONCE: usize = 500;

/// Why a note is not a candidate.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Missed {
    /// Notes are chosen by the task, and there is none.
    NoTask,
    /// It has no word of the task.
    NoWord,
    /// It has some, but such an agent gets no notes.
    NoNotes { words: u32 },
    /// Others match the task better.
    Behind { words: u32, better: usize },
}

impl Missed {
    /// Looks a note up among all that have a word of the task. `chosen` tells whether there are candidates.
    pub(super) fn of(
        library: &Library<'_>,
        note: &Note,
        task: Option<&str>,
        chosen: bool,
    ) -> Result<Self> {
        let Some(task) = task.filter(|task| !task.trim().is_empty()) else {
            return Ok(Self::NoTask);
        };
        let scores = NoteScores::of(library.store, library.project, task, Wording::Related)?;
        let ranked = scores.best(usize::MAX);
        for (nth, numbers) in ranked.chunks(AT_ONCE).enumerate() {
            let found = library.store.notes_by_number(library.project, numbers)?;
            let Some((number, _)) = found.iter().find(|(_, other)| other.id == note.id) else {
                continue;
            };
            let words = scores.words(*number).count_ones();
            let before = numbers.iter().take_while(|other| *other != number).count();
            let better = nth * AT_ONCE + before;
            return Ok(if chosen {
                Self::Behind { words, better }
            } else {
                Self::NoNotes { words }
            });
        }
        Ok(Self::NoWord)
    }

    /// The reason in a sentence, and what would change it.
    pub(super) fn explained(&self) -> (String, Option<String>) {
        match self {
            Self::NoTask => (
                "It was not a candidate: notes are chosen by the task, and there is none."
                    .to_owned(),
                Some("Give the task: `--role ROLE --task TEXT`.".to_owned()),
            ),
            Self::NoWord => (
                "It was not a candidate: it has nothing to do with the task.".to_owned(),
                Some(MENTION.to_owned()),
            ),
            Self::NoNotes { words } => (
                format!("It matches {}, but such an agent gets no notes.", counted(*words)),
                Some(
                    "`handover config get brief.notes` shows whether briefs contain notes."
                        .to_owned(),
                ),
            ),
            Self::Behind { words, better } => (
                format!(
                    "It was not a candidate: it matches {}, but {better} other notes match better.",
                    counted(*words)
                ),
                Some(
                    "Mention its subject in the first line of the task, whose words count most."
                        .to_owned(),
                ),
            ),
        }
    }
}

fn counted(words: u32) -> String {
    if words == 1 { "1 word of the task".to_owned() } else { format!("{words} words of the task") }
}
