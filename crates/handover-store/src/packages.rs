//! Context packages.

use handover_model::{
    Delivery, GroupId, Package, PackageId, PackageKind, Priority, RecordState, Role, Scope,
    SessionId, Timestamp, Trust,
};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::{COLUMNS, Result, StoreError};

/// Input of [`Packages::register_packages`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewPackage {
    /// The session that owns it.
    pub session: SessionId,
    /// The group that produced it, if any.
    pub group: Option<GroupId>,
    /// Whether its own group or every group gets it.
    pub scope: Scope,
    /// The kind of content.
    pub kind: PackageKind,
    /// The path of the file; not redacted, because the file must be found again.
    pub path: String,
    /// The first heading.
    pub title: Option<Clean>,
    /// At most 400 characters.
    pub summary: Clean,
    /// The paths that it is about.
    pub files: Vec<Clean>,
    /// The text of the file, for search and for the history.
    pub body: Clean,
    /// The role that wrote it.
    pub producer: Role,
    /// The roles that it is for; empty means everyone.
    pub consumers: Vec<Role>,
    /// See [`Package::priority`].
    pub priority: Priority,
    /// The attempt that produced it.
    pub iteration: Option<u32>,
    /// The size of the file.
    pub size_bytes: u64,
    /// What reading the file costs, in tokens.
    pub tokens: u64,
    /// BLAKE3 of the file's bytes.
    pub content_hash: String,
    /// Which package it supersedes.
    pub supersede: Supersede,
    /// When it was created.
    pub created_at: Timestamp,
    /// How far to believe it: the lowest class of its sources.
    pub trust: Trust,
}

impl NewPackage {
    /// Whether registering it would change nothing about the existing package.
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

    /// Decides what registering it does, given the latest package with its path and functions that load a
    /// package and its history.
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
            // The same request again: a retry of one that succeeded.
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

/// The outcome of [`NewPackage::step`].
#[derive(Debug)]
pub enum Step {
    /// Nothing to write: this package is identical.
    Stay(Package),
    /// Write a new version.
    Write {
        /// The version that it supersedes, if any.
        former: Option<Package>,
    },
}

/// Which package a new one supersedes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Supersede {
    /// The latest one with the same session, group, kind and path, if any. If its content is also the same,
    /// nothing is written.
    SamePath,
    /// This one, which must be the latest of its chain and of the same session. If nothing would change,
    /// nothing is written.
    Package(PackageId),
}

/// A result of [`Packages::register_packages`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registered {
    /// The new package, or the one that existed.
    pub package: Package,
    /// Whether this call created it.
    pub created: bool,
}

/// Which versions to list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Versions {
    /// Only versions that nothing supersedes.
    #[default]
    Latest,
    /// All versions.
    All,
}

/// Which packages to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct PackageFilter {
    /// Only those of this group (global packages of other groups are excluded).
    pub group: Option<GroupId>,
    /// Only those with this path.
    pub path: Option<String>,
    /// Which versions.
    pub versions: Versions,
    /// Only those in this state.
    pub state: Option<RecordState>,
    /// Only those that this role wrote.
    #[serde(default)]
    pub producer: Option<Role>,
    /// Only those that are in no brief that was delivered.
    #[serde(default)]
    pub undelivered: bool,
    /// How many to pass over.
    #[serde(default)]
    pub skip: u32,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// A package that may go into a prompt: what ranking needs, without text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Candidate {
    /// The package.
    pub id: PackageId,
    /// Its position in the chain of versions.
    pub version: u32,
    /// See [`Package::priority`].
    pub priority: Priority,
    /// Whether it belongs to the requesting group.
    pub same_group: bool,
    /// Whether it is for every group.
    pub global: bool,
    /// Whether the requesting role is among its consumers.
    pub addressed: bool,
    /// Whether it has consumers at all.
    pub restricted: bool,
    /// When it was created.
    pub created_at: Timestamp,
    /// How many terms each of its columns has, in the order of [`Column::ALL`](crate::Column::ALL);
    /// more than 65,535 is 65,535.
    pub terms: [u16; COLUMNS],
}

/// A slice of a session's candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slice {
    /// By id.
    pub candidates: Vec<Candidate>,
    /// The package id that the next slice begins with, if there is one.
    pub next: Option<i64>,
}

