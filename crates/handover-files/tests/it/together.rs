//! Many processes at once, played by threads: whole contents, one winner, no line lost.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

use handover_files::{Folder, Sync};

use crate::scene::{Scene, listing};

const THREADS: usize = 8;

/// Runs the same work in all threads, which begin together.
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

/// A text that reveals whether it is whole: one letter, many times.
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
fn a_reader_sees_the_former_content_or_the_new_one() {
    let scene = Scene::new();
    let door = scene.door();
    door.replace("state", &content(0), Sync::No).unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !done.load(Ordering::SeqCst) || reads == 0 {
                assert_is_whole(&door.read("state", 100_000).unwrap().unwrap());
                reads += 1;
            }
        });
        together(|number| {
            for round in 0..30 {
                door.replace("state", &content(number * 30 + round), Sync::No).unwrap();
            }
        });
        done.store(true, Ordering::SeqCst);
        reader.join().unwrap();
    });
    assert_is_whole(&door.read("state", 100_000).unwrap().unwrap());
    assert_eq!(listing(&door).len(), 1, "no draft is left");
}

#[test]
fn what_was_published_first_stays() {
    for _ in 0..20 {
        let scene = Scene::new();
        let door = scene.door();
        together(|number| {
            door.publish("config.toml", &content(number)).unwrap();
            // Whoever came second sees a whole file, too.
            assert_is_whole(&door.read("config.toml", 100_000).unwrap().unwrap());
        });
        let first = door.read("config.toml", 100_000).unwrap();
        door.publish("config.toml", b"too late").unwrap();
        assert_eq!(door.read("config.toml", 100_000).unwrap(), first);
        assert_eq!(listing(&door).len(), 1, "no draft is left");
    }
}

#[test]
fn appended_lines_stay_whole() {
    let scene = Scene::new();
    let log = scene.door().inside("logs");
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
fn one_file_is_deleted_by_all() {
    let scene = Scene::new();
    let door = scene.door();
    for _ in 0..20 {
        door.replace("lock", b"x", Sync::No).unwrap();
        door.inside("work/deep").replace("x", b"x", Sync::No).unwrap();
        together(|_| {
            door.remove("lock").unwrap();
            door.inside("work/deep").remove_if_empty();
            door.keep_newest(0, |name| name == "lock");
        });
        assert!(!door.has("lock"));
        assert!(door.inside("work/deep").has("x"), "a folder that is not empty stays");
    }
}

/// Somebody swaps a folder for a link to the outside, again and again, while it is written to.
#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let scene = Scene::new();
    let door = scene.door();
    let briefs = door.inside("briefs");
    briefs.create().unwrap();
    let (folder, kept) = (briefs.path(), scene.at("project/.handover/kept"));
    let done = AtomicBool::new(false);
    let mut refused = 0;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // A writer may have created the folder anew at any moment.
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
