//! A worktree of the engine: created, read as a tree, and restored to a tree.

use std::path::{Path, PathBuf};

use super::command::Call;
use super::{GitError, Repo};

/// A worktree for one story. It is read through our own index, so it does not matter what an agent
/// stages, commits or hides in its index.
#[derive(Debug, Clone)]
pub struct Worktree {
    repo: Repo,
    /// Its folder.
    pub path: PathBuf,
    index: PathBuf,
    base: String,
}

impl Worktree {
    /// The worktree of a path and a commit, whether or not it exists.
    pub fn at(repo: &Repo, path: PathBuf, index: PathBuf, base: &str) -> Self {
        Self { repo: repo.clone(), path, index, base: base.to_owned() }
    }

    /// Creates it if it is missing or damaged. Returns whether it did; then it holds exactly its
    /// commit.
    pub fn ensure(&self) -> Result<bool, GitError> {
        // Only one engine runs at a time, so a lock file was left by a crashed one.
        let _ = fs_err::remove_file(self.index_lock());
        if self.is_whole() {
            return Ok(false);
        }
        self.make()?;
        Ok(true)
    }

    /// Reuses the folder of a worktree that is no longer needed: most of its files are the same, and
    /// ignored files (dependencies, builds) need not be created again. If that fails, the worktree is
    /// created anew when it is needed.
    pub fn inherit(&self, former: &Self) -> Result<(), GitError> {
        if self.path.exists() || !former.is_linked() {
            return Ok(());
        }
        let _alone = self.repo.alone()?;
        let moved = self.repo.call(["worktree", "move"]).arg(&former.path).arg(&self.path).text();
        match moved {
            Ok(_) => Ok(fs_err::rename(&former.index, &self.index)?),
            Err(GitError::Failed { .. }) => former.remove(),
            Err(error) => Err(error),
        }
    }

    /// Whether its link to the repository is intact.
    pub fn is_linked(&self) -> bool {
        fs_err::read_to_string(self.path.join(".git")).is_ok_and(|link| {
            let admin = link.trim().strip_prefix("gitdir: ").map(|admin| self.path.join(admin));
            let admin = admin.and_then(|admin| fs_err::canonicalize(admin).ok());
            admin.is_some_and(|admin| admin.starts_with(&self.repo.common))
        })
    }

    fn make(&self) -> Result<(), GitError> {
        self.remove()?;
        if let Some(above) = self.path.parent() {
            fs_err::create_dir_all(above)?;
        }
        let _alone = self.repo.alone()?;
        let add = ["worktree", "add", "--quiet", "--force", "--detach"];
        self.repo.call(add).arg(&self.path).arg(&self.base).text()?;
        // The index that git just wrote knows the files by their times, so none is read again.
        let link = fs_err::read_to_string(self.path.join(".git"))?;
        if let Some(admin) = link.trim().strip_prefix("gitdir: ") {
            fs_err::copy(self.path.join(admin).join("index"), &self.index)?;
        }
        Ok(())
    }

