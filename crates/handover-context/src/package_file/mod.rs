//! Package files: locating them safely, reading front matter and names, and drafting the packages
//! that the store registers.
//!
//! Everything in a file is untrusted: its path may lead elsewhere, its front matter may be a YAML
//! bomb, its content may contradict its name. Existing files are never modified; new ones are only
//! written for texts that have no file.

mod announce;
mod content;
mod draft;
mod error;
mod front_matter;
mod import;
mod name;
mod paths;
mod register;
mod scan;
mod sources;
mod state;
mod write;

pub use announce::{Announced, announced};
pub use draft::{Draft, DraftContext, Facts, Placement, draft, vendor_secret};
pub use error::PackageFileError;
pub use front_matter::{FrontMatter, FrontMatterError};
pub use import::{ImportContext, ImportError, ImportLine, PreparedImport, prepare_import};
pub use paths::{Located, ProjectPaths};
pub use register::{Put, at_path, former, register_file};
pub use scan::{Reach, scan};
pub use state::{FileState, file_state};
pub use write::{NewText, WrittenText, write_text};

/// The length limit of summaries, in characters.
pub const MAX_SUMMARY_CHARS: usize = 400;

/// BLAKE3 of content, in hexadecimal.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
