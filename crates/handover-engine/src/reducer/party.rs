//! Several voices, one answer.

use std::collections::BTreeMap;

use handover_model::{RunPhase, Verdict};

use super::PhaseEnd;
use crate::party::{Analysis, Contribution, Word, settle_analysis, settle_kickoff, settle_review};
use crate::pipeline::{PartyStep, Voice};
use crate::retro::{self, Retro};
use crate::verdict::Finding;

/// A party that has come to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct Party {
    /// What everybody said, by round and then in the order of the personas.
    pub voices: Vec<PhaseEnd>,
    /// What it came to.
    pub outcome: PhaseEnd,
}

impl Party {
    /// What everybody said, without what is only for the engine.
    pub fn words(&self) -> Vec<Word> {
        words(&self.voices)
    }
}

/// What a party came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settled {
    /// The verdict of all; none if there is none.
    pub verdict: Option<Verdict>,
    /// In words.
    pub summary: String,
    /// What must be mended, each once.
    pub findings: Vec<Finding>,
    /// What else came of it.
    pub contribution: Contribution,
}

pub(super) fn words(voices: &[PhaseEnd]) -> Vec<Word> {
    voices.iter().filter_map(PhaseEnd::word).collect()
}

/// Makes one answer of what all voices said, whatever order they ended in.
pub fn settle_party(party: &PartyStep, voices: &[PhaseEnd]) -> Settled {
    let (asked, words) = (party.seats(), words(voices));
    match party.agent.phase {
        RunPhase::Review => {
            let review = settle_review(&asked, &words, party.rules);
            Settled {
                verdict: review.verdict,
                summary: review.summary,
                findings: review.to_mend,
                contribution: Contribution::default(),
            }
        }
        RunPhase::Analysis => {
            let analysed = settle_analysis(&asked, &words, party.rules.consensus);
            let question = Some(analysed.questions.join("\n")).filter(|text| !text.is_empty());
            let analysis = Analysis {
                root_cause: analysed.root_cause,
                cause: analysed.cause,
                remediation: analysed.remediation,
                question,
                adds: analysed.adds,
            };
            Settled {
                verdict: analysed.verdict,
                summary: analysed.summary,
                findings: Vec::new(),
                contribution: Contribution { analysis: Some(analysis), ..Contribution::default() },
            }
        }
        RunPhase::Kickoff => {
            let insights = settle_kickoff(&asked, &words);
            Settled {
                verdict: (!insights.is_empty()).then_some(Verdict::Complete),
                summary: insights.text(),
                ..Settled::default()
            }
        }
        RunPhase::Dev | RunPhase::Fix | RunPhase::Uat | RunPhase::Retro => {
            let heard = |word: &&Word| word.verdict == Some(Verdict::Complete);
            let mut said: Vec<&Word> = words.iter().filter(heard).collect();
            let seat = |word: &Word| asked.iter().position(|id| *id == word.persona);
            said.sort_by_key(|word| (seat(word), word.round));
            let lines: Vec<String> =
                said.iter().map(|word| format!("{}: {}", word.persona, word.summary)).collect();
            Settled {
                verdict: said.first().and_then(|word| word.verdict),
                summary: lines.join("\n"),
                ..Settled::default()
            }
        }
    }
}

/// The voices that a party still waits for: the next round begins when the last one has ended.
pub(super) fn missing(party: &PartyStep, voices: &[PhaseEnd]) -> Vec<Voice> {
    let has_ended = |voice: &Voice| voices.iter().any(|end| end.voice.as_ref() == Some(voice));
    for round in 1..=party.rounds {
        let voices = party.seats().into_iter().map(|persona| Voice { persona, round });
        let missing: Vec<Voice> = voices.filter(|voice| !has_ended(voice)).collect();
        if !missing.is_empty() {
            return missing;
        }
    }
    Vec::new()
}

/// What everybody learned, as one; of each their last word counts.
fn looked_back(voices: &[PhaseEnd]) -> Option<Box<Retro>> {
    let mut last: BTreeMap<&str, &Retro> = BTreeMap::new();
    for end in voices {
        if let (Some(voice), Some(retro)) = (&end.voice, &end.retro) {
            last.insert(&voice.persona, retro);
        }
    }
    let all: Vec<Retro> = last.into_values().cloned().collect();
    (!all.is_empty()).then(|| Box::new(retro::merge(&all)))
}

/// What everybody said as what one agent said.
pub(super) fn outcome(party: &PartyStep, mut voices: Vec<PhaseEnd>) -> Option<Party> {
    let seats = party.seats();
    let place = |end: &PhaseEnd| {
        let voice = end.voice.as_ref();
        let seat = voice.map(|voice| seats.iter().position(|name| *name == voice.persona));
        (voice.map(|voice| voice.round), seat)
    };
    voices.sort_by_key(place);
    let settled = settle_party(party, &voices);
    let first = voices.first()?;
    let outcome = PhaseEnd {
        voice: None,
        verdict: settled.verdict,
        status: None,
        summary: settled.summary,
        findings: settled.findings,
        contribution: settled.contribution,
        failure: None,
        files: Vec::new(),
        restored: Vec::new(),
        spent: crate::Spent::default(),
        receipt: voices.iter().rev().find_map(|end| end.receipt.clone()),
        retro: looked_back(&voices),
        ..first.clone()
    };
    Some(Party { voices, outcome })
}
