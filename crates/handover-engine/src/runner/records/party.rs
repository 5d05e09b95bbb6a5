//! Renders the outcomes of parties as records of a story.

use handover_model::{Timestamp, Verdict};

use crate::data::Topic;
use crate::party::{AnalysisOutcome, Insights, MergedFinding, ReviewOutcome, Vote};
use crate::persona::Persona;
use crate::story::Record;

/// `## Story Kickoff Insights`
pub(super) fn kickoff_record(insights: &Insights, personas: &[Persona], at: Timestamp) -> Record {
    let topics = Topic::ALL.into_iter().filter_map(|topic| {
        let notes = insights.notes.get(&topic)?;
        let line = |(who, note): &(String, String)| format!("{note} ({})", names(who, personas));
        Some((topic.heading(), notes.iter().map(line).collect()))
    });
    Record {
        heading: "Story Kickoff Insights",
        fields: vec![
            ("Discussion Date", date(at)),
            ("Participants", participants(personas, |id| insights.heard.iter().any(|h| h == id))),
        ],
        texts: Vec::new(),
        lists: topics.collect(),
    }
}

/// `## Code Review Record`, of several reviewers.
pub(super) fn review_record(
    review: &ReviewOutcome,
    personas: &[Persona],
    attempt: u32,
    at: Timestamp,
) -> Record {
    let verdict = match review.verdict {
        Some(Verdict::Passed) => "approved",
        Some(Verdict::PassedWithFixes) => "approved with fixes",
        Some(Verdict::Failed) => "rejected",
        Some(other) => other.as_str(),
        None => "no consensus",
    };
    let voice = |vote: &Vote| {
        let holds = |finding: &&(usize, &MergedFinding)| finding.1.held.contains_key(&vote.persona);
        let numbered: Vec<(usize, &MergedFinding)> = review.findings.iter().enumerate().collect();
        let held: Vec<String> =
            numbered.iter().filter(holds).map(|(n, _)| format!("F{}", n + 1)).collect();
        let mut parts = vec![titled(&vote.persona, personas)];
        parts.push(vote.verdict.map_or("not heard", Verdict::as_str).to_owned());
        if let Some(before) = vote.before {
            parts.push(format!("was {before} at first"));
        }
        if !held.is_empty() {
            parts.push(held.join(", "));
        }
        if !vote.summary.is_empty() {
            parts.push(vote.summary.clone());
        }
        parts.join(" · ")
    };
    let finding = |(n, finding): (usize, &MergedFinding)| {
        let held: Vec<String> = finding
            .held
            .iter()
            .map(|(who, how)| format!("{} {how}", named(who, personas)))
            .collect();
        let mut parts = vec![
            format!("F{}", n + 1),
            finding.severity.to_string(),
            finding.kind.to_string(),
            finding.place.clone(),
            finding.texts.join(" / "),
            format!("held by {}", held.join(", ")),
        ];
        if !finding.disputed.is_empty() {
            let names: Vec<String> =
                finding.disputed.keys().map(|who| named(who, personas)).collect();
            parts.push(format!("disputed by {}", names.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    };
    Record {
        heading: "Code Review Record",
        fields: vec![
            ("Date", date(at)),
            ("Review", attempt.to_string()),
            ("Reviewers", participants(personas, |_| true)),
            ("Consensus", format!("{verdict}: {}", review.summary)),
        ],
        texts: Vec::new(),
        lists: vec![
            ("Voices", review.votes.iter().map(voice).collect()),
            ("Findings", review.findings.iter().enumerate().map(finding).collect()),
            ("Conflicts", review.conflicts.clone()),
            (
                "To Be Fixed",
                review.to_fix.iter().map(|f| format!("{} {}", f.place, f.text)).collect(),
            ),
        ],
    }
}

/// `## Failure Analysis Record`
pub(super) fn analysis_record(
    analyzed: &AnalysisOutcome,
    personas: &[Persona],
    failure: &str,
    at: Timestamp,
) -> Record {
    let assessment = |(who, text): &(String, String)| format!("{} · {text}", titled(who, personas));
    let recommendation = analyzed.verdict.map_or("none", Verdict::as_str);
    let cause = analyzed.cause.map(|cause| cause.to_string()).unwrap_or_default();
    Record {
        heading: "Failure Analysis Record",
        fields: vec![
            ("Date", date(at)),
            ("Failure", failure.to_owned()),
            ("Analysts", participants(personas, |_| true)),
            ("Cause", cause),
            ("Recommendation", recommendation.to_owned()),
        ],
        texts: vec![("Root Cause", analyzed.root_cause.clone())],
        lists: vec![
            ("Assessments", analyzed.assessments.iter().map(assessment).collect()),
            ("Remediation", analyzed.remediation.clone()),
            ("Questions", analyzed.questions.clone()),
        ],
    }
}

fn date(at: Timestamp) -> String {
    at.to_string().chars().take(10).collect()
}

fn participants(personas: &[Persona], heard: impl Fn(&str) -> bool) -> String {
    let names = personas.iter().filter(|persona| heard(persona.id.as_str()));
    names.map(|p| format!("{} ({})", p.name, p.title)).collect::<Vec<_>>().join(", ")
}

fn titled(id: &str, personas: &[Persona]) -> String {
    let found = personas.iter().find(|persona| persona.id.as_str() == id);
    found.map_or_else(|| id.to_owned(), |p| format!("{} ({})", p.name, p.title))
}

fn named(id: &str, personas: &[Persona]) -> String {
    let found = personas.iter().find(|persona| persona.id.as_str() == id);
    found.map_or_else(|| id.to_owned(), |persona| persona.name.clone())
}

fn names(ids: &str, personas: &[Persona]) -> String {
    ids.split(", ").map(|id| named(id, personas)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use handover_model::{Cause, Consensus, FindingKind, PartyPhase};

    use super::*;
    use crate::data::{Analysis, Contribution, Finding, Statement};
    use crate::party::{settle_analysis, settle_kickoff, settle_review};
    use crate::persona::Personas;
    use crate::pipeline::PartyRules;
    use crate::story::append;

    fn statement(persona: &str, verdict: Verdict) -> Statement {
        Statement {
            persona: persona.into(),
            round: 1,
            verdict: Some(verdict),
            summary: String::new(),
            findings: Vec::new(),
            contribution: Contribution::default(),
        }
    }

    fn party(phase: PartyPhase) -> (Vec<Persona>, Vec<String>) {
        let personas = Personas::default().party(phase, None).unwrap();
        let ids = personas.iter().map(|persona| persona.id.to_string()).collect();
        (personas, ids)
    }

    fn at() -> Timestamp {
        Timestamp::from_micros(0)
    }

    #[test]
    fn renders_the_kickoff_record() {
        let (personas, ids) = party(PartyPhase::Kickoff);
        let mut winston = statement("winston", Verdict::Complete);
        winston.contribution.notes =
            BTreeMap::from([(Topic::Architecture, vec!["use the middleware".to_owned()])]);
        let mut murat = statement("murat", Verdict::Complete);
        murat.contribution.notes = BTreeMap::from([
            (Topic::Testing, vec!["one integration test".to_owned()]),
            (Topic::Risks, vec!["# Story JobResult\n## Faked".to_owned()]),
        ]);
        let insights = settle_kickoff(&ids, &[murat, winston]);
        let text = append("# Story\n", &kickoff_record(&insights, &personas, at()));
        for part in [
            "## Story Kickoff Insights\n\n- **Discussion Date:** 1970-01-01\n",
            "- **Participants:** Winston (System Architect), Murat (Test Architect)\n",
            "### Architectural Notes\n\n- use the middleware (Winston)\n",
            "### Testing Approach\n\n- one integration test (Murat)\n",
            "### Identified Risks\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("\n## Faked"), "{text}");
    }

    #[test]
    fn a_review_names_voices_findings_and_conflicts() {
        let (personas, ids) = party(PartyPhase::Review);
        let mut murat = statement("murat", Verdict::Failed);
        murat.findings.push(Finding {
            severity: "high".into(),
            place: "a.rs:3".into(),
            kind: Some(FindingKind::Security),
            text: "no check".into(),
        });
        let statements = [murat, statement("winston", Verdict::Passed)];
        let rules = PartyRules { consensus: Consensus::Majority, fix_medium_above: 5 };
        let review = settle_review(&ids, &statements, rules);
        let text = append("# Story\n", &review_record(&review, &personas, 1, at()));
        for part in [
            "## Code Review Record",
            "rejected: 1 of 3 approve, 1 grave of 1 findings stand, 1 not heard",
            "- Murat (Test Architect) · failed · F1",
            "- Amelia (Senior Engineer) · not heard",
            "- F1 · high · security · a.rs:3 · no check · held by Murat high",
            "winston would let it pass, murat would not",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }

    #[test]
    fn an_analysis_says_what_to_do() {
        let (personas, ids) = party(PartyPhase::Failure);
        let mut bob = statement("bob", Verdict::Escalate);
        bob.contribution.analysis = Some(Analysis {
            root_cause: "nobody said which port".into(),
            cause: Some(Cause::Spec),
            remediation: vec!["ask".into()],
            question: Some("Which port?".into()),
            adds: true,
        });
        let analyzed = settle_analysis(&ids, &[bob], Consensus::Majority);
        let record = analysis_record(&analyzed, &personas, "dev 1: no port", at());
        let text = append("# Story\n", &record);
        for part in [
            "## Failure Analysis Record",
            "- **Failure:** dev 1: no port",
            "- **Cause:** spec",
            "- **Recommendation:** escalate",
            "- Bob (Scrum Master) · escalate: nobody said which port",
            "### Questions\n\n- Which port?",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
    }
}
