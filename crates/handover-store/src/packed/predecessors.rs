//! Which package preceded another one in its group at the time it was registered.
//!
//! The index of a package contains the summary of its predecessor. A rebuilt index must find the same
//! predecessor, although later versions have replaced packages since. So registrations are replayed.

use std::collections::{BTreeMap, HashMap};

use handover_model::{GroupId, PackageId, Timestamp};

/// What is needed to replay a registration. Every version counts, superseded or not.
#[derive(Debug, Clone)]
pub struct Registration {
    /// The package.
    pub id: PackageId,
    /// See [`Package::group`](handover_model::Package::group).
    pub group: Option<GroupId>,
    /// See [`Package::created_at`](handover_model::Package::created_at).
    pub created_at: Timestamp,
    /// See [`Package::summary`](handover_model::Package::summary).
    pub summary: String,
    /// The version that this one replaced.
    pub supersedes: Option<PackageId>,
}

/// The latest packages of every group of a session, as of some registration.
#[derive(Debug, Default)]
pub struct Predecessors {
    groups: HashMap<GroupId, BTreeMap<(Timestamp, PackageId), String>>,
    positions: HashMap<PackageId, (GroupId, Timestamp)>,
}

impl Predecessors {
    /// Registers the next package of the session; returns the summary of its predecessor: among the
    /// latest versions of its group that are not newer, the newest, then the one with the highest id.
    /// Packages must come in the order of their ids.
    pub fn register(&mut self, new: Registration) -> Option<String> {
        let replaced = new.supersedes.and_then(|id| Some((id, self.positions.remove(&id)?)));
        if let Some((id, (group, at))) = replaced
            && let Some(latest) = self.groups.get_mut(&group)
        {
            latest.remove(&(at, id));
        }
        let group = new.group?;
        let latest = self.groups.entry(group.clone()).or_default();
        let predecessor = latest.range(..(new.created_at, new.id)).next_back();
        let predecessor = predecessor.map(|(_, summary)| summary.clone());
        latest.insert((new.created_at, new.id), new.summary);
        self.positions.insert(new.id, (group, new.created_at));
        predecessor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(id: i64, group: Option<&str>, at: i64) -> Registration {
        Registration {
            id: PackageId(id),
            group: group.map(|group| GroupId::new(group).unwrap()),
            created_at: Timestamp::from_micros(at),
            summary: format!("summary {id}"),
            supersedes: None,
        }
    }

    fn replacing(id: i64, group: Option<&str>, at: i64, former: i64) -> Registration {
        Registration { supersedes: Some(PackageId(former)), ..new(id, group, at) }
    }

    #[test]
    fn the_newest_of_the_group_precedes() {
        let mut packages = Predecessors::default();
        let mut next = |registration| packages.register(registration);
        assert_eq!(next(new(1, Some("P1"), 10)), None);
        assert_eq!(next(new(2, Some("P2"), 11)), None);
        assert_eq!(next(new(3, Some("P1"), 12)).as_deref(), Some("summary 1"));
        // Registered later, but created before the others.
        assert_eq!(next(new(4, Some("P1"), 11)).as_deref(), Some("summary 1"));
        // At the same moment, the higher id is newer.
        assert_eq!(next(new(5, Some("P1"), 12)).as_deref(), Some("summary 3"));
        assert_eq!(next(new(6, Some("P1"), 9)), None);
    }

    #[test]
    fn packages_without_a_group_have_no_predecessor() {
        let mut packages = Predecessors::default();
        packages.register(new(1, None, 10));
        assert_eq!(packages.register(new(2, None, 11)), None);
    }

    #[test]
    fn a_replaced_version_is_no_longer_a_predecessor() {
        let mut packages = Predecessors::default();
        packages.register(new(1, Some("P1"), 10));
        packages.register(new(2, Some("P1"), 11));
        let third = packages.register(replacing(3, Some("P1"), 12, 2));
        assert_eq!(third.as_deref(), Some("summary 1"));
        // Moved to another group, it is no longer in the first one.
        packages.register(replacing(4, Some("P2"), 13, 3));
        let fifth = packages.register(new(5, Some("P1"), 14));
        assert_eq!(fifth.as_deref(), Some("summary 1"));
        let sixth = packages.register(replacing(6, None, 15, 1));
        assert_eq!(sixth, None);
        assert_eq!(packages.register(replacing(7, Some("P1"), 16, 5)), None);
    }
}
