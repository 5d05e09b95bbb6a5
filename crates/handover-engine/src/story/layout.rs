//! Where a project keeps its epics and stories: the configured folders, or those of common tools.

use handover_model::config::RunsConfig;

/// Folders of epics: our own default, sharded and single files of BMAD 4 and 6, plain ones, and the features
/// of spec-kit.
const EPICS: &[&str] = &[
    "docs/epics",
    "docs/prd",
    "_bmad-output/planning-artifacts",
    "docs",
    "epics",
    "specs/*/spec.md",
];
/// Folders of stories, in the same order.
const STORIES: &[&str] = &[
    "docs/stories",
    "docs/sprint-artifacts",
    "docs/sprints",
    "_bmad-output/implementation-artifacts",
    "_bmad-output/stories",
    "stories",
    "issues",
    ".github/issues",
    "specs/*/tasks.md",
];

/// The folders that are searched, relative to the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Folders of epics, or one file in each folder of many: `specs/*/spec.md`.
    pub epics: Vec<String>,
    /// Folders of stories, searched with everything below them, or one file in each folder of many.
    pub stories: Vec<String>,
}

/// Folder and file of a place such as `specs/*/tasks.md`.
pub(super) fn in_each_folder(place: &str) -> Option<(&str, &str)> {
    place.split_once("/*/").filter(|(_, file)| !file.contains(['/', '*']))
}

impl Layout {
    /// The configured folders, or the usual ones.
    pub fn new(config: &RunsConfig) -> Self {
        let or = |own: &[String], usual: &[&str]| match own {
            [] => usual.iter().map(|&folder| folder.to_owned()).collect(),
            own => own.iter().map(|folder| folder.trim_end_matches('/').to_owned()).collect(),
        };
        Self { epics: or(&config.epics, EPICS), stories: or(&config.stories, STORIES) }
    }
}

impl Default for Layout {
    fn default() -> Self {
        Self::new(&RunsConfig::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configured_folders_replace_the_usual_ones() {
        let config =
            RunsConfig { stories: vec!["work/items/".to_owned()], ..RunsConfig::default() };
        let layout = Layout::new(&config);
        assert_eq!(layout.stories, ["work/items"]);
        assert!(layout.epics.iter().any(|folder| folder == "docs/epics"));
    }
}
