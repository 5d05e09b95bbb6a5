//! Cases of [`TextIndex`](crate::TextIndex).

use handover_model::SessionId;
use handover_text::words;

use super::Backend;
use super::fixture::*;
use crate::{COLUMNS, Column, IndexSize, Posting, Store};

fn find(store: &dyn Store, session: &SessionId, text: &str) -> Vec<Posting> {
    store.postings(session, &words::terms(text)).unwrap().into_iter().flatten().collect()
}

/// Title, summary, files (the package's own path too) and body are told apart and counted.
pub fn finds_words_in_every_column(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    let mut new = package(&session, "notes/oauth.md", "Rotate tokens; tokens expire.");
    new.title = Some(clean("Refresh flow"));
    new.summary = clean("How the token endpoint works");
    new.files = vec![clean("src/auth/getUserById.rs")];
    let id = register(&*store, new).id;
    let posting = |column, count| Posting { package: id, column, count };
    assert_eq!(
        find(&*store, &session, "token"),
        [posting(Column::Summary, 1), posting(Column::Body, 2)]
    );
    assert_eq!(find(&*store, &session, "refreshing"), [posting(Column::Title, 1)]);
    assert_eq!(find(&*store, &session, "oauth"), [posting(Column::Files, 1)]);
    assert_eq!(find(&*store, &session, "user"), [posting(Column::Files, 1)]);
    assert_eq!(find(&*store, &session, "nowhere"), []);
    let several = store.postings(&session, &["token".into(), "zebra".into()]).unwrap();
    assert_eq!(several.iter().map(Vec::len).collect::<Vec<_>>(), [2, 0]);
}

/// A package is also found by its author, its day and what stands before it in its group.
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
    let posting = |package| Posting { package, column: Column::Context, count: 1 };
    assert!(find(&*store, &session, "zebra").contains(&posting(answer)));
    assert!(!find(&*store, &session, "zebra").contains(&posting(other)));
    assert!(find(&*store, &session, "november").contains(&posting(answer)));
    assert!(!find(&*store, &session, "november").contains(&posting(other)));
}

/// A session's index holds that session only.
pub fn sessions_do_not_see_each_other(backend: &dyn Backend) {
    let store = backend.open();
    let (one, two) = (session(&*store, "s1"), session(&*store, "s2"));
    register(&*store, package(&one, "a.md", "zebra"));
    assert_eq!(find(&*store, &one, "zebra").len(), 1);
    assert_eq!(find(&*store, &two, "zebra"), []);
    assert_eq!(store.index_size(&two).unwrap(), IndexSize::default());
    assert!(store.postings(&session_id("nobody"), &[]).is_err());
    assert!(store.index_size(&session_id("nobody")).is_err());
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
    let counts = store.term_counts(&[old.id, new.id]).unwrap();
    assert_eq!((counts[0], &counts[1][..4]), ([0; COLUMNS], &[0, 1, 1, 2][..]));
}

/// Sizes are those of the latest versions.
pub fn sizes_follow(backend: &dyn Backend) {
    let store = backend.open();
    let session = session(&*store, "s1");
    register(&*store, package(&session, "a.md", "one two three"));
    register(&*store, package(&session, "b.md", "four"));
    register(&*store, package(&session, "a.md", "five six"));
    let size = store.index_size(&session).unwrap();
    // "a summary" has one term (`a` is a stop word), as has `a.md`; `b.md` has two.
    assert_eq!((size.packages, &size.terms[..4]), (2, &[0, 2, 3, 3][..]));
}

/// Purging empties the index.
pub fn purged_sessions_leave_nothing(backend: &dyn Backend) {
    let store = backend.open();
    let one = session(&*store, "s1");
    register(&*store, package(&one, "a.md", "zebra"));
    store.purge_session(&one).unwrap();
    let again = session(&*store, "s1");
    assert_eq!(find(&*store, &again, "zebra"), []);
    assert_eq!(store.index_size(&again).unwrap(), IndexSize::default());
}
