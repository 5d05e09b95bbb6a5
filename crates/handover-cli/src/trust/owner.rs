//! Whose files the files of a checkout are.
//!
//! The owner of a folder above ours could put a `.handover/` there and wait for us, so files of
//! others are refused like git refuses their repositories. Those of the administrator are not: who is one
//! needs no tricks.

use std::os::unix::fs::MetadataExt;

use crate::env;
use crate::project::Project;

const ADMINISTRATOR: u32 = 0;

/// The configuration below `.handover/`.
const FILE: &str = "config.toml";

/// The owner of the project's folder, of its `.handover/` or of its configuration, if that is somebody else.
pub(super) fn stranger(project: &Project) -> Option<u32> {
    let folder = project.folder().path();
    let files = [project.root.clone(), folder.clone(), folder.join(FILE)];
    let owners = files.iter().filter_map(|file| Some(fs_err::symlink_metadata(file).ok()?.uid()));
    let me = rustix::process::geteuid().as_raw();
    let mut strangers = owners.filter(|owner| *owner != me && *owner != ADMINISTRATOR);
    let first = strangers.next()?;
    // With sudo, the files of the user who called it are at home.
    let caller = env::sudo_user().filter(|_| me == ADMINISTRATOR);
    match caller {
        Some(caller) if caller == first => strangers.find(|owner| *owner != caller),
        Some(_) | None => Some(first),
    }
}
