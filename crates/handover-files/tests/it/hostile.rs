//! Everything a hostile `.handover/` can contain.

use std::io::Write;
use std::os::unix::fs::symlink;

use handover_files::{FileError, Folder, Irregular, Kind, Sync};

use crate::scene::{Scene, listing, mode};

#[test]
fn a_linked_file_is_neither_read_nor_written() {
    let scene = Scene::new();
    scene.link("outside/file", "x");
    let handover = scene.handover();
    let is_link = |error: FileError| {
        assert!(matches!(error, FileError::NotAFile { found: Irregular::Link, .. }), "{error}");
    };
    is_link(handover.read("x", 100).unwrap_err());
    is_link(handover.tail("x", 100).unwrap_err());
    is_link(handover.append("x").unwrap_err());
    is_link(handover.create_file("x").unwrap_err());
    is_link(handover.remove("x").unwrap_err());
    is_link(handover.publish("x", b"new").unwrap_err());
    assert!(!handover.publish_new("x", b"new").unwrap());
    is_link(handover.checked_path("x").unwrap_err());
    assert!(!handover.has("x"));
    assert_eq!(handover.size("x"), None);
    scene.assert_outside_is_untouched();
    // Replacing puts a file in place of the link.
    handover.replace("x", b"new", Sync::Yes).unwrap();
    assert_eq!(handover.read("x", 100).unwrap().unwrap(), b"new");
    scene.assert_outside_is_untouched();
}

#[test]
fn nothing_is_reached_through_a_linked_folder() {
    let scene = Scene::new();
    scene.link("outside", "briefs");
    let briefs = scene.handover().inside("briefs");
    let refused = |error: FileError| {
        assert!(matches!(error, FileError::NotAFolder { found: Irregular::Link, .. }), "{error}");
    };
    refused(briefs.create().unwrap_err());
    refused(briefs.check().unwrap_err());
    refused(briefs.read("file", 100).unwrap_err());
    refused(briefs.append("file").unwrap_err());
    refused(briefs.replace("file", b"x", Sync::No).unwrap_err());
    refused(briefs.remove("file").unwrap_err());
    refused(briefs.entries().unwrap_err());
    refused(briefs.checked_path("file").unwrap_err());
    refused(briefs.inside("deeper").create().unwrap_err());
    refused(briefs.inside("deeper").check().unwrap_err());
    refused(scene.handover().remove_folder("briefs").unwrap_err());
    briefs.keep_newest(0, |_| true);
    scene.assert_outside_is_untouched();
}

#[test]
fn the_folder_must_not_be_a_link_but_its_project_may_be_below_one() {
    let scene = Scene::new();
    fs_err::remove_dir(scene.at("project/.handover")).unwrap();
    symlink(scene.at("outside"), scene.at("project/.handover")).unwrap();
    let error = scene.handover().read("file", 100).unwrap_err();
    assert!(error.is_irregular(), "{error}");
    scene.handover().append("new").unwrap_err();
    scene.assert_outside_is_untouched();

    fs_err::remove_file(scene.at("project/.handover")).unwrap();
    symlink(scene.at("project"), scene.at("same")).unwrap();
    let handover = Folder::of(&scene.at("same"));
    handover.replace("x", b"text", Sync::No).unwrap();
    assert_eq!(scene.handover().read_text("x", 100).unwrap().unwrap(), "text");
}

#[test]
fn names_cannot_leave_the_folder() {
    let scene = Scene::new();
    let handover = scene.handover();
    for name in ["../../outside/file", "..", "/etc/passwd", "", ".", "a/b"] {
        let error = handover.read(name, 100).unwrap_err();
        assert!(matches!(error, FileError::Name { .. }), "{name}: {error}");
    }
    let error = handover.inside("../../outside").read("file", 100).unwrap_err();
    assert!(matches!(error, FileError::Name { .. }), "{error}");
}

#[test]
fn pipes_devices_and_folders_are_rejected() {
    let scene = Scene::new();
    let handover = scene.handover();
    scene.pipe("pipe");
    handover.inside("folder").create().unwrap();
    for name in ["pipe", "folder"] {
        for error in [
            handover.read(name, 100).unwrap_err(),
            handover.append(name).unwrap_err(),
            handover.create_file(name).unwrap_err(),
            handover.remove(name).unwrap_err(),
            handover.checked_path(name).unwrap_err(),
        ] {
            assert!(error.is_irregular(), "{name}: {error}");
        }
    }
    let error = Folder::at("/dev").read("zero", 100).unwrap_err();
    assert!(error.is_irregular(), "{error}");
}

