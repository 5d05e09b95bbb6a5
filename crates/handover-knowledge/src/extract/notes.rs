//! The notes of a conversation.

use std::path::PathBuf;

use handover_model::{NoteKind, NoteState, Trust};
use handover_text::Likeness;
use handover_text::sentences::{sentences, words};
use handover_text::statement::{self, Cues, TELLING};

use super::replies;
use super::turns::{Said, Turn, turns};
use crate::mentions::mentions;
use crate::passage::{paragraphs, passages};
use crate::transcripts::Conversation;
use crate::{Draft, MAX_TEXT_CHARS};

/// The most notes of one conversation; the newest stay.
const MAX_NOTES: usize = 400;

/// Requests with fewer words say nothing by themselves.
const LEAST_WORDS: usize = 4;

/// Requests with fewer words need what they answer; those that begin as an answer need it for longer.
const SELF_CONTAINED_WORDS: usize = 12;
const ANSWER_WORDS: usize = 30;

/// A reply up to this length may be just a yes.
const REPLY_WORDS: usize = 12;

/// How much of a proposal stands before a yes, and before an answer of its own.
const PROPOSAL_CHARS: usize = 900;
const QUESTION_CHARS: usize = 320;

/// How much of a conclusion is kept, and of what was said on the way to it.
const CONCLUSION_CHARS: usize = 1_200;
const ON_THE_WAY_CHARS: usize = 480;

/// A conclusion without cues and with fewer words is none.
const CONCLUSION_WORDS: usize = 8;

/// The most passages of a long request.
const MAX_PASSAGES: usize = 3;

/// Shorter conclusions say what they are about.
const BARE_CHARS: usize = 160;

/// The notes of a conversation, in its order.
pub(crate) fn drafts(
    conversation: &Conversation,
    source: &str,
    checkouts: &[PathBuf],
) -> Vec<Draft> {
    let turns = turns(conversation);
    let maker = Maker { conversation, source, checkouts, topic: topic(&turns) };
    let mut drafts: Vec<Draft> = Vec::new();
    let mut concluded = None;
    for turn in turns {
        let quoted = maker.request(&turn, &mut drafts);
        if let Some(concluded) = concluded.take().filter(|_| quoted) {
            // The proposal stands in front of the answer to it.
            drafts.remove(concluded);
        }
        let before = drafts.len();
        maker.conclusion(&turn, &mut drafts);
        concluded = (drafts.len() > before).then_some(before);
    }
    let mut drafts = without_repetitions(drafts);
    let extra = drafts.len().saturating_sub(MAX_NOTES);
    drafts.drain(..extra);
    drafts
}

struct Maker<'a> {
    conversation: &'a Conversation,
    source: &'a str,
    checkouts: &'a [PathBuf],
    /// What the conversation is about.
    topic: String,
}

