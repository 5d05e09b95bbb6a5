//! Whether a store file below `.handover/` is ours: no link, and not brought by the checkout.
//!
//! A file that git tracks was made by somebody else: its tokens would open this machine's service, and its
//! records would go into every brief. Asking git costs more than opening the store, so the answer is noted in a
//! file with what identifies the store on this machine, which nobody can know beforehand. A store elsewhere was
//! chosen by the user.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use handover_files::Sync;

use crate::brought::is_brought;
use crate::error::{CommandError, Exit};
use crate::project::Project;

/// The note's name ends with this; before it comes the name of the store.
const NOTE: &str = ".known";

/// The most that is read of a note.
const NOTE_BYTES: u64 = 1024;

/// Refuses a store file that may not be ours, and creates a missing one for its owner only.
pub(crate) fn check(project: &Project, path: &Path) -> Result<(), CommandError> {
    let Ok(below) = path.strip_prefix(project.folder().path()) else { return Ok(()) };
    let name = below.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let folder = project.folder().inside(below.parent().unwrap_or_else(|| Path::new("")));
    for end in ["", "-wal", "-shm", "-journal"] {
        folder.checked_path(&format!("{name}{end}"))?;
    }
    let note = format!("{name}{NOTE}");
    if !folder.has(name) {
        // SQLite gives its other files the same permissions. A failure is its to report.
        let _ = folder.append(name);
    } else {
        let known = folder.read(&note, NOTE_BYTES).ok().flatten();
        if known.is_some_and(|known| identity(path).is_some_and(|now| known == now.into_bytes())) {
            return Ok(());
        }
        if is_brought(project, path) {
            return Err(tracked(path));
        }
    }
    if let Some(identity) = identity(path) {
        // Without a note git is asked again.
        let _ = folder.replace(&note, identity.as_bytes(), Sync::No);
    }
    Ok(())
}

/// What identifies a file on this machine and changes when it is replaced.
fn identity(path: &Path) -> Option<String> {
    let data = fs_err::symlink_metadata(path).ok()?;
    let created =
        data.created().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    Some(format!("{} {} {}", data.dev(), data.ino(), created.unwrap_or_default().as_nanos()))
}

fn tracked(path: &Path) -> CommandError {
    let path = path.display();
    let message = format!("the store {path} is tracked by git, so this checkout brought it");
    CommandError::new(Exit::Environment, "store_tracked", message).hinted(format!(
        "If it is not yours, delete it. If it is: `git rm --cached {path}`, commit, and replace its tokens \
         (`handover token list`)."
    ))
}
