//! From what analysts say about a failure to what is done about it.

use std::collections::BTreeSet;

use handover_model::learn::Signature;
use handover_model::{Cause, Consensus, Verdict};
use handover_text::words::terms;

use super::word::{Analysis, Word};

/// What an analysis came to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Analysed {
    /// Retry, skip or escalate; none if nobody was heard.
    pub verdict: Option<Verdict>,
    /// Why, in a sentence.
    pub summary: String,
    /// What each analyst thinks, in the order in which they were asked.
    pub assessments: Vec<(String, String)>,
    /// Where it comes from, in words.
    pub root_cause: String,
    /// Where it comes from, as most of them say.
    pub cause: Option<Cause>,
    /// What to do differently, each once.
    pub remediation: Vec<String>,
    /// What a person must be asked.
    pub questions: Vec<String>,
    /// Whether anybody says something that those who failed had not been told.
    pub adds: bool,
}

/// Makes one decision of what all analysts said, whatever order they ended in. What most of them say is
/// done; where they cannot agree, a person decides rather than a toss.
pub fn settle_analysis(asked: &[String], words: &[Word], rule: Consensus) -> Analysed {
    let mut analysed = Analysed::default();
    let mut heard: Vec<(&String, Verdict, &Word)> = Vec::new();
    for persona in asked {
        let of = |word: &&Word| word.persona == *persona && word.verdict.is_some();
        let last = words.iter().filter(of).max_by_key(|word| word.round);
        if let Some((word, verdict)) = last.and_then(|word| Some((word, word.verdict?))) {
            heard.push((persona, verdict, word));
        }
    }
    let count = |wanted| heard.iter().filter(|(_, verdict, _)| *verdict == wanted).count();
    let options = [Verdict::Escalate, Verdict::Skip, Verdict::Retry];
    let chosen = options.into_iter().find(|option| match rule {
        Consensus::Majority => count(*option) * 2 > heard.len(),
        Consensus::Unanimous => count(*option) == heard.len(),
    });
    analysed.verdict = chosen.or(Some(Verdict::Escalate)).filter(|_| !heard.is_empty());
    let mut causes: Vec<(usize, Cause)> = Vec::new();
    for (persona, verdict, word) in &heard {
        let Analysis { root_cause, cause, remediation, question, adds } = whole(persona, words);
        analysed.adds |= adds;
        let text = if root_cause.is_empty() { word.summary.clone() } else { root_cause };
        analysed.assessments.push(((*persona).clone(), format!("{verdict}: {text}")));
        let with_the_rest = Some(*verdict) == analysed.verdict;
        if analysed.root_cause.is_empty() && with_the_rest {
            analysed.root_cause = text;
        }
        for step in remediation {
            if !analysed.remediation.contains(&step) {
                analysed.remediation.push(step);
            }
        }
        analysed.questions.extend(question.filter(|new| !analysed.questions.contains(new)));
        if let Some(cause) = cause {
            match causes.iter_mut().find(|(_, known)| *known == cause) {
                Some((count, _)) => *count += 1,
                None => causes.push((1, cause)),
            }
        }
    }
    if analysed.root_cause.is_empty() {
        analysed.root_cause =
            analysed.assessments.first().map(|(_, text)| text.clone()).unwrap_or_default();
    }
    let most = causes.iter().map(|(count, _)| *count).max();
    analysed.cause = causes.iter().find(|(count, _)| Some(*count) == most).map(|(_, cause)| *cause);
    analysed.summary = match analysed.verdict {
        None => "nobody said what to do about it".to_owned(),
        Some(_) if chosen.is_none() => {
            let each: Vec<String> =
                heard.iter().map(|(who, verdict, _)| format!("{who} says {verdict}")).collect();
            format!("the analysts do not agree ({}): {}", each.join(", "), analysed.root_cause)
        }
        Some(_) => analysed.root_cause.clone(),
    };
    analysed
}

/// What a voice said in all rounds: the last cause and question, and every step.
fn whole(persona: &str, words: &[Word]) -> Analysis {
    let mut own: Vec<&Word> = words.iter().filter(|word| word.persona == persona).collect();
    own.sort_by_key(|word| word.round);
    let mut whole = Analysis::default();
    for said in own.iter().filter_map(|word| word.contribution.analysis.clone()) {
        if !said.root_cause.is_empty() {
            whole.root_cause = said.root_cause;
        }
        whole.cause = said.cause.or(whole.cause);
        whole.question = said.question.or(whole.question);
        whole.remediation.extend(said.remediation);
        whole.adds |= said.adds;
    }
    whole
}

