//! Real repositories for tests.

use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::Git;

/// A repository in a temporary folder.
pub(crate) struct Repository {
    folder: TempDir,
}

impl Repository {
    pub(crate) fn new() -> Self {
        let repository = Self { folder: tempfile::tempdir().unwrap() };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn open(&self) -> Git {
        Git::open(self.root(), Self::environment()).unwrap().unwrap()
    }

    /// What git sees in tests: nothing of the user's.
    pub(crate) fn environment() -> Vec<(OsString, OsString)> {
        let path = std::env::var_os("PATH").unwrap();
        vec![("PATH".into(), path), ("HOME".into(), "/nonexistent".into())]
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.git_at("2026-01-01T00:00:00Z", args)
    }

    pub(crate) fn git_at(&self, time: &str, args: &[&str]) -> String {
        let output = Command::new("git")
            .env_clear()
            .envs(Self::environment())
            .envs([("GIT_AUTHOR_DATE", time), ("GIT_COMMITTER_DATE", time)])
            .current_dir(self.root())
            .args(["-c", "user.name=A", "-c", "user.email=a@example.com"])
            .args(args)
            .output()
            .unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes a file, and commits everything.
    pub(crate) fn commit(&self, path: &str, text: &str, message: &str) -> String {
        self.commit_at("2026-01-01T00:00:00Z", path, text, message)
    }

    pub(crate) fn commit_at(&self, time: &str, path: &str, text: &str, message: &str) -> String {
        self.write(path, text);
        self.git(&["add", "-A"]);
        self.git_at(time, &["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let whole = self.root().join(path);
        fs_err::create_dir_all(whole.parent().unwrap()).unwrap();
        fs_err::write(whole, text).unwrap();
    }
}
