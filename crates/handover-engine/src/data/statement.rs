//! What one voice says in one round of a party, read from its result with bounds.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_model::{Cause, Severity, Verdict};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finding::{Finding, severity_of};

pub(crate) const MOST_ITEMS: usize = 20;
const MOST_STANCES: usize = 100;
const MOST_TEXT: usize = 1_000;

/// The statement of one voice in one round.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The persona that speaks.
    pub persona: String,
    /// Round 1 is blind; in round 2 a voice knows what the others said.
    pub round: u32,
    /// Its verdict; none if it is unclear.
    pub verdict: Option<Verdict>,
    /// Its summary, or why there is no verdict.
    pub summary: String,
    /// Its findings, from a review.
    pub findings: Vec<Finding>,
    /// Everything else that it said.
    pub contribution: Contribution,
}

/// What a voice says beyond verdict and findings.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Contribution {
    /// Its stance on the others' findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stances: Vec<Stance>,
    /// Its notes before the work starts, by topic.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<Topic, Vec<String>>,
    /// Its analysis of a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub analysis: Option<Analysis>,
}

/// Agreement or disagreement with another voice's finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stance {
    /// The number of the finding in the list that it was given, from 1.
    pub on: usize,
    /// Whether it agrees with the finding.
    pub agrees: bool,
    /// Its own view of the severity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
    /// The reason.
    #[serde(default)]
    pub why: String,
}

/// The topic of a kickoff note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// How the story fits the existing design.
    Architecture,
    /// How to implement it.
    Strategy,
    /// How to test it.
    Testing,
    /// What can go wrong.
    Risks,
    /// What is decided.
    Decisions,
}

impl Topic {
    /// All topics, in the order of the record.
    pub const ALL: [Self; 5] =
        [Self::Architecture, Self::Strategy, Self::Testing, Self::Risks, Self::Decisions];

    /// The key in a result.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Architecture => "architecture",
            Self::Strategy => "strategy",
            Self::Testing => "testing",
            Self::Risks => "risks",
            Self::Decisions => "decisions",
        }
    }

    /// The heading in a record.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Architecture => "Architectural Notes",
            Self::Strategy => "Implementation Strategy",
            Self::Testing => "Testing Approach",
            Self::Risks => "Identified Risks",
            Self::Decisions => "Key Decisions",
        }
    }
}

/// The analysis of a failure by one voice, or by all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Analysis {
    /// The root cause, in a sentence.
    pub root_cause: String,
    /// The class of the cause.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// What to do differently.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remediation: Vec<String>,
    /// The question for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether it adds anything to what the failed agents knew. Decided by the engine, not by the
    /// analyst.
    pub adds: bool,
}

impl Contribution {
    /// Whether there is nothing beyond verdict and findings.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Reads a result leniently: fields that cannot be parsed are skipped.
    pub(crate) fn read(value: &Value) -> Self {
        let stances = value.get("stances").and_then(Value::as_array);
        let insights = value.get("insights").or_else(|| value.get("notes"));
        let notes = Topic::ALL
            .into_iter()
            .filter_map(|topic| Some((topic, texts(insights?.get(topic.key())?))))
            .filter(|(_, texts)| !texts.is_empty());
        Self {
            stances: stances
                .into_iter()
                .flatten()
                .take(MOST_STANCES)
                .filter_map(Stance::read)
                .collect(),
            notes: notes.collect(),
            analysis: value.get("analysis").and_then(Analysis::read),
        }
    }
}

impl Stance {
    fn read(value: &Value) -> Option<Self> {
        let on = match value.get("on").or_else(|| value.get("finding"))? {
            Value::Number(number) => number.as_u64()?,
            Value::String(text) => text.trim_start_matches(['F', 'f', '#']).parse().ok()?,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => return None,
        };
        let agrees = match value.get("stance").or_else(|| value.get("agree"))? {
            Value::Bool(agrees) => *agrees,
            Value::String(word) if word.eq_ignore_ascii_case("agree") => true,
            Value::String(word) if word.eq_ignore_ascii_case("disagree") => false,
            Value::String(_)
            | Value::Null
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => return None,
        };
        let word = |key: &str| value.get(key).and_then(Value::as_str);
        Some(Self {
            on: usize::try_from(on).ok()?,
            agrees,
            severity: word("severity").map(severity_of),
            why: cut(word("why").or_else(|| word("reason")).unwrap_or_default()),
        })
    }
}

