//! Which technology a project uses, in which versions, read from its manifests. Nothing is run.
//!
//! `walk` finds the manifests, `manifests` reads them, `components` puts together what they
//! say, `cache` keeps the outcome. Names come from the table in `catalog`; every value carries
//! the file and key it was read from. A broken manifest is a note, never an error.

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

pub use cache::{CACHE_FILE, detect_cached};
pub use catalog::canonical;
pub use version::Version;
pub use view::View;

/// What a project is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stack {
    /// The parts of the project, by path; the whole project is one part unless it is a monorepo.
    pub components: Vec<Component>,
    /// What could not be read, and what was left out.
    pub notes: Vec<Note>,
}

/// A folder with a manifest of its own, or the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Component {
    /// The folder, relative to the project with `/`; `.` is the root.
    pub path: String,
    /// The language that matters most here.
    pub language: Option<String>,
    /// What is used here; the language first.
    pub items: Vec<Item>,
    /// Versions that are set here for others: a workspace's table, a version file, an image.
    pub hints: Vec<Item>,
}

/// One technology in one component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Item {
    /// What templates and guards call it.
    pub name: String,
    /// What it is.
    pub category: Category,
    /// Its version, shortened to two numbers.
    pub version: Option<String>,
    /// The language whose manifest it comes from.
    pub ecosystem: Option<String>,
    /// Where it was read, the one that gave the version first.
    pub evidence: Vec<Evidence>,
}

/// Where something was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The file, relative to the project.
    pub file: String,
    /// What in it.
    pub key: String,
    /// The version as it is written there.
    pub version: Option<String>,
}

/// Something that was not read as it should have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The file, relative to the project; `.` for the project.
    pub file: String,
    /// What is the matter.
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
    /// What people call it.
    pub fn title(&self) -> &str {
        catalog::find(&self.name).map_or(&self.name, |(_, technology)| technology.title)
    }
}

#[cfg(test)]
mod tests;
