//! Several voices, one answer.

use std::collections::BTreeMap;

use handover_model::{RunPhase, RunVerdict};

use super::PhaseEnd;
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

/// What a party came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Settled {
    /// The verdict of all; none if nobody gave one.
    pub verdict: Option<RunVerdict>,
    /// In words.
    pub summary: String,
    /// What was found, each once.
    pub findings: Vec<Finding>,
}

/// Makes one answer of what all voices said, whatever order they ended in. Everybody's last word
/// counts; whoever gave none counts for nothing.
pub fn settle_party(party: &PartyStep, voices: &[PhaseEnd]) -> Settled {
    let last = |persona: &String| {
        let of = |end: &&PhaseEnd| {
            end.verdict.is_some()
                && end.voice.as_ref().is_some_and(|voice| voice.persona == *persona)
        };
        voices.iter().filter(of).max_by_key(|end| end.voice.as_ref().map(|voice| voice.round))
    };
    let heard: Vec<(&String, &PhaseEnd)> =
        party.personas.iter().filter_map(|persona| Some((persona, last(persona)?))).collect();
    let mut findings: Vec<Finding> = Vec::new();
    for finding in heard.iter().flat_map(|(_, end)| &end.findings) {
        if !findings.contains(finding) {
            findings.push(finding.clone());
        }
    }
    let lines: Vec<String> = heard
        .iter()
        .filter(|(_, end)| !end.summary.is_empty())
        .map(|(persona, end)| format!("{persona}: {}", end.summary))
        .collect();
    let said: Vec<RunVerdict> = heard.iter().filter_map(|(_, end)| end.verdict).collect();
    let verdict = first_of(party.agent.phase, &said);
    let summary =
        if heard.is_empty() { "nobody gave a verdict".to_owned() } else { lines.join("\n") };
    Settled { verdict, summary, findings }
}

/// The most careful of what was said; where anybody's yes is enough, a yes.
fn first_of(phase: RunPhase, said: &[RunVerdict]) -> Option<RunVerdict> {
    use RunVerdict::{Blocked, Complete, Escalate, Failed, Passed, PassedWithFixes, Retry, Skip};
    let order = match phase {
        RunPhase::Kickoff | RunPhase::Uat | RunPhase::Retro => {
            [Complete, Passed, PassedWithFixes, Failed, Blocked, Escalate, Skip, Retry]
        }
        RunPhase::Dev | RunPhase::Fix | RunPhase::Review | RunPhase::Analysis => {
            [Escalate, Blocked, Failed, Skip, Retry, PassedWithFixes, Passed, Complete]
        }
    };
    order.into_iter().find(|verdict| said.contains(verdict))
}

/// The voices that a party still waits for: the next round begins when the last one has ended.
pub(super) fn missing(party: &PartyStep, voices: &[PhaseEnd]) -> Vec<Voice> {
    let has_ended = |voice: &Voice| voices.iter().any(|end| end.voice.as_ref() == Some(voice));
    for round in 1..=party.rounds {
        let voices = party.personas.iter().map(|name| Voice { persona: name.clone(), round });
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
    let place = |end: &PhaseEnd| {
        let voice = end.voice.as_ref();
        let seat = voice.map(|voice| party.personas.iter().position(|name| *name == voice.persona));
        (voice.map(|voice| voice.round), seat)
    };
    voices.sort_by_key(place);
    let settled = settle_party(party, &voices);
    let first = voices.first()?;
    let outcome = PhaseEnd {
        voice: None,
        verdict: settled.verdict,
        summary: settled.summary,
        findings: settled.findings,
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
