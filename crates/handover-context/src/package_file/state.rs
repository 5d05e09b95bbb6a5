//! Compares a registered file with what was registered.

use std::io::Read;

use handover_model::Package;
use serde::Serialize;

use super::{ProjectPaths, content_hash};

/// The state of a registered file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// Unchanged.
    Current,
    /// Modified since: it should be registered again.
    Changed,
    /// Missing, or no longer inside the project.
    Vanished,
    /// Not on this machine, but the store is shared and has the registered text.
    Elsewhere,
}

/// The state of a package's file. Sizes are compared before the content is read.
pub fn file_state(paths: &ProjectPaths, package: &Package) -> FileState {
    if let Some(checkout) = &paths.checkout {
        let there = file_state(checkout, package);
        if there != FileState::Vanished {
            return there;
        }
    }
    let absent = if paths.is_shared() { FileState::Elsewhere } else { FileState::Vanished };
    let Ok(located) = paths.locate(paths.root(), &paths.absolute(&package.path)) else {
        return absent;
    };
    let Ok(mut file) = paths.open(&located) else { return absent };
    match file.metadata() {
        Ok(metadata) if metadata.len() != package.size_bytes => FileState::Changed,
        Ok(_) => {
            let mut bytes = Vec::new();
            match file.read_to_end(&mut bytes) {
                Ok(_) if content_hash(&bytes) == package.content_hash => FileState::Current,
                Ok(_) => FileState::Changed,
                Err(_) => absent,
            }
        }
        Err(_) => absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestProject;

    fn registered(project: &TestProject) -> Package {
        project.write("docs/a.md", "text");
        project.register(project.package("docs/a.md", "a", "text"))
    }

    #[test]
    fn compares_size_and_content() {
        let project = TestProject::new();
        let package = registered(&project);
        assert_eq!(file_state(&project.paths, &package), FileState::Current);
        project.write("docs/a.md", "TEXT");
        assert_eq!(file_state(&project.paths, &package), FileState::Changed);
        project.write("docs/a.md", "text and more");
        assert_eq!(file_state(&project.paths, &package), FileState::Changed);
        project.write("docs/a.md", "text");
        assert_eq!(file_state(&project.paths, &package), FileState::Current);
    }

    #[test]
    fn a_missing_file_may_be_on_another_machine() {
        let project = TestProject::new();
        let package = registered(&project);
        fs_err::remove_file(project.paths.root().join("docs/a.md")).unwrap();
        assert_eq!(file_state(&project.paths, &package), FileState::Vanished);
        let shared = project.paths.clone().shared(true);
        assert_eq!(file_state(&shared, &package), FileState::Elsewhere);
        fs_err::create_dir_all(project.paths.root().join("docs/a.md")).unwrap();
        assert_eq!(file_state(&project.paths, &package), FileState::Vanished);
    }

    #[test]
    fn a_link_out_of_the_project_is_no_file() {
        let project = TestProject::new();
        let package = registered(&project);
        let outside = project.outside("a.md");
        fs_err::write(&outside, "text").unwrap();
        let inside = project.paths.root().join("docs/a.md");
        fs_err::remove_file(&inside).unwrap();
        std::os::unix::fs::symlink(outside, inside).unwrap();
        assert_eq!(file_state(&project.paths, &package), FileState::Vanished);
    }

    #[test]
    fn the_agents_checkout_takes_precedence() {
        let project = TestProject::new();
        let package = registered(&project);
        let checkout = project.outside("checkout");
        fs_err::create_dir_all(checkout.join("docs")).unwrap();
        let paths = project.paths.seen_from(&checkout).unwrap();
        assert_eq!(file_state(&paths, &package), FileState::Current);
        fs_err::write(checkout.join("docs/a.md"), "other").unwrap();
        assert_eq!(file_state(&paths, &package), FileState::Changed);
        project.write("docs/a.md", "changed");
        fs_err::write(checkout.join("docs/a.md"), "text").unwrap();
        assert_eq!(file_state(&paths, &package), FileState::Current);
    }
}
