//! Deletes a folder with everything in it, without ever leaving it.
//!
//! What agents have filled can be deeper than a process may have folders open, so nothing here is recursive:
//! a folder that is not empty is moved up to the one that is deleted, where its turn comes.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, renameat, unlinkat};
use rustix::io::Errno;

/// How often a folder may have something new in it when it should be empty.
const PATIENCE: u32 = 100;

/// Deletes a folder inside an open one. What somebody else deletes meanwhile is no error.
pub(crate) fn remove(above: impl AsFd, name: &Path) -> Result<(), Errno> {
    let Some(folder) = unless_missing(open(&above, name))? else { return Ok(()) };
    let mut moved = Moved { folder, count: 0 };
    let mut refilled = 0;
    loop {
        let before = moved.count;
        for entry in names(&moved.folder)? {
            moved.delete(&entry)?;
        }
        if moved.count > before {
            continue;
        }
        match unlinkat(&above, name, AtFlags::REMOVEDIR) {
            // Somebody else who deletes it has moved something up.
            Err(Errno::NOTEMPTY | Errno::EXIST) if refilled < PATIENCE => refilled += 1,
            deleted => return unless_missing(deleted).map(drop),
        }
    }
}

/// The folder that is deleted, and how many names were given to what was moved into it.
struct Moved {
    folder: OwnedFd,
    count: u64,
}

impl Moved {
    /// Deletes an entry; the folders in it are moved up.
    fn delete(&mut self, name: &CString) -> Result<(), Errno> {
        if is_deleted(&self.folder, name)? {
            return Ok(());
        }
        let Some(inner) = unless_missing(open(&self.folder, name))? else { return Ok(()) };
        for entry in names(&inner)? {
            if !is_deleted(&inner, &entry)? {
                self.move_up(&inner, &entry)?;
            }
        }
        // If it is not empty now, somebody else has moved another one to its name, whose turn comes later.
        is_deleted(&self.folder, name).map(drop)
    }

    fn move_up(&mut self, from: &OwnedFd, name: &CString) -> Result<(), Errno> {
        loop {
            self.count += 1;
            match renameat(from, name, &self.folder, self.count.to_string()) {
                // Something of that name is there already.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                moved => return unless_missing(moved).map(drop),
            }
        }
    }
}

/// Deletes a file or an empty folder; false if it is a folder that is not empty.
fn is_deleted(folder: &OwnedFd, name: &CString) -> Result<bool, Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        // Linux says ISDIR, others PERM.
        Err(Errno::ISDIR | Errno::PERM) => {}
        deleted => return unless_missing(deleted).map(|_| true),
    }
    match unlinkat(folder, name, AtFlags::REMOVEDIR) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        deleted => unless_missing(deleted).map(|_| true),
    }
}

fn open(folder: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty())
}

fn names(folder: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(folder)? {
        let name = entry?.file_name().to_owned();
        if !matches!(name.as_bytes(), b"." | b"..") {
            names.push(name);
        }
    }
    Ok(names)
}

fn unless_missing<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        other => other.map(Some),
    }
}
