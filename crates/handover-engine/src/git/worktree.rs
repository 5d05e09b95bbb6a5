//! A worktree of the engine: created, read as a tree, and restored to a tree.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::command::{Call, lock_exclusively};
use super::{GitError, Repo};

/// How often a worktree is created that does not stay, and the first pause in between.
const ATTEMPTS: u32 = 4;
const PAUSE: Duration = Duration::from_millis(100);

/// A worktree for one story. It is read through our own index, so it does not matter what an agent
/// stages, commits or hides in its index.
#[derive(Debug, Clone)]
pub struct Worktree {
    pub(super) repo: Repo,
    /// Its folder.
    pub path: PathBuf,
    pub(super) index: PathBuf,
    base: String,
}

impl Worktree {
    /// The worktree of a path and a commit, whether or not it exists.
    pub fn at(repo: &Repo, path: PathBuf, index: PathBuf, base: &str) -> Self {
        Self { repo: repo.clone(), path, index, base: base.to_owned() }
    }

    /// Creates it if it is missing or damaged. Returns whether it was created; then it holds exactly its
    /// commit.
    pub fn ensure(&self) -> Result<bool, GitError> {
        // Only one engine runs at a time, so a lock file is left over from a crash.
        let _ = fs_err::remove_file(self.index_lock());
        if self.is_whole() {
            return Ok(false);
        }
        self.make()?;
        Ok(true)
    }

    /// Reuses the folder of a worktree that is no longer needed: most of its files are the same, and
    /// ignored files (dependencies, builds) need not be created again. If that fails, the worktree is
    /// recreated when it is needed.
    pub fn inherit(&self, old: &Self) -> Result<(), GitError> {
        if self.path.exists() || !old.is_linked() {
            return Ok(());
        }
        let _lock = lock_exclusively(&self.repo.common)?;
        let moved = self.repo.call(["worktree", "move"]).arg(&old.path).arg(&self.path).text();
        match moved {
            Ok(_) => Ok(fs_err::rename(&old.index, &self.index)?),
            Err(GitError::Failed { .. }) => old.remove(),
            Err(error) => Err(error),
        }
    }

    /// The name that git knows it by, which it keeps when it is moved; none if its link is broken.
    pub fn name(&self) -> Option<String> {
        Some(self.admin()?.file_name()?.to_str()?.to_owned())
    }

    /// Whether another worktree of the repository, by that name, still exists.
    pub fn has_neighbor(&self, name: &str) -> bool {
        let place =
            fs_err::read_to_string(self.repo.common.join("worktrees").join(name).join("gitdir"));
        place.is_ok_and(|place| Path::new(place.trim()).exists())
    }

    /// Keeps other engines from creating and removing worktrees.
    pub fn lock_list(&self) -> Result<fs_err::File, GitError> {
        lock_exclusively(&self.repo.common)
    }

    /// Whether its link to the repository is intact.
    pub fn is_linked(&self) -> bool {
        self.admin().is_some()
    }

    /// The worktree at a path, as it was left; none if its link to the repository is broken. `index` is a file
    /// that does not exist yet.
    pub fn left_at(repo: &Repo, path: PathBuf, index: PathBuf) -> Option<Self> {
        let mut worktree = Self::at(repo, path, index, "HEAD");
        let head = worktree.inner(&["rev-parse", "--verify", "--quiet", "HEAD"])?.text().ok()?;
        worktree.base = head;
        Some(worktree)
    }

    /// Its own folder inside the repository's, if each points to the other: an agent can write either link.
    fn admin(&self) -> Option<PathBuf> {
        let link = fs_err::read_to_string(self.path.join(".git")).ok()?;
        let admin = self.path.join(link.trim().strip_prefix("gitdir: ")?);
        let admin = fs_err::canonicalize(admin).ok()?;
        let back = fs_err::read_to_string(admin.join("gitdir")).ok()?;
        let is_back = fs_err::canonicalize(admin.join(back.trim())).ok()?
            == fs_err::canonicalize(self.path.join(".git")).ok()?;
        let worktrees = self.repo.common.join("worktrees");
        (admin.parent() == Some(&worktrees) && is_back).then_some(admin)
    }

