//! Detects a project's technologies and their versions from its manifests, without running anything.
//!
//! `walk` finds the manifests, `manifests` reads them, `components` combines the findings, `cache` stores the
//! result. Names come from the table in `catalog`; every value refers to the file and key it was read from.
//! A broken manifest is a note, never an error.

mod cache;
pub(crate) mod catalog;
mod components;
mod manifests;
mod version;
mod view;
mod walk;

use std::path::Path;

use handover_model::Category;
use serde::{Deserialize, Serialize};

pub use cache::detect_cached;
pub use catalog::canonical;
pub use version::Version;
pub use view::View;

/// The technologies of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The parts of the project, by path; a single one unless it is a monorepo.
    pub components: Vec<Component>,
    /// What could not be read, and what was skipped.
    pub notes: Vec<Note>,
}

/// A folder with its own manifest, or the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// The folder, relative to the project with `/`; `.` is the root.
    pub path: String,
    /// The main language.
    pub language: Option<String>,
    /// The technologies used here, the language first.
    pub items: Vec<Item>,
    /// Versions set here for others: a workspace table, a version file, an image.
    pub hints: Vec<Item>,
}

/// One technology in one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// The name used by templates and guards.
    pub name: String,
    /// Language, framework, database and so on.
    pub category: Category,
    /// The version, shortened to two numbers.
    pub version: Option<String>,
    /// The language of the manifest it was read from.
    pub ecosystem: Option<String>,
    /// Where it was read; the source of the version first.
    pub evidence: Vec<Evidence>,
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The file, relative to the project.
    pub file: String,
    /// The key or line in the file.
    pub key: String,
    /// The version as written there.
    pub version: Option<String>,
}

/// A problem with a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The file, relative to the project; `.` for the project itself.
    pub file: String,
    /// What went wrong.
    pub message: String,
}

/// Reads the manifests of a project.
pub fn detect(root: &Path) -> Stack {
    components::build(root, &walk::walk(root))
}

impl Component {
    /// The version of the language.
    pub fn version(&self) -> Option<&str> {
        let language = self.language.as_deref()?;
        self.item(language)?.version.as_deref()
    }

    /// An item by its name.
    pub fn item(&self, name: &str) -> Option<&Item> {
        self.items.iter().find(|item| item.name == name)
    }
}

impl Item {
    /// The display name.
    pub fn title(&self) -> &str {
        catalog::find(&self.name).map_or(&self.name, |(_, technology)| technology.title)
    }
}

#[cfg(test)]
mod tests;
