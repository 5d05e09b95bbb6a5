use super::*;
use crate::testing::{Repository, learn};

#[test]
fn a_commit_that_says_something_is_a_note_with_its_files() {
    let repository = Repository::new();
    repository.commit("a.rs", "1", "wip");
    repository.write("src/db.rs", "1");
    let message = "Use WAL for the settings\n\nTwo processes write to it, see `open_settings`.\n\n\
                   Signed-off-by: A <a@example.com>";
    let id = repository.commit_at("2026-02-03T04:05:06Z", "a\u{e9} b.rs", "2", message);
    let learned = learn(&History, &repository);
    let [note] = learned.drafts.as_slice() else { panic!("{:?}", learned.drafts) };
    assert_eq!(note.origin, format!("commit {}", &id[..12]));
    assert_eq!(note.source, id);
    assert_eq!(note.title, "Use WAL for the settings");
    assert!(note.text.ends_with("see `open_settings`."), "{}", note.text);
    assert_eq!(note.paths, ["a\u{e9} b.rs", "src/db.rs"]);
    assert_eq!(note.symbols, ["open_settings"]);
    assert_eq!(
        (note.kind, note.trust, note.state),
        (NoteKind::Commit, Trust::Project, NoteState::Live)
    );
    assert_eq!(note.created_at.to_string(), "2026-02-03T04:05:06.000Z");
}

#[test]
fn what_an_agent_committed_is_said_by_an_agent() {
    let repository = Repository::new();
    repository.commit("a.rs", "1", "Store prices in cents, not in floats");
    let trailer = "Retry payments at most twice\n\nCo-Authored-By: Claude <noreply@anthropic.com>";
    repository.commit("a.rs", "2", trailer);
    let learned = learn(&History, &repository);
    let trust = |title: &str| {
        let draft = learned.drafts.iter().find(|draft| draft.title.starts_with(title));
        draft.map(|draft| (draft.trust, draft.text.contains("Claude"))).unwrap()
    };
    assert_eq!(trust("Store"), (Trust::Project, false));
    assert_eq!(trust("Retry"), (Trust::Agent, false));
}

#[test]
fn a_revert_changes_what_it_reverts() {
    let repository = Repository::new();
    repository.commit("a.rs", "1", "Add the first file of all");
    let id = repository.commit("a.rs", "2", "Cache the answers of the service");
    let before = learn(&History, &repository);
    let stamp = |repository: &Repository| {
        let (git, homes) = (repository.open(), crate::Homes::default());
        History.stamp(&repository.context(&git, &homes, &[])).unwrap()
    };
    let old_stamp = stamp(&repository);
    repository.git(&["revert", "--no-edit", "HEAD"]);
    assert_ne!(stamp(&repository), old_stamp);
    let after = learn(&History, &repository);
    let unit = |units: &[Unit]| units.iter().find(|unit| unit.source == id).unwrap().clone();
    assert_ne!(unit(&before.units), unit(&after.units));
    let note = after.drafts.iter().find(|note| note.source == id).unwrap();
    assert_eq!(note.state, NoteState::Amended);
    let by = repository.git(&["rev-parse", "HEAD"]);
    assert_eq!(note.reason.as_deref(), Some(format!("reverted by commit {}", &by[..12]).as_str()));
    // Others are what they were, so they are not read again.
    assert!(after.units.contains(before.units.last().unwrap()));
}

#[test]
fn a_subfolder_sees_its_own_history_and_a_limit_in_time_holds() {
    let repository = Repository::new();
    repository.commit_at("2026-01-01T00:00:00Z", "app/a.rs", "1", "Write the app in Rust");
    repository.commit_at("2026-02-01T00:00:00Z", "lib/b.rs", "1", "Split the library off the app");
    let app = learn(&History, &Repository::at(repository.root().join("app")));
    assert_eq!(app.drafts.len(), 1);
    assert_eq!(app.drafts[0].paths, ["a.rs"]);
    let (git, homes) = (repository.open(), crate::Homes::default());
    let mut context = repository.context(&git, &homes, &[]);
    context.since = Some("2026-01-15T00:00:00Z".parse().unwrap());
    assert_eq!(History.discover(&context).unwrap().units.len(), 1);
    let asked = [repository.root().join("app")];
    let context = repository.context(&git, &homes, &asked);
    assert_eq!(History.discover(&context).unwrap().units.len(), 1);
}

#[test]
fn odd_histories_are_survived() {
    let empty = Repository::new();
    assert!(learn(&History, &empty).units.is_empty());
    let repository = Repository::new();
    repository.commit(
        "a.rs",
        "1",
        "\u{1}Add a file with odd words\n\n\u{1}and a body that goes on",
    );
    repository.git(&["commit", "-q", "--allow-empty", "-m", "Say something without files"]);
    repository.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    repository.commit("b.rs", "1", "Work on the other side");
    repository.git(&[
        "merge",
        "-q",
        "--no-ff",
        "-m",
        "Merge the other side, because we need it",
        "main",
    ]);
    let learned = learn(&History, &repository);
    assert_eq!(learned.drafts.len(), 4);
    let paths: Vec<_> = learned.drafts.iter().map(|note| note.paths.len()).collect();
    assert_eq!(paths.iter().sum::<usize>(), 2, "{paths:?}");
}

#[test]
fn a_stop_ends_it() {
    let repository = Repository::new();
    repository.commit("a.rs", "1", "Add the first file of all");
    let (git, homes) = (repository.open(), crate::Homes::default());
    let context = SourceContext { stop: &|| true, ..repository.context(&git, &homes, &[]) };
    let stopped = |error| matches!(error, SourceError::Git(crate::GitError::Stopped));
    assert!(stopped(History.discover(&context).unwrap_err()));
}
