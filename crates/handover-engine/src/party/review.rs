//! Settles the reviews of several reviewers into one verdict.
//!
//! The last vote of each reviewer counts, and a missing vote is not an approval. Findings of high
//! severity that stand must be fixed, whatever the votes are.

use handover_model::{Consensus, Severity, Verdict};

use super::findings::{MergedFinding, merge};
use crate::data::{Finding, Statement};
use crate::pipeline::PartyRules;

/// The vote of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vote {
    /// The reviewer.
    pub persona: String,
    /// The last vote; none if there was no clear one.
    pub verdict: Option<Verdict>,
    /// The vote of the first round, if it was different.
    pub before: Option<Verdict>,
    /// The summary, or why there is no vote.
    pub summary: String,
}

impl Vote {
    fn approves(&self) -> bool {
        matches!(self.verdict, Some(Verdict::Passed | Verdict::PassedWithFixes))
    }
}

/// The joint review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewOutcome {
    /// The joint verdict; none if too few reviewers voted.
    pub verdict: Option<Verdict>,
    /// The reason, in a sentence.
    pub summary: String,
    /// All votes, in the order in which the reviewers were asked.
    pub votes: Vec<Vote>,
    /// All findings, the most severe first.
    pub findings: Vec<MergedFinding>,
    /// Findings that must be fixed, the most severe first.
    pub to_fix: Vec<Finding>,
    /// Findings without agreement.
    pub conflicts: Vec<String>,
}

/// Settles all reviews, independent of the order in which they ended.
pub fn settle_review(
    asked: &[String],
    statements: &[Statement],
    rules: PartyRules,
) -> ReviewOutcome {
    let votes: Vec<Vote> = asked.iter().map(|persona| vote(persona, statements)).collect();
    let findings = merge(statements);
    let standing: Vec<&MergedFinding> =
        findings.iter().filter(|finding| stands(finding, rules.consensus)).collect();
    let heard = votes.iter().filter(|vote| vote.verdict.is_some()).count();
    let approve = votes.iter().filter(|vote| vote.approves()).count();
    let must_stop = [Verdict::Escalate, Verdict::Blocked]
        .into_iter()
        .find(|stop| votes.iter().filter(|vote| vote.verdict == Some(*stop)).count() * 2 > heard);
    let is_carried = carried(approve, asked.len(), rules.consensus);
    let grave = standing.iter().filter(|finding| finding.severity == Severity::High).count();
    let many = standing.len() > rules.fix_medium_above as usize;
    let rejected = heard > 0 && (!is_carried || grave > 0);
    let to_fix: Vec<Finding> = standing
        .iter()
        .filter(|finding| match finding.severity {
            Severity::High => true,
            // A rejection must say what to change.
            Severity::Medium => many || (rejected && grave == 0),
            Severity::Low => rejected && grave == 0 && is_mild(&standing),
        })
        .map(|finding| finding.finding())
        .collect();
    // No reviewer rejected the work; the missing approvals are merely unknown.
    let too_few = !is_carried && grave == 0 && approve == heard;
    let verdict = match must_stop {
        _ if heard == 0 || too_few => None,
        Some(stop) => Some(stop),
        None if rejected => Some(Verdict::Failed),
        None if !to_fix.is_empty() => Some(Verdict::PassedWithFixes),
        None => Some(Verdict::Passed),
    };
    let asked = asked.len();
    let mut summary =
        format!("{approve} of {asked} approve, {grave} grave of {} findings stand", standing.len());
    if heard < asked {
        summary = format!("{summary}, {} not heard", asked - heard);
    }
    if verdict == Some(Verdict::Failed) && to_fix.is_empty() {
        // Only the summaries of the rejecting reviewers are left.
        let reasons = votes.iter().filter(|vote| vote.verdict.is_some() && !vote.approves());
        let reasons: Vec<String> =
            reasons.map(|vote| format!("{}: {}", vote.persona, vote.summary)).collect();
        summary = format!("{summary}; {}", reasons.join("; "));
    }
    let conflicts = conflicts(&votes, &findings);
    ReviewOutcome { verdict, summary, votes, findings, to_fix, conflicts }
}

fn is_mild(standing: &[&MergedFinding]) -> bool {
    standing.iter().all(|finding| finding.severity == Severity::Low)
}

fn vote(persona: &str, statements: &[Statement]) -> Vote {
    let of = |round: u32| {
        statements.iter().find(|statement| statement.persona == persona && statement.round == round)
    };
    let (first, second) = (of(1), of(2));
    let before = first.and_then(|statement| statement.verdict);
    // A reviewer without a vote in the second round keeps the first one.
    let last = second.filter(|statement| statement.verdict.is_some()).or(first);
    let verdict = last.and_then(|statement| statement.verdict);
    Vote {
        persona: persona.to_owned(),
        verdict,
        before: before.filter(|before| Some(*before) != verdict),
        summary: last.map(|statement| statement.summary.clone()).unwrap_or_default(),
    }
}

