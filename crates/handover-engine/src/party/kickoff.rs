//! What several voices have to say before the work begins.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use handover_model::Verdict;

use super::word::{Topic, Word};

/// The insights of a kickoff, by topic; each with who said it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Insights {
    /// Who was heard, in the order in which they were asked.
    pub heard: Vec<String>,
    /// What they said.
    pub notes: BTreeMap<Topic, Vec<(String, String)>>,
}

impl Insights {
    /// Whether nobody had anything to say.
    pub fn is_empty(&self) -> bool {
        self.notes.is_empty()
    }

    /// The insights as text for whoever does the work.
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

/// Makes one list of what everybody said, each thing once, whatever order they ended in. Who only has a
/// summary is heard with that. Only somebody who says so clearly is heard: half an answer is none.
pub fn settle_kickoff(asked: &[String], words: &[Word]) -> Insights {
    let mut insights = Insights::default();
    for persona in asked {
        let said =
            |word: &&Word| word.persona == *persona && word.verdict == Some(Verdict::Complete);
        let mut own: Vec<&Word> = words.iter().filter(said).collect();
        own.sort_by_key(|word| word.round);
        if !own.is_empty() {
            insights.heard.push(persona.clone());
        }
        for word in own {
            for (topic, notes) in &word.contribution.notes {
                for note in notes {
                    add(&mut insights, *topic, persona, note);
                }
            }
            if word.contribution.notes.is_empty() && word.round == 1 {
                add(&mut insights, Topic::Strategy, persona, &word.summary);
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
    use crate::party::Contribution;

    fn word(persona: &str, round: u32, notes: &[(Topic, &str)], summary: &str) -> Word {
        let mut contribution = Contribution::default();
        for (topic, note) in notes {
            contribution.notes.entry(*topic).or_default().push((*note).to_owned());
        }
        Word {
            persona: persona.into(),
            round,
            verdict: Some(Verdict::Complete),
            summary: summary.into(),
            findings: Vec::new(),
            contribution,
        }
    }

    #[test]
    fn each_thing_is_said_once() {
        let asked = ["winston", "amelia", "murat"].map(str::to_owned);
        let words = [
            word("murat", 1, &[(Topic::Risks, "no limit")], ""),
            word("murat", 2, &[(Topic::Risks, "No limit"), (Topic::Testing, "one per rule")], ""),
            word("winston", 1, &[(Topic::Risks, "no limit")], ""),
            word("amelia", 1, &[], "extend the service"),
        ];
        let insights = settle_kickoff(&asked, &words);
        assert_eq!(insights.heard, asked);
        assert_eq!(insights.notes[&Topic::Risks], [("winston, murat".into(), "no limit".into())]);
        assert_eq!(
            insights.text(),
            "Implementation Strategy:\n- extend the service (amelia)\n\
             Testing Approach:\n- one per rule (murat)\nIdentified Risks:\n- no limit (winston, murat)\n"
        );
        let mut turned = words.to_vec();
        turned.reverse();
        assert_eq!(settle_kickoff(&asked, &turned), insights);
        assert!(settle_kickoff(&asked, &[]).is_empty());
    }
}
