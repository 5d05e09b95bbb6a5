//! Opens one path component after the other, never through a link.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, fsync, mkdirat, openat, statat};
use rustix::io::Errno;

use crate::error::{FileError, Irregular};

/// Flags for folders, on the path and at its end.
const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Flags for files: opening a named pipe or a terminal must neither block nor have side effects.
const FILE: OFlags =
    OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// Whether a missing folder is created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IfMissing {
    /// For its owner only.
    Create,
    /// For everyone who may read the project.
    CreateShared,
    Fail,
}

impl IfMissing {
    /// The permissions of a new folder, before the user's mask.
    fn mode(self) -> Option<Mode> {
        match self {
            Self::Create => Some(Mode::RWXU),
            Self::CreateShared => Some(Mode::from(0o777)),
            Self::Fail => None,
        }
    }
}

/// The plain names of a relative path.
pub(crate) fn names(path: &Path) -> Result<Vec<&Path>, FileError> {
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !path.components().all(plain) {
        return Err(FileError::Name { path: path.to_owned() });
    }
    Ok(path.components().map(|part| Path::new(part.as_os_str())).collect())
}

/// Opens `base`, which may be below links but must not be one, and the folders below it.
pub(crate) fn folder(base: &Path, below: &Path, missing: IfMissing) -> Result<OwnedFd, FileError> {
    let mut whole = base.to_owned();
    let mut folder = match openat(CWD, base, FOLDER, Mode::empty()) {
        Err(Errno::NOENT) if missing != IfMissing::Fail => {
            // Readable by everyone who may read the project: it contains the configuration.
            made(mkdirat(CWD, base, Mode::from(0o777)), base)?;
            openat(CWD, base, FOLDER, Mode::empty())
        }
        opened => opened,
    }
    .map_err(|error| not_a_folder(CWD, base, base, error))?;
    for name in names(below)? {
        whole.push(name);
        let next = match (openat(&folder, name, FOLDER, Mode::empty()), missing.mode()) {
            (Err(Errno::NOENT), Some(mode)) => {
                made(mkdirat(&folder, name, mode), &whole)?;
                // A durable write must not lose its folder.
                let _ = fsync(&folder);
                openat(&folder, name, FOLDER, Mode::empty())
            }
            (opened, _) => opened,
        };
        folder = next.map_err(|error| not_a_folder(&folder, name, &whole, error))?;
    }
    Ok(folder)
}

/// Another process may have created it first.
fn made(result: Result<(), Errno>, path: &Path) -> Result<(), FileError> {
    match result {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(FileError::io(path, error)),
    }
}

/// Opens a regular file in an open folder. `whole` is its path in messages.
pub(crate) fn file(
    folder: &OwnedFd,
    name: &Path,
    whole: &Path,
    flags: OFlags,
) -> Result<File, FileError> {
    let private = Mode::RUSR | Mode::WUSR;
    let opened = openat(folder, name, flags | FILE, private)
        .map_err(|error| not_a_file(folder, name, whole, error))?;
    let stat = fstat(&opened).map_err(|error| FileError::io(whole, error))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(FileError::NotAFile { path: whole.to_owned(), found: Irregular::of(kind) });
    }
    Ok(File::from(opened))
}

/// The kind of an entry, without following it; none if unknown.
pub(crate) fn kind(folder: impl std::os::fd::AsFd, name: &Path) -> Option<FileType> {
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}

fn not_a_folder(at: impl std::os::fd::AsFd, name: &Path, whole: &Path, error: Errno) -> FileError {
    match kind(at, name) {
        Some(found) if found != FileType::Directory => {
            FileError::NotAFolder { path: whole.to_owned(), found: Irregular::of(found) }
        }
        Some(_) | None => FileError::io(whole, error),
    }
}

fn not_a_file(at: &OwnedFd, name: &Path, whole: &Path, error: Errno) -> FileError {
    match kind(at, name) {
        Some(found) if found != FileType::RegularFile => {
            FileError::NotAFile { path: whole.to_owned(), found: Irregular::of(found) }
        }
        Some(_) | None => FileError::io(whole, error),
    }
}
