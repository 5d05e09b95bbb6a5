//! Concurrent processes, simulated by threads: complete contents, one winner, no lost line.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use handover_files::{Folder, Sync};

use crate::scene::{Scene, listing};

const THREADS: usize = 8;

/// Runs the same work in all threads, started at the same time.
fn together(work: impl Fn(usize) + std::marker::Sync) {
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(number);
            });
        }
    });
}

/// A text that shows whether it is complete: one letter, repeated.
fn content(number: usize) -> Vec<u8> {
    let letter = b'a' + u8::try_from(number % 26).unwrap();
    vec![letter; 40_000 + number]
}

#[track_caller]
fn assert_is_whole(bytes: &[u8]) {
    let number = bytes.len() - 40_000;
    assert!(bytes == content(number), "{} bytes that nobody wrote", bytes.len());
}

#[test]
fn a_reader_sees_the_old_or_the_new_content() {
    let scene = Scene::new();
    let handover = scene.handover();
    handover.replace("state", &content(0), Sync::No).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::SeqCst) || reads == 0 {
                assert_is_whole(&handover.read("state", 100_000).unwrap().unwrap());
                reads += 1;
            }
        });
        together(|number| {
            for round in 0..30 {
                handover.replace("state", &content(number * 30 + round), Sync::No).unwrap();
            }
        });
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
    assert_is_whole(&handover.read("state", 100_000).unwrap().unwrap());
    assert_eq!(listing(&handover).len(), 1, "no draft is left");
}

#[test]
fn what_was_published_first_stays() {
    for _ in 0..20 {
        let scene = Scene::new();
        let handover = scene.handover();
        together(|number| {
            handover.publish("config.toml", &content(number)).unwrap();
            // The one that came second also sees a complete file.
            assert_is_whole(&handover.read("config.toml", 100_000).unwrap().unwrap());
        });
        let first = handover.read("config.toml", 100_000).unwrap();
        handover.publish("config.toml", b"too late").unwrap();
        assert_eq!(handover.read("config.toml", 100_000).unwrap(), first);
        assert_eq!(listing(&handover).len(), 1, "no draft is left");
    }
}

#[test]
fn appended_lines_stay_whole() {
    let scene = Scene::new();
    let log = scene.handover().inside("logs");
    together(|number| {
        for line in 0..50 {
            let text = format!("{number}-{line} {}\n", "x".repeat(number * 100));
            log.append("handover.log").unwrap().write_all(text.as_bytes()).unwrap();
        }
    });
    let text = log.read_text("handover.log", 10_000_000).unwrap().unwrap();
    let lines: BTreeSet<&str> = text.lines().collect();
    assert_eq!(lines.len(), THREADS * 50, "a line was lost or written into another one");
    for line in lines {
        let (name, rest) = line.split_once(' ').unwrap();
        let number: usize = name.split_once('-').unwrap().0.parse().unwrap();
        assert_eq!(rest.len(), number * 100, "{name}");
    }
}

#[test]
fn a_folder_is_created_by_all_who_need_it() {
    for _ in 0..20 {
        let project = tempfile::tempdir().unwrap();
        let spool = Folder::of(project.path()).inside("a/b/c");
        together(|number| spool.replace(&number.to_string(), b"x", Sync::Yes).unwrap());
        assert_eq!(listing(&spool).len(), THREADS);
    }
}

#[test]
fn concurrent_deletions_of_one_file_succeed() {
    let scene = Scene::new();
    let handover = scene.handover();
    for _ in 0..20 {
        handover.replace("lock", b"x", Sync::No).unwrap();
        handover.inside("work/deep").replace("x", b"x", Sync::No).unwrap();
        together(|_| {
            handover.remove("lock").unwrap();
            handover.inside("work/deep").remove_if_empty();
            handover.keep_newest(0, |name| name == "lock");
        });
        assert!(!handover.has("lock"));
        assert!(handover.inside("work/deep").has("x"), "a folder that is not empty stays");
    }
}

/// A folder is repeatedly swapped for a link to the outside while it is being written to.
#[test]
fn a_folder_that_becomes_a_link_is_not_followed() {
    let scene = Scene::new();
    let handover = scene.handover();
    let briefs = handover.inside("briefs");
    briefs.create().unwrap();
    let (folder, kept) = (briefs.path(), scene.at("project/.handover/kept"));
    let done = AtomicBool::new(false);
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A writer may have recreated the folder at any time.
            while !done.load(Ordering::SeqCst) {
                let _ = fs_err::rename(&folder, &kept);
                let _ = std::os::unix::fs::symlink(scene.at("outside"), &folder);
                let _ = fs_err::remove_file(&folder);
                let _ = fs_err::remove_dir_all(&folder);
                let _ = fs_err::rename(&kept, &folder);
            }
        });
        for n in 0..3_000 {
            let outcome = match n % 4 {
                0 => briefs.replace("new", b"x", Sync::No),
                1 => briefs.append("file").map(drop),
                2 => briefs.create_file("file").map(drop),
                _ => briefs.remove("file"),
            };
            refused += usize::from(outcome.is_err_and(|error| error.is_irregular()));
        }
        done.store(true, Ordering::SeqCst);
    });
    assert!(refused > 0, "the link was never in the way");
    scene.assert_outside_is_untouched();
}