    fn index_lock(&self) -> PathBuf {
        let mut name = self.index.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// Whether git still knows it and its link to the repository is intact.
    fn is_whole(&self) -> bool {
        if !self.is_linked() {
            return false;
        }
        let places = ["rev-parse", "--path-format=absolute", "--show-toplevel", "--git-common-dir"];
        let answer = self.repo.call(places).folder(&self.path).text();
        let Ok(answer) = answer else { return false };
        let mut lines = answer.lines();
        let same = |line: Option<&str>, path: &Path| {
            line.and_then(|line| fs_err::canonicalize(line).ok()) == fs_err::canonicalize(path).ok()
        };
        same(lines.next(), &self.path) && same(lines.next(), &self.repo.common)
    }

    /// Detaches its head and returns the branch that was checked out in it.
    pub fn detach(&self) -> Result<Option<String>, GitError> {
        if !self.is_linked() {
            return Ok(None);
        }
        let head = self.repo.call(["symbolic-ref", "--quiet", "HEAD"]).folder(&self.path).text();
        let Ok(branch) = head else { return Ok(None) };
        let move_head = ["update-ref", "-m", "handover", "--no-deref", "HEAD", &self.base];
        self.repo.call(move_head).folder(&self.path).text()?;
        Ok(Some(branch))
    }

    /// The project's folder inside the worktree.
    pub fn project(&self) -> PathBuf {
        self.path.join(&self.repo.prefix)
    }

    /// A call that uses our index.
    fn ours(&self, args: &[&str]) -> Call {
        self.repo
            .call(args)
            .env("GIT_DIR", &self.repo.common)
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_INDEX_FILE", &self.index)
            .folder(&self.path)
    }

    /// Writes everything that is not ignored as a tree.
    pub fn snapshot(&self) -> Result<String, GitError> {
        if !self.index.exists() {
            self.ours(&["read-tree", &self.base]).text()?;
        }
        self.ours(&["add", "--all", "--", "."]).text()?;
        self.ours(&["write-tree"]).text()
    }

    /// Restores a tree; ignored files stay. If that fails, for example because of a stale lock, the
    /// worktree is created anew.
    pub fn restore(&self, tree: &str) -> Result<(), GitError> {
        match self.try_restore(tree) {
            Err(GitError::Failed { .. } | GitError::Io(_)) => {
                self.make()?;
                self.try_restore(tree)
            }
            other => other,
        }
    }

    fn try_restore(&self, tree: &str) -> Result<(), GitError> {
        self.ours(&["read-tree", "--reset", "-u", tree]).text()?;
        self.ours(&["clean", "-ffdq"]).text()?;
        self.detach()?;
        // In the agent's own index, the work so far appears as changes to the base.
        self.repo.call(["reset", "--quiet", &self.base]).folder(&self.path).text()?;
        Ok(())
    }

    /// Restores some paths to their state in a tree and returns the resulting tree. Git does it,
    /// because a folder of the tree may have been replaced by a link.
    pub fn put_back(&self, tree: &str, paths: &[String]) -> Result<String, GitError> {
        let mut call = self.ours(&["reset", "--quiet", tree, "--"]);
        for path in paths {
            call = call.arg(format!(":(top,literal){path}"));
        }
        call.text()?;
        let made = self.ours(&["write-tree"]).text()?;
        self.restore(&made)?;
        Ok(made)
    }

    /// A path of the project inside the worktree; none if a link leads out of it.
    pub fn inside(&self, path: &str) -> Option<PathBuf> {
        let whole = self.project().join(path);
        let folder = whole.ancestors().skip(1).find(|above| above.exists())?;
        let real = fs_err::canonicalize(folder).ok()?;
        let is_link = fs_err::symlink_metadata(&whole).is_ok_and(|data| data.is_symlink());
        let is_inside = real.starts_with(fs_err::canonicalize(&self.path).ok()?);
        (is_inside && !is_link).then_some(whole)
    }

    /// Removes it, whatever state it is in; [`Repo::prune`] makes git forget it.
    pub fn remove(&self) -> Result<(), GitError> {
        for file in [self.index.clone(), self.index_lock()] {
            let _ = fs_err::remove_file(file);
        }
        if self.path.exists() {
            fs_err::remove_dir_all(&self.path)?;
        }
        Ok(())
    }
}

impl Repo {
    /// Keeps other engines from changing the list of worktrees: git reads all of them for each change,
    /// and fails on an incomplete one.
    fn alone(&self) -> Result<fs_err::File, GitError> {
        let file = fs_err::File::create(self.common.join("handover.lock"))?;
        file.file().lock()?;
        Ok(file)
    }

    /// Makes git forget worktrees whose folders are gone.
    pub fn prune(&self) -> Result<(), GitError> {
        let _alone = self.alone()?;
        self.text(["worktree", "prune", "--expire=now"]).map(drop)
    }
}
