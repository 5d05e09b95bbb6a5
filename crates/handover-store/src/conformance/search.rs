//! Cases of [`TextIndex`](crate::TextIndex).

use handover_model::{PackageId, SessionId};
use handover_text::words;

use super::Backend;
use super::fixture::*;
use crate::packed::Postings;
use crate::{COLUMNS, Column, Posting, Reindexed, Store};

fn find(store: &dyn Store, session: &SessionId, text: &str) -> Vec<Posting> {
    let lists = store.postings(session, &words::terms(text)).unwrap();
    lists.iter().flat_map(Postings::list).collect()
}

/// A posting with these counts.
fn posting(package: PackageId, counts: &[(Column, u8)]) -> Posting {
    let mut posting = Posting { package, counts: [0; COLUMNS] };
    for (column, count) in counts {
        posting.counts[*column as usize] = *count;
    }
    posting
}

/// Title, summary, files (including the package's own path) and body are counted separately.
pub fn finds_words_in_every_column(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut new = package(&session, "notes/oauth.md", "Rotate tokens; tokens expire.");
    new.title = Some(clean("Refresh flow"));
    new.summary = clean("How the token endpoint works");
    new.files = vec![clean("src/auth/getUserById.rs")];
    let id = register(&*store, new).id;
    let once = |column| posting(id, &[(column, 1)]);
    assert_eq!(
        find(&*store, &session, "token"),
        [posting(id, &[(Column::Summary, 1), (Column::Body, 2)])]
    );
    assert_eq!(find(&*store, &session, "refreshing"), [once(Column::Title)]);
    assert_eq!(find(&*store, &session, "oauth"), [once(Column::Files)]);
    assert_eq!(find(&*store, &session, "user"), [once(Column::Files)]);
    assert_eq!(find(&*store, &session, "nowhere"), []);
    let several = store.postings(&session, &["token".into(), "zebra".into()]).unwrap();
    assert_eq!(several.iter().map(Postings::count).collect::<Vec<_>>(), [1, 0]);
}

/// A package is also found by its author, its day and its predecessor in the group.
pub fn context_is_a_column(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut question = package(&session, "q.md", "x");
    question.group = Some(group_id("P1"));
    question.summary = clean("Which zebra?");
    register(&*store, question);
    let mut answer = package(&session, "a.md", "the striped one");
    answer.group = Some(group_id("P1"));
    answer.summary = clean("The striped one");
    let answer = register(&*store, answer).id;
    let other = register(&*store, package(&session, "o.md", "x")).id;
    let posting = |package| posting(package, &[(Column::Context, 1)]);
    assert!(find(&*store, &session, "zebra").contains(&posting(answer)));
    assert!(!find(&*store, &session, "zebra").contains(&posting(other)));
    assert!(find(&*store, &session, "november").contains(&posting(answer)));
    assert!(!find(&*store, &session, "november").contains(&posting(other)));
}

/// The index of a session contains that session only.
pub fn sessions_do_not_see_each_other(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    register(&*store, package(&one, "a.md", "zebra"));
    assert_eq!(find(&*store, &one, "zebra").len(), 1);
    assert_eq!(find(&*store, &two, "zebra"), []);
    assert!(store.postings(&session_id("nobody"), &[]).is_err());
}

/// Only latest versions are found.
pub fn superseded_versions_leave_the_index(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let old = register(&*store, package(&session, "a.md", "zebra stripes"));
    let new = register(&*store, package(&session, "a.md", "giraffe stripes"));
    assert_eq!(find(&*store, &session, "zebra"), []);
    assert_eq!(find(&*store, &session, "stripes").len(), 1);
    assert_eq!(find(&*store, &session, "giraffe")[0].package, new.id);
    let left = store.candidates(&session, None, None).unwrap();
    assert_eq!(left.iter().map(|c| c.id).collect::<Vec<_>>(), [new.id]);
    assert_ne!(old.id, new.id);
}