/// Whether enough of the reviewers approve; those without a vote do not.
fn carried(approve: usize, asked: usize, rule: Consensus) -> bool {
    match rule {
        Consensus::Majority => approve * 2 > asked,
        Consensus::Unanimous => approve == asked,
    }
}

fn stands(finding: &MergedFinding, rule: Consensus) -> bool {
    match rule {
        Consensus::Majority => finding.held.len() >= finding.disputed.len(),
        Consensus::Unanimous => !finding.held.is_empty(),
    }
}

fn conflicts(votes: &[Vote], findings: &[MergedFinding]) -> Vec<String> {
    let mut conflicts = Vec::new();
    let names = |approves: bool| {
        let of = votes.iter().filter(|vote| vote.verdict.is_some() && vote.approves() == approves);
        of.map(|vote| vote.persona.as_str()).collect::<Vec<_>>().join(", ")
    };
    let (yes, no) = (names(true), names(false));
    if !yes.is_empty() && !no.is_empty() {
        conflicts.push(format!("{yes} would let it pass, {no} would not"));
    }
    for finding in findings {
        let what = match finding.place.as_str() {
            "" => finding.texts.first().cloned().unwrap_or_default(),
            place => format!("{} at {place}", finding.kind),
        };
        let held = finding.held.keys().cloned().collect::<Vec<_>>().join(", ");
        for (persona, why) in &finding.disputed {
            conflicts.push(format!("{what}: held by {held}, disputed by {persona}: {why}"));
        }
        let (least, most) = (finding.held.values().min(), finding.held.values().max());
        if (least, most) == (Some(&Severity::Low), Some(&Severity::High)) {
            let each: Vec<String> =
                finding.held.iter().map(|(who, how)| format!("{how} for {who}")).collect();
            conflicts.push(format!("{what}: {}", each.join(", ")));
        }
    }
    conflicts
}

#[cfg(test)]
mod tests {
    use handover_model::FindingKind;
    use proptest::prelude::*;

    use super::*;
    use crate::data::{Contribution, Stance};

    const RULES: PartyRules = PartyRules { consensus: Consensus::Majority, fix_medium_above: 5 };

    fn asked() -> Vec<String> {
        ["winston", "murat", "amelia"].map(str::to_owned).to_vec()
    }

    fn said(persona: &str, round: u32, verdict: Option<Verdict>) -> Statement {
        Statement {
            persona: persona.into(),
            round,
            verdict,
            summary: format!("{persona} says so"),
            findings: Vec::new(),
            contribution: Contribution::default(),
        }
    }

    fn with(mut statement: Statement, severity: &str, place: &str) -> Statement {
        statement.findings.push(Finding {
            severity: severity.into(),
            place: place.into(),
            kind: Some(FindingKind::Correctness),
            text: format!("broken at {place}"),
        });
        statement
    }

    use Verdict::{Failed, Passed, PassedWithFixes};

    fn verdict(statements: &[Statement], rules: PartyRules) -> Option<Verdict> {
        settle_review(&asked(), statements, rules).verdict
    }

    #[test]
    fn votes_are_counted_among_all_who_were_asked() {
        let strict = PartyRules { consensus: Consensus::Unanimous, ..RULES };
        let [w, m, a] = ["winston", "murat", "amelia"];
        let all = [said(w, 1, Some(Passed)), said(m, 1, Some(Passed)), said(a, 1, Some(Passed))];
        assert_eq!(verdict(&all, RULES), Some(Passed));
        assert_eq!(verdict(&all, strict), Some(Passed));
        // One of three did not vote: enough for a majority, not for unanimity.
        assert_eq!(verdict(&all[..2], RULES), Some(Passed));
        assert_eq!(verdict(&all[..2], strict), None);
        // One approval is not enough, and none even less.
        assert_eq!(verdict(&all[..1], RULES), None);
        assert_eq!(verdict(&[], RULES), None);
        let no = [said(w, 1, Some(Passed)), said(m, 1, Some(Failed)), said(a, 1, Some(Failed))];
        assert_eq!(verdict(&no, RULES), Some(Failed));
        let one_no = [said(w, 1, Some(Passed)), said(m, 1, Some(Failed)), said(a, 1, Some(Passed))];
        assert_eq!(verdict(&one_no, RULES), Some(Passed));
        assert_eq!(verdict(&one_no, strict), Some(Failed));
        assert!(settle_review(&asked(), &one_no, strict).summary.contains("murat says so"));
    }

