//! Failures that were settled: a report of what failed is of no use once the work was accepted.

use std::collections::{BTreeMap, HashSet};

use handover_model::roles::Duty;
use handover_model::{GroupId, Package, PackageKind, Role, Timestamp, VerdictRecord};

/// When the work of each group was last accepted, if nothing sent it back since: by anybody, and by each judge. What
/// one judge reported is settled once that judge accepts, whatever another one finds later.
#[derive(Debug, Default)]
pub(super) struct Settled(BTreeMap<(GroupId, Option<Role>), Timestamp>);

impl Settled {
    /// From the verdicts of a session, newest first.
    pub(super) fn of(verdicts: &[VerdictRecord]) -> Self {
        let (mut accepted, mut judged) = (BTreeMap::new(), HashSet::new());
        for record in verdicts.iter().filter(|record| Duty::of(&record.role) == Duty::Judges) {
            let Some(group) = &record.group else { continue };
            if !record.verdict.accepts() && !record.verdict.sends_back() {
                continue;
            }
            for by in [None, Some(record.role.clone())] {
                let judgement = (group.clone(), by);
                if judged.insert(judgement.clone()) && record.verdict.accepts() {
                    accepted.insert(judgement, record.created_at);
                }
            }
        }
        Self(accepted)
    }

    /// Whether a package reports failures that were settled since.
    pub(super) fn covers(&self, package: &Package) -> bool {
        let Some(group) = &package.group else { return false };
        let accepted = |by| self.0.get(&(group.clone(), by));
        let since = |by| accepted(by).is_some_and(|accepted| *accepted >= package.created_at);
        package.kind == PackageKind::Failures
            && (since(None) || since(Some(package.producer.clone())))
    }
}
