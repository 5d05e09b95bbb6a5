use std::os::unix::fs::symlink;
use std::path::PathBuf;

use handover_model::SectionNow;

use super::*;
use crate::testing::{Repository, learn};

const AUTH: &str = "# Authentication\n\nTokens are signed with Ed25519, because the keys are short.\n\n\
    ## Rotation\n\nKeys rotate every 30 days; `rotate_keys` in src/auth/keys.rs does it, never a person.\n";

#[test]
fn a_note_per_section_with_the_time_of_its_commit() {
    let repository = Repository::new();
    repository.commit_at("2026-02-03T04:05:06Z", "docs/auth.md", AUTH, "Add docs");
    repository.commit_at("2026-03-01T00:00:00Z", "src/a.rs", "x", "Something else");
    let notes = learn(&Docs, &repository).drafts;
    let [first, second] = notes.as_slice() else { panic!("{notes:?}") };
    assert_eq!(first.origin, "docs/auth.md#Authentication");
    assert_eq!(second.origin, "docs/auth.md#Rotation");
    assert_eq!((second.source.as_str(), second.title.as_str()), ("docs/auth.md", "Rotation"));
    assert_eq!(second.paths, ["src/auth/keys.rs"]);
    assert_eq!(second.symbols, ["rotate_keys"]);
    assert_eq!((second.kind, second.trust), (NoteKind::Doc, Trust::Project));
    assert_eq!(second.created_at.to_string(), "2026-02-03T04:05:06.000Z");
}

#[test]
fn a_clone_a_worktree_and_a_subfolder_learn_the_same() {
    let repository = Repository::new();
    repository.commit("docs/auth.md", AUTH, "Add docs");
    let here = learn(&Docs, &repository);
    let other = tempfile::tempdir().unwrap();
    for (command, at) in [("clone", "clone"), ("worktree", "tree")] {
        let place = other.path().join(at);
        let place = place.to_str().unwrap();
        match command {
            "clone" => repository.git(&["clone", "-q", ".", place]),
            _ => repository.git(&["worktree", "add", "-q", place]),
        };
        let there = learn(&Docs, &Repository::at(place));
        assert_eq!(there.drafts, here.drafts);
        assert_eq!(there.units, here.units);
    }
    let below = learn(&Docs, &Repository::at(repository.root().join("docs")));
    assert_eq!(below.units[0].source, "auth.md");
    assert_eq!(below.drafts[0].created_at, here.drafts[0].created_at);
}

#[test]
fn what_is_not_committed_is_not_the_projects_word() {
    let repository = Repository::new();
    repository.commit("docs/auth.md", AUTH, "Add docs");
    let before = learn(&Docs, &repository);
    let added = "## Lifetime\n\nA token lives for fifteen minutes, a refresh token for a day.\n";
    repository.write("docs/auth.md", &format!("{AUTH}\n{added}"));
    repository.write("docs/new.md", added);
    let after = learn(&Docs, &repository);
    assert_ne!(before.units[0].fingerprint, after.units[0].fingerprint);
    let trust: Vec<_> = after.drafts.iter().map(|note| (note.title.as_str(), note.trust)).collect();
    assert_eq!(
        trust,
        [
            ("Authentication", Trust::Project),
            ("Rotation", Trust::Project),
            ("Lifetime", Trust::Agent)
        ]
    );
    // An untracked file is not a document; once it is added, it is.
    repository.git(&["add", "-A"]);
    assert_eq!(learn(&Docs, &repository).units.len(), 2);
    // Committing changes the class, so the fingerprint changes too.
    repository.git(&["commit", "-qm", "More"]);
    let committed = learn(&Docs, &repository);
    assert_ne!(after.units[0].fingerprint, committed.units[0].fingerprint);
    assert!(committed.drafts.iter().all(|note| note.trust == Trust::Project));
}

