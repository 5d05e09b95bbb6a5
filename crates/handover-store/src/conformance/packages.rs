//! Cases of [`Packages`](crate::Packages).

use handover_model::{PackageId, PackageKind, Priority, Scope};

use super::Backend;
use super::fixture::*;
use crate::{PackageFilter, ReceiptStep, StoreError, Supersede, Versions};

/// Registering the same content again returns the existing package.
pub fn same_content_is_a_no_op(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut new = package(&session, "a.md", "one");
    new.title = Some(clean("Title"));
    new.files = vec![clean("src/auth.rs")];
    new.consumers = vec![role("developer"), role("qa_expert"), role("developer")];
    new.iteration = Some(2);
    let first = register(&*store, new.clone());
    assert_eq!((first.version, first.supersedes, first.superseded_by), (1, None, None));
    assert_eq!(first.consumers, [role("developer"), role("qa_expert")]);
    assert_eq!((first.title.as_deref(), first.iteration), (Some("Title"), Some(2)));
    assert_eq!(first.files, ["src/auth.rs"]);
    new.created_at = at(50);
    let again = store.register_packages(&[new]).unwrap().pop().unwrap();
    assert!(!again.created);
    assert_eq!(again.package, first);
    assert_eq!(store.package(first.id).unwrap(), first);
}

/// The same path with new content supersedes; the old one stays in the history.
pub fn new_content_is_a_new_version(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let one = register(&*store, package(&session, "a.md", "one"));
    let two = register(&*store, package(&session, "a.md", "two"));
    let three = register(&*store, package(&session, "a.md", "three"));
    assert_eq!((three.version, three.supersedes), (3, Some(two.id)));
    let outlines = store.outlines(&session, None).unwrap();
    let shown: Vec<_> = outlines
        .iter()
        .map(|one| (one.id, one.name.as_str(), one.version, one.is_latest))
        .collect();
    let name = one.title.as_deref().unwrap_or("a.md");
    assert_eq!(
        shown,
        [(one.id, name, 1, false), (two.id, name, 2, false), (three.id, name, 3, true)]
    );
    assert_eq!(store.outlines(&session, Some(2)).unwrap(), outlines[1..], "the newest ones");
    for id in [one.id, two.id, three.id] {
        let history = store.package_history(id).unwrap();
        let chain: Vec<_> = history.iter().map(|p| (p.version, p.id, p.superseded_by)).collect();
        assert_eq!(
            chain,
            [(1, one.id, Some(two.id)), (2, two.id, Some(three.id)), (3, three.id, None)]
        );
    }
    let latest = store.packages(&session, &PackageFilter::default()).unwrap();
    assert_eq!(latest, [three]);
}

/// Going back to earlier content creates a new version.
pub fn content_that_returns_is_a_new_version(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    register(&*store, package(&session, "a.md", "one"));
    register(&*store, package(&session, "a.md", "two"));
    let third = register(&*store, package(&session, "a.md", "one"));
    assert_eq!(third.version, 3);
}

/// Another group, kind or path is another package.
pub fn identity_is_group_kind_and_path(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let base = package(&session, "a.md", "one");
    let mut grouped = base.clone();
    grouped.group = Some(group_id("P1"));
    grouped.scope = Scope::Group;
    let mut kind = base.clone();
    kind.kind = PackageKind::Decisions;
    let mut path = base.clone();
    path.path = "b.md".to_owned();
    let all = store.register_packages(&[base, grouped, kind, path]).unwrap();
    assert!(all.iter().all(|r| r.created && r.package.version == 1));
}

/// `supersede` names the package to replace, wherever its file is.
pub fn a_named_package_is_superseded(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let one = register(&*store, package(&session, "a.md", "one"));
    let mut new = package(&session, "b.md", "two");
    new.supersede = Supersede::Package(one.id);
    new.priority = Priority::Critical;
    let two = register(&*store, new);
    assert_eq!((two.version, two.supersedes, two.path.as_str()), (2, Some(one.id), "b.md"));
    assert_eq!(store.package(one.id).unwrap().superseded_by, Some(two.id));
}

