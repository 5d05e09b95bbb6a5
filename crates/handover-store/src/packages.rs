//! Context packages.

use handover_model::{
    Delivery, GroupId, Package, PackageId, PackageKind, Priority, Role, Scope, SessionId, Timestamp,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::{COLUMNS, Result, StoreError};

/// A package to be registered.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewPackage {
    /// The session.
    pub session: SessionId,
    /// The group that it came from, if any.
    pub group: Option<GroupId>,
    /// Whether only its group or every group gets it.
    pub scope: Scope,
    /// What it carries.
    pub kind: PackageKind,
    /// Where the file is. Exact: a file must be found again, so this is not redacted.
    pub path: String,
    /// The first heading.
    pub title: Option<Clean>,
    /// At most 400 characters.
    pub summary: Clean,
    /// Paths that it is about.
    pub files: Vec<Clean>,
    /// The text of the file, for search and for the history.
    pub body: Clean,
    /// Who wrote it.
    pub producer: Role,
    /// Whom it is for; empty means everyone.
    pub consumers: Vec<Role>,
    /// How much it matters.
    pub priority: Priority,
    /// The attempt that it came from.
    pub iteration: Option<u32>,
    /// Size of the file.
    pub size_bytes: u64,
    /// What reading the file costs.
    pub tokens: u64,
    /// BLAKE3 of the file's bytes.
    pub content_hash: String,
    /// Which package it replaces.
    pub supersede: Supersede,
    /// When it was made.
    pub created_at: Timestamp,
}

impl NewPackage {
    /// Whether registering it would say nothing that the former one does not say.
    pub fn says_the_same(&self, former: &Package) -> bool {
        let sorted = |roles: &[Role]| {
            let mut roles = roles.to_vec();
            roles.sort();
            roles.dedup();
            roles
        };
        former.content_hash == self.content_hash
            && former.path == self.path
            && former.group == self.group
            && former.scope == self.scope
            && former.kind == self.kind
            && former.producer == self.producer
            && former.priority == self.priority
            && former.summary == self.summary.as_str()
            && former.iteration == self.iteration
            && sorted(&former.consumers) == sorted(&self.consumers)
    }

    /// What registering it comes to, given the latest package in its place, and ways to ask the store
    /// for one package and for a whole chain.
    pub fn step(
        &self,
        same_path: Option<Package>,
        package: impl FnOnce(PackageId) -> Result<Package>,
        history: impl FnOnce(PackageId) -> Result<Vec<Package>>,
    ) -> Result<Step> {
        let id = match self.supersede {
            Supersede::SamePath => {
                return Ok(match same_path {
                    Some(there) if there.content_hash == self.content_hash => Step::Stay(there),
                    former => Step::Write { former },
                });
            }
            Supersede::Package(id) => id,
        };
        let former = package(id)?;
        if former.session != self.session {
            return Err(StoreError::OtherSession { id, session: former.session });
        }
        if former.superseded_by.is_some() {
            let latest = history(id)?.pop().unwrap_or(former);
            // The same request again: a retry of something that has succeeded.
            if latest.supersedes == Some(id) && self.says_the_same(&latest) {
                return Ok(Step::Stay(latest));
            }
            return Err(StoreError::AlreadySuperseded { id, latest: latest.id });
        }
        match same_path {
            Some(other) if other.id != id => {
                Err(StoreError::PathTaken { path: other.path, id: other.id })
            }
            _ if self.says_the_same(&former) => Ok(Step::Stay(former)),
            _ => Ok(Step::Write { former: Some(former) }),
        }
    }
}

/// What registering a package comes to.
#[derive(Debug)]
pub enum Step {
    /// Nothing: this is what it would say.
    Stay(Package),
    /// A new one, in the place of a former one.
    Write {
        /// The one that it supersedes.
        former: Option<Package>,
    },
}

/// Which package a new one replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supersede {
    /// The latest one with the same session, group, kind and path, if there is one. If its content
    /// is the same too, nothing is written.
    SamePath,
    /// This one, which must be the latest of its chain and of the same session. If nothing at all
    /// would change, nothing is written.
    Package(PackageId),
}

/// A package as it is after registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The record: the new one, or the one that was there.
    pub package: Package,
    /// Whether this call made it.
    pub created: bool,
}

/// Which versions a listing shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Versions {
    /// Those that nothing supersedes.
    #[default]
    Latest,
    /// All of them.
    All,
}