    #[test]
    fn findings_of_high_severity_are_always_fixed() {
        let statements = [
            said("winston", 1, Some(Passed)),
            with(said("murat", 1, Some(PassedWithFixes)), "high", "a.rs:1"),
            said("amelia", 1, Some(Passed)),
        ];
        let review = settle_review(&asked(), &statements, RULES);
        assert_eq!(review.verdict, Some(Failed));
        assert_eq!(review.to_fix.len(), 1);
    }

    #[test]
    fn a_finding_is_dropped_if_more_dispute_than_support_it() {
        let mut statements = vec![
            said("winston", 1, Some(Passed)),
            with(said("murat", 1, Some(Passed)), "high", "a.rs:1"),
            said("amelia", 1, Some(Passed)),
        ];
        for persona in ["winston", "amelia"] {
            let mut statement = said(persona, 2, Some(Passed));
            let why = "checked by the caller".to_owned();
            statement.contribution.stances =
                vec![Stance { on: 1, agrees: false, severity: None, why }];
            statements.push(statement);
        }
        let review = settle_review(&asked(), &statements, RULES);
        assert_eq!(review.verdict, Some(Passed));
        assert_eq!(review.conflicts.len(), 2);
        assert!(review.conflicts[0].contains("held by murat, disputed by amelia"));
        let strict = PartyRules { consensus: Consensus::Unanimous, ..RULES };
        assert_eq!(verdict(&statements, strict), Some(Failed));
    }

    #[test]
    fn many_medium_findings_must_be_fixed() {
        let lines = |n: usize| {
            let mut statement = said("murat", 1, Some(PassedWithFixes));
            for line in 0..n {
                statement = with(statement, "medium", &format!("a.rs:{}", line * 100 + 1));
            }
            [said("winston", 1, Some(Passed)), statement, said("amelia", 1, Some(Passed))]
        };
        assert_eq!(verdict(&lines(5), RULES), Some(Passed));
        let many = settle_review(&asked(), &lines(6), RULES);
        assert_eq!((many.verdict, many.to_fix.len()), (Some(PassedWithFixes), 6));
        let low = with(said("murat", 1, Some(Passed)), "low", "a.rs:1");
        let statements = [said("winston", 1, Some(Passed)), low, said("amelia", 1, Some(Passed))];
        assert!(settle_review(&asked(), &statements, RULES).to_fix.is_empty());
    }

    #[test]
    fn changed_votes_are_recorded() {
        let statements = [
            said("winston", 1, Some(Passed)),
            said("winston", 2, Some(Failed)),
            said("murat", 1, Some(Failed)),
            said("murat", 2, None),
            said("amelia", 1, Some(Passed)),
        ];
        let review = settle_review(&asked(), &statements, RULES);
        assert_eq!(review.verdict, Some(Failed));
        assert_eq!(review.votes[0].before, Some(Passed));
        assert_eq!((review.votes[1].verdict, review.votes[1].before), (Some(Failed), None));
        assert!(review.conflicts[0].contains("amelia would let it pass, winston, murat would not"));
    }

    fn any_statement() -> impl Strategy<Value = Statement> {
        let verdict = prop::option::of(prop::sample::select(vec![Passed, PassedWithFixes, Failed]));
        let finding = (
            prop::sample::select(vec!["high", "medium", "low", "odd"]),
            prop::sample::select(vec!["a.rs:1", "a.rs:3", "./a.rs:9", "b.rs", ""]),
            prop::sample::select(FindingKind::ALL.to_vec()),
            prop::sample::select(vec!["one", "One.", "two"]),
        );
        let finding = finding.prop_map(|(severity, place, kind, text)| Finding {
            severity: severity.into(),
            place: place.into(),
            kind: Some(kind),
            text: text.into(),
        });
        let stance = (0..6_usize, any::<bool>()).prop_map(|(on, agrees)| Stance {
            on,
            agrees,
            severity: None,
            why: "w".into(),
        });
        (verdict, prop::collection::vec(finding, 0..4), prop::collection::vec(stance, 0..4))
            .prop_map(|(verdict, findings, stances)| Statement {
                persona: String::new(),
                round: 0,
                verdict,
                summary: "s".into(),
                findings,
                contribution: Contribution { stances, ..Contribution::default() },
            })
    }

