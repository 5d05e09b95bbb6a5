//! Errors name the path and what was found, and keep their `io::ErrorKind`.

use std::error::Error;
use std::io;

use handover_files::{FileError, Sync, read_text_bounded};

use crate::scene::Scene;

#[test]
fn the_path_and_the_reason_are_named() {
    let scene = Scene::new();
    let handover = scene.handover();
    scene.link("outside/file", "link");
    scene.pipe("pipe");
    handover.inside("folder").create().unwrap();
    handover.replace("text", b"caf\xe9 and more", Sync::No).unwrap();
    let path = |name: &str| handover.path().join(name).display().to_string();
    let read = |name: &str| handover.read_text(name, 9).unwrap_err();
    for (error, expected, kind) in [
        (
            read("link"),
            format!("{} is a link where a file is expected", path("link")),
            io::ErrorKind::InvalidInput,
        ),
        (
            read("pipe"),
            format!("{} is a pipe, a socket or a device where a file is expected", path("pipe")),
            io::ErrorKind::InvalidInput,
        ),
        (
            read("folder"),
            format!("{} is a folder where a file is expected", path("folder")),
            io::ErrorKind::InvalidInput,
        ),
        (
            handover.inside("text/deeper").create().unwrap_err(),
            format!("{} is a file where a folder is expected", path("text")),
            io::ErrorKind::InvalidInput,
        ),
        (
            read("text"),
            format!("{} has more than 9 bytes", path("text")),
            io::ErrorKind::FileTooLarge,
        ),
        (
            handover.read_text("text", 99).unwrap_err(),
            format!("{} is not UTF-8 text (byte 3)", path("text")),
            io::ErrorKind::InvalidData,
        ),
        (
            read("../x"),
            "`../x` is not a name inside a folder".to_owned(),
            io::ErrorKind::InvalidInput,
        ),
        (
            handover.rename("none", "x").unwrap_err(),
            format!("{}: No such file or directory (os error 2)", path("none")),
            io::ErrorKind::NotFound,
        ),
    ] {
        assert_eq!(error.to_string(), expected);
        let of_system = io::Error::from(error);
        assert_eq!(of_system.kind(), kind, "{expected}");
        assert_eq!(of_system.to_string(), expected);
    }
}

#[test]
fn the_reason_of_the_system_is_kept() {
    let scene = Scene::new();
    let error = scene.handover().rename("none", "x").unwrap_err();
    assert!(error.is_missing() && !error.is_irregular());
    let source = error.source().unwrap().downcast_ref::<io::Error>().unwrap();
    assert_eq!(source.raw_os_error(), Some(2));
    assert!(scene.handover().read("..", 1).unwrap_err().source().is_none());
}

#[test]
fn invalid_text_is_rejected_at_its_first_wrong_byte() {
    let scene = Scene::new();
    let file = scene.at("outside/latin1");
    for (bytes, at) in [(&b"\xff"[..], 0), (b"abc\x80", 3), ("\u{1F512}\u{e9}".as_bytes(), 9)] {
        // A truncated character is invalid, too.
        let cut = if at == 9 { &bytes[..5] } else { bytes };
        fs_err::write(&file, cut).unwrap();
        let error = read_text_bounded(&file, 99).unwrap_err();
        let expected = if at == 9 { 4 } else { at };
        assert!(matches!(error, FileError::NotText { at, .. } if at == expected), "{error}");
    }
    fs_err::write(&file, "\u{1F512}\u{e9}").unwrap();
    assert_eq!(read_text_bounded(&file, 6).unwrap().as_deref(), Some("\u{1F512}\u{e9}"));
    assert!(read_text_bounded(&scene.at("outside/none"), 6).unwrap().is_none());
}