#[test]
fn links_pipes_and_foreign_files_are_skipped_with_a_reason() {
    let repository = Repository::new();
    for name in ["a", "b", "c", "d"] {
        repository.write(&format!("docs/{name}.md"), AUTH);
    }
    repository.write("vendor/x.md", AUTH);
    repository.write("gen/api.md", AUTH);
    repository.write(".gitattributes", "gen/** linguist-generated\n");
    repository.commit("docs/sub/e.md", AUTH, "Add docs");
    let secret = tempfile::tempdir().unwrap();
    fs_err::write(secret.path().join("e.md"), AUTH).unwrap();
    let at = |name: &str| repository.root().join("docs").join(name);
    fs_err::remove_file(at("a.md")).unwrap();
    symlink("/etc/hostname", at("a.md")).unwrap();
    fs_err::write(at("b.md"), b"\xff\xfe\x00").unwrap();
    fs_err::write(at("c.md"), vec![b'x'; 2 << 20]).unwrap();
    fs_err::remove_dir_all(at("sub")).unwrap();
    symlink(secret.path(), at("sub")).unwrap();
    let learned = learn(&Docs, &repository);
    let mut skipped: Vec<_> =
        learned.skipped.iter().map(|one| (one.what.as_str(), one.reason)).collect();
    skipped.sort();
    assert_eq!(
        skipped,
        [
            ("docs/a.md", SkipReason::Irregular),
            ("docs/b.md", SkipReason::Foreign),
            ("docs/c.md", SkipReason::TooLarge),
            ("docs/sub/e.md", SkipReason::Irregular),
        ]
    );
    assert!(learned.drafts.iter().all(|note| note.source == "docs/d.md"), "{:?}", learned.drafts);
}

#[test]
fn paths_narrow_and_a_folder_without_git_has_no_documents() {
    let repository = Repository::new();
    repository.write("docs/auth.md", AUTH);
    repository.commit("README.md", AUTH, "Add docs");
    let git = repository.open();
    let asked = [repository.root().join("docs")];
    let homes = crate::Homes::default();
    let context = repository.context(&git, &homes, &asked);
    let found = Docs.discover(&context).unwrap();
    assert_eq!(
        found.units.iter().map(|unit| unit.source.as_str()).collect::<Vec<_>>(),
        ["docs/auth.md"]
    );
    let context =
        SourceContext { git: None, ..repository.context(&git, &homes, &[] as &[PathBuf]) };
    assert!(matches!(Docs.discover(&context), Err(SourceError::NoRepository)));
}

#[test]
fn a_section_is_read_as_it_is_now() {
    let repository = Repository::new();
    repository.commit("docs/auth.md", AUTH, "Add docs");
    let rotation = learn(&Docs, &repository).drafts.remove(1);
    let note = handover_model::Note {
        id: crate::note_id(rotation.kind, &rotation.origin, &rotation.text).unwrap(),
        project: handover_model::ProjectId::new("p").unwrap(),
        kind: rotation.kind,
        origin: rotation.origin,
        source: rotation.source,
        title: rotation.title,
        text: rotation.text,
        trust: rotation.trust,
        paths: Vec::new(),
        symbols: Vec::new(),
        state: NoteState::Live,
        reason: None,
        hash: String::new(),
        created_at: rotation.created_at,
    };
    let now = |text: &str| {
        repository.write("docs/auth.md", text);
        section_now(repository.root(), &note, &handover_text::Redactor::default())
    };
    assert_eq!(now(AUTH), SectionNow::Same);
    assert_eq!(now(&format!("# Before\n\nMore of it.\n\n{AUTH}")), SectionNow::Same);
    let weekly =
        "Keys rotate every week; `rotate_keys` in src/auth/keys.rs does it, never a person.";
    assert_eq!(
        now(&AUTH.replace("every 30 days", "every week")),
        SectionNow::Changed(weekly.to_owned())
    );
    // Under another heading it is the same section.
    let moved = AUTH.replace("every 30 days", "every week").replace("## Rotation", "## Keys");
    assert_eq!(now(&moved), SectionNow::Changed(weekly.to_owned()));
    let other = "# Authentication\n\nTokens are signed with Ed25519, because the keys are short.\n";
    assert_eq!(now(other), SectionNow::Gone);
    fs_err::remove_file(repository.root().join("docs/auth.md")).unwrap();
    let gone = section_now(repository.root(), &note, &handover_text::Redactor::default());
    assert_eq!(gone, SectionNow::Gone);
    symlink("/etc/hostname", repository.root().join("docs/auth.md")).unwrap();
    let link = section_now(repository.root(), &note, &handover_text::Redactor::default());
    assert_eq!(link, SectionNow::Same);
}
