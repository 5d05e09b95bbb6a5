//! Damages the files of a worktree, to see whether a tool notices.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::{GitError, Worktree};

/// What becomes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// It holds something that no language can read.
    Overwritten,
    /// It is gone.
    Removed,
}

/// Nothing begins like this: neither a program nor a document of a format with brackets.
const NONSENSE: &str = "]}) overwritten to see whether a test notices\n";

impl Worktree {
    /// Damages some of its files. What a link leads to is left alone: that may be anywhere.
    pub fn damage(&self, paths: &[&str], how: Damage) -> Result<(), GitError> {
        for path in paths.iter().filter(|path| !self.is_behind_link(path.as_bytes())) {
            let file = self.path.join(Path::new(OsStr::from_bytes(path.as_bytes())));
            let Ok(data) = fs_err::symlink_metadata(&file) else { continue };
            if !data.is_file() {
                continue;
            }
            // A new file, because the old one may have another name elsewhere.
            fs_err::remove_file(&file)?;
            if how == Damage::Overwritten {
                fs_err::write(&file, NONSENSE)?;
                fs_err::set_permissions(&file, data.permissions())?;
            }
        }
        Ok(())
    }
}