/// Rejections name the reason and change nothing.
pub fn invalid_supersession_is_rejected(backend: &dyn Backend) {
    let store = backend.open();
    let mine = session(&*store, "s1");
    let other = session(&*store, "s2");
    let one = register(&*store, package(&mine, "a.md", "one"));
    register(&*store, package(&mine, "a.md", "two"));
    let three = register(&*store, package(&mine, "a.md", "three"));
    let foreign = register(&*store, package(&other, "a.md", "one"));
    let beside = register(&*store, package(&mine, "b.md", "b"));

    let attempt = |path: &str, id| {
        let mut new = package(&mine, path, "new");
        new.supersede = Supersede::Package(id);
        store.register_packages(&[new]).unwrap_err()
    };
    assert!(matches!(attempt("c.md", one.id),
        StoreError::AlreadySuperseded { id, latest } if id == one.id && latest == three.id));
    assert!(matches!(attempt("c.md", foreign.id),
        StoreError::OtherSession { id, session } if id == foreign.id && session == other));
    assert!(matches!(attempt("b.md", three.id),
        StoreError::PathTaken { id, .. } if id == beside.id));
    assert!(matches!(attempt("c.md", PackageId(4711)), StoreError::NotFound { .. }));
    assert_eq!(store.session_counts(&mine).unwrap().package_versions, 4);
}

/// Superseding a package with the same content and metadata is a no-op; with other metadata it is a new version.
pub fn an_update_without_a_change_is_a_no_op(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut new = package(&session, "a.md", "one");
    new.consumers = vec![role("qa_expert"), role("developer")];
    let one = register(&*store, new.clone());
    new.supersede = Supersede::Package(one.id);
    let same = store.register_packages(&[new.clone()]).unwrap().pop().unwrap();
    assert!(!same.created && same.package.id == one.id);
    new.priority = Priority::High;
    assert_eq!(register(&*store, new).version, 2);
}

/// A batch with one invalid entry writes nothing.
pub fn all_or_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let good = package(&session, "a.md", "one");
    let bad = package(&session_id("nobody"), "b.md", "two");
    assert!(store.register_packages(&[good, bad]).is_err());
    assert_eq!(store.session_counts(&session).unwrap().packages, 0);
    assert_eq!(store.candidates(&session, None, None).unwrap().len(), 0);
}

/// Packages are returned in the order of the ids, all of them or none.
pub fn several_packages_are_read_at_once(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    let mut b = package(&one, "b.md", "the second");
    b.consumers = vec![role("qa_expert"), role("developer")];
    let new = [package(&one, "a.md", "the first"), b, package(&two, "a.md", "the third")];
    let all: Vec<_> =
        store.register_packages(&new).unwrap().into_iter().map(|r| r.package).collect();
    let asked = [all[2].id, all[0].id, all[1].id, all[0].id];
    let wanted = [&all[2], &all[0], &all[1], &all[0]];
    assert_eq!(store.packages_by_id(&asked).unwrap().iter().collect::<Vec<_>>(), wanted);
    let bodies = store.package_bodies(&asked).unwrap();
    assert_eq!(bodies, ["the third", "the first", "the second", "the first"]);
    assert_eq!(store.packages_by_id(&[]).unwrap(), []);
    assert_eq!(store.package_bodies(&[]).unwrap(), [""; 0]);
    let missing = [all[0].id, PackageId(4711), all[1].id];
    for error in [
        store.packages_by_id(&missing).map(drop).unwrap_err(),
        store.package_bodies(&missing).map(drop).unwrap_err(),
    ] {
        assert!(matches!(&error, StoreError::NotFound { id, .. } if id == "4711"), "{error}");
    }
}

