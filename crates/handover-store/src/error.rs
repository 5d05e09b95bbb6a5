//! Errors of a store.

use std::fmt;
use std::path::PathBuf;

use handover_model::{PackageId, SessionId};
use serde::{Deserialize, Serialize};

/// Why a store rejected or failed an operation.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The named record does not exist.
    #[error("there is no {what} `{id}`")]
    NotFound {
        /// The kind of record.
        what: RecordKind,
        /// The id that was given.
        id: String,
    },

    /// Only the latest version of a package can be superseded.
    #[error("package {id} is already superseded; the latest version is {latest}")]
    AlreadySuperseded {
        /// The package that was named.
        id: PackageId,
        /// The latest version.
        latest: PackageId,
    },

    /// A package cannot supersede one of another session.
    #[error("package {id} belongs to session `{session}`")]
    OtherSession {
        /// The package that was named.
        id: PackageId,
        /// The session that it belongs to.
        session: SessionId,
    },

    /// Another package has this path, and the new one does not supersede it.
    #[error("`{path}` is registered as package {id}, which is not the one to be superseded")]
    PathTaken {
        /// The path.
        path: String,
        /// The package that has it.
        id: PackageId,
    },

    /// Only retired packages are deleted.
    #[error("package {id} is in use")]
    InUse {
        /// The package.
        id: PackageId,
    },

    /// The state of a receipt does not allow this transition.
    #[error("receipt `{id}` is {from} and cannot become {to}")]
    WrongState {
        /// The receipt.
        id: String,
        /// Its state.
        from: handover_model::ReceiptState,
        /// The state that was requested.
        to: handover_model::ReceiptState,
    },

    /// Another process is delivering the receipt.
    #[error("receipt `{id}` is already being delivered")]
    Claimed {
        /// The receipt.
        id: String,
    },

    /// Another engine owns the epic.
    #[error("epic `{epic}` is being run by process {} on {}", owner.pid, owner.host)]
    Locked {
        /// The epic that it is about.
        epic: handover_model::EpicId,
        /// The engine that holds the lock.
        owner: handover_model::LockOwner,
        /// The fence of the lock.
        fence: u64,
    },

    /// The lock was lost to another engine.
    #[error("another engine has taken over epic `{epic}`")]
    Fenced {
        /// The epic that it is about.
        epic: handover_model::EpicId,
    },

    /// A prefix of a hash matches more than one error pattern.
    #[error("`{prefix}` matches {count} error patterns")]
    Ambiguous {
        /// The prefix.
        prefix: String,
        /// How many patterns match.
        count: usize,
    },

    /// An imported record exists with other values.
    #[error("the store has a different {record}")]
    Differs {
        /// Its kind and key.
        record: String,
    },

    /// The store was written by a newer version.
    #[error(
        "the store {location} has format {found}, and this version knows formats up to {known}"
    )]
    Newer {
        /// Where the store is.
        location: String,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },

    /// The store was written by an older version, which others may still use.
    #[error(
        "the store {location} has format {found} and has to be upgraded to {known}, which the version that wrote it cannot open"
    )]
    Older {
        /// Where the store is.
        location: String,
        /// Its format.
        found: i64,
        /// The format that this version needs.
        known: i64,
    },

    /// The store was written by Handover 0.1.0, whose formats are not migrated.
    #[error("{store} has format {found} of Handover 0.1.0, which this version cannot open")]
    Outdated {
        /// The store that was refused.
        store: OldStore,
        /// Its format.
        found: i64,
    },

    /// The file is not a Handover database, or not a database at all.
    #[error("{} is not a Handover store", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },

    /// The store contains something that Handover did not create.
    #[error("the store {} was changed by something else: {what}", path.display())]
    Altered {
        /// The file.
        path: PathBuf,
        /// The table, index, trigger or view, and what is wrong with it.
        what: String,
    },

    /// The caller rolled a transaction back for reasons of its own.
    #[error("the transaction was aborted")]
    Aborted,

    /// The text index cannot be read. Rebuilding it from the packages helps.
    #[error(transparent)]
    Index(IndexError),

    /// The caller lacks a right.
    #[error("that needs the right to {need}")]
    Denied {
        /// The right that is missing.
        need: handover_model::TokenScope,
    },

    /// The service keeps notes of conversations and memories to itself.
    #[error("the service does not share notes of conversations and memories")]
    Private,

    /// The backend failed.
    #[error("{fault}")]
    Backend {
        /// The class of failure.
        fault: Fault,
        /// The error of the backend.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// A stable name of the error, for scripts and for clients of the service.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { .. } => "not_found",
            Self::AlreadySuperseded { .. }
            | Self::OtherSession { .. }
            | Self::PathTaken { .. }
            | Self::InUse { .. }
            | Self::WrongState { .. }
            | Self::Claimed { .. }
            | Self::Differs { .. } => "conflict",
            Self::Ambiguous { .. } => "ambiguous",
            Self::Locked { .. } => "locked",
            Self::Fenced { .. } => "fenced",
            Self::Denied { .. } | Self::Private => "forbidden",
            Self::Aborted => "aborted",
            Self::Index(_) => "index_damaged",
            Self::Newer { .. } => "store_newer",
            Self::Older { .. } => "store_older",
            Self::Outdated { .. } => "store_outdated",
            Self::Foreign { .. } => "store_foreign",
            Self::Altered { .. } => "store_altered",
            Self::Backend { fault, .. } => match fault {
                Fault::Busy => "store_busy",
                Fault::Full => "store_full",
                Fault::ReadOnly => "store_read_only",
                Fault::Corrupt => "store_damaged",
                Fault::Unavailable => "store_unavailable",
                Fault::Io => "store_io",
                Fault::Refused => "store_refused",
            },
        }
    }
}