#[test]
fn reads_are_bounded() {
    let scene = Scene::new();
    let handover = scene.handover();
    handover.replace("x", b"0123456789", Sync::No).unwrap();
    assert_eq!(handover.read("x", 10).unwrap().unwrap(), b"0123456789");
    assert!(matches!(handover.read("x", 9), Err(FileError::TooLarge { max: 9, .. })));
    assert_eq!(handover.tail("x", 3).unwrap().unwrap(), (b"789".to_vec(), false));
    assert_eq!(handover.tail("x", 10).unwrap().unwrap(), (b"0123456789".to_vec(), true));
    assert_eq!(handover.size("x"), Some(10));
    assert_eq!(handover.read("missing", 9).unwrap(), None);
    assert_eq!(handover.inside("missing").read("x", 9).unwrap(), None);
    handover.replace("x", b"ab\xff", Sync::No).unwrap();
    assert!(matches!(handover.read_text("x", 9), Err(FileError::NotText { at: 2, .. })));
}

#[test]
fn new_files_are_accessible_to_their_owner_only() {
    let scene = Scene::new();
    let spool = scene.handover().inside("a/spool");
    spool.replace("one", b"1", Sync::No).unwrap();
    spool.append("two").unwrap().write_all(b"2").unwrap();
    spool.append("two").unwrap().write_all(b"3").unwrap();
    drop(spool.create_file("three").unwrap());
    let at = |name: &str| scene.at("project/.handover").join(name);
    assert_eq!(mode(&at("a")), 0o700);
    scene.handover().inside("artifacts/s1").create_shared().unwrap();
    fs_err::create_dir(at("usual")).unwrap();
    assert_eq!(mode(&at("artifacts/s1")), mode(&at("usual")));
    assert_eq!(mode(&at("a/spool")), 0o700);
    for name in ["one", "two", "three"] {
        assert_eq!(mode(&at("a/spool").join(name)), 0o600, "{name}");
    }
    assert_eq!(spool.read_text("two", 9).unwrap().unwrap(), "23");
    scene.handover().publish("config.toml", b"x").unwrap();
    scene.handover().publish("config.toml", b"y").unwrap();
    assert_eq!(mode(&at("config.toml")), 0o644);
    assert_eq!(scene.handover().read_text("config.toml", 9).unwrap().unwrap(), "x");
    let shared = scene.handover().inside("artifacts/s1");
    assert!(shared.publish_new("a.md", b"1").unwrap());
    assert!(!shared.publish_new("a.md", b"2").unwrap());
    assert_eq!(shared.read_text("a.md", 9).unwrap().unwrap(), "1");
    shared.replace_shared("a.md", b"3").unwrap();
    assert_eq!(shared.read_text("a.md", 9).unwrap().unwrap(), "3");
    assert_eq!(mode(&at("artifacts/s1/a.md")), 0o644);
    symlink(scene.at("outside/file"), at("artifacts/s1/link.md")).unwrap();
    assert!(!shared.publish_new("link.md", b"2").unwrap());
    let drafts = spool.entries().unwrap().into_iter().chain(scene.handover().entries().unwrap());
    assert!(drafts.into_iter().all(|entry| !entry.name.starts_with(".tmp")));
}

#[test]
fn only_our_files_are_deleted() {
    let scene = Scene::new();
    let hooks = scene.handover().inside("hooks");
    for name in ["a.json", "b.json", "c.json", "note.txt"] {
        hooks.replace(name, b"x", Sync::No).unwrap();
    }
    symlink(scene.at("outside/file"), scene.at("project/.handover/hooks/d.json")).unwrap();
    fs_err::create_dir(scene.at("project/.handover/hooks/e.json")).unwrap();
    hooks.keep_newest(1, |name| name.ends_with(".json"));
    let expected = [
        ("c.json", Kind::File),
        ("d.json", Kind::Other),
        ("e.json", Kind::Folder),
        ("note.txt", Kind::File),
    ];
    assert_eq!(listing(&hooks), expected.map(|(name, kind)| (name.to_owned(), kind)));
    scene.assert_outside_is_untouched();
}

#[test]
fn a_folder_is_deleted_without_following_links() {
    let scene = Scene::new();
    let runs = scene.handover().inside("runs/r1/worktrees");
    runs.inside("deep/deeper").replace("x", b"x", Sync::No).unwrap();
    symlink(scene.at("outside"), runs.path().join("link")).unwrap();
    symlink(scene.at("outside/file"), runs.path().join("deep/link")).unwrap();
    scene.handover().inside("runs/r1").remove_folder("worktrees").unwrap();
    assert_eq!(scene.handover().inside("runs/r1").entries().unwrap(), []);
    scene.assert_outside_is_untouched();
    scene.handover().inside("runs/r1").remove_folder("worktrees").unwrap();
    scene.handover().inside("runs/r1").remove_if_empty();
    assert_eq!(scene.handover().inside("runs").entries().unwrap(), []);
}