/// By group, by version, with a limit.
pub fn listings(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut grouped = package(&session, "p1.md", "x");
    grouped.group = Some(group_id("P1"));
    grouped.scope = Scope::Group;
    grouped.created_at = at(5);
    register(&*store, package(&session, "a.md", "one"));
    let mut newer = package(&session, "a.md", "two");
    newer.created_at = at(1);
    register(&*store, newer);
    register(&*store, grouped);
    let paths = |filter: PackageFilter| -> Vec<(String, u32)> {
        let found = store.packages(&session, &filter).unwrap();
        found.into_iter().map(|p| (p.path, p.version)).collect()
    };
    let p = |path: &str, version| (path.to_owned(), version);
    assert_eq!(paths(PackageFilter::default()), [p("p1.md", 1), p("a.md", 2)]);
    assert_eq!(
        paths(PackageFilter { versions: Versions::All, ..Default::default() }),
        [p("p1.md", 1), p("a.md", 2), p("a.md", 1)]
    );
    let only = PackageFilter { group: Some(group_id("P1")), ..Default::default() };
    assert_eq!(paths(only), [p("p1.md", 1)]);
    let path = PackageFilter { path: Some("a.md".to_owned()), ..Default::default() };
    assert_eq!(paths(path), [p("a.md", 2)]);
    assert_eq!(paths(PackageFilter { limit: Some(1), ..Default::default() }), [p("p1.md", 1)]);
    let second = PackageFilter { limit: Some(1), skip: 1, ..Default::default() };
    assert_eq!(paths(second), [p("a.md", 2)]);
    let mut other = package(&session, "b.md", "x");
    (other.producer, other.created_at) = (role("tech_lead"), at(9));
    let other = register(&*store, other).id;
    let by = |name: &str| PackageFilter { producer: Some(role(name)), ..Default::default() };
    assert_eq!(paths(by("tech_lead")), [p("b.md", 1)]);
    assert_eq!(paths(by("gardener")), []);
    // Assembling alone does not reach anybody.
    let undelivered = || PackageFilter { undelivered: true, ..Default::default() };
    store.put_receipt(&receipt(&session, "r1", &[other])).unwrap();
    assert_eq!(paths(undelivered()), [p("b.md", 1), p("p1.md", 1), p("a.md", 2)]);
    let step = ReceiptStep::Delivered { host: None };
    store.advance_receipt(&"r1".parse().unwrap(), &step, at(10)).unwrap();
    assert_eq!(paths(undelivered()), [p("p1.md", 1), p("a.md", 2)]);
}

/// Equal times are ordered by id, newest first.
pub fn total_order_within_one_moment(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    for path in ["a.md", "b.md", "c.md"] {
        register(&*store, package(&session, path, "x"));
    }
    let found = store.packages(&session, &PackageFilter::default()).unwrap();
    let paths: Vec<&str> = found.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(paths, ["c.md", "b.md", "a.md"]);
}

/// The text of each version can be read, redacted.
pub fn the_body_is_kept_for_every_version(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let one = register(&*store, package(&session, "a.md", "one, password=correct-horse"));
    let two = register(&*store, package(&session, "a.md", "two"));
    assert_eq!(store.package_body(one.id).unwrap(), "one, password=[REDACTED-1]");
    assert_eq!(store.package_body(two.id).unwrap(), "two");
    assert!(store.package_body(PackageId(4711)).is_err());
    assert!(store.package_history(PackageId(4711)).is_err());
    assert!(store.package_deliveries(PackageId(4711)).is_err());
}

/// Latest versions only, with what ranking needs.
pub fn candidates_are_seen_by_a_role_of_a_group(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut grouped = package(&session, "a.md", "a");
    grouped.group = Some(group_id("P1"));
    grouped.scope = Scope::Group;
    grouped.consumers = vec![role("developer")];
    grouped.priority = Priority::High;
    let grouped = register(&*store, grouped).id;
    register(&*store, package(&session, "b.md", "old"));
    let global = register(&*store, package(&session, "b.md", "new")).id;
    let p1 = group_id("P1");
    let seen = |group, r: &str| -> Vec<_> {
        let found = store.candidates(&session, group, Some(&role(r))).unwrap();
        found
            .iter()
            .map(|c| (c.id, c.version, c.same_group, c.addressed, c.restricted, c.global))
            .collect()
    };
    assert_eq!(
        seen(Some(&p1), "developer"),
        [(grouped, 1, true, true, true, false), (global, 2, false, false, false, true)]
    );
    assert_eq!(
        seen(None, "qa_expert"),
        [(grouped, 1, false, false, true, false), (global, 2, false, false, false, true)]
    );
    let first = store.candidates(&session, None, None).unwrap()[0];
    assert_eq!((first.priority, first.created_at), (Priority::High, at(0)));
    assert!(store.candidates(&session_id("nobody"), None, None).is_err());
}
