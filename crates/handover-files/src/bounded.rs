//! Bounded reads of files elsewhere, such as the user's own configuration. Links are followed, but their
//! target must be a regular file, and at most the limit is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};

use crate::error::{FileError, Irregular};

/// The content of a file; none if it does not exist.
pub fn read_bounded(path: &Path, max: u64) -> Result<Option<Vec<u8>>, FileError> {
    match open_regular(path) {
        Err(error) if error.is_missing() => Ok(None),
        file => content(file?, path, max).map(Some),
    }
}

/// Opens a file for a reader with its own limits. A pipe or a device is rejected instead of blocking.
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = openat(CWD, path, flags, Mode::empty());
    let opened = opened.map_err(|error| FileError::io(path, error))?;
    let stat = fstat(&opened).map_err(|error| FileError::io(path, error))?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    if kind != FileType::RegularFile {
        return Err(FileError::NotAFile { path: path.to_owned(), found: Irregular::of(kind) });
    }
    Ok(File::from(opened))
}

/// The text of a file; none if it does not exist.
pub fn read_text_bounded(path: &Path, max: u64) -> Result<Option<String>, FileError> {
    read_bounded(path, max)?.map(|bytes| text(bytes, path)).transpose()
}

/// Everything in a file. Files in `/proc` claim to be empty and a file may grow, so the limit applies to
/// what is actually read.
pub(crate) fn content(file: File, path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    let size = file.metadata().map_or(0, |data| data.len());
    if size > max {
        return Err(FileError::TooLarge { path: path.to_owned(), max });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|error| FileError::io(path, error))?;
    if bytes.len() as u64 > max {
        return Err(FileError::TooLarge { path: path.to_owned(), max });
    }
    Ok(bytes)
}

pub(crate) fn text(bytes: Vec<u8>, path: &Path) -> Result<String, FileError> {
    String::from_utf8(bytes).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_to_regular_files_only() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs_err::write(at("file"), "12345").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        assert_eq!(read_text_bounded(&at("link"), 5).unwrap().as_deref(), Some("12345"));
        assert!(matches!(read_bounded(&at("link"), 4), Err(FileError::TooLarge { max: 4, .. })));
        assert!(matches!(read_bounded(&at("endless"), 4), Err(FileError::NotAFile { .. })));
        assert!(matches!(read_bounded(folder.path(), 4), Err(FileError::NotAFile { .. })));
        assert_eq!(read_bounded(&at("missing"), 4).unwrap(), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_hides_its_size_is_bounded_too() {
        let error = read_bounded(Path::new("/proc/self/maps"), 10).unwrap_err();
        assert!(matches!(error, FileError::TooLarge { max: 10, .. }), "{error}");
    }
}
