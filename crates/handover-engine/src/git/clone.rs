//! An independent repository with the history of one commit and nothing else: no later commit, no other branch, no
//! tag, no reflog, no remote, no way back to the user's repository.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use handover_model::Timestamp;

use super::command::Call;
use super::{GitError, Repo};

impl Repo {
    /// Creates such a repository in a folder that does not exist yet, and checks the commit out. Files with filters
    /// are checked out as git stores them, and submodules stay empty.
    ///
    /// Git packs exactly what is reachable from the commit into the new repository, so that nothing else can be there;
    /// it is verified all the same.
    pub fn isolated_clone(&self, commit: &str, target: &Path) -> Result<(), GitError> {
        fs_err::create_dir_all(target)?;
        let format = self.text(["rev-parse", "--show-object-format"])?;
        let format = format!("--object-format={format}");
        self.apart(target, &["init", "--quiet", "--template=", "--initial-branch=main", &format])
            .text()?;
        let git = target.join(".git");
        let pack = git.join("objects/pack/pack");
        self.call(["pack-objects", "--revs", "-q"])
            .arg(&pack)
            .input(format!("{commit}\n"))
            .text()?;
        let shallow = self.common.join("shallow");
        if shallow.is_file() {
            fs_err::copy(shallow, git.join("shallow"))?;
        }
        self.apart(target, &["checkout", "--quiet", "--force", "-B", "main", commit]).text()?;
        self.verify_isolation(commit, target)
    }

    fn verify_isolation(&self, commit: &str, target: &Path) -> Result<(), GitError> {
        let reachable = self.apart(target, &["rev-list", "--count", commit]).text()?;
        let format = "--batch-check=%(objecttype)";
        let types = ["cat-file", "--batch-all-objects", "--unordered", format];
        let types = self.apart(target, &types).text()?;
        let there = types.lines().filter(|kind| *kind == "commit").count();
        let refs = self.apart(target, &["for-each-ref", "--format=%(objectname)"]).text()?;
        if there.to_string() == reachable && refs == commit {
            return Ok(());
        }
        let message = format!("{there} commits instead of {reachable}, refs at {refs}");
        Err(GitError::Failed { command: "pack-objects".to_owned(), message })
    }

    /// Puts a file of a commit into a clone, whatever an agent left in its place: links on the way to it are replaced
    /// by folders. Returns whether the commit has the file.
    pub fn restore_into(&self, target: &Path, commit: &str, path: &str) -> Result<bool, GitError> {
        let entry = self.call(["ls-tree", "-z", commit, "--"]);
        let entry = entry.env("GIT_LITERAL_PATHSPECS", "1").arg(path).text()?;
        let mode = entry.split(' ').next().unwrap_or_default();
        if !mode.starts_with("100") {
            return Ok(false);
        }
        let Some(bytes) = self.file_of(commit, Path::new(path))? else { return Ok(false) };
        let mut place = target.to_owned();
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            place.push(part);
            let found = fs_err::symlink_metadata(&place).ok();
            let is_folder = found.as_ref().is_some_and(std::fs::Metadata::is_dir);
            match (parts.peek(), found) {
                (Some(_), _) if is_folder => {}
                (Some(_), found) => {
                    if found.is_some() {
                        fs_err::remove_file(&place)?;
                    }
                    fs_err::create_dir(&place)?;
                }
                (None, _) if is_folder => fs_err::remove_dir_all(&place)?,
                (None, Some(_)) => fs_err::remove_file(&place)?,
                (None, None) => {}
            }
        }
        fs_err::write(&place, bytes)?;
        let permissions = if mode == "100755" { 0o755 } else { 0o644 };
        fs_err::set_permissions(&place, std::fs::Permissions::from_mode(permissions))?;
        Ok(true)
    }

    /// When a commit was made.
    pub fn commit_time(&self, commit: &str) -> Result<Timestamp, GitError> {
        let text =
            self.text(["show", "--no-patch", "--no-show-signature", "--format=%ct", commit])?;
        let seconds: i64 = text.trim().parse().unwrap_or_default();
        Ok(Timestamp::from_micros(seconds.saturating_mul(1_000_000)))
    }

    /// Whether git ignores a path in a clone.
    pub fn ignores_in(&self, target: &Path, path: &Path) -> bool {
        self.apart(target, &["check-ignore", "--quiet", "--no-index", "--"])
            .arg(path)
            .text()
            .is_ok()
    }

    /// A call in another repository, which sees nothing of the user's configuration.
    fn apart(&self, target: &Path, args: &[&str]) -> Call {
        let git: PathBuf = target.join(".git");
        Call::new(target, self.environment(), args)
            .env("GIT_DIR", git)
            .env("GIT_WORK_TREE", target)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_CONFIG_NOSYSTEM", "1")
    }
}
