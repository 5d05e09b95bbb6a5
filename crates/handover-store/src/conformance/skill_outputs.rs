//! Cases of [`SkillOutputs`](crate::SkillOutputs).

use serde_json::json;

use super::Backend;
use super::fixture::*;
use crate::SkillOutputFilter;

/// Saving never replaces; the latest is the first of the list.
pub fn always_a_new_row(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut new = skill_output(&session, "scan");
    store.save_skill_output(&new).unwrap();
    new.output = clean_json(json!({"db": {"password": "hunter2"}, "n": 2}));
    let second = store.save_skill_output(&new).unwrap();
    assert_eq!(second.output, json!({"db": {"password": "[REDACTED-1]"}, "n": 2}));
    store.save_skill_output(&skill_output(&session, "other")).unwrap();
    let only = SkillOutputFilter { skill: Some(second.skill.clone()), ..Default::default() };
    let list = store.skill_outputs(&session, &only).unwrap();
    assert_eq!(list.iter().map(|o| o.iteration).collect::<Vec<_>>(), [2, 1]);
    let latest = SkillOutputFilter { limit: Some(1), ..only };
    assert_eq!(store.skill_outputs(&session, &latest).unwrap(), [second]);
}

/// An absent role or group is a distinct value.
pub fn iterations_count_per_role_and_group(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let save = |r: Option<&str>, g: Option<&str>| {
        let mut new = skill_output(&session, "scan");
        new.role = r.map(role);
        new.group = g.map(group_id);
        store.save_skill_output(&new).unwrap().iteration
    };
    assert_eq!((save(None, None), save(None, None)), (1, 2));
    assert_eq!((save(Some("developer"), None), save(Some("developer"), None)), (1, 2));
    assert_eq!((save(None, Some("P1")), save(None, Some("P1"))), (1, 2));
    assert_eq!(save(Some("developer"), Some("P1")), 1);
    let filter = SkillOutputFilter { role: Some(role("developer")), ..Default::default() };
    assert_eq!(store.skill_outputs(&session, &filter).unwrap().len(), 3);
    let filter = SkillOutputFilter { group: Some(group_id("P1")), ..Default::default() };
    assert_eq!(store.skill_outputs(&session, &filter).unwrap().len(), 3);
}