/// Candidates know how long their texts are.
pub fn lengths_are_known(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    register(&*store, package(&session, "a.md", "one two three"));
    register(&*store, package(&session, "b.md", "four"));
    register(&*store, package(&session, "a.md", "five six"));
    let candidates = store.candidates(&session, None, None).unwrap();
    // "a summary" has one term (`a` is a stop word), as has `a.md`; `b.md` has two.
    let lengths: Vec<[u16; COLUMNS]> = candidates.iter().map(|c| c.terms).collect();
    assert_eq!(lengths, [[0, 1, 2, 1, 0], [0, 1, 1, 2, 0]]);
}

/// Hundreds of packages, some of them superseded, are found just like the first ones.
pub fn many_packages_are_found_like_few(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    let mut expected = Vec::new();
    for round in 0..5 {
        let names = (0..70).map(|n| format!("{round}-{n}.md"));
        let batch: Vec<_> = names.map(|path| package(&one, &path, "common stripes")).collect();
        let batch = store.register_packages(&batch).unwrap();
        register(&*store, package(&two, &format!("{round}.md"), "common"));
        expected.extend(batch.into_iter().map(|registered| registered.package.id));
    }
    for n in [0, 69, 133, 349] {
        let path = format!("{}-{}.md", n / 70, n % 70);
        expected.push(register(&*store, package(&one, &path, "common spots")).id);
    }
    for n in [349, 133, 69, 0] {
        expected.remove(n);
    }
    let ids = |text: &str| -> Vec<PackageId> {
        find(&*store, &one, text).iter().map(|posting| posting.package).collect()
    };
    assert_eq!(ids("common"), expected);
    assert_eq!(ids("stripes"), expected[..346]);
    assert_eq!(ids("spots"), expected[346..]);
    let candidates = store.candidates(&one, None, None).unwrap();
    assert_eq!(candidates.iter().map(|c| c.id).collect::<Vec<_>>(), expected);
    let unsound: Vec<_> = store.check().unwrap().into_iter().flat_map(|c| c.problems).collect();
    assert_eq!(unsound, [""; 0]);
}

/// Packages of which some get new versions in every round, inside and outside a group, some twice in one batch.
fn mixed(session: &SessionId, round: i64) -> Vec<crate::NewPackage> {
    let one = |n: i64| {
        let name = (n * 7 + round * 11) % 30;
        let mut new = package(session, &format!("{name}.md"), &format!("body{n} round{round}"));
        new.group = (name % 3 > 0).then(|| group_id(&format!("P{}", name % 3)));
        new.summary = clean(&format!("summary{n}r{round}"));
        new.consumers = vec![role("qa_expert"), role("developer")];
        // Not in chronological order, and several at the same time.
        new.created_at = at((n * 13 + round * 5) % 17);
        new
    };
    (0..40).map(one).collect()
}

/// The terms of three rounds of [`mixed`].
fn mixed_terms() -> Vec<String> {
    let mut texts = vec!["november".to_owned()];
    for round in 0..3 {
        texts.push(format!("round{round}"));
        texts.extend((0..40).map(|n| format!("summary{n}r{round}")));
    }
    texts.iter().flat_map(|text| words::terms(text)).collect()
}

/// A batch has the same effect as registering its packages one after the other: the same versions, and the
/// same predecessors in their groups.
pub fn a_batch_equals_registering_one_by_one(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    for round in 0..3 {
        let together = store.register_packages(&mixed(&one, round)).unwrap();
        let apart = mixed(&two, round)
            .into_iter()
            .flat_map(|new| store.register_packages(std::slice::from_ref(&new)).unwrap());
        let told = |registered: &crate::Registered| {
            (registered.created, registered.package.path.clone(), registered.package.version)
        };
        assert_eq!(
            together.iter().map(told).collect::<Vec<_>>(),
            apart.map(|registered| told(&registered)).collect::<Vec<_>>()
        );
    }
    let terms = mixed_terms();
    let found = |session: &SessionId| -> Vec<Vec<_>> {
        let name = |posting: &Posting| {
            let package = store.package(posting.package).unwrap();
            (package.path, package.group, package.version, posting.counts)
        };
        let lists = store.postings(session, &terms).unwrap();
        lists.iter().map(|list| list.list().iter().map(name).collect()).collect()
    };
    assert_eq!(found(&one), found(&two));
    let known = |session: &SessionId| -> Vec<_> {
        let candidates = store.candidates(session, None, None).unwrap();
        candidates.iter().map(|c| (c.version, c.created_at, c.terms)).collect()
    };
    assert_eq!(known(&one), known(&two));
    let unsound: Vec<_> = store.check().unwrap().into_iter().flat_map(|c| c.problems).collect();
    assert_eq!(unsound, [""; 0]);
}