    proptest! {
        #[test]
        fn the_order_in_which_they_end_makes_no_difference(
            statements in prop::collection::vec(any_statement(), 6),
            shuffled in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
            strict in any::<bool>(),
        ) {
            let seats = asked();
            let statements: Vec<Statement> = statements
                .into_iter()
                .enumerate()
                .map(|(n, statement)| Statement { persona: seats[n % 3].clone(), round: n as u32 / 3 + 1, ..statement })
                .collect();
            let consensus = if strict { Consensus::Unanimous } else { Consensus::Majority };
            let rules = PartyRules { consensus, ..RULES };
            let expected = settle_review(&seats, &statements, rules);
            let other: Vec<Statement> = shuffled.iter().map(|n| statements[*n].clone()).collect();
            prop_assert_eq!(&settle_review(&seats, &other, rules), &expected);
            // A pass never hides a grave finding, and never comes without enough votes.
            if matches!(expected.verdict, Some(Passed | PassedWithFixes)) {
                let grave = expected.findings.iter().any(|f| f.severity == Severity::High && stands(f, consensus));
                prop_assert!(!grave);
                let approve = expected.votes.iter().filter(|vote| vote.approves()).count();
                prop_assert!(carried(approve, 3, consensus));
            }
        }
    }

    #[test]
    fn stopping_needs_a_majority_of_the_votes() {
        let one = |verdict| said("winston", 1, Some(verdict));
        let two = |verdict| said("murat", 1, Some(verdict));
        use Verdict::{Blocked, Escalate};
        assert_eq!(verdict(&[one(Escalate), two(Escalate)], RULES), Some(Escalate));
        assert_eq!(verdict(&[one(Blocked), two(Blocked)], RULES), Some(Blocked));
        // One of two is not a majority.
        assert_eq!(verdict(&[one(Escalate), two(Failed)], RULES), Some(Failed));
        let three = said("amelia", 1, Some(Passed));
        assert_eq!(verdict(&[one(Escalate), two(Escalate), three], RULES), Some(Escalate));
    }

    #[test]
    fn a_rejection_says_what_to_change() {
        let reject = |severity: &str| {
            let statement = with(said("murat", 1, Some(Failed)), severity, "a.rs:1");
            let statements =
                [said("winston", 1, Some(Failed)), statement, said("amelia", 1, Some(Failed))];
            settle_review(&asked(), &statements, RULES)
        };
        for severity in ["high", "medium", "low"] {
            let review = reject(severity);
            assert_eq!((review.verdict, review.to_fix.len()), (Some(Failed), 1), "{severity}");
            assert_eq!(review.to_fix[0].severity, severity);
            assert!(!review.summary.contains("says so"), "{}", review.summary);
        }
        // Minor findings wait while there are serious ones.
        let statement =
            with(with(said("murat", 1, Some(Failed)), "medium", "a.rs:1"), "low", "a.rs:90");
        let statements =
            [said("winston", 1, Some(Failed)), statement, said("amelia", 1, Some(Passed))];
        let review = settle_review(&asked(), &statements, RULES);
        let fixed: Vec<&str> = review.to_fix.iter().map(|it| it.severity.as_str()).collect();
        assert_eq!(fixed, ["medium"]);
        // Without findings, the reasons of the rejecting reviewers are all there is.
        let statements = [
            said("winston", 1, Some(Failed)),
            said("murat", 1, Some(Failed)),
            said("amelia", 1, Some(Passed)),
        ];
        let review = settle_review(&asked(), &statements, RULES);
        assert!(review.to_fix.is_empty());
        assert_eq!(
            review.summary,
            "1 of 3 approve, 0 grave of 0 findings stand; winston: winston says so; murat: murat says so"
        );
    }

    #[test]
    fn opposite_severities_are_a_conflict() {
        let statements = [
            with(said("winston", 1, Some(Passed)), "low", "a.rs:1"),
            with(said("murat", 1, Some(Passed)), "high", "a.rs:2"),
            said("amelia", 1, Some(Passed)),
        ];
        let review = settle_review(&asked(), &statements, RULES);
        assert_eq!(review.conflicts, ["correctness at a.rs:1: high for murat, low for winston"]);
        // Low and medium are close enough.
        let statements = [
            with(said("winston", 1, Some(Passed)), "low", "a.rs:1"),
            with(said("murat", 1, Some(Passed)), "medium", "a.rs:2"),
        ];
        assert_eq!(settle_review(&asked(), &statements, RULES).conflicts, [""; 0]);
    }

    #[test]
    fn unanimity_needs_every_vote() {
        let strict = PartyRules { consensus: Consensus::Unanimous, ..RULES };
        let statements = [said("winston", 1, Some(Passed)), said("murat", 1, None)];
        let review = settle_review(&asked(), &statements, strict);
        assert_eq!(review.verdict, None);
        assert_eq!(review.summary, "1 of 3 approve, 0 grave of 0 findings stand, 2 not heard");
        assert_eq!(review.votes[2].summary, "");
    }
}
