//! The only access to files below `.handover/`.
//!
//! A checkout can contain a hostile `.handover/`. So no component of a path is followed if it is a link,
//! including `.handover/` itself; only regular files are opened, without waiting for the other end of a
//! pipe; reads have a limit; new files are accessible to their owner only; and only files that are ours by
//! name and type are deleted. This crate does not know what the files mean.

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
