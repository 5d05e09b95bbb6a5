//! Deleting folders that agents have filled, whatever they put into them.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use handover_files::{Folder, Sync};
use rustix::fs::{Mode, OFlags, mkdirat, openat};

use crate::scene::{Scene, listing};

/// A folder in a folder in a folder, deeper than any path can name.
fn nest(folder: &Folder, depth: usize) {
    folder.create().unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY;
    let mut at = openat(rustix::fs::CWD, folder.path(), flags, Mode::empty()).unwrap();
    for _ in 0..depth {
        mkdirat(&at, "deeper", Mode::RWXU).unwrap();
        at = openat(&at, "deeper", flags, Mode::empty()).unwrap();
    }
}

#[test]
fn a_folder_deeper_than_a_process_may_have_open_is_deleted() {
    let scene = Scene::new();
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    let few = rustix::process::Rlimit { current: Some(200), ..limit };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, few).unwrap();
    let handover = scene.handover();
    nest(&handover.inside("deep"), 3_000);
    handover.remove_folder("deep").unwrap();
    assert_eq!(listing(&handover), []);
}

#[test]
fn a_wide_folder_with_everything_in_it_is_deleted() {
    let scene = Scene::new();
    let handover = scene.handover();
    for branch in 0..20 {
        let folder = handover.inside(format!("wide/{branch}/same/same"));
        for leaf in 0..20 {
            folder.replace(&leaf.to_string(), b"x", Sync::No).unwrap();
        }
        // Names that a deletion could use for its own purposes.
        for name in ["0", "1", "2", ".tmp-0"] {
            handover.inside(format!("wide/{branch}/{name}/{name}")).create().unwrap();
        }
        symlink(scene.at("outside"), folder.path().join("out")).unwrap();
        symlink("..", folder.path().join("up")).unwrap();
        symlink("/nowhere", folder.path().join("broken")).unwrap();
    }
    scene.pipe("wide/pipe");
    let wide = handover.inside("wide").path();
    // File systems of macOS have no such names.
    if cfg!(target_os = "linux") {
        fs_err::write(wide.join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
        fs_err::create_dir(wide.join(std::ffi::OsStr::from_bytes(b"\xfe\xff"))).unwrap();
    }
    handover.remove_folder("wide").unwrap();
    assert_eq!(listing(&handover), []);
    scene.assert_outside_is_untouched();
}

/// Two concurrent deletions: what one has already deleted is not an error for the other.
#[test]
fn two_may_delete_the_same_folder() {
    for _ in 0..30 {
        let scene = Scene::new();
        let handover = scene.handover();
        for n in 0..30 {
            handover.inside(format!("work/{n}/a/b")).replace("x", b"x", Sync::No).unwrap();
        }
        std::thread::scope(|scope| {
            let threads = [(); 2].map(|()| scope.spawn(|| handover.remove_folder("work")));
            for thread in threads {
                thread.join().unwrap().unwrap();
            }
        });
        assert_eq!(listing(&handover), []);
    }
}
