//! A folder below `.handover/`, and the operations in it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, fchmod, linkat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::NAME;
use crate::bounded::{content, text};
use crate::error::{FileError, Irregular};
use crate::open::{self, IfMissing};
use crate::tree;

/// The permissions of a file for its owner alone.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The permissions of a file for everybody who may read the project.
const SHARED: Mode = PRIVATE.union(Mode::RGRP).union(Mode::ROTH);

/// `.handover/` or a folder below it. Nothing is opened until it is used, and its path is checked again
/// every time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    base: PathBuf,
    below: PathBuf,
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    File,
    Folder,
    /// A link, a pipe, a device: never one of ours.
    Other,
}

/// One entry of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its name; names that are not UTF-8 are never ours and are not listed.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// When it was modified: seconds and nanoseconds.
    pub modified: (i64, i64),
    /// Who owns it, as a number.
    pub owner: u32,
}

/// Whether a write must survive a power failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sync {
    Yes,
    No,
}

impl Folder {
    /// The `.handover/` of a project.
    pub fn of(project: &Path) -> Self {
        Self::at(project.join(NAME))
    }

    /// A folder that is treated like a `.handover/`: it must not be a link itself.
    pub fn at(base: impl Into<PathBuf>) -> Self {
        Self { base: base.into(), below: PathBuf::new() }
    }

    /// A folder inside this one.
    pub fn inside(&self, name: impl AsRef<Path>) -> Self {
        Self { base: self.base.clone(), below: self.below.join(name) }
    }

    /// Its path, for messages and as the working folder of a program. Opening it directly would follow links.
    pub fn path(&self) -> PathBuf {
        if self.below.as_os_str().is_empty() {
            self.base.clone()
        } else {
            self.base.join(&self.below)
        }
    }

    /// Whether the folder exists. A link counts, so that it is rejected instead of overlooked.
    pub fn is_there(&self) -> bool {
        self.path().is_dir()
    }

    /// The path of something inside, checked: no component is a link, and if the path exists it is a
    /// regular file. For programs that open files themselves, such as SQLite.
    pub fn checked_path(&self, name: &str) -> Result<PathBuf, FileError> {
        let whole = self.whole(name);
        let folder = match self.open(IfMissing::Fail) {
            Err(error) if error.is_missing() => return Ok(whole),
            folder => folder?,
        };
        match open::kind(&folder, self.name(name)?) {
            None | Some(FileType::RegularFile) => Ok(whole),
            Some(found) => Err(FileError::NotAFile { path: whole, found: Irregular::of(found) }),
        }
    }

