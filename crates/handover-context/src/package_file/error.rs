//! Errors about package files.

use std::path::PathBuf;

use handover_files::Irregular;

use super::FrontMatterError;

/// Why a file cannot be registered as a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageFileError {
    /// No such file.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path points outside the project.
    #[error("`{}` leads to {}, which is outside the project {}", path.display(), target.display(), root.display())]
    Outside {
        /// The path as given.
        path: PathBuf,
        /// The real path, with symlinks resolved.
        target: PathBuf,
        /// The root of the project.
        root: PathBuf,
    },
    /// A path from a file or an agent contains `..`.
    #[error("`{}` contains `..`", path.display())]
    Climbs {
        /// The path as given.
        path: PathBuf,
    },
    /// A directory, a device, a pipe.
    #[error("`{}` is {found}, not a file", path.display())]
    NotAFile {
        /// The path as given.
        path: PathBuf,
        /// What is there instead.
        found: Irregular,
    },
    /// The path contains characters that cannot be displayed.
    #[error("the path {path:?} contains characters that cannot be displayed")]
    Name {
        /// The path as given.
        path: PathBuf,
    },
    /// One of Handover's own folders is a symlink.
    #[error("`{}` is a link; Handover writes and deletes only inside the project", path.display())]
    Link {
        /// The symlink.
        path: PathBuf,
    },
    /// The name itself is a secret, and names are stored and displayed.
    #[error("a file's name looks like a secret ({rule})")]
    SecretName {
        /// The redaction rule that matched.
        rule: String,
    },
    /// A file that Handover itself maintains.
    #[error("`{}` belongs to Handover itself", path.display())]
    Ours {
        /// The path as given.
        path: PathBuf,
    },
    /// A file that an agent or a caller may not register: hidden, or not a document.
    #[error("`{}` is not a document that agents may register", path.display())]
    NotADocument {
        /// The path as given.
        path: PathBuf,
    },
    /// Larger than allowed.
    #[error("`{}` has {size} bytes; the limit is {max}", path.display())]
    TooLarge {
        /// The path as given.
        path: PathBuf,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        max: u64,
    },
    /// Not text.
    #[error("`{}` is not UTF-8 text (byte {offset})", path.display())]
    NotText {
        /// The path as given.
        path: PathBuf,
        /// The offset of the first invalid byte.
        offset: usize,
    },
    /// The file is empty, or consists of front matter only.
    #[error("`{}` is empty", path.display())]
    Empty {
        /// The path as given.
        path: PathBuf,
    },
    /// Reading failed.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The path as given.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: std::io::Error,
    },
    /// Writing failed.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The path of the new file.
        path: PathBuf,
        /// The underlying error.
        #[source]
        source: std::io::Error,
    },
    /// Every candidate name is taken by a file with different content.
    #[error("there is no free name for the text in `{}`", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The front matter could not be parsed.
    #[error("the front matter of `{}` is not valid", path.display())]
    FrontMatter {
        /// The path as given.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: FrontMatterError,
    },
    /// Name, front matter and flags contradict each other.
    #[error("`{}`: the {first_source} says {what} `{first}`, the {second_source} says `{second}`", path.display())]
    Disagreement {
        /// The path as given.
        path: PathBuf,
        /// Such as `kind`.
        what: &'static str,
        /// Where the first value comes from.
        first_source: &'static str,
        /// The first value.
        first: String,
        /// Where the second value comes from.
        second_source: &'static str,
        /// The second value.
        second: String,
    },
    /// Neither the caller nor the file specifies the kind.
    #[error("the kind of package `{}` is unknown", path.display())]
    NoKind {
        /// The path as given.
        path: PathBuf,
    },
    /// The given summary is blank.
    #[error("the summary is empty")]
    EmptySummary,
    /// The text to be written is blank.
    #[error("the text is empty")]
    EmptyBody,
}

impl PackageFileError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        let failed = matches!(self, Self::Read { .. } | Self::Write { .. });
        if failed { "io" } else { "invalid_package" }
    }
}
