//! What can be wrong with a package file.

use std::path::PathBuf;

use super::FrontMatterError;

/// Why a file cannot be a package.
#[derive(Debug, thiserror::Error)]
pub enum PackageFileError {
    /// No such file.
    #[error("there is no file `{}`", path.display())]
    Missing {
        /// The path as given.
        path: PathBuf,
    },
    /// The path leads out of the project.
    #[error("`{}` leads to {}, which is outside the project {}", path.display(), target.display(), root.display())]
    Outside {
        /// The path as given.
        path: PathBuf,
        /// Where it leads, symlinks followed.
        target: PathBuf,
        /// The project.
        root: PathBuf,
    },
    /// A path from a file or an agent climbs.
    #[error("`{}` contains `..`", path.display())]
    Climbs {
        /// The path as given.
        path: PathBuf,
    },
    /// A directory, a device, a pipe.
    #[error("`{}` is {what}, not a file", path.display())]
    NotAFile {
        /// The path as given.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// The name cannot be shown or stored as text.
    #[error("the path {path:?} holds characters that cannot be shown")]
    Name {
        /// The path as given.
        path: PathBuf,
    },
    /// A folder of Handover's own that leads elsewhere.
    #[error("`{}` is a link; Handover writes and deletes only inside the project", path.display())]
    Link {
        /// The folder.
        path: PathBuf,
    },
    /// The name itself is a secret, and names are stored and shown.
    #[error("a file's name looks like a secret ({rule})")]
    SecretName {
        /// The rule that found it.
        rule: String,
    },
    /// A file of Handover's own.
    #[error("`{}` belongs to Handover itself", path.display())]
    Ours {
        /// The path as given.
        path: PathBuf,
    },
    /// Larger than allowed.
    #[error("`{}` has {size} bytes, and {max} are allowed", path.display())]
    TooLarge {
        /// The path as given.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The limit.
        max: u64,
    },
    /// Not text.
    #[error("`{}` is not UTF-8 text (byte {offset})", path.display())]
    NotText {
        /// The path as given.
        path: PathBuf,
        /// The first bad byte.
        offset: usize,
    },
    /// Nothing in it.
    #[error("`{}` has no text", path.display())]
    Empty {
        /// The path as given.
        path: PathBuf,
    },
    /// Reading failed.
    #[error("`{}` cannot be read", path.display())]
    Read {
        /// The path as given.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Writing failed.
    #[error("`{}` cannot be written", path.display())]
    Write {
        /// The path.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Files with other content are in the way.
    #[error("there is no free name for the text in `{}`", path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// The front matter makes no sense.
    #[error("the front matter of `{}` is not valid", path.display())]
    FrontMatter {
        /// The path as given.
        path: PathBuf,
        /// Why.
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
    /// Nothing says what kind of package it is.
    #[error("nothing says what kind of package `{}` is", path.display())]
    NoKind {
        /// The path as given.
        path: PathBuf,
    },
    /// A text that must say something says nothing.
    #[error("the {what} is empty")]
    EmptyText {
        /// Such as `summary`.
        what: &'static str,
    },
}
