//! A worktree of our own: made, looked at as a tree, and brought back to one.

use std::path::{Path, PathBuf};

use super::command::Call;
use super::{GitError, Repo};

/// A worktree for one story. The index is ours, so whatever an agent stages, commits or hides in its
/// own makes no difference to what is seen.
#[derive(Debug, Clone)]
pub struct Worktree {
    repo: Repo,
    /// Where it is.
    pub path: PathBuf,
    index: PathBuf,
    base: String,
}

impl Worktree {
    /// The worktree of a path and a commit, whether or not it is there.
    pub fn at(repo: &Repo, path: PathBuf, index: PathBuf, base: &str) -> Self {
        Self { repo: repo.clone(), path, index, base: base.to_owned() }
    }

    /// Makes it if it is not there or damaged; says whether it did, in which case it holds exactly its
    /// commit.
    pub fn ensure(&self) -> Result<bool, GitError> {
        // One engine at a time: a lock that is there was left by a dead one.
        let _ = fs_err::remove_file(self.index_lock());
        if self.is_whole() {
            return Ok(false);
        }
        self.make()?;
        Ok(true)
    }

    /// Takes over the folder of a worktree that is no longer needed: most of its files are right
    /// already, and what is ignored (installed dependencies, builds) need not be made again. If that
    /// cannot be done, it is made anew when it is needed.
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

    /// Whether the link to the repository looks as it was made.
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
        // The index that git has just made knows the files by their times, so none is read again.
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

    /// Whether git still knows it, and its link to the repository is as it was made.
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

    /// Takes it off whatever branch somebody has checked out in it, and says which.
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

    /// The project's folder inside of it.
    pub fn project(&self) -> PathBuf {
        self.path.join(&self.repo.prefix)
    }

    /// A call that sees the worktree through our index.
    fn ours(&self, args: &[&str]) -> Call {
        self.repo
            .call(args)
            .env("GIT_DIR", &self.repo.common)
            .env("GIT_WORK_TREE", &self.path)
            .env("GIT_INDEX_FILE", &self.index)
            .folder(&self.path)
    }

    /// Everything in it that is not ignored, as a tree.
    pub fn snapshot(&self) -> Result<String, GitError> {
        if !self.index.exists() {
            self.ours(&["read-tree", &self.base]).text()?;
        }
        self.ours(&["add", "--all", "--", "."]).text()?;
        self.ours(&["write-tree"]).text()
    }

    /// Brings it back to a tree; what is ignored stays. If that cannot be done, because an agent or its
    /// death left a lock or worse, it is made anew.
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
        // The agent's own view: on the base, with the work so far as changes.
        self.repo.call(["reset", "--quiet", &self.base]).folder(&self.path).text()?;
        Ok(())
    }

    /// Brings some paths back to what they are in a tree, and gives the tree that this makes. Git does
    /// it, because what is a folder in the tree may be a link to somewhere else by now.
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

    /// A path of the project inside of it; none if links lead it elsewhere.
    pub fn inside(&self, path: &str) -> Option<PathBuf> {
        let whole = self.project().join(path);
        let folder = whole.ancestors().skip(1).find(|above| above.exists())?;
        let real = fs_err::canonicalize(folder).ok()?;
        let is_link = fs_err::symlink_metadata(&whole).is_ok_and(|data| data.is_symlink());
        let is_inside = real.starts_with(fs_err::canonicalize(&self.path).ok()?);
        (is_inside && !is_link).then_some(whole)
    }

    /// Takes it away, whatever state it is in; git is told by [`Repo::prune`].
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
    /// Keeps other engines from changing the list of worktrees: git reads all of it whenever it changes
    /// one, and stumbles over one that is only half there.
    fn alone(&self) -> Result<fs_err::File, GitError> {
        let file = fs_err::File::create(self.common.join("handover.lock"))?;
        file.file().lock()?;
        Ok(file)
    }

    /// Lets git forget the worktrees whose folders are gone.
    pub fn prune(&self) -> Result<(), GitError> {
        let _alone = self.alone()?;
        self.text(["worktree", "prune", "--expire=now"]).map(drop)
    }
}
