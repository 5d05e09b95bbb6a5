//! Settles the analyses of a failure into one decision.

use std::collections::BTreeSet;

use handover_model::learn::Signature;
use handover_model::{Cause, Consensus, Verdict};
use handover_text::words::terms;

use crate::data::{Analysis, Statement};

/// The joint analysis of a failure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnalysisOutcome {
    /// Retry, skip or escalate; none if no analyst gave a verdict.
    pub verdict: Option<Verdict>,
    /// The reason, in a sentence.
    pub summary: String,
    /// The view of each analyst, in the order in which they were asked.
    pub assessments: Vec<(String, String)>,
    /// The root cause, in a sentence.
    pub root_cause: String,
    /// The class of the cause that most analysts name.
    pub cause: Option<Cause>,
    /// What to do differently, without duplicates.
    pub remediation: Vec<String>,
    /// Questions for a person.
    pub questions: Vec<String>,
    /// Whether any analyst adds something the failed agents did not know.
    pub adds: bool,
}

/// Settles all analyses, regardless of the order in which they ended. The majority decides; without one, a
/// person does.
pub fn settle_analysis(
    asked: &[String],
    statements: &[Statement],
    rule: Consensus,
) -> AnalysisOutcome {
    let mut analyzed = AnalysisOutcome::default();
    let mut heard: Vec<(&String, Verdict, &Statement)> = Vec::new();
    for persona in asked {
        let of =
            |statement: &&Statement| statement.persona == *persona && statement.verdict.is_some();
        let last = statements.iter().filter(of).max_by_key(|statement| statement.round);
        if let Some((statement, verdict)) =
            last.and_then(|statement| Some((statement, statement.verdict?)))
        {
            heard.push((persona, verdict, statement));
        }
    }
    let count = |wanted| heard.iter().filter(|(_, verdict, _)| *verdict == wanted).count();
    let options = [Verdict::Escalate, Verdict::Skip, Verdict::Retry];
    let chosen = options.into_iter().find(|option| match rule {
        Consensus::Majority => count(*option) * 2 > heard.len(),
        Consensus::Unanimous => count(*option) == heard.len(),
    });
    analyzed.verdict = chosen.or(Some(Verdict::Escalate)).filter(|_| !heard.is_empty());
    let mut causes: Vec<(usize, Cause)> = Vec::new();
    for (persona, verdict, statement) in &heard {
        let Analysis { root_cause, cause, remediation, question, adds } =
            whole(persona, statements);
        analyzed.adds |= adds;
        let text = if root_cause.is_empty() { statement.summary.clone() } else { root_cause };
        analyzed.assessments.push(((*persona).clone(), format!("{verdict}: {text}")));
        let with_the_rest = Some(*verdict) == analyzed.verdict;
        if analyzed.root_cause.is_empty() && with_the_rest {
            analyzed.root_cause = text;
        }
        for step in remediation {
            if !analyzed.remediation.contains(&step) {
                analyzed.remediation.push(step);
            }
        }
        analyzed.questions.extend(question.filter(|new| !analyzed.questions.contains(new)));
        if let Some(cause) = cause {
            match causes.iter_mut().find(|(_, known)| *known == cause) {
                Some((count, _)) => *count += 1,
                None => causes.push((1, cause)),
            }
        }
    }
    if analyzed.root_cause.is_empty() {
        analyzed.root_cause =
            analyzed.assessments.first().map(|(_, text)| text.clone()).unwrap_or_default();
    }
    let most = causes.iter().map(|(count, _)| *count).max();
    analyzed.cause = causes.iter().find(|(count, _)| Some(*count) == most).map(|(_, cause)| *cause);
    analyzed.summary = match analyzed.verdict {
        None => "no analyst gave a verdict".to_owned(),
        Some(_) if chosen.is_none() => {
            let each: Vec<String> =
                heard.iter().map(|(who, verdict, _)| format!("{who} says {verdict}")).collect();
            format!("the analysts do not agree ({}): {}", each.join(", "), analyzed.root_cause)
        }
        Some(_) => analyzed.root_cause.clone(),
    };
    analyzed
}

