//! What each verdict and status code means, in the words of a prompt.

use std::fmt::Write as _;

use handover_model::{RunPhase, TeamStatus, Verdict};

use crate::pipeline::AgentStep;
use crate::verdict::allowed;

/// The verdicts that an agent may give.
pub(super) fn words(step: &AgentStep) -> Vec<&'static str> {
    allowed(step.phase).iter().map(|verdict| verdict.as_str()).collect()
}

/// One line for each verdict, or for each status code of a team member.
pub(super) fn explained(step: &AgentStep) -> String {
    let mut out = String::new();
    for (status, verdict) in &step.statuses {
        let _ = writeln!(out, "- `{status}` ({verdict}): {}", status_meaning(*status, *verdict));
    }
    if step.statuses.is_empty() {
        for verdict in allowed(step.phase) {
            let _ = writeln!(out, "- `{verdict}`: {}", meaning(*verdict, step.phase));
        }
    }
    out.push('\n');
    out
}

fn meaning(verdict: Verdict, phase: RunPhase) -> &'static str {
    let is_analysis = phase == RunPhase::Analysis;
    match verdict {
        Verdict::Complete if matches!(phase, RunPhase::Dev | RunPhase::Fix) => {
            "it is done and you have checked it"
        }
        Verdict::Complete => "you have done what was asked",
        Verdict::Passed => "it can be committed as it is; no finding is high",
        Verdict::PassedWithFixes => {
            "it is good except for the findings, which are fixed before the commit"
        }
        Verdict::Failed if phase == RunPhase::Review => {
            "it must not be committed before the findings are fixed"
        }
        Verdict::Failed => "you tried and could not do it",
        Verdict::Blocked => {
            "something outside your control is missing, such as a service or a credential"
        }
        Verdict::Retry if is_analysis => "a new attempt with your advice would succeed",
        Verdict::Retry => "a fresh agent should do this step again",
        Verdict::Skip => "this story should not be done, and neither should those that need it",
        Verdict::Escalate if is_analysis => {
            "only a person can decide; `question` is the exact question"
        }
        Verdict::Escalate => {
            "only a person can decide; `summary` is the exact question, and the work waits for the answer"
        }
    }
}

fn status_meaning(status: TeamStatus, verdict: Verdict) -> &'static str {
    use TeamStatus as T;
    match status {
        T::ReadyForQa => "done and checked by you; QA tests it next",
        T::ReadyForReview => "done and checked by you; the tech lead decides next",
        T::NeedsTechLeadValidation => "done, but a decision of yours needs the tech lead",
        T::Blocked => "something outside your control stops you",
        T::SpawnInvestigator => "something fails that you cannot explain",
        T::Partial if verdict == Verdict::PassedWithFixes => {
            "what could be tested works, but not everything could be tested; the findings say what"
        }
        T::Partial => "it is not finished, or not all tests could run",
        T::Incomplete => "you could not finish; another attempt is needed",
        T::EscalateSenior => "the story needs a more experienced engineer",
        T::Skip => "this story should not be done",
        T::RootCauseFound => "you know the cause and how you know it",
        T::NeedsClarification => "only a person can decide; `summary` is the exact question",
        T::Pass => "it does what the story asks for, and its tests prove it",
        T::Flaky => "tests fail now and then without a cause in this work",
        T::Fail => "it does not do what the story asks for; the findings say what",
        T::FailEscalate => "it fails, and needs a more experienced engineer",
        T::Approved => "it can be committed as it is; no finding is high",
        T::ApprovedWithNotes => "it can be committed; the findings are only notes",
        T::ChangesRequested => "it must not be committed before the findings are fixed",
        T::UnblockingGuidance => "the developer continues with what you write",
        T::ArchitecturalDecisionMade => "the developer continues with what you decided",
        T::EscalateToOpus => "another agent should redo this decision",
        T::InvestigationIncomplete => "you looked and do not know the cause",
        T::Exhausted => "every hypothesis is ruled out",
        T::NeedDeveloperDiagnostic => {
            "a developer must add what you ask for before you can know more"
        }
        T::HypothesisEliminated => "one hypothesis is ruled out; others are left to test",
        T::NeedMoreAnalysis => "you need another round to know more",
        T::Bazinga => "everything that the epic asks for is done",
        T::Continue => "something is missing; `summary` says what",
        T::InvestigationOnly => "there was nothing to build, and what was asked is answered",
        T::InvestigationNeeded => "something must be found out first",
        T::PlanningComplete => "only the plan is done",
    }
}
