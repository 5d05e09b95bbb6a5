//! Why a file was not opened.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

/// What exists in place of a file or a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Irregular {
    Link,
    File,
    Folder,
    /// A named pipe, a socket or a device.
    Special,
}

impl Irregular {
    pub(crate) fn of(kind: FileType) -> Self {
        match kind {
            FileType::Symlink => Self::Link,
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => Self::Special,
        }
    }
}

impl fmt::Display for Irregular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Link => "a link",
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Special => "a pipe, a socket or a device",
        })
    }
}

/// A file or folder that was not opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Something other than a regular file exists where a file is expected.
    #[error("{} is {found} where a file is expected", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: Irregular,
    },

    /// Something other than a folder exists where a folder is expected.
    #[error("{} is {found} where a folder is expected", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: Irregular,
    },

    /// Larger than the limit.
    #[error("{} has more than {max} bytes", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// The limit.
        max: u64,
    },

    /// Not UTF-8.
    #[error("{} is not UTF-8 text (byte {at})", path.display())]
    NotText {
        /// The path.
        path: PathBuf,
        /// The first invalid byte.
        at: usize,
    },

    /// A name with `..` or a root in it.
    #[error("`{}` is not a name inside a folder", path.display())]
    Name {
        /// The name.
        path: PathBuf,
    },

    /// The operating system failed the operation.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

impl FileError {
    pub(crate) fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }

    /// Whether the file or a folder above it does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }

    /// Whether something else exists in place of the file or of a folder above it.
    pub fn is_irregular(&self) -> bool {
        matches!(self, Self::NotAFile { .. } | Self::NotAFolder { .. })
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error {
            FileError::Io { source, .. } => source.kind(),
            FileError::NotAFile { .. } | FileError::NotAFolder { .. } | FileError::Name { .. } => {
                io::ErrorKind::InvalidInput
            }
            FileError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            FileError::NotText { .. } => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
