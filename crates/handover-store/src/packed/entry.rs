//! What the index takes from a package, whether it is being registered or already stored.

use handover_model::{GroupId, Package, PackageId, Priority, Role, Scope, Timestamp};
use handover_text::Clean;

use super::Terms;
use crate::NewPackage;

/// A package as the index sees it.
#[derive(Debug)]
pub struct Entry<'a> {
    /// The id that the store gave it.
    pub id: PackageId,
    /// Its position in the chain of versions.
    pub version: u32,
    /// See [`Package::priority`].
    pub priority: Priority,
    /// See [`Package::scope`].
    pub scope: Scope,
    /// See [`Package::group`].
    pub group: Option<&'a GroupId>,
    /// See [`Package::producer`].
    pub producer: &'a Role,
    /// See [`Package::consumers`].
    pub consumers: &'a [Role],
    /// See [`Package::created_at`].
    pub created_at: Timestamp,
    /// Empty for a package without a heading.
    pub title: &'a str,
    /// See [`Package::summary`].
    pub summary: &'a str,
    /// The paths it is about, including its own.
    pub files: Vec<&'a str>,
    /// The registered text.
    pub body: &'a str,
}

impl<'a> Entry<'a> {
    /// The entry of a stored package.
    pub fn of(package: &'a Package, body: &'a str) -> Self {
        Self {
            id: package.id,
            version: package.version,
            priority: package.priority,
            scope: package.scope,
            group: package.group.as_ref(),
            producer: &package.producer,
            consumers: &package.consumers,
            created_at: package.created_at,
            title: package.title.as_deref().unwrap_or_default(),
            summary: &package.summary,
            files: package.files.iter().chain([&package.path]).map(String::as_str).collect(),
            body,
        }
    }

    /// The entry of a package that is being registered.
    pub fn new(id: PackageId, version: u32, new: &'a NewPackage) -> Self {
        Self {
            id,
            version,
            priority: new.priority,
            scope: new.scope,
            group: new.group.as_ref(),
            producer: &new.producer,
            consumers: &new.consumers,
            created_at: new.created_at,
            title: new.title.as_ref().map_or("", Clean::as_str),
            summary: new.summary.as_str(),
            files: new.files.iter().map(Clean::as_str).chain([new.path.as_str()]).collect(),
            body: new.body.as_str(),
        }
    }

    /// Its terms, given the summary of its [predecessor](super::Predecessors): a short note is often found
    /// only by what it replies to. A package without a group has no context.
    pub fn terms(&self, predecessor: Option<&str>) -> Terms {
        let context = match self.group {
            Some(_) => {
                let (author, day) = (self.producer, self.created_at.day_in_words());
                format!("{author} {day} {}", predecessor.unwrap_or_default())
            }
            None => String::new(),
        };
        Terms::of([&[self.title], &[self.summary], &self.files, &[self.body], &[&context]])
    }
}
