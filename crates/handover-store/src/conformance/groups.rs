//! Cases of [`Groups`](crate::Groups).

use handover_model::{GroupStatus, PackageId};

use super::Backend;
use super::fixture::*;
use crate::{GroupUpdate, RecordKind, StoreError};

/// Fields that are not given stay as they are; counters increase by one.
pub fn sets_only_given_fields(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut update = GroupUpdate::new(session.clone(), group_id("P1"), at(0));
    update.title = Some(clean("Login, password=correct-horse"));
    update.status = Some(GroupStatus::InProgress);
    update.specializations = Some(vec![clean("rust"), clean("postgresql")]);
    update.component = Some(clean("crates/api"));
    update.count = vec![counter("qa_attempts")];
    store.set_group(&update).unwrap();

    let mut update = GroupUpdate::new(session.clone(), group_id("P1"), at(9));
    update.status = Some(GroupStatus::Completed);
    update.count = vec![counter("qa_attempts"), counter("revisions")];
    let group = store.set_group(&update).unwrap();
    assert_eq!(group.title.as_deref(), Some("Login, password=[REDACTED-1]"));
    assert_eq!(group.status, GroupStatus::Completed);
    assert_eq!(group.specializations, ["rust", "postgresql"]);
    assert_eq!(group.component.as_deref(), Some("crates/api"));
    assert_eq!(group.counters, [("qa_attempts".into(), 2), ("revisions".into(), 1)].into());
    assert_eq!(group.created_at, at(0));
    assert_eq!(store.group(&session, &group_id("P1")).unwrap(), group);
}

/// Any record that names a group creates it.
pub fn exists_once_named(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    assert!(matches!(
        store.group(&session, &group_id("P1")),
        Err(StoreError::NotFound { what: RecordKind::Group, .. })
    ));
    let mut new = reasoning(&session, handover_model::Phase::Risks, "x");
    new.group = Some(group_id("by-reasoning"));
    store.add_reasoning(&new).unwrap();
    let mut new = package(&session, "a.md", "x");
    new.group = Some(group_id("by-package"));
    store.register_packages(&[new]).unwrap();
    let mut new = skill_output(&session, "scan");
    new.group = Some(group_id("by-skill"));
    store.save_skill_output(&new).unwrap();
    let mut new = event(&session, "verdict", None);
    new.group = Some(group_id("by-event"));
    store.log_event(&new).unwrap();
    let mut new = receipt(&session, "r1", &[]);
    new.group = Some(group_id("by-receipt"));
    store.put_receipt(&new).unwrap();
    let ids: Vec<String> =
        store.groups(&session).unwrap().into_iter().map(|g| g.id.to_string()).collect();
    assert_eq!(ids, ["by-event", "by-package", "by-reasoning", "by-receipt", "by-skill"]);
    let group = store.group(&session, &group_id("by-event")).unwrap();
    assert_eq!(group.status, GroupStatus::Pending);
}

/// References are a list that is replaced as a whole.
pub fn references_keep_their_order(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let a = register(&*store, package(&session, "a.md", "a")).id;
    let b = register(&*store, package(&session, "b.md", "b")).id;
    let mut update = GroupUpdate::new(session, group_id("P1"), at(0));
    update.references = Some(vec![b, a]);
    assert_eq!(store.set_group(&update).unwrap().references, [b, a]);
    update.references = None;
    assert_eq!(store.set_group(&update).unwrap().references, [b, a]);
    update.references = Some(vec![a]);
    assert_eq!(store.set_group(&update).unwrap().references, [a]);
}

/// A reference into another session, or to nothing, changes nothing.
pub fn references_must_be_of_the_session(backend: &dyn Backend) {
    let store = backend.open();
    let mine = session(&*store, "s1");
    let other = session(&*store, "s2");
    let foreign = register(&*store, package(&other, "a.md", "a")).id;
    let mut update = GroupUpdate::new(mine.clone(), group_id("P1"), at(0));
    for reference in [foreign, PackageId(4711)] {
        update.title = Some(clean("never"));
        update.references = Some(vec![reference]);
        assert!(matches!(store.set_group(&update), Err(StoreError::NotFound { .. })));
    }
    assert_eq!(store.groups(&mine).unwrap(), []);
}

/// Groups are listed in the order of their creation.
pub fn listed_oldest_first(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for (id, seconds) in [("z", 1), ("a", 2), ("m", 3)] {
        store.set_group(&GroupUpdate::new(session.clone(), group_id(id), at(seconds))).unwrap();
    }
    let ids: Vec<String> =
        store.groups(&session).unwrap().into_iter().map(|g| g.id.to_string()).collect();
    assert_eq!(ids, ["z", "a", "m"]);
}