    fn make(&self) -> Result<(), GitError> {
        let mut attempt = 1;
        loop {
            self.remove()?;
            if let Some(above) = self.path.parent() {
                fs_err::create_dir_all(above)?;
            }
            let _lock = lock_exclusively(&self.repo.common)?;
            match self.add() {
                // The git of a run that was killed may still be at work here. When it ends, it removes what it began.
                Err(GitError::Failed { .. } | GitError::Io(_)) if attempt < ATTEMPTS => {
                    thread::sleep(PAUSE * attempt);
                    attempt += 1;
                }
                added => return added.and_then(|()| self.fill_submodules()),
            }
        }
    }

    fn add(&self) -> Result<(), GitError> {
        let worktrees = self.repo.common.join("worktrees");
        fs_err::create_dir_all(&worktrees)?;
        self.repo.repair_entries();
        // Twice, because a killed call may have left a locked entry without a folder.
        let add = ["worktree", "add", "--quiet", "--force", "--force", "--detach"];
        self.repo.call(add).arg(&self.path).arg(&self.base).text()?;
        // Git has linked it to our own folder. For every other program it must belong to the repository.
        let link = self.path.join(".git");
        let linked = PathBuf::from(fs_err::read_to_string(&link)?.trim());
        let admin = worktrees.join(linked.file_name().unwrap_or_default());
        fs_err::write(link, format!("gitdir: {}\n", admin.display()))?;
        // The index that git just wrote has the files' times, so none is read again.
        fs_err::copy(admin.join("index"), &self.index)?;
        Ok(())
    }

    fn index_lock(&self) -> PathBuf {
        let mut name = self.index.clone().into_os_string();
        name.push(".lock");
        name.into()
    }

    /// Whether git still knows it and its link to the repository is intact.
    fn is_whole(&self) -> bool {
        self.inner(&["rev-parse", "--verify", "--quiet", "HEAD"])
            .is_some_and(|call| call.text().is_ok())
    }

    /// A call that uses its own head and index, which its agent may have changed; none if its link is
    /// broken.
    fn inner(&self, args: &[&str]) -> Option<Call> {
        let call = self.repo.call(args).env("GIT_DIR", self.admin()?);
        Some(call.env("GIT_WORK_TREE", &self.path).folder(&self.path))
    }

    /// Detaches its head and returns the branch that was checked out in it.
    pub fn detach(&self) -> Result<Option<String>, GitError> {
        let head = self.inner(&["symbolic-ref", "--quiet", "HEAD"]);
        let Some(Ok(branch)) = head.map(Call::text) else { return Ok(None) };
        let move_head = ["update-ref", "-m", "handover", "--no-deref", "HEAD", &self.base];
        self.inner(&move_head).map(Call::text).transpose()?;
        Ok(Some(branch))
    }

    /// The project's folder inside the worktree.
    pub fn project(&self) -> PathBuf {
        self.path.join(&self.repo.prefix)
    }

    /// Whether git ignores a path of the project.
    pub fn ignores(&self, path: &Path) -> bool {
        let path = self.repo.prefix.join(path);
        self.ours(&["check-ignore", "--quiet", "--no-index", "--"]).arg(path).text().is_ok()
    }

    /// A call that uses our index.
    pub(super) fn ours(&self, args: &[&str]) -> Call {
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
        self.stage_all()?;
        self.ours(&["write-tree"]).text()
    }