/// A package as overviews of a session show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outline {
    /// The package.
    pub id: PackageId,
    /// Its title, or its path.
    pub name: String,
    /// The role that wrote it.
    pub producer: Role,
    /// Its position in the chain of versions.
    pub version: u32,
    /// Whether it is the latest version.
    pub is_latest: bool,
    /// When it was created.
    pub created_at: Timestamp,
}

/// Context packages.
pub trait Packages {
    /// Registers packages, all or none, in order; returns one result per input. Registering the same
    /// content again is not an error and changes nothing.
    fn register_packages(&self, new: &[NewPackage]) -> Result<Vec<Registered>>;

    /// One package in any version; [`NotFound`](crate::StoreError::NotFound) if there is none.
    fn package(&self, id: PackageId) -> Result<Package>;

    /// Packages in any version, in the order of `ids`: one round trip instead of many for a remote store. [`NotFound`](crate::StoreError::NotFound) if one is missing.
    fn packages_by_id(&self, ids: &[PackageId]) -> Result<Vec<Package>> {
        ids.iter().map(|id| self.package(*id)).collect()
    }

    /// Visits the session's packages one by one, so that callers need not hold thousands of them. A store
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

    /// The session's packages, newest first.
    fn packages(&self, session: &SessionId, filter: &PackageFilter) -> Result<Vec<Package>> {
        let mut packages = Vec::new();
        self.each_package(session, filter, &mut |package| packages.push(package))?;
        Ok(packages)
    }

