//! Which folder Cargo builds in, for each worktree.
//!
//! Two worktrees of a project must not share one while both exist. Cargo identifies the packages of a workspace by
//! their place in it, and calls a build fresh that is newer than the files: after a build of one worktree, the
//! older files of another one are not compiled, and its tests run the code of the first. A folder outlives its
//! worktree, because dependencies that were built need not be built again, and the files of the next worktree are
//! newer than all of that.

use std::path::PathBuf;

use handover_agents::Environment;
use handover_files::{Folder, Sync};

use super::Engine;
use crate::EngineError;
use crate::git::Worktree;

/// More worktrees than any run has at once.
const MOST: usize = 1_000;

/// The folders of all runs.
#[derive(Debug, Clone)]
pub(super) struct CargoTargets(Folder);

impl Engine<'_> {
    pub(super) fn cargo_targets(&self) -> CargoTargets {
        CargoTargets(self.runs_folder().inside("cargo-target"))
    }
}

impl CargoTargets {
    /// Makes Cargo use the folder of this worktree, which must exist. A folder that the user chose is for
    /// their checkout, where it would be shared.
    pub(super) fn choose(
        &self,
        worktree: &Worktree,
        environment: &mut Environment,
    ) -> Result<(), EngineError> {
        if let Some(folder) = self.of(worktree)? {
            environment.set("CARGO_TARGET_DIR", folder);
        }
        Ok(())
    }

    /// The folder that belongs to a worktree, else one that belongs to none that still exists.
    fn of(&self, worktree: &Worktree) -> Result<Option<PathBuf>, EngineError> {
        let Some(name) = worktree.name() else { return Ok(None) };
        self.0.create()?;
        let _lock = worktree.lock_list()?;
        let mut free = None;
        for number in 1..=MOST {
            let owner = self.0.read_text(&owner_file(number), 4_096)?;
            match &owner {
                Some(owner) if *owner == name => return Ok(Some(self.folder(number))),
                Some(owner) if worktree.has_neighbor(owner) => {}
                Some(_) | None => free = free.or(Some(number)),
            }
            if owner.is_none() {
                break;
            }
        }
        let Some(number) = free else { return Ok(None) };
        self.0.replace(&owner_file(number), name.as_bytes(), Sync::No)?;
        Ok(Some(self.folder(number)))
    }

    fn folder(&self, number: usize) -> PathBuf {
        self.0.inside(number.to_string()).path()
    }
}

fn owner_file(number: usize) -> String {
    format!("{number}.worktree")
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::process::Command;

    use handover_model::Host;

    use super::*;
    use crate::git::Repo;

    /// Another worktree of the repository.
    fn worktree(repo: &Repo, folder: &Path, name: &str) -> Worktree {
        let index = folder.join(format!("{name}.index"));
        let worktree = Worktree::at(repo, folder.join(name), index, "HEAD");
        worktree.ensure().unwrap();
        worktree
    }

    fn repository(folder: &Path) -> Repo {
        let environment = Environment::scrubbed(std::env::vars_os(), Host::COMMAND, &[]);
        for args in [
            &["init", "--quiet"][..],
            &[
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b",
                "commit",
                "--quiet",
                "--allow-empty",
                "--message=a",
            ],
        ] {
            let done = Command::new("git").args(args).current_dir(folder).status().unwrap();
            assert!(done.success());
        }
        Repo::open(&fs_err::canonicalize(folder).unwrap(), environment).unwrap()
    }

    #[test]
    fn no_two_worktrees_share_a_folder_while_both_exist() {
        let project = tempfile::tempdir().unwrap();
        let repo = repository(project.path());
        let place = tempfile::tempdir().unwrap();
        let targets = CargoTargets(Folder::of(project.path()).inside("cargo-target"));
        let number = |worktree: &Worktree| {
            let folder = targets.of(worktree).unwrap().unwrap();
            folder.file_name().unwrap().to_str().unwrap().to_owned()
        };
        let [one, two] = ["one", "two"].map(|name| worktree(&repo, place.path(), name));
        assert_eq!([number(&one), number(&two), number(&one)], ["1", "2", "1"]);
        // A folder becomes free with its worktree, and its next owner keeps it.
        one.remove().unwrap();
        let three = worktree(&repo, place.path(), "three");
        assert_eq!([number(&three), number(&two)], ["1", "2"]);
        // What moves on keeps its folder, because its files are as old as they were.
        let four = Worktree::at(&repo, place.path().join("four"), place.path().join("4"), "HEAD");
        three.remove().unwrap();
        four.inherit(&two).unwrap();
        assert_eq!(number(&four), "2");
        let mut environment = Environment::default();
        targets.choose(&four, &mut environment).unwrap();
        assert!(environment.get("CARGO_TARGET_DIR").is_some());
    }
}
