//! What the project learns from an ending: strategies from accepted work, and errors that work
//! which was sent back has solved since.

use handover_context::learning::extract_strategies;
use handover_model::{GroupId, KnownEvent, Phase, Role, Timestamp, Verdict};
use handover_store::{EventFilter, ReasoningFilter, Result};
use serde_json::Value;

use super::keep::Keeper;
use super::{Ending, Kept};

/// How many debriefs of a group are searched, newest first.
const DEBRIEFS_SEARCHED: u32 = 50;

/// Once QA or the tech lead passes what it sent back before, its findings are errors that the
/// workers have solved since, and their last completion says how.
pub(super) fn solved_findings(keeper: &Keeper<'_>, kept: &mut Kept) -> Result<()> {
    let Ending { assignment, debrief, .. } = keeper.ending;
    let passed = matches!(debrief.verdict, Some(Verdict::Passed | Verdict::PassedWithFixes));
    let judges = matches!(assignment.role.as_str(), "qa_expert" | "tech_lead");
    let Some(group) = assignment.group.as_ref().filter(|_| passed && judges) else {
        return Ok(());
    };
    let findings = findings(keeper, group)?;
    let Some((_, first)) = findings.last() else { return Ok(()) };
    let Some(solution) = solution(keeper, group, *first)? else { return Ok(()) };
    for (finding, _) in findings {
        kept.errors.push(keeper.resolve(&finding, &solution)?);
    }
    Ok(())
}

/// Why the role sent the work back since it last passed it, and when; newest first.
fn findings(keeper: &Keeper<'_>, group: &GroupId) -> Result<Vec<(String, Timestamp)>> {
    let assignment = keeper.ending.assignment;
    let filter = EventFilter {
        kind: Some(KnownEvent::Debrief.into()),
        group: Some(group.clone()),
        limit: Some(DEBRIEFS_SEARCHED),
    };
    let mut findings = Vec::new();
    for event in keeper.store.events(&assignment.session, &filter)? {
        let field = |name: &str| event.payload.get(name).and_then(Value::as_str);
        if field("role") != Some(assignment.role.as_str()) {
            continue;
        }
        match (field("verdict").and_then(|verdict| verdict.parse().ok()), field("summary")) {
            (Some(Verdict::Failed), Some(finding)) => {
                findings.push((finding.to_owned(), event.created_at));
            }
            (Some(Verdict::Passed | Verdict::PassedWithFixes), _) => break,
            _ => {}
        }
    }
    Ok(findings)
}

/// The workers' last completion, if it came after the work was sent back.
fn solution(keeper: &Keeper<'_>, group: &GroupId, after: Timestamp) -> Result<Option<String>> {
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = keeper.store.reasoning(&keeper.ending.assignment.session, &filter)?;
    let completions = all.into_iter().filter(|entry| {
        entry.phase == Phase::Completion && is_worker(&entry.role) && entry.created_at >= after
    });
    Ok(completions.max_by_key(|entry| (entry.created_at, entry.id)).map(|entry| entry.content))
}

/// A success teaches: a developer that finished at the first attempt teaches its own reasoning; QA
/// that passed at its first attempt and an approval teach the reasoning of the workers.
pub(super) fn strategies(keeper: &Keeper<'_>, kept: &mut Kept) -> Result<()> {
    let Ending { assignment, debrief, now, .. } = keeper.ending;
    let own = match (assignment.role.as_str(), debrief.verdict) {
        ("developer", Some(Verdict::Complete)) if assignment.iteration == 0 => true,
        ("qa_expert", Some(Verdict::Passed)) if assignment.iteration == 0 => false,
        ("tech_lead", Some(Verdict::Passed | Verdict::PassedWithFixes)) => false,
        _ => return Ok(()),
    };
    let Some(group) = &assignment.group else { return Ok(()) };
    // A group that nobody named before has nothing to teach.
    let Ok(_) = keeper.store.group(&assignment.session, group) else { return Ok(()) };
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = keeper.store.reasoning(&assignment.session, &filter)?;
    // Earlier attempts were sent back; the last one was not.
    let last = all.iter().filter(|r| is_worker(&r.role)).map(|r| r.iteration).max();
    let learned = extract_strategies(
        keeper.store,
        keeper.handoffs.redactor,
        &assignment.session,
        group,
        keeper.binding,
        &|reasoning| {
            if own {
                reasoning.role == assignment.role && reasoning.created_at == now
            } else {
                is_worker(&reasoning.role) && Some(reasoning.iteration) == last
            }
        },
        now,
    )?;
    kept.strategies = learned.len();
    Ok(())
}

/// Whether a role does the work that others judge.
fn is_worker(role: &Role) -> bool {
    matches!(role.as_str(), "developer" | "senior_software_engineer")
}