/// Slices follow each other without a gap.
pub fn slices_cover_everything(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    for round in 0..3 {
        for (session, count) in [(&one, 90), (&two, 70)] {
            let names = (0..count).map(|n| format!("{round}-{n}.md"));
            let batch: Vec<_> = names.map(|path| package(session, &path, "x")).collect();
            store.register_packages(&batch).unwrap();
        }
    }
    let whole = store.candidates(&one, None, None).unwrap();
    assert_eq!(whole.len(), 270);
    let (mut next, mut slices, mut candidates) = (Some(0), 0, Vec::new());
    while let Some(from) = next {
        let slice = store.slice(&one, None, None, from, 1).unwrap();
        assert!(!slice.candidates.is_empty());
        assert!(slice.next.is_none_or(|next| next > from));
        candidates.extend(slice.candidates);
        (next, slices) = (slice.next, slices + 1);
    }
    assert!(slices > 5, "{slices}");
    assert_eq!(candidates, whole);
    let none = session(&*store, "s3");
    let slice = store.slice(&none, None, None, 0, 1).unwrap();
    assert_eq!((slice.candidates.len(), slice.next), (0, None));
}

/// Purging empties the index.
pub fn purged_sessions_leave_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let one = session(&*store, "s1");
    register(&*store, package(&one, "a.md", "zebra"));
    store.purge_session(&one).unwrap();
    let again = session(&*store, "s1");
    assert_eq!(find(&*store, &again, "zebra"), []);
    assert_eq!(store.candidates(&again, None, None).unwrap(), []);
}

/// A rebuilt index holds what the registrations wrote, including predecessors in groups.
pub fn reindexing_changes_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    for round in 0..3 {
        for session in [&one, &two] {
            store.register_packages(&mixed(session, round)).unwrap();
        }
    }
    let terms = mixed_terms();
    let held = |session: &SessionId| {
        let (group, role) = (group_id("P1"), role("developer"));
        let lists = store.postings(session, &terms).unwrap();
        assert!(lists.iter().any(|list| list.count() > 1));
        (lists, store.candidates(session, Some(&group), Some(&role)).unwrap())
    };
    let before = (held(&one), held(&two));
    let rebuilt = store.reindex(None).unwrap();
    let packages = before.0.1.len() + before.1.1.len();
    assert_eq!(rebuilt, Reindexed { sessions: 2, packages: packages as u64 });
    assert_eq!((held(&one), held(&two)), before);
    // Later registrations are added to it.
    register(&*store, package(&one, "later.md", "zebra"));
    assert_eq!(find(&*store, &one, "zebra").len(), 1);
    let unsound: Vec<_> = store.check().unwrap().into_iter().flat_map(|c| c.problems).collect();
    assert_eq!(unsound, [""; 0]);
}

/// One session, or all of them; an unknown one is rejected.
pub fn reindexing_covers_the_named_sessions(backend: &dyn Backend) {
    let store = backend.open();
    assert_eq!(store.reindex(None).unwrap(), Reindexed::default());
    let (one, _) = (session(&*store, "s1"), session(&*store, "s2"));
    register(&*store, package(&one, "a.md", "zebra"));
    register(&*store, package(&one, "a.md", "giraffe"));
    assert_eq!(store.reindex(Some(&one)).unwrap(), Reindexed { sessions: 1, packages: 1 });
    assert_eq!(find(&*store, &one, "zebra"), []);
    assert_eq!(find(&*store, &one, "giraffe").len(), 1);
    let error = store.reindex(Some(&session_id("nobody"))).unwrap_err();
    assert!(matches!(error, crate::StoreError::NotFound { .. }), "{error}");
}
