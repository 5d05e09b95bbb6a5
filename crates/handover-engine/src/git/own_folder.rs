//! Our own git folder next to the repository's: the same objects and refs, another configuration.
//!
//! Git takes the configuration, hooks, attributes and excludes of a repository from its common folder. Ours
//! (`GIT_COMMON_DIR`) is created when the repository is opened, so whatever an agent writes into the
//! repository's configuration later has no effect, and what was there before is filtered.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::GitError;
use super::settings::{GitSetting, config_file};

/// What is shared with the repository. Everything else in its folder is ignored.
const SHARED: &[&str] =
    &["objects", "refs", "reftable", "packed-refs", "logs", "worktrees", "shallow"];
/// The longest list of excluded files that is copied.
const MAX_EXCLUDE: u64 = 1 << 20;

/// Our own git folder. Deleted on drop.
#[derive(Debug)]
pub(super) struct OwnFolder {
    folder: TempDir,
    config: String,
    /// Held while the folder is in use.
    _lock: fs_err::File,
}

impl OwnFolder {
    /// Creates one in the repository's common folder, and deletes those of crashed engines. The caller
    /// holds the lock of that folder.
    pub(super) fn create(common: &Path, settings: &[GitSetting]) -> Result<Self, GitError> {
        let above = common.join("handover");
        fs_err::create_dir_all(&above)?;
        if !fs_err::symlink_metadata(&above)?.is_dir() {
            return Err(GitError::Io(std::io::Error::other(format!(
                "{} is a link; delete it",
                above.display()
            ))));
        }
        remove_orphans(&above)?;
        let folder = tempfile::Builder::new().prefix("git-").tempdir_in(&above)?;
        let lock = fs_err::File::create(folder.path().join(LOCK))?;
        lock.file().lock()?;
        for name in SHARED {
            symlink(common.join(name), folder.path().join(name))?;
        }
        let info = folder.path().join("info");
        fs_err::create_dir(&info)?;
        let exclude = common.join("info/exclude");
        if fs_err::metadata(&exclude).is_ok_and(|data| data.is_file() && data.len() <= MAX_EXCLUDE)
        {
            fs_err::copy(exclude, info.join("exclude"))?;
        }
        let made = Self { folder, config: config_file(settings), _lock: lock };
        made.verify()?;
        Ok(made)
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Restores the configuration if it was changed; called before each use.
    pub(super) fn verify(&self) -> Result<(), GitError> {
        let path = self.config_path();
        let is_file = fs_err::symlink_metadata(&path).is_ok_and(|data| data.is_file());
        if is_file && fs_err::read(&path).is_ok_and(|text| text == self.config.as_bytes()) {
            return Ok(());
        }
        let new = tempfile::NamedTempFile::new_in(self.path())?;
        fs_err::set_permissions(new.path(), std::fs::Permissions::from_mode(0o600))?;
        fs_err::write(new.path(), &self.config)?;
        new.persist(&path).map_err(|error| error.error)?;
        Ok(())
    }

    fn config_path(&self) -> PathBuf {
        self.path().join("config")
    }
}

const LOCK: &str = "lock";

/// Deletes folders whose engine is dead: their lock is free.
fn remove_orphans(above: &Path) -> Result<(), GitError> {
    for entry in fs_err::read_dir(above)? {
        let path = entry?.path();
        let lock = fs_err::File::open(path.join(LOCK));
        if lock.as_ref().is_ok_and(|lock| lock.file().try_lock().is_err()) {
            continue;
        }
        // Links in it are deleted, not followed.
        let is_folder = fs_err::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
        let _ = if is_folder { fs_err::remove_dir_all(&path) } else { fs_err::remove_file(&path) };
    }
    Ok(())
}