impl Maker<'_> {
    /// What the person said, with what it answers if it needs that. Returns whether all of what the agent said
    /// before is quoted.
    fn request(&self, turn: &Turn, drafts: &mut Vec<Draft>) -> bool {
        // A subagent's orders are an agent's, and stand in the conversation that gave them.
        let Some(request) = turn.request.as_ref().filter(|_| !self.conversation.is_subagent) else {
            return false;
        };
        let text = without_chatter(&request.text);
        let count = words(&text);
        let refers = replies::refers(&text);
        let answers = replies::answers(&request.text) && count < ANSWER_WORDS;
        if (refers || answers || count < SELF_CONTAINED_WORDS)
            && let Some(before) =
                turn.before.as_ref().filter(|before| replies::proposes(&before.text))
        {
            let accepts = words(&request.text) <= REPLY_WORDS && replies::accepts(&request.text);
            if count >= LEAST_WORDS || accepts || refers {
                let room = if accepts || refers { PROPOSAL_CHARS } else { QUESTION_CHARS };
                let offered = offer(&before.text, room);
                let said = cut(&request.text, MAX_TEXT_CHARS - PROPOSAL_CHARS - 40);
                let text = format!("Agent: {offered}\nPerson: {said}");
                drafts.push(self.draft(request, &offered, text, agent(before)));
                return before.text.chars().count() <= room;
            }
        }
        if count < LEAST_WORDS {
            return false;
        }
        let trust = if self.conversation.is_headless { Trust::Agent } else { Trust::Person };
        let mut kept = passages(&text);
        if kept.len() > 1 {
            kept = best(kept, statement::worth, MAX_PASSAGES, TELLING);
        }
        for passage in kept {
            drafts.push(self.draft(request, &text, passage, trust));
        }
        false
    }

    /// What the agent concluded, and what it decided or found out on the way.
    fn conclusion(&self, turn: &Turn, drafts: &mut Vec<Draft>) {
        let Some((last, others)) = turn.replies.split_last() else { return };
        let concluded = shortened(&without_chatter(&last.text), CONCLUSION_CHARS);
        let on_the_way = on_the_way(others);
        let worth = statement::worth(&concluded);
        let says_little = words(&concluded) < CONCLUSION_WORDS && worth < TELLING;
        if says_little && on_the_way.is_empty() {
            return;
        }
        let mut text = [on_the_way, concluded].join("\n\n").trim().to_owned();
        let solves =
            sentences(&text).into_iter().any(|sentence| statement::cues(sentence).solution > 0);
        if let Some(error) = turn.errors.last().filter(|_| solves) {
            text = format!("Error: {error}\n{text}");
        }
        let asked = turn.request.as_ref().map(|request| without_chatter(&request.text));
        let asked = asked.filter(|asked| !asked.is_empty());
        let title = asked.as_ref().filter(|asked| names_it(asked)).unwrap_or(&text).clone();
        if let Some(task) = asked.as_ref().filter(|_| self.conversation.is_subagent)
            && text.chars().count() < BARE_CHARS
        {
            text = format!("Task: {}\nAgent: {text}", cut(task, BARE_CHARS));
        }
        let trust = turn.replies.iter().map(agent).min().unwrap_or(Trust::Agent);
        drafts.push(self.draft(last, &title, text, trust));
    }

    fn draft(&self, said: &Said, title: &str, text: String, trust: Trust) -> Draft {
        let named = mentions(&text, self.checkouts);
        let draft = Draft {
            kind: NoteKind::Conversation,
            origin: format!("{}#{}", self.source, said.id),
            source: self.source.to_owned(),
            title: self.title(title).to_owned(),
            text,
            trust,
            paths: named.paths,
            symbols: named.symbols,
            state: NoteState::Live,
            reason: None,
            created_at: said.time,
        };
        draft.bounded()
    }

    /// The first sentence that says what a note is about; an answer is about what the conversation is.
    fn title<'t>(&'t self, text: &'t str) -> &'t str {
        let own = sentences(text).into_iter().take(2).find(|sentence| names_it(sentence));
        own.filter(|_| names_it(text)).unwrap_or(if self.topic.is_empty() {
            text
        } else {
            &self.topic
        })
    }
}

/// The first request that says what it is about.
fn topic(turns: &[Turn]) -> String {
    let requests = turns.iter().filter_map(|turn| turn.request.as_ref());
    let mut sentences = requests.flat_map(|request| sentences(&request.text));
    sentences.find(|sentence| names_it(sentence)).unwrap_or_default().to_owned()
}

/// Whether a text can be a title; `Option 3 please` cannot.
fn names_it(text: &str) -> bool {
    words(text) >= LEAST_WORDS
        && !replies::refers(text)
        && !replies::answers(text)
        && !replies::is_chatter(text)
}

fn agent(said: &Said) -> Trust {
    if said.after_outside { Trust::Outside } else { Trust::Agent }
}

/// A text without sentences that only keep the conversation going.
fn without_chatter(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let all = sentences(line);
        let kept: Vec<&str> = all.iter().copied().filter(|one| !replies::is_chatter(one)).collect();
        if kept.len() == all.len() {
            out.push_str(line);
        } else {
            out.push_str(&kept.join(" "));
        }
        out.push('\n');
    }
    out.trim().to_owned()
}

/// The part of a text that offers something: the question and what leads to it.
fn offer(text: &str, room: usize) -> String {
    let text = without_chatter_but_questions(text);
    if text.chars().count() <= room {
        return text;
    }
    let all = sentences(&text);
    let last_question = all.iter().rposition(|sentence| sentence.contains('?'));
    let anchor = last_question.unwrap_or_else(|| all.len().saturating_sub(1));
    let weigh = |(at, sentence): (usize, &&str)| {
        let near = if at.abs_diff(anchor) <= 2 { 3 } else { 0 };
        statement::cues(sentence).score() + near + u32::from(at == anchor) * 100
    };
    pick(&all, all.iter().enumerate().map(weigh).collect(), room, " ")
}