/// The kinds of records that are looked up by id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names of the records")]
pub enum RecordKind {
    Epic,
    ErrorPattern,
    Group,
    Note,
    /// An entry of the log of changes by hand.
    Operation,
    Package,
    Project,
    Receipt,
    /// A package that a receipt lists.
    ReceiptPackage,
    Run,
    Session,
    /// A package of a given session.
    SessionPackage,
    Strategy,
    Token,
}

impl RecordKind {
    /// Its name in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Epic => "epic",
            Self::ErrorPattern => "error pattern",
            Self::Group => "group",
            Self::Note => "note",
            Self::Operation => "operation",
            Self::Package => "package",
            Self::Project => "project",
            Self::Receipt => "receipt",
            Self::ReceiptPackage => "package of this receipt",
            Self::Run => "run",
            Self::Session => "session",
            Self::SessionPackage => "package of this session",
            Self::Strategy => "strategy",
            Self::Token => "token",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a part of the text index cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum IndexError {
    /// Written by another version of Handover.
    #[error("the {part} of the text index have version {found}, which this version cannot read")]
    Version {
        /// The part that was read.
        part: IndexPart,
        /// The version byte that was found.
        found: u8,
    },
    /// Bytes that no version can have written.
    #[error("the {part} of the text index are damaged")]
    Damaged {
        /// The part that was read.
        part: IndexPart,
    },
    /// Package ids do not ascend.
    #[error("the {part} of the text index are not in the order of their packages")]
    Order {
        /// The part that was read.
        part: IndexPart,
    },
    /// An indexed package has no terms.
    #[error("the text index has no terms for package {package}")]
    Missing {
        /// The package.
        package: PackageId,
    },
}

/// A part of the text index, see [`packed`](crate::packed).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexPart {
    /// What ranking needs to know about each package.
    Candidates,
    /// The terms of each package.
    Terms,
    /// The packages of each term.
    Postings,
}

impl fmt::Display for IndexPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Candidates => "candidates",
            Self::Terms => "terms",
            Self::Postings => "postings",
        })
    }
}

/// A store of Handover 0.1.0: what has to be moved out of the way before its export is imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OldStore {
    /// A SQLite file.
    File(PathBuf),
    /// A schema of a PostgreSQL database.
    Schema {
        /// The database, without its password.
        database: String,
        /// The name of the schema.
        schema: String,
    },
}

impl fmt::Display for OldStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "the store {}", path.display()),
            Self::Schema { database, schema } => write!(f, "the schema {schema} in {database}"),
        }
    }
}

/// How a backend can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum Fault {
    /// The write lock was not released in time.
    #[error("another process holds the store's lock")]
    Busy,
    /// No space left.
    #[error("the disk is full")]
    Full,
    /// The store or its folder cannot be written.
    #[error("the store cannot be written")]
    ReadOnly,
    /// The content of the store is inconsistent.
    #[error("the store is damaged")]
    Corrupt,
    /// The store cannot be opened or reached.
    #[error("the store cannot be opened")]
    Unavailable,
    /// Reading or writing failed.
    #[error("reading or writing the store failed")]
    Io,
    /// A statement failed in a way that points to a bug in Handover.
    #[error("the store refused an operation")]
    Refused,
}

impl Fault {
    /// Whether the store may be readable although it cannot be written now.
    pub fn is_unwritable(self) -> bool {
        match self {
            Self::Busy | Self::Full | Self::ReadOnly | Self::Unavailable | Self::Io => true,
            Self::Corrupt | Self::Refused => false,
        }
    }
}