    /// Adds everything that is not ignored to our index. `git add` would start git in repositories that the
    /// agent left inside the worktree, with their configuration.
    fn stage_all(&self) -> Result<(), GitError> {
        let list =
            ["ls-files", "-z", "-t", "--others", "--modified", "--deleted", "--exclude-standard"];
        let listed = self.ours(&list).bytes()?;
        let (mut gone, mut changed, mut added) = (Vec::new(), Vec::new(), Vec::new());
        for entry in listed.split(|byte| *byte == 0) {
            let Some((tag, path)) = entry.split_at_checked(2) else { continue };
            let paths = if tag == b"? " {
                &mut added
            } else if self.is_behind_link(path) {
                &mut gone
            } else {
                &mut changed
            };
            // A trailing slash marks a nested repository.
            paths.extend_from_slice(path.strip_suffix(b"/").unwrap_or(path));
            paths.push(0);
        }
        if !gone.is_empty() {
            let remove = ["update-index", "-z", "--force-remove", "--stdin"];
            self.ours(&remove).input(gone).text()?;
        }
        // New files come last: one may be in the way of an old one.
        changed.append(&mut added);
        if changed.is_empty() {
            return Ok(());
        }
        let stage = ["update-index", "-z", "--add", "--remove", "--replace", "--stdin"];
        self.ours(&stage).input(changed).text().map(drop)
    }

    /// Whether a folder above a path has been replaced by a link, so that the path is not in the worktree.
    pub(super) fn is_behind_link(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let mut above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        above.any(|above| {
            fs_err::symlink_metadata(self.path.join(above)).is_ok_and(|data| data.is_symlink())
        })
    }

    /// Restores a tree; ignored files stay. If that fails, for example because of a stale lock, the worktree is
    /// recreated.
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
        let Some(reset) = self.inner(&["reset", "--quiet", &self.base]) else {
            let message = "the worktree is not linked to the repository".to_owned();
            return Err(GitError::Failed { command: "reset".to_owned(), message });
        };
        reset.text()?;
        self.fill_submodules()
    }

    /// Restores some paths to their state in a tree and returns the resulting tree. Git does it, because a
    /// folder in the tree may have been replaced by a link.
    pub fn restore_paths(&self, tree: &str, paths: &[String]) -> Result<String, GitError> {
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
    /// The trees of all commits that branches, tags and our own refs keep. The heads of worktrees do not count.
    pub fn kept_trees(&self) -> Result<HashSet<String>, GitError> {
        let kept = ["--branches", "--tags", "--remotes", "--glob=refs/handover"];
        let trees = self.text(["log", "--format=%T"].into_iter().chain(kept))?;
        Ok(trees.lines().map(str::to_owned).collect())
    }

    /// Whether we keep work of a run under a ref.
    pub fn keeps_work_of(&self, run: &str) -> Result<bool, GitError> {
        let refs = format!("refs/handover/{run}/");
        Ok(!self.text(["for-each-ref", "--count=1", &refs])?.is_empty())
    }

    /// Makes git forget worktrees whose folders are gone.
    pub fn prune(&self) -> Result<(), GitError> {
        let _lock = lock_exclusively(&self.common)?;
        self.repair_entries();
        self.text(["worktree", "prune", "--expire=now"]).map(drop)
    }

    /// Repairs the entries of our worktrees. A `git worktree add` that is killed leaves one that git keeps for ever: locked,
    /// and without a folder. A power failure may empty the file that leads back to the repository, and then git refuses
    /// to change any worktree.
    fn repair_entries(&self) {
        let Ok(entries) = fs_err::read_dir(self.common.join("worktrees")) else { return };
        for admin in entries.flatten().map(|entry| entry.path()) {
            let read = |name: &str| fs_err::read_to_string(admin.join(name)).unwrap_or_default();
            let place = read("gitdir");
            if !place.contains("/.handover/runs/") {
                continue;
            }
            if !Path::new(place.trim()).exists() && read("locked").trim() == "initializing" {
                let _ = fs_err::remove_file(admin.join("locked"));
            }
            if read("commondir").trim().is_empty() {
                let _ = fs_err::write(admin.join("commondir"), "../..\n");
            }
        }
    }
}