/// `Would you like me to …?` is chatter at the end of a conclusion, and the question in front of a yes.
fn without_chatter_but_questions(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let kept = sentences(line).into_iter();
        kept.filter(|one| one.contains('?') || !replies::is_chatter(one))
            .collect::<Vec<_>>()
            .join(" ")
    });
    lines.filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// The sentences of earlier replies that decide something or say what was wrong.
fn on_the_way(replies: &[Said]) -> String {
    let all: Vec<&str> = replies.iter().flat_map(|reply| sentences(&reply.text)).collect();
    let weigh = |sentence: &&str| {
        let cues = statement::cues(sentence);
        let telling = Cues { rule: 0, exact: 0, ..cues }.score() > 0;
        if telling && !replies::is_chatter(sentence) { cues.score() } else { 0 }
    };
    let weights: Vec<u32> = all.iter().map(weigh).collect();
    let weights = weights.into_iter().map(|one| if one < TELLING { 0 } else { one });
    pick(&all, weights.collect(), ON_THE_WAY_CHARS, " ")
}

/// A text in so many characters: its paragraphs that are worth most, in their order.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let all = paragraphs(text);
    // The first paragraph says what was done, the last what it means.
    let weigh = |(at, paragraph): (usize, &&str)| {
        let edge = if at == 0 || at + 1 == all.len() { 3 } else { 1 };
        let length = paragraph.chars().count().max(80);
        let worth = statement::worth(paragraph) + edge;
        // By length, so that many short telling paragraphs win over a long list.
        u32::try_from(worth as usize * 1_000 / length).unwrap_or(u32::MAX).max(1)
    };
    pick(&all, all.iter().enumerate().map(weigh).collect(), room, "\n\n")
}

/// The pieces that weigh most and fit together, in their order. At least one is taken, cut if need be.
fn pick(pieces: &[&str], weights: Vec<u32>, room: usize, between: &str) -> String {
    let mut order: Vec<usize> = (0..pieces.len()).filter(|at| weights[*at] > 0).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(weights[*at]), *at));
    let (mut taken, mut used) = (Vec::new(), 0);
    for at in order {
        let length = pieces[at].chars().count() + between.len();
        if used + length <= room {
            used += length;
            taken.push(at);
        } else if taken.is_empty() {
            return cut(pieces[at], room);
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|at| pieces[at]).collect::<Vec<_>>().join(between)
}

fn cut(text: &str, room: usize) -> String {
    handover_text::cut::cut(text, room.min(MAX_TEXT_CHARS))
}

/// The best of several passages, in their order.
fn best(
    passages: Vec<String>,
    worth: impl Fn(&str) -> u32,
    most: usize,
    least: u32,
) -> Vec<String> {
    let mut order: Vec<(u32, usize)> =
        passages.iter().enumerate().map(|(at, passage)| (worth(passage), at)).collect();
    order.sort_by_key(|(worth, at)| (std::cmp::Reverse(*worth), *at));
    let mut kept: Vec<usize> = order
        .iter()
        .enumerate()
        .filter(|(rank, (worth, _))| *rank < most && (*rank == 0 || *worth >= least))
        .map(|(_, (_, at))| *at)
        .collect();
    kept.sort_unstable();
    let mut passages: Vec<Option<String>> = passages.into_iter().map(Some).collect();
    kept.into_iter().filter_map(|at| passages[at].take()).collect()
}

/// Of notes that say nearly the same, only the newest.
fn without_repetitions(drafts: Vec<Draft>) -> Vec<Draft> {
    let mut kept: Vec<(Likeness, Draft)> = Vec::new();
    for draft in drafts.into_iter().rev() {
        let likeness = Likeness::of(&draft.text);
        if !kept.iter().any(|(other, _)| other.is_near(&likeness)) {
            kept.push((likeness, draft));
        }
    }
    kept.into_iter().rev().map(|(_, draft)| draft).collect()
}
