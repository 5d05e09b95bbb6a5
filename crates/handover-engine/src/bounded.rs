//! Bounded reads of files in a worktree, any of which an agent may have replaced.

use std::path::Path;

use handover_files::{FileError, read_bounded};

/// Stories, scenarios and manifests are far smaller.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// The content of a regular file; none if it is missing or too large.
pub(crate) fn bytes(path: &Path) -> Option<Vec<u8>> {
    content(path).ok().flatten()
}

/// The same for text.
pub(crate) fn text(path: &Path) -> Option<String> {
    String::from_utf8(bytes(path)?).ok()
}

/// The content of a regular file; none if it is missing.
pub(crate) fn content(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    read_bounded(path, MAX_BYTES)
}
