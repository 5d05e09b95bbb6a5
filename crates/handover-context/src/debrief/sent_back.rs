//! Work that was sent back and then passed: what was wrong, and what was done about it.

use handover_model::{GroupId, KnownEvent, Phase, Timestamp, Verdict};
use handover_store::{EventFilter, ReasoningFilter, Result};
use serde_json::Value;

use super::Debrief;
use super::keep::{Kept, Origin, Setting, is_worker, sighting};

/// So many debriefs of a group are looked through, newest first.
const LOOKED_AT: u32 = 50;

/// Once QA or the tech lead passes what it sent back before, its reasons are errors that the workers
/// have solved since, and their last word on it is how.
pub(super) fn learn(
    setting: Setting<'_>,
    origin: &Origin,
    debrief: &Debrief,
    kept: &mut Kept,
) -> Result<()> {
    let passed = matches!(debrief.verdict, Some(Verdict::Passed | Verdict::PassedWithFixes));
    let judges = matches!(origin.role.as_str(), "qa_expert" | "tech_lead");
    let Some(group) = origin.group.as_ref().filter(|_| passed && judges) else { return Ok(()) };
    let reasons = reasons(setting, origin, group)?;
    let Some((_, first)) = reasons.last() else { return Ok(()) };
    let Some(solution) = solution(setting, origin, group, *first)? else { return Ok(()) };
    let project = setting.store.session(&origin.session)?.project;
    for (reason, _) in reasons {
        let sighting = sighting(setting, origin, &project, &reason);
        let pattern = setting.store.resolve_error(&sighting, &setting.redactor.clean(&solution))?;
        kept.errors.push(pattern.hash);
    }
    Ok(())
}

/// Why the role sent the work back since it last passed it, and when; newest first.
fn reasons(
    setting: Setting<'_>,
    origin: &Origin,
    group: &GroupId,
) -> Result<Vec<(String, Timestamp)>> {
    let filter = EventFilter {
        kind: Some(KnownEvent::Debrief.into()),
        group: Some(group.clone()),
        limit: Some(LOOKED_AT),
    };
    let mut reasons = Vec::new();
    for event in setting.store.events(&origin.session, &filter)? {
        let said = |field: &str| event.payload.get(field).and_then(Value::as_str);
        if said("role") != Some(origin.role.as_str()) {
            continue;
        }
        match (said("verdict").and_then(|verdict| verdict.parse().ok()), said("summary")) {
            (Some(Verdict::Failed), Some(reason)) => {
                reasons.push((reason.to_owned(), event.created_at));
            }
            (Some(Verdict::Passed | Verdict::PassedWithFixes), _) => break,
            _ => {}
        }
    }
    Ok(reasons)
}

/// What those who did the work said last, if that was after it was sent back.
fn solution(
    setting: Setting<'_>,
    origin: &Origin,
    group: &GroupId,
    after: Timestamp,
) -> Result<Option<String>> {
    let filter = ReasoningFilter { group: Some(group.clone()), ..ReasoningFilter::default() };
    let all = setting.store.reasoning(&origin.session, &filter)?;
    let said = all.into_iter().filter(|said| {
        said.phase == Phase::Completion && is_worker(&said.role) && said.created_at >= after
    });
    Ok(said.max_by_key(|said| (said.created_at, said.id)).map(|said| said.content))
}