    /// The outline of every version of every package of a session, oldest first, then by id; at most the newest
    /// `limit`.
    fn outlines(&self, session: &SessionId, limit: Option<u32>) -> Result<Vec<Outline>> {
        let all = PackageFilter { versions: Versions::All, limit, ..PackageFilter::default() };
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

    /// The latest versions of a session, as a role of a group sees them, by id: starting at package `from`
    /// (0, or [`Slice::next`]), about `enough` of them, so that callers need not hold all. Nothing is
    /// filtered: routing is decided elsewhere.
    fn slice(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
        from: i64,
        enough: u32,
    ) -> Result<Slice>;

    /// All candidates of a session.
    fn candidates(
        &self,
        session: &SessionId,
        group: Option<&GroupId>,
        role: Option<&Role>,
    ) -> Result<Vec<Candidate>> {
        Ok(self.slice(session, group, role, 0, u32::MAX)?.candidates)
    }

    /// Retires packages or takes them back into use, all or none; returns them in the order of `ids`. A retired
    /// package is in no index. Registering its content again leaves it retired; new content is a new version,
    /// which is used.
    fn set_package_state(
        &self,
        ids: &[PackageId],
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<Vec<Package>>;

    /// Deletes retired packages, all or none, with everything that belongs to them: every version of their
    /// chains must be among them. The caller has checked that nothing refers to them. How many there were.
    fn delete_packages(&self, ids: &[PackageId]) -> Result<u64>;

    /// Every version of the chain that the package belongs to, oldest first.
    fn package_history(&self, id: PackageId) -> Result<Vec<Package>>;

    /// The deliveries of the package, oldest first.
    fn package_deliveries(&self, id: PackageId) -> Result<Vec<Delivery>>;

    /// The registered text.
    fn package_body(&self, id: PackageId) -> Result<String>;

    /// The registered texts of several packages, in the order of `ids`.
    fn package_bodies(&self, ids: &[PackageId]) -> Result<Vec<String>> {
        ids.iter().map(|id| self.package_body(*id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use handover_text::Redactor;

    use super::*;

    fn new() -> NewPackage {
        let clean = |text: &str| Redactor::default().clean(text);
        NewPackage {
            session: SessionId::new("s1").unwrap(),
            group: None,
            scope: Scope::Global,
            kind: PackageKind::Research,
            path: "a.md".to_owned(),
            title: None,
            summary: clean("about dragons"),
            files: Vec::new(),
            body: clean("dragons"),
            producer: Role::new("developer").unwrap(),
            consumers: ["qa_expert", "tech_lead"].map(|name| Role::new(name).unwrap()).to_vec(),
            priority: Priority::Medium,
            iteration: None,
            size_bytes: 7,
            tokens: 1,
            content_hash: "h1".to_owned(),
            supersede: Supersede::SamePath,
            created_at: Timestamp::default(),
            trust: Trust::Agent,
        }
    }

    /// The stored package after registering [`new`] under this id.
    fn stored(id: i64) -> Package {
        let new = new();
        Package {
            id: PackageId(id),
            session: new.session,
            group: new.group,
            scope: new.scope,
            kind: new.kind,
            path: new.path,
            title: None,
            summary: new.summary.as_str().to_owned(),
            files: Vec::new(),
            producer: new.producer,
            consumers: new.consumers,
            priority: new.priority,
            iteration: new.iteration,
            version: 1,
            supersedes: None,
            superseded_by: None,
            size_bytes: new.size_bytes,
            tokens: new.tokens,
            content_hash: new.content_hash,
            created_at: new.created_at,
            trust: new.trust,
            state: RecordState::Live,
            reason: None,
        }
    }

    #[test]
    fn every_visible_field_makes_a_difference() {
        let former = stored(1);
        assert!(new().says_the_same(&former));
        let role = |name: &str| Role::new(name).unwrap();
        let changes: [fn(&mut Package); 9] = [
            |package| package.content_hash = "h2".to_owned(),
            |package| package.path = "b.md".to_owned(),
            |package| package.group = GroupId::new("P1").ok(),
            |package| package.scope = Scope::Group,
            |package| package.kind = PackageKind::Decisions,
            |package| package.priority = Priority::High,
            |package| package.summary = "other".to_owned(),
            |package| package.iteration = Some(1),
            |package| package.consumers.truncate(1),
        ];
        for (n, change) in changes.into_iter().enumerate() {
            let mut other = former.clone();
            change(&mut other);
            assert!(!new().says_the_same(&other), "change {n}");
        }
        let producer = Package { producer: role("tech_lead"), ..former.clone() };
        assert!(!new().says_the_same(&producer));
        // The order and repetition of consumers do not matter.
        let consumers = ["tech_lead", "qa_expert", "tech_lead"].map(role).to_vec();
        assert!(new().says_the_same(&Package { consumers, ..former }));
    }

    /// The step, in words.
    fn step(
        new: &NewPackage,
        same_path: Option<Package>,
        former: Package,
        latest: Package,
    ) -> String {
        let step = new.step(same_path, |_| Ok(former), |_| Ok(vec![stored(0), latest]));
        match step {
            Ok(Step::Stay(package)) => format!("stay {}", package.id),
            Ok(Step::Write { former: Some(former) }) => format!("after {}", former.id),
            Ok(Step::Write { former: None }) => "first".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_same_path_is_a_new_version_if_its_content_changed() {
        let step = |same_path| step(&new(), same_path, stored(8), stored(9));
        assert_eq!(step(None), "first");
        assert_eq!(step(Some(stored(3))), "stay 3");
        let changed = Package { content_hash: "h0".to_owned(), ..stored(3) };
        assert_eq!(step(Some(changed)), "after 3");
    }

    #[test]
    fn a_named_package_is_superseded_once_and_in_its_own_session() {
        let named = NewPackage { supersede: Supersede::Package(PackageId(1)), ..new() };
        let old = Package { content_hash: "h0".to_owned(), ..stored(1) };
        assert_eq!(step(&named, None, old.clone(), stored(9)), "after 1");
        assert_eq!(step(&named, None, stored(1), stored(9)), "stay 1");
        assert_eq!(step(&named, Some(old.clone()), old.clone(), stored(9)), "after 1");
        assert_eq!(
            step(&named, Some(stored(5)), old.clone(), stored(9)),
            "`a.md` is registered as package 5, which is not the one to be superseded"
        );
        let session = SessionId::new("s2").unwrap();
        let foreign = Package { session, ..old.clone() };
        assert_eq!(step(&named, None, foreign, stored(9)), "package 1 belongs to session `s2`");
        let superseded = Package { superseded_by: Some(PackageId(9)), ..old };
        // The same request again has already succeeded; a different one is too late.
        let ours = Package { supersedes: Some(PackageId(1)), ..stored(9) };
        assert_eq!(step(&named, None, superseded.clone(), ours.clone()), "stay 9");
        let late = "package 1 is already superseded; the latest version is 9";
        let other = Package { content_hash: "h7".to_owned(), ..ours.clone() };
        assert_eq!(step(&named, None, superseded.clone(), other), late);
        let later = Package { supersedes: Some(PackageId(4)), ..ours };
        assert_eq!(step(&named, None, superseded, later), late);
    }
}