impl StoreError {
    /// A record that does not exist.
    pub fn not_found(what: RecordKind, id: impl ToString) -> Self {
        Self::NotFound { what, id: id.to_string() }
    }

    /// Data that no version of Handover can have written.
    pub fn damaged(what: &'static str) -> Self {
        Self::Backend { fault: Fault::Corrupt, source: what.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn every_record_has_a_name() {
        use RecordKind::{
            Epic, ErrorPattern, Group, Package, Project, Receipt, ReceiptPackage, Run, Session,
            SessionPackage, Strategy, Token,
        };
        for (kind, name) in [
            (Epic, "epic"),
            (ErrorPattern, "error pattern"),
            (Group, "group"),
            (Package, "package"),
            (Project, "project"),
            (Receipt, "receipt"),
            (ReceiptPackage, "package of this receipt"),
            (Run, "run"),
            (Session, "session"),
            (SessionPackage, "package of this session"),
            (Strategy, "strategy"),
            (Token, "token"),
        ] {
            assert_eq!((kind.as_str(), kind.to_string().as_str()), (name, name));
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(serde_json::from_str::<RecordKind>(&json).unwrap(), kind, "{json}");
            let error = StoreError::not_found(kind, 7);
            assert_eq!(error.to_string(), format!("there is no {name} `7`"));
        }
    }

    #[test]
    fn errors_of_the_index_name_the_part() {
        for (part, name) in [
            (IndexPart::Candidates, "candidates"),
            (IndexPart::Terms, "terms"),
            (IndexPart::Postings, "postings"),
        ] {
            assert_eq!(part.to_string(), name);
            let damaged = StoreError::Index(IndexError::Damaged { part }).to_string();
            assert_eq!(damaged, format!("the {name} of the text index are damaged"));
            let version = IndexError::Version { part, found: 9 }.to_string();
            assert!(version.contains(&format!("the {name} of the text index have version 9")));
        }
        let missing = IndexError::Missing { package: PackageId(3) };
        assert_eq!(missing.to_string(), "the text index has no terms for package 3");
    }

    #[test]
    fn old_stores_say_where_they_are() {
        let file = OldStore::File(PathBuf::from("/p/store.db"));
        assert_eq!(file.to_string(), "the store /p/store.db");
        let schema = OldStore::Schema { database: "db".to_owned(), schema: "p".to_owned() };
        assert_eq!(schema.to_string(), "the schema p in db");
        let error = StoreError::Outdated { store: schema, found: 4 };
        assert!(error.to_string().starts_with("the schema p in db has format 4 of Handover 0.1.0"));
    }

    #[test]
    fn damage_reports_its_cause() {
        let error = StoreError::damaged("two heads");
        assert_eq!(error.to_string(), "the store is damaged");
        assert_eq!(error.source().unwrap().to_string(), "two heads");
        assert!(matches!(error, StoreError::Backend { fault: Fault::Corrupt, .. }));
    }

    #[test]
    fn codes_are_an_interface() {
        let path = || PathBuf::from("store.db");
        let fault = |fault| StoreError::Backend { fault, source: "x".into() };
        let epic = || handover_model::EpicId::new("1").unwrap();
        for (error, code) in [
            (StoreError::not_found(RecordKind::Run, 1), "not_found"),
            (StoreError::Claimed { id: "r".into() }, "conflict"),
            (StoreError::Differs { record: "run 1".into() }, "conflict"),
            (StoreError::PathTaken { path: "a.md".into(), id: PackageId(1) }, "conflict"),
            (StoreError::InUse { id: PackageId(1) }, "conflict"),
            (StoreError::Ambiguous { prefix: "a".into(), count: 2 }, "ambiguous"),
            (StoreError::Fenced { epic: epic() }, "fenced"),
            (StoreError::Denied { need: handover_model::TokenScope::Write }, "forbidden"),
            (StoreError::Aborted, "aborted"),
            (StoreError::Newer { location: "x".into(), found: 2, known: 1 }, "store_newer"),
            (StoreError::Older { location: "x".into(), found: 1, known: 2 }, "store_older"),
            (StoreError::Foreign { path: path() }, "store_foreign"),
            (StoreError::Altered { path: path(), what: "x".into() }, "store_altered"),
            (StoreError::Outdated { store: OldStore::File(path()), found: 9 }, "store_outdated"),
            (fault(Fault::Busy), "store_busy"),
            (fault(Fault::Full), "store_full"),
            (fault(Fault::ReadOnly), "store_read_only"),
            (fault(Fault::Corrupt), "store_damaged"),
            (fault(Fault::Unavailable), "store_unavailable"),
            (fault(Fault::Io), "store_io"),
            (fault(Fault::Refused), "store_refused"),
        ] {
            assert_eq!(error.code(), code, "{error}");
        }
    }
}