/// Words that tell nobody what to do differently.
const EMPTY: &str = "try again retry attempt once please careful carefully care properly better harder \
                     correct correctly fix fixed solve resolve story work task cause issue problem";

/// Whether advice says something that agents have not been told already: at least one sentence of which
/// a fifth of the words, and no fewer than two, are new and mean something.
pub fn is_new(advice: &str, told: &str) -> bool {
    let told: BTreeSet<String> = terms(told).into_iter().chain(terms(EMPTY)).collect();
    advice.split(['\n', '.', ';']).any(|sentence| {
        let words: BTreeSet<String> = terms(sentence).into_iter().collect();
        let new = words.iter().filter(|word| !told.contains(*word)).count();
        new >= 2 && new * 5 >= words.len()
    })
}

/// What makes two failures the same: paths, numbers and names aside.
pub fn signature(failure: &str) -> String {
    Signature::new(None, failure, &[]).hash()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::party::Contribution;
    use Verdict::{Escalate, Retry, Skip};

    fn asked() -> Vec<String> {
        ["winston", "amelia", "bob"].map(str::to_owned).to_vec()
    }

    fn word(persona: &str, verdict: Verdict, analysis: Option<Analysis>) -> Word {
        Word {
            persona: persona.into(),
            round: 1,
            verdict: Some(verdict),
            summary: format!("{persona} thinks"),
            findings: Vec::new(),
            contribution: Contribution { analysis, ..Contribution::default() },
        }
    }

    fn decided(verdicts: &[Verdict], rule: Consensus) -> Option<Verdict> {
        let asked = asked();
        let words: Vec<Word> =
            verdicts.iter().zip(&asked).map(|(verdict, who)| word(who, *verdict, None)).collect();
        settle_analysis(&asked, &words, rule).verdict
    }

    #[test]
    fn what_most_say_is_done_and_a_person_decides_the_rest() {
        use Consensus::{Majority, Unanimous};
        assert_eq!(decided(&[Retry, Retry, Skip], Majority), Some(Retry));
        assert_eq!(decided(&[Retry, Retry, Skip], Unanimous), Some(Escalate));
        assert_eq!(decided(&[Retry, Skip, Escalate], Majority), Some(Escalate));
        assert_eq!(decided(&[Retry, Skip], Majority), Some(Escalate));
        assert_eq!(decided(&[Skip], Unanimous), Some(Skip));
        assert_eq!(decided(&[], Majority), None);
    }

    #[test]
    fn the_record_holds_what_everybody_said_once() {
        let analysis = |question: Option<&str>| Analysis {
            root_cause: "the port is taken".into(),
            cause: Some(Cause::Tooling),
            remediation: vec!["use port 0".into()],
            question: question.map(str::to_owned),
            adds: question.is_some(),
        };
        let words = [
            word("bob", Escalate, Some(analysis(Some("Which port may be used?")))),
            word("winston", Retry, Some(analysis(None))),
            word("amelia", Escalate, None),
        ];
        let analysed = settle_analysis(&asked(), &words, Consensus::Majority);
        assert_eq!(analysed.verdict, Some(Escalate));
        assert_eq!(analysed.cause, Some(Cause::Tooling));
        assert_eq!(analysed.remediation, ["use port 0"]);
        assert_eq!(analysed.questions, ["Which port may be used?"]);
        assert!(analysed.adds);
        assert_eq!(analysed.assessments[0].0, "winston");
        let mut turned = words.to_vec();
        turned.reverse();
        assert_eq!(settle_analysis(&asked(), &turned, Consensus::Majority), analysed);
    }

    #[test]
    fn advice_must_say_something_new() {
        let told = "Story: a login form. The test `login_rejects_empty` fails with status 500.";
        for old in [
            "",
            "Try again.",
            "Retry once more, and please fix the problem properly; be careful",
            "The login test fails with status 500.",
            "Make the test `login_rejects_empty` of the login form not fail",
        ] {
            assert!(!is_new(old, told), "{old}");
        }
        assert!(is_new("The handler unwraps a missing header; return 400 instead", told));
    }

    #[test]
    fn the_same_failure_is_known_again() {
        assert_eq!(
            signature("gates failed: /tmp/a/x.rs:12 took 31 ms"),
            signature("gates failed: /tmp/b/y.rs:99 took 7 ms"),
        );
        assert_ne!(signature("gates failed"), signature("review failed"));
    }
}
