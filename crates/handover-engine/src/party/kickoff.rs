//! Settles what several voices say before the work starts.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_model::Verdict;

use crate::data::{Statement, Topic};

/// The insights of a kickoff, by topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insights {
    /// The voices that were heard, in the order in which they were asked.
    pub heard: Vec<String>,
    /// The notes of each topic, with the voices that made them.
    pub notes: BTreeMap<Topic, Vec<(String, String)>>,
}

impl Insights {
    /// Whether no voice had anything to say.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The insights as text for the developer.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for (topic, notes) in &self.notes {
            out.push_str(topic.heading());
            out.push_str(":\n");
            for (who, note) in notes {
                let _ = writeln!(out, "- {} ({who})", note.replace('\n', " "));
            }
        }
        out
    }
}

/// Merges all notes without duplicates, regardless of the order in which the voices ended. A voice without
/// notes contributes its summary. Only voices with a clear verdict count.
pub fn settle_kickoff(asked: &[String], statements: &[Statement]) -> Insights {
    let mut insights = Insights::default();
    for persona in asked {
        let said = |statement: &&Statement| {
            statement.persona == *persona && statement.verdict == Some(Verdict::Complete)
        };
        let mut own: Vec<&Statement> = statements.iter().filter(said).collect();
        own.sort_by_key(|statement| statement.round);
        if !own.is_empty() {
            insights.heard.push(persona.clone());
        }
        for statement in own {
            for (topic, notes) in &statement.contribution.notes {
                for note in notes {
                    add(&mut insights, *topic, persona, note);
                }
            }
            if statement.contribution.notes.is_empty() && statement.round == 1 {
                add(&mut insights, Topic::Strategy, persona, &statement.summary);
            }
        }
    }
    insights
}

fn add(insights: &mut Insights, topic: Topic, persona: &str, note: &str) {
    if note.is_empty() {
        return;
    }
    let notes = insights.notes.entry(topic).or_default();
    match notes.iter_mut().find(|(_, known)| known.eq_ignore_ascii_case(note)) {
        Some((who, _)) if who.split(", ").any(|name| name == persona) => {}
        Some((who, _)) => {
            who.push_str(", ");
            who.push_str(persona);
        }
        None => notes.push((persona.to_owned(), note.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Contribution;

    fn statement(persona: &str, round: u32, notes: &[(Topic, &str)], summary: &str) -> Statement {
        let mut contribution = Contribution::default();
        for (topic, note) in notes {
            contribution.notes.entry(*topic).or_default().push((*note).to_owned());
        }
        Statement {
            persona: persona.into(),
            round,
            verdict: Some(Verdict::Complete),
            summary: summary.into(),
            findings: Vec::new(),
            contribution,
        }
    }

    #[test]
    fn notes_are_merged() {
        let asked = ["winston", "amelia", "murat"].map(str::to_owned);
        let statements = [
            statement("murat", 1, &[(Topic::Risks, "no limit")], ""),
            statement(
                "murat",
                2,
                &[(Topic::Risks, "No limit"), (Topic::Testing, "one per rule")],
                "",
            ),
            statement("winston", 1, &[(Topic::Risks, "no limit")], ""),
            statement("amelia", 1, &[], "extend the service"),
        ];
        let insights = settle_kickoff(&asked, &statements);
        assert_eq!(insights.heard, asked);
        assert_eq!(insights.notes[&Topic::Risks], [("winston, murat".into(), "no limit".into())]);
        assert_eq!(
            insights.text(),
            "Implementation Strategy:\n- extend the service (amelia)\n\
             Testing Approach:\n- one per rule (murat)\nIdentified Risks:\n- no limit (winston, murat)\n"
        );
        let mut turned = statements.to_vec();
        turned.reverse();
        assert_eq!(settle_kickoff(&asked, &turned), insights);
        assert!(settle_kickoff(&asked, &[]).is_empty());
    }

    #[test]
    fn only_clear_voices_that_were_asked_count() {
        let asked = ["winston".to_owned(), "murat".to_owned()];
        let mut unclear = statement("winston", 1, &[(Topic::Risks, "a risk")], "");
        unclear.verdict = None;
        let stranger = statement("eve", 1, &[(Topic::Risks, "another risk")], "");
        let later = statement("murat", 2, &[], "nothing to add");
        let insights = settle_kickoff(&asked, &[unclear, stranger, later]);
        assert_eq!(insights.heard, ["murat"]);
        // The summary of a second round is not a note.
        assert!(insights.is_empty());
    }

    #[test]
    fn a_note_is_one_line_and_names_each_voice_once() {
        let asked = ["a".to_owned(), "b".to_owned()];
        let statements = [
            statement("a", 1, &[(Topic::Decisions, "use\nthe lock"), (Topic::Decisions, "")], ""),
            statement("a", 2, &[(Topic::Decisions, "USE\nTHE LOCK")], ""),
            statement("b", 1, &[(Topic::Decisions, "use\nthe lock")], ""),
        ];
        let insights = settle_kickoff(&asked, &statements);
        assert_eq!(insights.text(), "Key Decisions:\n- use the lock (a, b)\n");
    }
}