    /// Fails if the folder, or one above it, is something else. A missing one is fine.
    pub fn check(&self) -> Result<(), FileError> {
        match self.open(IfMissing::Fail) {
            Err(error) if !error.is_missing() => Err(error),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Creates the folder and those above it, up to `.handover/`, accessible to their owner only.
    pub fn create(&self) -> Result<(), FileError> {
        self.open(IfMissing::Create).map(drop)
    }

    /// The same for files meant for everyone who may read the project.
    pub fn create_shared(&self) -> Result<(), FileError> {
        self.open(IfMissing::CreateShared).map(drop)
    }

    /// Whether a regular file of that name exists.
    pub fn has(&self, name: &str) -> bool {
        let kind = || open::kind(&self.open(IfMissing::Fail).ok()?, self.name(name).ok()?);
        kind() == Some(FileType::RegularFile)
    }

    /// The content of a file; none if it does not exist.
    pub fn read(&self, name: &str, max: u64) -> Result<Option<Vec<u8>>, FileError> {
        match self.file(name, OFlags::RDONLY, IfMissing::Fail) {
            Err(error) if error.is_missing() => Ok(None),
            file => content(file?, &self.whole(name), max).map(Some),
        }
    }

    /// The same for text.
    pub fn read_text(&self, name: &str, max: u64) -> Result<Option<String>, FileError> {
        let bytes = self.read(name, max)?;
        bytes.map(|bytes| text(bytes, &self.whole(name))).transpose()
    }

    /// Opens a file for reading; none if it does not exist. The caller limits how much it reads.
    pub fn open_file(&self, name: &str) -> Result<Option<File>, FileError> {
        match self.file(name, OFlags::RDONLY, IfMissing::Fail) {
            Err(error) if error.is_missing() => Ok(None),
            file => file.map(Some),
        }
    }

    /// At most this many bytes from the end of a file, and whether that is all of it; none if it does not
    /// exist.
    pub fn tail(&self, name: &str, bytes: u64) -> Result<Option<(Vec<u8>, bool)>, FileError> {
        let Some(mut file) = self.open_file(name)? else { return Ok(None) };
        let mut read = || {
            let start = file.metadata()?.len().saturating_sub(bytes);
            file.seek(SeekFrom::Start(start))?;
            let mut end = Vec::new();
            (&mut file).take(bytes).read_to_end(&mut end)?;
            Ok((end, start == 0))
        };
        read().map(Some).map_err(|error| FileError::Io { path: self.whole(name), source: error })
    }

    /// The size of a file; none if it does not exist.
    pub fn size(&self, name: &str) -> Option<u64> {
        let folder = self.open(IfMissing::Fail).ok()?;
        let stat = statat(folder, self.name(name).ok()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        is_file.then(|| u64::try_from(stat.st_size).unwrap_or_default())
    }

    /// Opens a file for appending.
    pub fn append(&self, name: &str) -> Result<File, FileError> {
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE;
        self.file(name, flags, IfMissing::Create)
    }

    /// Opens a file for writing from the beginning.
    pub fn create_file(&self, name: &str) -> Result<File, FileError> {
        let flags = OFlags::WRONLY | OFlags::CREATE;
        let file = self.file(name, flags, IfMissing::Create)?;
        // Truncate only once it is known to be a regular file.
        file.set_len(0).map_err(|error| FileError::Io { path: self.whole(name), source: error })?;
        Ok(file)
    }

    /// Replaces a file atomically: readers see either the old content or the new one. A link in its place
    /// is replaced, never followed.
    pub fn replace(&self, name: &str, bytes: &[u8], sync: Sync) -> Result<(), FileError> {
        let folder = self.open(IfMissing::Create)?;
        self.swap(&folder, name, bytes, PRIVATE, sync)
    }

    /// The same for a file that others may read.
    pub fn replace_shared(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let folder = self.open(IfMissing::CreateShared)?;
        self.swap(&folder, name, bytes, SHARED, Sync::No)
    }

    fn swap(
        &self,
        folder: &OwnedFd,
        name: &str,
        bytes: &[u8],
        mode: Mode,
        sync: Sync,
    ) -> Result<(), FileError> {
        let (name, whole) = (self.name(name)?, self.whole(name));
        let draft = self.draft(folder, &whole, bytes, mode, sync)?;
        let renamed = renameat(folder, &draft, folder, name);
        if renamed.is_err() {
            let _ = unlinkat(folder, &draft, AtFlags::empty());
        }
        renamed.map_err(|error| FileError::io(&whole, error))?;
        if sync == Sync::Yes {
            rustix::fs::fsync(folder).map_err(|error| FileError::io(&whole, error))?;
        }
        Ok(())
    }

    /// Writes a file that others may read, such as the configuration, unless that name exists.
    pub fn publish(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let folder = self.open(IfMissing::Create)?;
        let (name, whole) = (self.name(name)?, self.whole(name));
        match open::kind(&folder, name) {
            Some(FileType::RegularFile) => return Ok(()),
            Some(found) => {
                return Err(FileError::NotAFile { path: whole, found: Irregular::of(found) });
            }
            None => {}
        }
        self.add(&folder, name, &whole, bytes).map(drop)
    }

    /// Writes a file that others may read; false if something of that name exists, whatever it is.
    pub fn publish_new(&self, name: &str, bytes: &[u8]) -> Result<bool, FileError> {
        let folder = self.open(IfMissing::CreateShared)?;
        let (name, whole) = (self.name(name)?, self.whole(name));
        match open::kind(&folder, name) {
            Some(_) => Ok(false),
            None => self.add(&folder, name, &whole, bytes),
        }
    }

    /// Adds a complete file, unless another process was faster.
    fn add(
        &self,
        folder: &OwnedFd,
        name: &Path,
        whole: &Path,
        bytes: &[u8],
    ) -> Result<bool, FileError> {
        let draft = self.draft(folder, whole, bytes, SHARED, Sync::No)?;
        let result = match linkat(folder, &draft, folder, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            // A file system without hard links: at worst, a race writes the same file twice.
            Err(_) => renameat(folder, &draft, folder, name).map(|()| true),
        };
        let _ = unlinkat(folder, &draft, AtFlags::empty());
        result.map_err(|error| FileError::io(whole, error))
    }

    /// Deletes a regular file. Anything else of that name is not touched.
    pub fn remove(&self, name: &str) -> Result<(), FileError> {
        let folder = match self.open(IfMissing::Fail) {
            Err(error) if error.is_missing() => return Ok(()),
            folder => folder?,
        };
        let (name, whole) = (self.name(name)?, self.whole(name));
        match open::kind(&folder, name) {
            None => Ok(()),
            Some(FileType::RegularFile) => match unlinkat(&folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => Ok(()),
                Err(error) => Err(FileError::io(&whole, error)),
            },
            Some(found) => Err(FileError::NotAFile { path: whole, found: Irregular::of(found) }),
        }
    }

    /// Renames a file within the folder.
    pub fn rename(&self, from: &str, to: &str) -> Result<(), FileError> {
        let folder = self.open(IfMissing::Fail)?;
        renameat(&folder, self.name(from)?, &folder, self.name(to)?)
            .map_err(|error| FileError::io(&self.whole(from), error))
    }

    /// Moves a file to another folder; what it replaces there is gone.
    pub fn move_file(&self, name: &str, to: &Self) -> Result<(), FileError> {
        let (from, to) = (self.open(IfMissing::Fail)?, to.open(IfMissing::Create)?);
        renameat(&from, self.name(name)?, &to, self.name(name)?)
            .map_err(|error| FileError::io(&self.whole(name), error))
    }

    /// Deletes a folder inside this one with everything in it; links in it are deleted, never followed.
    pub fn remove_folder(&self, name: &str) -> Result<(), FileError> {
        let folder = match self.open(IfMissing::Fail) {
            Err(error) if error.is_missing() => return Ok(()),
            folder => folder?,
        };
        let (name, whole) = (self.name(name)?, self.whole(name));
        match open::kind(&folder, name) {
            None => Ok(()),
            Some(FileType::Directory) => {
                tree::remove(&folder, name).map_err(|error| FileError::io(&whole, error))
            }
            Some(found) => Err(FileError::NotAFolder { path: whole, found: Irregular::of(found) }),
        }
    }

    /// The size of everything in a folder inside this one, in bytes; links in it are never followed.
    pub fn bytes(&self, name: &str) -> Result<u64, FileError> {
        let folder = match self.open(IfMissing::Fail) {
            Err(error) if error.is_missing() => return Ok(0),
            folder => folder?,
        };
        tree::bytes(&folder, self.name(name)?)
            .map_err(|error| FileError::io(&self.whole(name), error))
    }

    /// Who owns the folder, as a number; none if it does not exist.
    pub fn owner(&self) -> Option<u32> {
        let folder = self.open(IfMissing::Fail).ok()?;
        rustix::fs::fstat(&folder).ok().map(|stat| stat.st_uid)
    }

    /// Deletes this folder if it is empty.
    pub fn remove_if_empty(&self) {
        let Some(name) = self.below.file_name() else { return };
        let above = Self {
            base: self.base.clone(),
            below: self.below.parent().map(Path::to_owned).unwrap_or_default(),
        };
        if let Ok(folder) = above.open(IfMissing::Fail) {
            let _ = unlinkat(folder, name, AtFlags::REMOVEDIR);
        }
    }

    /// The content of the folder, by name; empty if it does not exist.
    pub fn entries(&self) -> Result<Vec<Entry>, FileError> {
        let folder = match self.open(IfMissing::Fail) {
            Err(error) if error.is_missing() => return Ok(Vec::new()),
            folder => folder?,
        };
        let path = self.path();
        let failed = |error| FileError::io(&path, error);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let Ok(name) = entry.file_name().to_str() else { continue };
            if matches!(name, "." | "..") {
                continue;
            }
            let Ok(stat) = statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            let kind = match Irregular::of(FileType::from_raw_mode(stat.st_mode)) {
                Irregular::File => Kind::File,
                Irregular::Folder => Kind::Folder,
                Irregular::Link | Irregular::Special => Kind::Other,
            };
            #[expect(clippy::useless_conversion, reason = "the width differs between systems")]
            let modified =
                (i64::from(stat.st_mtime), i64::try_from(stat.st_mtime_nsec).unwrap_or(0));
            let owner = stat.st_uid;
            entries.push(Entry { name: name.to_owned(), kind, modified, owner });
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// Deletes all but the newest of the regular files with names of ours.
    pub fn keep_newest(&self, count: usize, is_ours: impl Fn(&str) -> bool) {
        let Ok(entries) = self.entries() else { return };
        let ours = entries.into_iter();
        let mut ours: Vec<_> =
            ours.filter(|entry| entry.kind == Kind::File && is_ours(&entry.name)).collect();
        ours.sort_by(|a, b| (a.modified, &a.name).cmp(&(b.modified, &b.name)));
        let excess = ours.len().saturating_sub(count);
        for entry in &ours[..excess] {
            let _ = self.remove(&entry.name);
        }
    }

    fn open(&self, missing: IfMissing) -> Result<OwnedFd, FileError> {
        open::folder(&self.base, &self.below, missing)
    }

    fn file(&self, name: &str, flags: OFlags, missing: IfMissing) -> Result<File, FileError> {
        let folder = self.open(missing)?;
        open::file(&folder, self.name(name)?, &self.whole(name), flags)
    }

    /// A single plain name.
    fn name<'a>(&self, name: &'a str) -> Result<&'a Path, FileError> {
        match open::names(Path::new(name))?.as_slice() {
            [name] => Ok(name),
            _ => Err(FileError::Name { path: PathBuf::from(name) }),
        }
    }

    fn whole(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// A complete file under a unique name.
    fn draft(
        &self,
        folder: &OwnedFd,
        whole: &Path,
        bytes: &[u8],
        mode: Mode,
        sync: Sync,
    ) -> Result<PathBuf, FileError> {
        let mut random = [0; 8];
        getrandom::fill(&mut random)
            .map_err(|error| FileError::io(whole, std::io::Error::other(error)))?;
        let name = PathBuf::from(format!(".tmp-{:016x}", u64::from_le_bytes(random)));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mut file = open::file(folder, &name, whole, flags)?;
        let mut write = || {
            file.write_all(bytes)?;
            if mode != PRIVATE {
                fchmod(&file, mode)?;
            }
            if sync == Sync::Yes { file.sync_all() } else { Ok(()) }
        };
        if let Err(error) = write() {
            let _ = unlinkat(folder, &name, AtFlags::empty());
            return Err(FileError::io(whole, error));
        }
        Ok(name)
    }
}