impl Analysis {
    /// The advice for the next attempt.
    pub fn advice(&self) -> String {
        let mut out = String::new();
        if !self.root_cause.is_empty() {
            let _ = writeln!(out, "Cause: {}", self.root_cause);
        }
        for step in &self.remediation {
            let _ = writeln!(out, "- {step}");
        }
        out
    }

    fn read(value: &Value) -> Option<Self> {
        let word = |keys: &[&str]| {
            let found = keys.iter().find_map(|key| value.get(key)?.as_str());
            found.map(cut).filter(|text| !text.is_empty())
        };
        let remediation = value.get("remediation").or_else(|| value.get("steps"));
        let analysis = Self {
            root_cause: word(&["root_cause", "cause"]).unwrap_or_default(),
            cause: word(&["class", "kind"]).and_then(|word| word.to_lowercase().parse().ok()),
            remediation: remediation.map(texts).unwrap_or_default(),
            question: word(&["question"]),
            adds: false,
        };
        (analysis != Self::default()).then_some(analysis)
    }
}

/// One text, or a list of them.
pub(super) fn texts(value: &Value) -> Vec<String> {
    let one = |value: &Value| value.as_str().map(cut).filter(|text| !text.is_empty());
    match value.as_array() {
        Some(all) => all.iter().filter_map(one).take(MOST_ITEMS).collect(),
        None => one(value).into_iter().collect(),
    }
}

pub(crate) fn cut(text: &str) -> String {
    text.trim().chars().take(MOST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unreadable_fields_are_skipped() {
        let read = Contribution::read(&json!({
            "stances": [
                {"on": "F2", "stance": "disagree", "why": " it is checked above "},
                {"on": 1, "agree": true, "severity": "critical"},
                {"on": "x", "stance": "agree"}, {"on": 3}, {"on": 3, "stance": "perhaps"}, 7, null,
            ],
            "insights": {"architecture": ["a", "", 7], "testing": "one", "colour": ["red"]},
            "analysis": {"root_cause": "no key", "class": "Dependency", "remediation": "ask"},
        }));
        assert_eq!(read.stances.len(), 2);
        assert_eq!((read.stances[0].on, read.stances[0].agrees), (2, false));
        assert_eq!(read.stances[0].why, "it is checked above");
        assert_eq!(read.stances[1].severity, Some(Severity::High));
        assert_eq!(read.notes[&Topic::Architecture], ["a"]);
        assert_eq!(read.notes[&Topic::Testing], ["one"]);
        assert_eq!(read.notes.len(), 2);
        let analysis = read.analysis.unwrap();
        assert_eq!(analysis.cause, Some(Cause::Dependency));
        assert_eq!(analysis.remediation, ["ask"]);
        for nothing in [json!(null), json!([]), json!({"analysis": {}, "stances": {}}), json!("x")]
        {
            assert_eq!(Contribution::read(&nothing), Contribution::default());
        }
    }

    #[test]
    fn nothing_grows_without_bounds() {
        let many: Vec<Value> = (0..5_000).map(|n| json!({"on": n, "agree": true})).collect();
        let long = "x".repeat(100_000);
        let read = Contribution::read(&json!({
            "stances": many,
            "insights": {"risks": vec![long.clone(); 500]},
            "analysis": {"root_cause": long},
        }));
        assert_eq!(read.stances.len(), MOST_STANCES);
        assert_eq!(read.notes[&Topic::Risks].len(), MOST_ITEMS);
        assert_eq!(read.notes[&Topic::Risks][0].len(), MOST_TEXT);
        assert_eq!(read.analysis.unwrap().root_cause.len(), MOST_TEXT);
    }
}