/// Which packages to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PackageFilter {
    /// Only those of this group (a global package of another group is not among them).
    pub group: Option<GroupId>,
    /// Only those with this path.
    pub path: Option<String>,
    /// Which versions.
    pub versions: Versions,
    /// At most so many.
    pub limit: Option<u32>,
}

/// A package that may go into a prompt: what ranking needs to know, and no text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The package.
    pub id: PackageId,
    /// Its version.
    pub version: u32,
    /// How much it matters.
    pub priority: Priority,
    /// Whether it came from the group that asks.
    pub same_group: bool,
    /// Whether every group gets it.
    pub global: bool,
    /// Whether it is addressed to the role that asks.
    pub addressed: bool,
    /// Whether it is addressed to anybody.
    pub restricted: bool,
    /// When it was made.
    pub created_at: Timestamp,
    /// How many terms each of its columns has, in the order of [`Column::ALL`](crate::Column::ALL);
    /// more than 65,535 is 65,535.
    pub terms: [u16; COLUMNS],
}

/// Some of a session's candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// By id.
    pub candidates: Vec<Candidate>,
    /// Where the next slice begins, if there is one.
    pub next: Option<i64>,
}

/// A package as far as a picture of its session needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The package.
    pub id: PackageId,
    /// Its title, or where its file is.
    pub name: String,
    /// Who wrote it.
    pub producer: Role,
    /// Its version.
    pub version: u32,
    /// Whether nothing supersedes it.
    pub is_latest: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// Context packages.
pub trait Packages {
    /// Registers packages, all or none, in order; returns one answer per input. Registering the
    /// same content again is no error and changes nothing.
    fn register_packages(&self, new: &[NewPackage]) -> Result<Vec<Registered>>;

    /// One package in any version; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn package(&self, id: PackageId) -> Result<Package>;

    /// Packages in any version, in the order of their ids here: one question instead of many to a
    /// store that is elsewhere. [`NotFound`](crate::StoreError::NotFound) if one is missing.
    fn packages_by_id(&self, ids: &[PackageId]) -> Result<Vec<Package>> {
        ids.iter().map(|id| self.package(*id)).collect()
    }

    /// Shows the session's packages one by one: a listing of thousands need not be held. A store
    /// implements this or [`packages`](Self::packages).
    fn each_package(
        &self,
        session: &SessionId,
        filter: &PackageFilter,
        visit: &mut dyn FnMut(Package),
    ) -> Result<()> {
        self.packages(session, filter)?.into_iter().for_each(visit);
        Ok(())
    }

    /// The session's packages.
    fn packages(&self, session: &SessionId, filter: &PackageFilter) -> Result<Vec<Package>> {
        let mut packages = Vec::new();
        self.each_package(session, filter, &mut |package| packages.push(package))?;
        Ok(packages)
    }

    /// Every version of every package of a session in outline, oldest first, then by id.
    fn outlines(&self, session: &SessionId) -> Result<Vec<Outline>> {
        let all = PackageFilter { versions: Versions::All, ..PackageFilter::default() };
        let mut outlines = Vec::new();
        self.each_package(session, &all, &mut |package| {
            outlines.push(Outline {
                id: package.id,
                name: package.title.unwrap_or(package.path),
                producer: package.producer,
                version: package.version,
                is_latest: package.superseded_by.is_none(),
                created_at: package.created_at,
            });
        })?;
        outlines.reverse();
        Ok(outlines)
    }

    /// The latest versions of a session, as a role of a group sees them, by id: from a
    /// [sheet](crate::packed::SHEET) on, and no more than about `enough`, so that nobody has to hold all
    /// of them. Nothing is filtered: who gets what is decided elsewhere.
    fn slice(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
        from: i64,
        enough: u32,
    ) -> Result<Slice>;

    /// All of them.
    fn candidates(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
    ) -> Result<Vec<Candidate>> {
        Ok(self.slice(session, group, role, 0, u32::MAX)?.candidates)
    }

    /// Every version of the chain that the package belongs to, oldest first.
    fn package_history(&self, id: PackageId) -> Result<Vec<Package>>;

    /// To whom the package was delivered, oldest first.
    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>>;

    /// The text that was registered.
    fn package_body(&self, id: PackageId) -> Result<String>;

    /// The texts of packages, as [`packages_by_id`](Self::packages_by_id) gives the rest of them.
    fn package_bodies(&self, ids: &[PackageId]) -> Result<Vec<String>> {
        ids.iter().map(|id| self.package_body(*id)).collect()
    }
}
