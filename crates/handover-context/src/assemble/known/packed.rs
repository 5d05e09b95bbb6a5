//! A note as the block shows it: its statements in their order, what marks them, and what they cost.

use handover_model::{
    AmendedBy, Form, Note, NoteId, NoteKind, NoteState, ScreenFlag, StaleName, Timestamp,
    Tokenizer, Trust,
};
use handover_text::{cut, tokens};
use serde::Serialize;

use super::super::alive::{self, Freshness};
use super::super::{Terms, amended, render_notes};
use super::{Candidate, Found, Shown};

/// A note as the block shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PackedNote {
    /// The stored note.
    pub id: NoteId,
    /// Where it comes from.
    pub kind: NoteKind,
    /// The exact place.
    pub origin: String,
    /// The passages that answer the task, a line for each statement of a conversation.
    pub text: String,
    /// Tokens of the note in the block.
    pub tokens: u64,
    /// What it was ranked by: the sum of `terms`.
    pub score: f64,
    /// How far to believe it: as far as the least of its statements.
    pub trust: Trust,
    /// What the screen found in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<ScreenFlag>,
    /// The names in it that are not what they were.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stale: Vec<StaleName>,
    /// Whether it still counts.
    pub state: NoteState,
    /// Why, if it is not simply live.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The time of its source.
    pub created_at: Timestamp,
    /// Other notes of the same conversation that are in the text, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<NoteId>,
    /// Earlier notes about the same subject, which are left out for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierNote>,
    /// What the conversation is about, if none of the statements says so.
    #[serde(skip)]
    pub topic: Option<String>,
    /// How much of it is shown.
    #[serde(skip)]
    pub form: Form,
    /// How the score came about.
    #[serde(skip)]
    pub terms: Terms,
    /// Where it belongs, and its statements in their order.
    #[serde(skip)]
    pub(super) source: String,
    #[serde(skip)]
    pub(super) said: Vec<Said>,
}

/// A note that a later one stands for, because both are about the same subject.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EarlierNote {
    /// The stored note.
    pub id: NoteId,
    /// The time of its source.
    pub created_at: Timestamp,
}

/// A statement of a note.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) struct Said {
    number: i64,
    pub(in super::super) id: NoteId,
    pub(in super::super) trust: Trust,
    pub(in super::super) flags: Vec<ScreenFlag>,
    pub(in super::super) stale: Vec<StaleName>,
    /// What replaced part of it.
    pub(in super::super) outdated: Option<AmendedBy>,
    pub(super) text: String,
}

impl Said {
    pub(super) fn new(candidate: &Candidate, shown: &Shown, text: String) -> Self {
        let Found { number, note, .. } = &candidate.found;
        let (id, flags) = (note.id.clone(), shown.flags.clone());
        let replaced = candidate.amended_by.as_ref().filter(|by| by.how.is_marked());
        let (outdated, stale) = (replaced.cloned(), Vec::new());
        Self { number: *number, id, trust: note.trust, flags, stale, outdated, text }
    }
}

impl PackedNote {
    pub(super) fn new(found: &Found, said: Said, form: Form, tokenizer: Tokenizer) -> Self {
        let Found { note, terms, .. } = found;
        let topic = (note.kind == NoteKind::Conversation).then(|| cut::one_line(&note.title));
        let mut packed = Self {
            id: note.id.clone(),
            kind: note.kind,
            origin: cut::cut(&cut::one_line(&note.origin), 80),
            text: String::new(),
            tokens: 0,
            score: terms.sum(),
            trust: note.trust,
            flags: Vec::new(),
            stale: Vec::new(),
            state: note.state,
            reason: note.reason.clone(),
            created_at: note.created_at,
            also: Vec::new(),
            earlier: Vec::new(),
            topic,
            form,
            terms: *terms,
            source: note.source.clone(),
            said: vec![said],
        };
        packed.settle(tokenizer);
        packed
    }

    /// With one more statement of the same conversation.
    pub(super) fn with(&self, said: Said, tokenizer: Tokenizer) -> Self {
        let mut more = self.clone();
        let at = more.said.partition_point(|other| other.number < said.number);
        more.also.push(said.id.clone());
        more.said.insert(at, said);
        more.settle(tokenizer);
        more
    }

    /// With a pointer to an earlier note about the same subject.
    pub(super) fn pointing_to(&self, note: &Note, tokenizer: Tokenizer) -> Self {
        let mut more = self.clone();
        more.earlier.push(EarlierNote { id: note.id.clone(), created_at: note.created_at });
        more.settle(tokenizer);
        more
    }

    /// Without a statement; `None` if none is left.
    pub(super) fn without(mut self, id: &NoteId, tokenizer: Tokenizer) -> Option<Self> {
        self.said.retain(|said| said.id != *id);
        self.also.retain(|also| also != id);
        let first = self.said.first()?;
        if self.id == *id {
            self.id = first.id.clone();
            self.also.retain(|also| *also != self.id);
        }
        self.settle(tokenizer);
        Some(self)
    }

    /// Takes the statement away that was added last. Returns it, or nothing if the note has no other.
    pub(in super::super) fn pop(&mut self, tokenizer: Tokenizer) -> Option<NoteId> {
        let last = self.also.pop()?;
        self.said.retain(|said| said.id != last);
        self.settle(tokenizer);
        Some(last)
    }

    /// Derives text, trust and tokens from the statements.
    fn settle(&mut self, tokenizer: Tokenizer) {
        let alone = self.said.len() == 1;
        let lines = self.said.iter().map(|said| {
            let speaks = self.kind == NoteKind::Conversation
                && !["Agent: ", "Error: ", "Task: "]
                    .iter()
                    .any(|speaker| said.text.starts_with(speaker));
            let since = said.outdated.as_ref().map(amended::since).unwrap_or_default();
            let text = match said.trust {
                _ if alone || !speaks => said.text.clone(),
                Trust::Person => format!("Person: {}", said.text),
                Trust::Project | Trust::Agent | Trust::Outside => format!("Agent: {}", said.text),
            };
            since + &text
        });
        self.text = lines.collect::<Vec<_>>().join("\n");
        self.trust = self.said.iter().map(|said| said.trust).min().unwrap_or(self.trust);
        self.flags = self.said.iter().flat_map(|said| said.flags.iter().copied()).collect();
        self.flags.sort_unstable();
        self.flags.dedup();
        self.tokens = tokens::count(tokenizer, &render_notes::note(self));
    }

    /// Every statement that it shows.
    pub(in super::super) fn statements(&self) -> impl Iterator<Item = &Said> {
        self.ids().filter_map(|id| self.said.iter().find(|said| said.id == *id))
    }

    /// Notes which names are not what they were.
    pub(in super::super) fn check(&mut self, fresh: &dyn Freshness) {
        for said in &mut self.said {
            said.stale = alive::stale(fresh, [said.text.as_str()]);
        }
        self.stale = alive::stale(fresh, [self.text.as_str()]);
    }

    /// What marks a line of the text as outdated, and the rest of it.
    pub(in super::super) fn marked<'t>(&self, line: &'t str) -> Option<(String, &'t str)> {
        let outdated = self.said.iter().filter_map(|said| said.outdated.as_ref());
        outdated
            .map(amended::since)
            .find_map(|since| Some((line.strip_prefix(&since)?, since)))
            .map(|(rest, since)| (since, rest))
    }

    /// Every note that it shows.
    pub(in super::super) fn ids(&self) -> impl Iterator<Item = &NoteId> {
        std::iter::once(&self.id).chain(&self.also)
    }
}
