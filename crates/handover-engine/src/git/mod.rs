//! Git, through its program and without a shell. The user's checkout, branch and index are not touched:
//! work happens in our own worktrees with our own index, and commits are created from trees.
//!
//! The user's hooks, filters, drivers, signing and maintenance do not run: any agent can write the
//! repository's configuration, so only settings that name no program are used (`settings.rs`,
//! `own_folder.rs`). A file with a filter is checked out as git stores it, such as a git-lfs pointer.

mod clone;
mod command;
mod commit;
mod damage;
mod diff;
mod error;
mod history;
mod join;
mod merge;
mod own_folder;
mod patch;
mod remote;
mod settings;
mod submodules;
mod worktree;

pub use command::Repo;
pub use commit::{Commit, NewCommit};
pub use damage::Damage;
pub use diff::Change;
pub use error::GitError;
pub use history::PastCommit;
pub use merge::Merged;
pub use submodules::ChangedSubmodule;
pub use worktree::Worktree;

/// A story's id in a form that is valid within a ref.
pub fn ref_part(id: &str) -> String {
    let plain: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '-' })
        .collect();
    let mut part = plain.trim_matches(['.', '-']).replace("..", "-");
    if part.to_ascii_lowercase().ends_with(".lock") {
        part.push('-');
    }
    if part == id && part.len() <= 100 {
        return part;
    }
    let short: String = part.chars().take(80).collect();
    let hash = blake3::hash(id.as_bytes()).to_hex();
    format!("{}-{}", short.trim_end_matches(['.', '-']), &hash[..8])
}

#[cfg(test)]
mod tests {
    use super::ref_part;

    #[test]
    fn every_id_becomes_one_part_of_a_name() {
        assert_eq!(ref_part("1-2-login"), "1-2-login");
        for odd in ["a b", "a..b", "x.lock", "ä/ö", "$(rm -rf)", "-x", ".", &"y".repeat(150)] {
            let part = ref_part(odd);
            assert!(
                part.len() <= 100 && !part.contains("..") && !part.ends_with(".lock"),
                "{part}"
            );
            assert!(
                part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)),
                "{part}"
            );
        }
        assert_ne!(ref_part("a b"), ref_part("a/b"));
    }
}
