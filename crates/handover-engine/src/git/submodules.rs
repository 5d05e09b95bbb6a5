//! Submodules in worktrees: their files, taken from the objects that the user's checkout already has. No
//! repository is cloned or configured for them: nothing is fetched, no hook or filter of theirs runs, and git
//! takes them for folders that nobody has initialized.

use std::path::{Path, PathBuf};

use super::command::Call;
use super::{GitError, Repo, Worktree};

/// A submodule in a worktree.
struct Submodule {
    /// Its path, relative to the root of the repository.
    path: String,
    commit: String,
}

/// A submodule in which something was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSubmodule {
    /// Its path.
    pub path: String,
    /// The files, if it is known which.
    pub files: Vec<String>,
}

impl Repo {
    /// The submodules of a tree that stay empty in worktrees, because the checkout does not have their files.
    pub fn empty_submodules(&self, tree: &str) -> Result<Vec<String>, GitError> {
        let all = self.submodules(tree)?;
        let commit = |path: &str| self.text(["rev-parse", "--verify", &format!("{tree}:{path}")]);
        let is_empty =
            |path: &String| commit(path).map_or(true, |it| self.objects(path, &it).is_none());
        Ok(all.into_iter().filter(is_empty).collect())
    }

    /// The folder with the objects of a submodule, if it has this commit.
    fn objects(&self, path: &str, commit: &str) -> Option<PathBuf> {
        let git = self.root.join(path).join(".git");
        let folder = match fs_err::read_to_string(&git) {
            Ok(link) => self.root.join(path).join(link.trim().strip_prefix("gitdir: ")?),
            // Submodules of long ago are whole repositories.
            Err(_) => git,
        };
        let folder = fs_err::canonicalize(folder).ok()?;
        let root = fs_err::canonicalize(&self.root).ok()?;
        let is_ours = folder.starts_with(&self.common) || folder.starts_with(root);
        let objects = folder.join("objects");
        let has_commit = || {
            let call = self.call(["cat-file", "-e", &format!("{commit}^{{commit}}")]);
            call.env("GIT_OBJECT_DIRECTORY", &objects).text().is_ok()
        };
        (is_ours && objects.is_dir() && has_commit()).then_some(objects)
    }
}

impl Worktree {
    /// Puts the files of all submodules into their folders, unless they are there.
    pub(super) fn fill_submodules(&self) -> Result<(), GitError> {
        for submodule in self.submodules()? {
            let Some(objects) = self.repo.objects(&submodule.path, &submodule.commit) else {
                continue;
            };
            let is_filled = fs_err::read_to_string(self.mark_of(&submodule))
                .is_ok_and(|commit| commit == submodule.commit);
            if is_filled && self.changed(&submodule, Some(&objects))?.is_none() {
                continue;
            }
            self.empty(&submodule)?;
            let _ = fs_err::remove_file(self.index_of(&submodule));
            self.inside_of(&submodule, &objects, &["read-tree", &submodule.commit]).text()?;
            self.inside_of(&submodule, &objects, &["checkout-index", "--all", "--force"]).text()?;
            // The times of the files, so that none is read again.
            self.inside_of(&submodule, &objects, &["update-index", "-q", "--refresh"]).text()?;
            fs_err::write(self.mark_of(&submodule), &submodule.commit)?;
        }
        Ok(())
    }

    /// The submodules in which something was changed. They are as they were before.
    pub fn restore_submodules(&self) -> Result<Vec<ChangedSubmodule>, GitError> {
        let mut all = Vec::new();
        for submodule in self.submodules()? {
            let objects = self.repo.objects(&submodule.path, &submodule.commit);
            if let Some(files) = self.changed(&submodule, objects.as_deref())? {
                self.empty(&submodule)?;
                all.push(ChangedSubmodule { path: submodule.path, files });
            }
        }
        if !all.is_empty() {
            self.fill_submodules()?;
        }
        Ok(all)
    }

    fn submodules(&self) -> Result<Vec<Submodule>, GitError> {
        // Without this file there are none, and a large index need not be listed.
        if !self.path.join(".gitmodules").exists() {
            return Ok(Vec::new());
        }
        let listed = self.ours(&["ls-files", "--stage", "-z"]).bytes()?;
        let entry = |entry: &[u8]| {
            let entry = String::from_utf8_lossy(entry);
            let (head, path) = entry.split_once('\t')?;
            let commit = head.strip_prefix("160000 ")?.split(' ').next()?.to_owned();
            Some(Submodule { path: path.to_owned(), commit })
        };
        Ok(listed.split(|byte| *byte == 0).filter_map(entry).collect())
    }

    /// What was changed in a submodule; none if nothing was. Files that it ignores are builds.
    fn changed(
        &self,
        submodule: &Submodule,
        objects: Option<&Path>,
    ) -> Result<Option<Vec<String>>, GitError> {
        let folder = self.path.join(&submodule.path);
        let Ok(data) = fs_err::symlink_metadata(&folder) else { return Ok(Some(Vec::new())) };
        if !data.is_dir() || fs_err::symlink_metadata(folder.join(".git")).is_ok() {
            return Ok(Some(Vec::new()));
        }
        let Some(objects) = objects.filter(|_| self.index_of(submodule).exists()) else {
            // It was left empty.
            let mut names = Vec::new();
            for entry in fs_err::read_dir(&folder)? {
                names.push(entry?.file_name().to_string_lossy().into_owned());
            }
            return Ok(Some(names).filter(|names| !names.is_empty()));
        };
        let list = ["ls-files", "-z", "--others", "--modified", "--deleted", "--exclude-standard"];
        let listed = self.inside_of(submodule, objects, &list).bytes()?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut names: Vec<String> =
            names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        names.dedup();
        Ok(Some(names).filter(|names| !names.is_empty()))
    }

    /// Leaves an empty folder, whatever was there.
    fn empty(&self, submodule: &Submodule) -> Result<(), GitError> {
        let folder = self.path.join(&submodule.path);
        let _ = fs_err::remove_file(self.mark_of(submodule));
        match fs_err::symlink_metadata(&folder) {
            Ok(data) if data.is_dir() => fs_err::remove_dir_all(&folder)?,
            Ok(_) => fs_err::remove_file(&folder)?,
            Err(_) => {}
        }
        Ok(fs_err::create_dir_all(&folder)?)
    }

    /// A call that sees the submodule's objects, our configuration, and nothing else of it.
    fn inside_of(&self, submodule: &Submodule, objects: &Path, args: &[&str]) -> Call {
        let folder = self.path.join(&submodule.path);
        self.repo
            .call(args)
            .env("GIT_DIR", &self.repo.common)
            .env("GIT_WORK_TREE", &folder)
            .env("GIT_INDEX_FILE", self.index_of(submodule))
            .env("GIT_OBJECT_DIRECTORY", objects)
            .folder(&folder)
    }

    fn index_of(&self, submodule: &Submodule) -> PathBuf {
        self.beside("index", submodule)
    }

    /// The file that says which commit is there.
    fn mark_of(&self, submodule: &Submodule) -> PathBuf {
        self.beside("commit", submodule)
    }

    fn beside(&self, what: &str, submodule: &Submodule) -> PathBuf {
        let mut name = self.index.clone().into_os_string();
        name.push(format!(".{}.{what}", submodule.path.replace('/', "%2F")));
        name.into()
    }
}
