//! The one door to the files below `.handover/`.
//!
//! A checkout can bring a `.handover/` of its own making. Here no component of a path is followed if it is a
//! link, `.handover/` itself included; only regular files are opened, without waiting for the other end of a
//! pipe; reads have a limit; what is created belongs to its owner alone; and only files that are ours by name
//! and type are deleted. What the files mean is left to others.

mod bounded;
mod error;
mod folder;
mod open;
mod tree;

pub use bounded::{open_regular, read_bounded, read_text_bounded};
pub use error::{FileError, Irregular};
pub use folder::{Entry, Folder, Kind, Sync};

/// The name of the folder that marks a project.
pub const NAME: &str = ".handover";
