//! Failures that were settled: a report of what failed is of no use once the work was accepted.

use std::collections::{BTreeMap, HashSet};

use handover_model::roles::Duty;
use handover_model::{Package, PackageKind, Timestamp, VerdictRecord};

/// When the work of each group was last accepted, if nothing sent it back since.
#[derive(Debug, Default)]
pub(super) struct Settled(BTreeMap<String, Timestamp>);

impl Settled {
    /// From the verdicts of a session, newest first.
    pub(super) fn of(verdicts: &[VerdictRecord]) -> Self {
        let (mut accepted, mut judged) = (BTreeMap::new(), HashSet::new());
        for record in verdicts.iter().filter(|record| Duty::of(&record.role) == Duty::Judges) {
            let Some(group) = &record.group else { continue };
            let decides = record.verdict.accepts() || record.verdict.sends_back();
            if decides && judged.insert(group.to_string()) && record.verdict.accepts() {
                accepted.insert(group.to_string(), record.created_at);
            }
        }
        Self(accepted)
    }

    /// Whether a package reports failures that were settled since.
    pub(super) fn covers(&self, package: &Package) -> bool {
        let group = package.group.as_ref().filter(|_| package.kind == PackageKind::Failures);
        let accepted = group.and_then(|group| self.0.get(group.as_str()));
        accepted.is_some_and(|accepted| *accepted >= package.created_at)
    }
}