/// One analyst's view over all rounds: the last cause and question, and all steps.
fn whole(persona: &str, statements: &[Statement]) -> Analysis {
    let mut own: Vec<&Statement> =
        statements.iter().filter(|statement| statement.persona == persona).collect();
    own.sort_by_key(|statement| statement.round);
    let mut whole = Analysis::default();
    for said in own.iter().filter_map(|statement| statement.contribution.analysis.clone()) {
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

/// Words that carry no advice.
const EMPTY: &str = "try again retry attempt once please careful carefully care properly better harder \
                     correct correctly fix fixed solve resolve story work task cause issue problem";

/// Whether advice is new: it has a sentence in which at least two words, and at least a fifth, are neither
/// known nor filler.
pub fn is_new(advice: &str, known: &str) -> bool {
    let known: BTreeSet<String> = terms(known).into_iter().chain(terms(EMPTY)).collect();
    advice.split(['\n', '.', ';']).any(|sentence| {
        let words: BTreeSet<String> = terms(sentence).into_iter().collect();
        let new = words.iter().filter(|word| !known.contains(*word)).count();
        new >= 2 && new * 5 >= words.len()
    })
}

/// Equal for failures that are the same apart from paths, numbers and names.
pub fn signature(failure: &str) -> String {
    Signature::new(None, failure, &[]).hash()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Contribution;
    use Verdict::{Escalate, Retry, Skip};

    fn asked() -> Vec<String> {
        ["winston", "amelia", "bob"].map(str::to_owned).to_vec()
    }

    fn statement(persona: &str, verdict: Verdict, analysis: Option<Analysis>) -> Statement {
        Statement {
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
        let statements: Vec<Statement> = verdicts
            .iter()
            .zip(&asked)
            .map(|(verdict, who)| statement(who, *verdict, None))
            .collect();
        settle_analysis(&asked, &statements, rule).verdict
    }

    #[test]
    fn the_majority_decides_and_a_person_breaks_ties() {
        use Consensus::{Majority, Unanimous};
        assert_eq!(decided(&[Retry, Retry, Skip], Majority), Some(Retry));
        assert_eq!(decided(&[Retry, Retry, Skip], Unanimous), Some(Escalate));
        assert_eq!(decided(&[Retry, Skip, Escalate], Majority), Some(Escalate));
        assert_eq!(decided(&[Retry, Skip], Majority), Some(Escalate));
        assert_eq!(decided(&[Skip], Unanimous), Some(Skip));
        assert_eq!(decided(&[], Majority), None);
    }

    #[test]
    fn the_analysis_record_has_no_duplicates() {
        let analysis = |question: Option<&str>| Analysis {
            root_cause: "the port is taken".into(),
            cause: Some(Cause::Tooling),
            remediation: vec!["use port 0".into()],
            question: question.map(str::to_owned),
            adds: question.is_some(),
        };
        let statements = [
            statement("bob", Escalate, Some(analysis(Some("Which port may be used?")))),
            statement("winston", Retry, Some(analysis(None))),
            statement("amelia", Escalate, None),
        ];
        let analyzed = settle_analysis(&asked(), &statements, Consensus::Majority);
        assert_eq!(analyzed.verdict, Some(Escalate));
        assert_eq!(analyzed.cause, Some(Cause::Tooling));
        assert_eq!(analyzed.remediation, ["use port 0"]);
        assert_eq!(analyzed.questions, ["Which port may be used?"]);
        assert!(analyzed.adds);
        assert_eq!(analyzed.assessments[0].0, "winston");
        let mut turned = statements.to_vec();
        turned.reverse();
        assert_eq!(settle_analysis(&asked(), &turned, Consensus::Majority), analyzed);
    }

    #[test]
    fn advice_must_say_something_new() {
        let known = "Story: a login form. The test `login_rejects_empty` fails with status 500.";
        for old in [
            "",
            "Try again.",
            "Retry once more, and please fix the problem properly; be careful",
            "The login test fails with status 500.",
            "Make the test `login_rejects_empty` of the login form not fail",
        ] {
            assert!(!is_new(old, known), "{old}");
        }
        assert!(is_new("The handler unwraps a missing header; return 400 instead", known));
    }

    #[test]
    fn equal_failures_have_equal_signatures() {
        assert_eq!(
            signature("gates failed: /tmp/a/x.rs:12 took 31 ms"),
            signature("gates failed: /tmp/b/y.rs:99 took 7 ms"),
        );
        assert_ne!(signature("gates failed"), signature("review failed"));
    }

    #[test]
    fn the_last_statement_of_each_analyst_counts() {
        let said = |round, verdict, cause: &str, question: Option<&str>| {
            let analysis = Analysis {
                root_cause: cause.to_owned(),
                question: question.map(str::to_owned),
                remediation: vec![format!("step {round}")],
                adds: round == 1,
                ..Analysis::default()
            };
            Statement { round, ..statement("winston", verdict, Some(analysis)) }
        };
        let statements = [said(2, Skip, "", None), said(1, Retry, "the port", Some("Which?"))];
        let analyzed = settle_analysis(&asked(), &statements, Consensus::Majority);
        assert_eq!(analyzed.verdict, Some(Skip));
        assert_eq!(analyzed.root_cause, "the port", "an empty cause replaces nothing");
        assert_eq!(analyzed.questions, ["Which?"]);
        assert_eq!(analyzed.remediation, ["step 1", "step 2"]);
        assert!(analyzed.adds);
        assert_eq!(analyzed.assessments, [("winston".to_owned(), "skip: the port".to_owned())]);
    }

    #[test]
    fn disagreement_is_reported_and_the_majority_names_the_cause() {
        let with_cause = |who: &str, verdict, cause: &str, class| {
            let analysis =
                Analysis { root_cause: cause.into(), cause: Some(class), ..Analysis::default() };
            statement(who, verdict, Some(analysis))
        };
        let statements = [
            with_cause("winston", Skip, "too hard", Cause::Spec),
            with_cause("amelia", Retry, "a typo", Cause::Tooling),
            with_cause("bob", Retry, "a typo indeed", Cause::Tooling),
        ];
        let analyzed = settle_analysis(&asked(), &statements, Consensus::Majority);
        assert_eq!((analyzed.verdict, analyzed.root_cause.as_str()), (Some(Retry), "a typo"));
        assert_eq!(analyzed.cause, Some(Cause::Tooling));
        assert_eq!(analyzed.summary, "a typo");
        let analyzed = settle_analysis(&asked(), &statements, Consensus::Unanimous);
        assert_eq!(analyzed.verdict, Some(Escalate));
        assert_eq!(
            analyzed.summary,
            "the analysts do not agree (winston says skip, amelia says retry, bob says retry): skip: too hard"
        );
        assert_eq!(
            settle_analysis(&asked(), &[], Consensus::Majority).summary,
            "no analyst gave a verdict"
        );
    }

    #[test]
    fn a_fifth_of_the_words_must_be_new() {
        let known = "alpha beta gamma delta epsilon zeta eta theta";
        assert!(is_new("alpha beta gamma delta epsilon zeta eta theta omega sigma", known));
        assert!(
            !is_new("alpha beta gamma delta epsilon zeta eta theta omega", known),
            "one word is not enough"
        );
        let long = (0..20).map(|n| format!("known{n}")).collect::<Vec<_>>().join(" ");
        assert!(!is_new(&format!("{long} omega sigma"), &long), "two of twenty-two are too few");
        // One good sentence is enough.
        assert!(is_new("Try again. Bind the socket before forking; retry", known));
    }
}
