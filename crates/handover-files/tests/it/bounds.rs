//! Limits and names: exact at the edges, and no name leads out of the folder.

use handover_files::{FileError, Folder, Kind, Sync, open_regular, read_bounded};
use proptest::prelude::*;

use crate::scene::{Scene, listing};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_read_is_complete_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..300), max in 0..300_u64) {
        let scene = Scene::new();
        let handover = scene.handover();
        handover.replace("x", &bytes, Sync::No).unwrap();
        let elsewhere = read_bounded(&handover.path().join("x"), max);
        let fits = bytes.len() as u64 <= max;
        for read in [handover.read("x", max), elsewhere] {
            match read {
                Ok(found) => prop_assert_eq!((found, fits), (Some(bytes.clone()), true)),
                Err(FileError::TooLarge { max: named, .. }) => prop_assert_eq!((named, fits), (max, false)),
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
        prop_assert_eq!(handover.size("x"), Some(bytes.len() as u64));
    }

    #[test]
    fn a_tail_is_the_end(bytes in prop::collection::vec(any::<u8>(), 0..300), most in 0..300_u64) {
        let scene = Scene::new();
        let handover = scene.handover();
        handover.replace("x", &bytes, Sync::No).unwrap();
        let (end, whole) = handover.tail("x", most).unwrap().unwrap();
        let length = bytes.len().min(usize::try_from(most).unwrap());
        prop_assert_eq!(&end, &bytes[bytes.len() - length..]);
        prop_assert_eq!(whole, end.len() == bytes.len());
    }

    /// Names built from the parts that make paths dangerous.
    #[test]
    fn a_name_is_inside_the_folder_or_rejected(
        parts in prop::collection::vec(prop::sample::select(vec!["..", ".", "/", "a", "file", "\n", " ", "é", "outside", "\\", "~"]), 0..6),
    ) {
        let scene = Scene::new();
        let handover = scene.handover().inside("here");
        handover.create().unwrap();
        let name = parts.concat();
        match handover.replace(&name, b"new", Sync::No) {
            Ok(()) => {
                let plain = std::path::Path::new(&name).file_name().unwrap().to_str().unwrap();
                prop_assert_eq!(listing(&handover), [(plain.to_owned(), Kind::File)], "{:?}", name);
                prop_assert!(handover.has(&name));
                handover.remove(&name).unwrap();
            }
            Err(FileError::Name { .. }) => {
                let is_name = |outcome: Option<FileError>| matches!(outcome, Some(FileError::Name { .. }));
                prop_assert!(is_name(handover.append(&name).err()));
                prop_assert!(is_name(handover.create_file(&name).err()));
                prop_assert!(is_name(handover.publish(&name, b"x").err()));
                prop_assert!(is_name(handover.remove(&name).err()));
                prop_assert!(is_name(handover.remove_folder(&name).err()));
                prop_assert!(is_name(handover.rename(&name, "x").err()));
                prop_assert!(is_name(handover.checked_path(&name).err()));
                prop_assert!(!handover.has(&name) && handover.size(&name).is_none());
            }
            Err(error) => prop_assert!(false, "{:?}: {}", name, error),
        }
        prop_assert_eq!(listing(&handover), []);
        prop_assert_eq!(listing(&scene.handover()), [("here".to_owned(), Kind::Folder)]);
        scene.assert_outside_is_untouched();
    }
}

#[test]
fn a_name_longer_than_the_system_allows_is_an_error_and_leaves_no_draft() {
    let scene = Scene::new();
    let handover = scene.handover();
    let long = "x".repeat(300);
    for error in [
        handover.replace(&long, b"x", Sync::Yes).unwrap_err(),
        handover.publish(&long, b"x").unwrap_err(),
        handover.append(&long).map(drop).unwrap_err(),
        handover.inside(&long).create().unwrap_err(),
    ] {
        assert!(matches!(&error, FileError::Io { path, .. } if path.ends_with(&long)), "{error}");
    }
    assert_eq!(listing(&handover), []);
}

#[test]
fn a_file_cannot_take_the_place_of_a_folder() {
    let scene = Scene::new();
    let handover = scene.handover();
    handover.inside("taken").replace("x", b"x", Sync::No).unwrap();
    handover.replace("taken", b"new", Sync::Yes).unwrap_err();
    assert!(handover.publish("taken", b"new").unwrap_err().is_irregular());
    assert_eq!(listing(&handover), [("taken".to_owned(), Kind::Folder)], "no draft is left");
    // Nor can a folder replace a file.
    let error = handover.inside("taken/x/deeper").create().unwrap_err();
    assert!(matches!(&error, FileError::NotAFolder { path, .. } if path.ends_with("taken/x")));
    assert_eq!(handover.inside("taken").read("x", 9).unwrap().unwrap(), b"x");
}

#[test]
fn writing_from_the_beginning_truncates() {
    use std::io::Write;
    let scene = Scene::new();
    let handover = scene.handover();
    handover.replace("x", b"a long text", Sync::No).unwrap();
    handover.create_file("x").unwrap().write_all(b"short").unwrap();
    assert_eq!(handover.read_text("x", 100).unwrap().unwrap(), "short");
    handover.replace("x", b"", Sync::No).unwrap();
    assert_eq!(handover.read("x", 0).unwrap().unwrap(), b"");
    assert_eq!(handover.tail("x", 0).unwrap().unwrap(), (Vec::new(), true));
}

#[test]
fn a_renamed_file_replaces_another_and_stays_in_its_folder() {
    let scene = Scene::new();
    let handover = scene.handover();
    handover.replace("log", b"now", Sync::No).unwrap();
    handover.replace("log.old", b"before", Sync::No).unwrap();
    handover.rename("log", "log.old").unwrap();
    assert_eq!(listing(&handover), [("log.old".to_owned(), Kind::File)]);
    assert_eq!(handover.read_text("log.old", 9).unwrap().unwrap(), "now");
    assert!(handover.rename("log", "x").unwrap_err().is_missing());
    assert!(handover.inside("none").rename("log", "x").unwrap_err().is_missing());
    for away in ["../../outside/x", "/tmp/x", "..", ""] {
        let error = handover.rename("log.old", away).unwrap_err();
        assert!(matches!(error, FileError::Name { .. }), "{away}: {error}");
    }
    // The link is renamed, not its target.
    scene.link("outside/file", "link");
    handover.rename("link", "moved").unwrap();
    assert!(!handover.has("moved"));
    scene.assert_outside_is_untouched();
}

#[test]
fn the_oldest_files_are_deleted_by_their_time_and_then_by_name() {
    let scene = Scene::new();
    let handover = scene.handover();
    let at = |seconds| std::time::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
    for (name, seconds) in [("a", 50), ("b", 10), ("c", 30), ("d", 30), ("other", 0)] {
        let file = handover.create_file(name).unwrap();
        file.set_modified(at(seconds)).unwrap();
    }
    let names =
        || listing(&handover).into_iter().map(|(name, _)| name).collect::<Vec<_>>().concat();
    let ours = |name: &str| name.len() == 1;
    for (count, left) in [(9, "abcdother"), (4, "abcdother"), (3, "acdother"), (2, "adother")] {
        handover.keep_newest(count, ours);
        assert_eq!(names(), left, "{count}");
    }
    handover.keep_newest(0, ours);
    assert_eq!(names(), "other");
    handover.inside("none").keep_newest(0, |_| true);
}

/// File systems of macOS have no other names.
#[cfg(target_os = "linux")]
#[test]
fn only_names_that_are_text_are_listed() {
    let scene = Scene::new();
    let handover = scene.handover();
    let name = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe");
    fs_err::write(handover.path().join(name), "x").unwrap();
    handover.replace("b", b"x", Sync::No).unwrap();
    handover.replace("a", b"x", Sync::No).unwrap();
    scene.pipe("pipe");
    scene.link("outside", "link");
    let expected =
        [("a", Kind::File), ("b", Kind::File), ("link", Kind::Other), ("pipe", Kind::Other)];
    assert_eq!(listing(&handover), expected.map(|(name, kind)| (name.to_owned(), kind)));
}

#[test]
fn missing_files_are_none() {
    let scene = Scene::new();
    let none = Folder::of(&scene.at("no/such/project"));
    none.check().unwrap();
    none.remove("x").unwrap();
    none.remove_folder("x").unwrap();
    none.remove_if_empty();
    none.inside("x").remove_if_empty();
    assert!(!none.is_there() && !none.has("x"));
    assert_eq!((none.read("x", 9).unwrap(), none.size("x")), (None, None));
    assert_eq!(none.tail("x", 9).unwrap(), None);
    assert!(none.open_file("x").unwrap().is_none());
    assert_eq!(none.checked_path("x").unwrap(), scene.at("no/such/project/.handover/x"));
    // Nothing above `.handover/` is ever created.
    assert!(none.create().unwrap_err().is_missing());
    assert!(none.append("x").unwrap_err().is_missing());
    assert!(open_regular(&scene.at("no/such/file")).unwrap_err().is_missing());
    assert!(!scene.at("no").exists());
}
