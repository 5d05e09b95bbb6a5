//! A project with a `.handover/`, and a folder outside it that nothing may touch.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use handover_files::{Folder, Kind};

pub(crate) struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        fs_err::create_dir_all(scene.at("project/.handover")).unwrap();
        fs_err::create_dir_all(scene.at("outside")).unwrap();
        fs_err::write(scene.at("outside/file"), "outside").unwrap();
        scene
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn link(&self, target: &str, name: &str) {
        symlink(self.at(target), self.at("project/.handover").join(name)).unwrap();
    }

    pub(crate) fn pipe(&self, name: &str) {
        let path = self.at("project/.handover").join(name);
        // rustix has no call for it on macOS.
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    }

    pub(crate) fn handover(&self) -> Folder {
        Folder::of(&self.at("project"))
    }

    #[track_caller]
    pub(crate) fn assert_outside_is_untouched(&self) {
        assert_eq!(fs_err::read_to_string(self.at("outside/file")).unwrap(), "outside");
        assert_eq!(fs_err::read_dir(self.at("outside")).unwrap().count(), 1);
    }
}

/// The permissions of a file or folder.
pub(crate) fn mode(path: &Path) -> u32 {
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Names and kinds of what is in a folder.
pub(crate) fn listing(folder: &Folder) -> Vec<(String, Kind)> {
    folder.entries().unwrap().into_iter().map(|entry| (entry.name, entry.kind)).collect()
}
