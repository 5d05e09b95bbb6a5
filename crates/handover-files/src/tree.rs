//! Measures a folder, or deletes it with everything in it, without ever leaving it.
//!
//! Folders filled by agents can be deeper than a process may have folders open, so nothing here is
//! recursive: a nested folder that is not empty is moved up into the folder being deleted, and handled
//! later.

use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::Errno;

/// How often a folder that should be empty may turn out not to be.
const PATIENCE: u32 = 100;

/// Deletes a folder inside an open one. Concurrent deletion is not an error.
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
            // A concurrent deletion has moved something up.
            Err(Errno::NOTEMPTY | Errno::EXIST) if refilled < PATIENCE => refilled += 1,
            deleted => return unless_missing(deleted).map(drop),
        }
    }
}

/// The size of everything in a folder: of files as far as they are stored once, of links as links.
pub(crate) fn bytes(above: impl AsFd, name: &Path) -> Result<u64, Errno> {
    let Some(folder) = unless_missing(open(&above, name))? else { return Ok(0) };
    let mut total: u64 = 0;
    // Paths below the folder, because so many folders cannot be open at once.
    let mut below = vec![std::path::PathBuf::new()];
    while let Some(path) = below.pop() {
        let inner = match path.as_os_str().is_empty() {
            true => unless_missing(open(&folder, "."))?,
            false => unless_missing(open_below(&folder, &path))?,
        };
        let Some(inner) = inner else { continue };
        for entry in names(&inner)? {
            let stat = statat(&inner, &entry, AtFlags::SYMLINK_NOFOLLOW);
            let Some(stat) = unless_missing(stat)? else { continue };
            if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
                below.push(path.join(std::ffi::OsStr::from_bytes(entry.as_bytes())));
            } else {
                total = total.saturating_add(u64::try_from(stat.st_size).unwrap_or(0));
            }
        }
    }
    Ok(total)
}

/// Opens a folder below an open one, component by component: none of them is a link.
fn open_below(folder: &OwnedFd, path: &Path) -> Result<OwnedFd, Errno> {
    let mut current = open(folder, ".")?;
    for component in path.components() {
        current = open(&current, component.as_os_str())?;
    }
    Ok(current)
}

/// The folder being deleted, and how many names were used for what was moved into it.
struct Moved {
    folder: OwnedFd,
    count: u64,
}

impl Moved {
    /// Deletes an entry; its subfolders are moved up.
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
        // If it is not empty, a concurrent deletion has moved another folder to its name; that one is
        // handled later.
        is_deleted(&self.folder, name).map(drop)
    }

    fn move_up(&mut self, from: &OwnedFd, name: &CString) -> Result<(), Errno> {
        loop {
            self.count += 1;
            match renameat(from, name, &self.folder, self.count.to_string()) {
                // That name is taken.
                Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                moved => return unless_missing(moved).map(drop),
            }
        }
    }
}

/// Deletes a file or an empty folder; false if it is a folder that is not empty.
fn is_deleted(folder: &OwnedFd, name: &CString) -> Result<bool, Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        // Linux returns EISDIR, others EPERM.
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
