//! Why stories cannot be run.

use std::path::PathBuf;

/// Why stories cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum StoryError {
    /// Neither an epic nor a story of it was found.
    #[error("there is no epic `{epic}`: no file in {}, no story in {}", epics.join(", "), folders.join(", "))]
    NotFound {
        /// The requested epic.
        epic: String,
        /// The folders that were searched for its file.
        epics: Vec<String>,
        /// The folders that were searched.
        folders: Vec<String>,
    },
    /// An epic without stories.
    #[error("epic `{epic}` has no stories in {}", folders.join(", "))]
    NoStories {
        /// The epic.
        epic: String,
        /// The folders that were searched.
        folders: Vec<String>,
    },
    /// An epic whose file lists stories that have no files.
    #[error("`{file}` lists {}, but {} yet", stories.join(", "), if stories.len() == 1 { "it has no file" } else { "they have no files" })]
    OnlyListed {
        /// The epic.
        epic: String,
        /// The file of the epic.
        file: String,
        /// The stories in it, such as `1.1`.
        stories: Vec<String>,
    },
    /// More than one file matches.
    #[error("{what} could be {}", paths.join(" or "))]
    Ambiguous {
        /// What was searched for.
        what: String,
        /// The files.
        paths: Vec<String>,
    },
    /// A file contradicts itself.
    #[error("`{path}` belongs to epic `{one}` by {by_one} and to epic `{other}` by {by_other}")]
    Contradiction {
        /// The file.
        path: String,
        /// One epic.
        one: String,
        /// The reason for the first.
        by_one: &'static str,
        /// The other epic.
        other: String,
        /// The reason for the second.
        by_other: &'static str,
    },
    /// A story depends on one that does not exist.
    #[error("story `{story}` depends on `{on}`, and epic `{epic}` has no such story")]
    UnknownDependency {
        /// The story.
        story: String,
        /// The dependency that it names.
        on: String,
        /// The epic.
        epic: String,
    },
    /// Stories depend on each other.
    #[error("these stories depend on each other: {}", stories.join(" → "))]
    Cycle {
        /// The cycle of stories.
        stories: Vec<String>,
    },
    /// A name that cannot be the id of a story.
    #[error("`{path}` cannot be a story: {rule}")]
    BadName {
        /// The file.
        path: String,
        /// The rule it violates.
        rule: &'static str,
    },
    /// A file that cannot be read as a story.
    #[error("`{path}` cannot be read as a story: {reason}")]
    BadFile {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A folder or file that cannot be read.
    #[error("failed to read {}", path.display())]
    Read {
        /// The folder or file.
        path: PathBuf,
        /// The operating system's error.
        #[source]
        source: std::io::Error,
    },
}
