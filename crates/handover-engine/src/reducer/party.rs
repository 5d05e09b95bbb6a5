//! A party in the state of a run: which voices are missing, and what their statements amount to.

use std::collections::BTreeMap;

use handover_model::{RunPhase, Verdict};

use super::PhaseEnd;
use crate::data::{Analysis, Contribution, Finding, Retro, Spent, Statement, WorkNotes};
use crate::party::{settle_analysis, settle_kickoff, settle_retro, settle_review};
use crate::pipeline::{PartyStep, Voice};

/// A finished party.
#[derive(Debug, Clone, PartialEq)]
pub struct PartyRecord {
    /// The ends of all voices, by round and then in the order of the personas.
    pub voices: Vec<PhaseEnd>,
    /// The outcome, as if one agent had reported it.
    pub outcome: PhaseEnd,
}

impl PartyRecord {
    /// The statements of all voices.
    pub fn statements(&self) -> Vec<Statement> {
        statements(&self.voices)
    }
}

/// The joint answer of a party.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PartyOutcome {
    /// The joint verdict; none if the voices gave none.
    pub verdict: Option<Verdict>,
    /// The reason, for people and later agents.
    pub summary: String,
    /// What must be fixed, without duplicates.
    pub findings: Vec<Finding>,
    /// The joint analysis of a failure.
    pub contribution: Contribution,
}

pub(super) fn statements(voices: &[PhaseEnd]) -> Vec<Statement> {
    voices.iter().filter_map(PhaseEnd::statement).collect()
}

/// Settles the statements of all voices into one answer, independent of the order in which they ended.
pub fn settle_party(party: &PartyStep, voices: &[PhaseEnd]) -> PartyOutcome {
    let (asked, statements) = (party.speakers(), statements(voices));
    match party.agent.phase {
        RunPhase::Review => {
            let review = settle_review(&asked, &statements, party.rules);
            PartyOutcome {
                verdict: review.verdict,
                summary: review.summary,
                findings: review.to_fix,
                contribution: Contribution::default(),
            }
        }
        RunPhase::Analysis => {
            let analyzed = settle_analysis(&asked, &statements, party.rules.consensus);
            let question = Some(analyzed.questions.join("\n")).filter(|text| !text.is_empty());
            let analysis = Analysis {
                root_cause: analyzed.root_cause,
                cause: analyzed.cause,
                remediation: analyzed.remediation,
                question,
                adds: analyzed.adds,
            };
            PartyOutcome {
                verdict: analyzed.verdict,
                summary: analyzed.summary,
                findings: Vec::new(),
                contribution: Contribution { analysis: Some(analysis), ..Contribution::default() },
            }
        }
        RunPhase::Kickoff => {
            let insights = settle_kickoff(&asked, &statements);
            PartyOutcome {
                verdict: (!insights.is_empty()).then_some(Verdict::Complete),
                summary: insights.text(),
                ..PartyOutcome::default()
            }
        }
        RunPhase::Dev | RunPhase::Fix | RunPhase::Uat | RunPhase::Retro => {
            let is_complete = |statement: &&Statement| statement.verdict == Some(Verdict::Complete);
            let mut said: Vec<&Statement> = statements.iter().filter(is_complete).collect();
            let place = |one: &Statement| asked.iter().position(|id| *id == one.persona);
            said.sort_by_key(|one| (place(one), one.round));
            let lines: Vec<String> =
                said.iter().map(|one| format!("{}: {}", one.persona, one.summary)).collect();
            PartyOutcome {
                verdict: said.first().and_then(|one| one.verdict),
                summary: lines.join("\n"),
                ..PartyOutcome::default()
            }
        }
    }
}

/// Whether a first round leaves something to discuss: reviewers who all approve and found nothing would only
/// repeat themselves.
fn is_worth_discussing(party: &PartyStep, voices: &[PhaseEnd]) -> bool {
    let approves = |end: &PhaseEnd| end.verdict == Some(Verdict::Passed) && end.findings.is_empty();
    party.agent.phase != RunPhase::Review || !voices.iter().all(approves)
}

/// The voices that a party still waits for. A round starts when the previous one is complete and left something
/// to discuss.
pub(super) fn missing(party: &PartyStep, voices: &[PhaseEnd]) -> Vec<Voice> {
    let has_ended = |voice: &Voice| voices.iter().any(|end| end.voice.as_ref() == Some(voice));
    for round in 1..=party.rounds {
        if round > 1 && !is_worth_discussing(party, voices) {
            return Vec::new();
        }
        let voices = party.speakers().into_iter().map(|persona| Voice { persona, round });
        let missing: Vec<Voice> = voices.filter(|voice| !has_ended(voice)).collect();
        if !missing.is_empty() {
            return missing;
        }
    }
    Vec::new()
}

/// The joint lessons of a retrospective; of each persona the last round counts.
fn joint_retro(voices: &[PhaseEnd]) -> Option<Box<Retro>> {
    let mut last: BTreeMap<&str, &Retro> = BTreeMap::new();
    for end in voices {
        if let (Some(voice), Some(retro)) = (&end.voice, &end.retro) {
            last.insert(&voice.persona, retro);
        }
    }
    let all: Vec<Retro> = last.into_values().cloned().collect();
    (!all.is_empty()).then(|| Box::new(settle_retro(&all)))
}

/// The outcome of a party in the form of one agent's end.
pub(super) fn outcome(party: &PartyStep, mut voices: Vec<PhaseEnd>) -> Option<PartyRecord> {
    let speakers = party.speakers();
    let place = |end: &PhaseEnd| {
        let voice = end.voice.as_ref();
        let speaker = voice.map(|voice| speakers.iter().position(|name| *name == voice.persona));
        (voice.map(|voice| voice.round), speaker)
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
        notes: WorkNotes::default(),
        failure: None,
        over: None,
        waits_until: None,
        files: Vec::new(),
        restored: Vec::new(),
        test_setup: Vec::new(),
        spent: Spent::default(),
        receipt: voices.iter().rev().find_map(|end| end.receipt.clone()),
        retro: joint_retro(&voices),
        ..first.clone()
    };
    Some(PartyRecord { voices, outcome })
}
