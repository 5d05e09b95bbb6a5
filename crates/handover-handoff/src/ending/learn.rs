//! What the project learns from an ending: strategies from accepted work, and errors that work
//! which was sent back has solved since.

use std::collections::BTreeSet;

use handover_context::learning::extract_strategies;
use handover_model::roles::writes_code;
use handover_model::{GroupId, ItemKind, Phase, Receipt, ReceiptState, Role, Timestamp, Verdict};
use handover_store::{ReasoningFilter, ReceiptFilter, Result, StoreError, VerdictFilter};

use super::keep::Keeper;
use super::{Ending, Kept};

/// How many verdicts of a role on a group are searched, newest first.
const VERDICTS_SEARCHED: u32 = 50;

/// How many receipts of a role are searched, newest first.
const RECEIPTS_SEARCHED: u32 = 20;

/// Once QA or the tech lead passes what it sent back before, its findings are errors that the
/// workers have solved since, and their last completion says how.
pub(super) fn solved_findings(keeper: &Keeper<'_>, kept: &mut Kept) -> Result<()> {
    let Ending { assignment, debrief, .. } = keeper.ending;
    let passed = debrief.verdict.is_some_and(Verdict::accepts);
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
    let filter = VerdictFilter {
        group: Some(group.clone()),
        role: Some(assignment.role.clone()),
        limit: Some(VERDICTS_SEARCHED),
        ..VerdictFilter::default()
    };
    let verdicts = keeper.store.verdicts(&assignment.session, &filter)?;
    let since = verdicts.into_iter().take_while(|verdict| !verdict.verdict.accepts());
    let failed = since.filter(|verdict| verdict.verdict == Verdict::Failed);
    Ok(failed.filter_map(|verdict| Some((verdict.summary?, verdict.created_at))).collect())
}

/// The workers' last completion, if it came after the work was sent back.
fn solution(keeper: &Keeper<'_>, group: &GroupId, after: Timestamp) -> Result<Option<String>> {
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = keeper.store.reasoning(&keeper.ending.assignment.session, &filter)?;
    let completions = all.into_iter().filter(|entry| {
        entry.phase == Phase::Completion && writes_code(&entry.role) && entry.created_at >= after
    });
    Ok(completions.max_by_key(|entry| (entry.created_at, entry.id)).map(|entry| entry.content))
}

/// Accepted work teaches: when QA passes a group or a lead approves it, the reasoning of the attempt that
/// was accepted becomes strategies, and those that its agent was given have helped.
pub(super) fn strategies(keeper: &Keeper<'_>, kept: &mut Kept) -> Result<()> {
    let Ending { assignment, debrief, now, .. } = keeper.ending;
    let judges = matches!(assignment.role.as_str(), "qa_expert" | "tech_lead");
    let accepted = judges && debrief.verdict.is_some_and(Verdict::accepts);
    let Some(group) = assignment.group.as_ref().filter(|_| accepted) else { return Ok(()) };
    let Some(attempt) = accepted_attempt(keeper, group)? else { return Ok(()) };
    let learned = extract_strategies(
        keeper.store,
        keeper.handoffs.redactor,
        &assignment.session,
        group,
        keeper.binding,
        &|reasoning| reasoning.role == attempt.0 && reasoning.iteration == attempt.1,
        now,
    )?;
    kept.strategies = learned.len();
    if is_first_acceptance(keeper, group)? {
        credit(keeper, group, &attempt)?;
    }
    Ok(())
}

/// The newest attempt of those who write code: earlier ones were sent back.
fn accepted_attempt(keeper: &Keeper<'_>, group: &GroupId) -> Result<Option<(Role, u32)>> {
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = keeper.store.reasoning(&keeper.ending.assignment.session, &filter)?;
    let newest = all.into_iter().filter(|entry| writes_code(&entry.role));
    let newest = newest.max_by_key(|entry| (entry.created_at, entry.id));
    Ok(newest.map(|entry| (entry.role, entry.iteration)))
}

/// Whether no other judge accepted the work since it was last changed. The verdict at hand is the newest.
fn is_first_acceptance(keeper: &Keeper<'_>, group: &GroupId) -> Result<bool> {
    let filter = VerdictFilter {
        group: Some(group.clone()),
        limit: Some(VERDICTS_SEARCHED),
        ..VerdictFilter::default()
    };
    let verdicts = keeper.store.verdicts(&keeper.ending.assignment.session, &filter)?;
    let since = verdicts.iter().skip(1).take_while(|verdict| !writes_code(&verdict.role));
    Ok(!since.into_iter().any(|verdict| verdict.verdict.accepts()))
}

/// Raises the strategies that the accepted attempt was given.
fn credit(keeper: &Keeper<'_>, group: &GroupId, (role, attempt): &(Role, u32)) -> Result<()> {
    let filter = ReceiptFilter {
        session: Some(keeper.ending.assignment.session.clone()),
        group: Some(group.clone()),
        role: Some(role.clone()),
        limit: Some(RECEIPTS_SEARCHED),
        ..ReceiptFilter::default()
    };
    let was_given = |receipt: &Receipt| {
        let delivered = matches!(receipt.state, ReceiptState::Delivered | ReceiptState::Confirmed);
        delivered && receipt.iteration == *attempt
    };
    let mut helped = BTreeSet::new();
    for receipt in keeper.store.receipts(&filter)?.into_iter().filter(was_given) {
        // A listing is without items.
        let items = keeper.store.receipt(&receipt.id)?.items;
        let strategies = items.into_iter().filter(|item| item.kind == ItemKind::Strategy);
        helped.extend(strategies.map(|item| item.id));
    }
    for id in helped {
        match keeper.store.strategy_helped(&id, keeper.ending.now) {
            // It may have been deleted since.
            Ok(_) | Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
