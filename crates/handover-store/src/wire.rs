//! The wire format of store methods: requests to a remote store, and its responses.
//!
//! Generated from the table of [`store_methods!`](crate::store_methods). The client serializes [`CallRef`],
//! which borrows; the service deserializes [`Call`], which owns. Text is redacted again while a [`Call`] is
//! deserialized, which therefore works only inside [`Redactor::reading`](handover_text::Redactor::reading).
//! Times are in milliseconds.

use std::path::PathBuf;

use handover_model::*;
use handover_text::{Clean, CleanJson};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::*;

macro_rules! borrowed {
    (by $ty:ty) => { &'a $ty };
    (val $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<&'a $ty> };
    (text $ty:ty) => { &'a str };
    (list $ty:ty) => { &'a [$ty] };
}

macro_rules! owned {
    (opt $ty:ty) => { Option<$ty> };
    (list $ty:ty) => { Vec<$ty> };
    ($kind:ident $ty:ty) => { $ty };
}

macro_rules! lend {
    (val $arg:ident) => {
        $arg
    };
    (opt $arg:ident) => {
        $arg.as_ref()
    };
    ($kind:ident $arg:ident) => {
        &$arg
    };
}

macro_rules! calls {
    ($($trait:ident {
        $($right:ident $name:ident($($arg:ident: $kind:ident $ty:ty),*) -> $ret:ty, $guard:ident($($what:expr)?);)+
    })+) => {
        /// A method call as the client sends it.
        #[derive(Debug, Serialize)]
        #[serde(tag = "method", content = "arguments")]
        #[expect(non_camel_case_types, missing_docs, reason = "the methods' own names")]
        pub enum CallRef<'a> {
            $($($name { $($arg: borrowed!($kind $ty)),* },)+)+
            #[serde(skip)]
            Nothing(std::marker::PhantomData<&'a ()>),
        }

        /// A method call as the service receives it.
        #[derive(Debug, Deserialize)]
        #[serde(tag = "method", content = "arguments", deny_unknown_fields)]
        #[expect(non_camel_case_types, missing_docs, reason = "the methods' own names")]
        pub enum Call {
            $($($name { $($arg: owned!($kind $ty)),* },)+)+
        }

        impl Call {
            /// Calls the method.
            pub fn perform(self, store: &dyn Store) -> Result<Value> {
                match self {
                    $($(Self::$name { $($arg),* } => {
                        written(&store.$name($(lend!($kind $arg)),*)?)
                    })+)+
                }
            }
        }
    };
}

store_methods!(calls);

fn written(value: &impl Serialize) -> Result<Value> {
    serde_json::to_value(value).map_err(|error| backend(Fault::Refused, error))
}

fn backend(
    fault: Fault,
    source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> StoreError {
    StoreError::Backend { fault, source: source.into() }
}

/// The type of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// [`Store::exclusively`]
    Exclusive,
    /// [`Store::consistently`]
    Consistent,
}

/// A request. `C` is [`CallRef`] or [`Call`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request<C> {
    /// Call one method, inside or outside a transaction.
    Call {
        /// The transaction, if any.
        within: Option<String>,
        /// The method and its arguments.
        call: C,
    },
    /// Begin a transaction, possibly nested. The response is its name.
    Begin {
        /// The enclosing transaction, if any.
        within: Option<String>,
        /// Its type.
        mode: Mode,
    },
    /// End the innermost transaction.
    End {
        /// The transaction.
        within: String,
        /// Commit; otherwise roll back.
        keep: bool,
    },
    /// [`Store::check`]
    Check,
}

/// A response.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<T> {
    /// The result.
    Done(T),
    /// The error.
    Failed(Failure),
}

/// A [`StoreError`] in serializable form.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of StoreError")]
pub enum Failure {
    NotFound { what: RecordKind, id: String },
    AlreadySuperseded { id: PackageId, latest: PackageId },
    OtherSession { id: PackageId, session: SessionId },
    PathTaken { path: String, id: PackageId },
    InUse { id: PackageId },
    WrongState { id: String, from: ReceiptState, to: ReceiptState },
    Claimed { id: String },
    Locked { epic: EpicId, owner: LockOwner, fence: u64 },
    Fenced { epic: EpicId },
    Ambiguous { prefix: String, count: usize },
    Differs { record: String },
    Newer { location: String, found: i64, known: i64 },
    Older { location: String, found: i64, known: i64 },
    Outdated { store: OldStore, found: i64 },
    Foreign { path: PathBuf },
    Altered { path: PathBuf, what: String },
    Aborted,
    Index(IndexError),
    Denied { need: TokenScope },
    Private,
    Backend { fault: Fault, message: String },
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what, id } => Self::NotFound { what, id },
            StoreError::AlreadySuperseded { id, latest } => Self::AlreadySuperseded { id, latest },
            StoreError::OtherSession { id, session } => Self::OtherSession { id, session },
            StoreError::PathTaken { path, id } => Self::PathTaken { path, id },
            StoreError::InUse { id } => Self::InUse { id },
            StoreError::WrongState { id, from, to } => Self::WrongState { id, from, to },
            StoreError::Claimed { id } => Self::Claimed { id },
            StoreError::Locked { epic, owner, fence } => Self::Locked { epic, owner, fence },
            StoreError::Fenced { epic } => Self::Fenced { epic },
            StoreError::Ambiguous { prefix, count } => Self::Ambiguous { prefix, count },
            StoreError::Differs { record } => Self::Differs { record },
            StoreError::Newer { location, found, known } => Self::Newer { location, found, known },
            StoreError::Older { location, found, known } => Self::Older { location, found, known },
            StoreError::Outdated { store, found } => Self::Outdated { store, found },
            StoreError::Foreign { path } => Self::Foreign { path },
            StoreError::Altered { path, what } => Self::Altered { path, what },
            StoreError::Aborted => Self::Aborted,
            StoreError::Index(error) => Self::Index(error),
            StoreError::Denied { need } => Self::Denied { need },
            StoreError::Private => Self::Private,
            StoreError::Backend { fault, source } => {
                Self::Backend { fault, message: source.to_string() }
            }
        }
    }
}

impl Failure {
    /// The error on the client side.
    pub fn into_error(self) -> StoreError {
        match self {
            Self::NotFound { what, id } => StoreError::NotFound { what, id },
            Self::AlreadySuperseded { id, latest } => StoreError::AlreadySuperseded { id, latest },
            Self::OtherSession { id, session } => StoreError::OtherSession { id, session },
            Self::PathTaken { path, id } => StoreError::PathTaken { path, id },
            Self::InUse { id } => StoreError::InUse { id },
            Self::WrongState { id, from, to } => StoreError::WrongState { id, from, to },
            Self::Claimed { id } => StoreError::Claimed { id },
            Self::Locked { epic, owner, fence } => StoreError::Locked { epic, owner, fence },
            Self::Fenced { epic } => StoreError::Fenced { epic },
            Self::Ambiguous { prefix, count } => StoreError::Ambiguous { prefix, count },
            Self::Differs { record } => StoreError::Differs { record },
            Self::Newer { location, found, known } => StoreError::Newer { location, found, known },
            Self::Older { location, found, known } => StoreError::Older { location, found, known },
            Self::Outdated { store, found } => StoreError::Outdated { store, found },
            Self::Foreign { path } => StoreError::Foreign { path },
            Self::Altered { path, what } => StoreError::Altered { path, what },
            Self::Aborted => StoreError::Aborted,
            Self::Index(error) => StoreError::Index(error),
            Self::Denied { need } => StoreError::Denied { need },
            Self::Private => StoreError::Private,
            Self::Backend { fault, message } => backend(fault, message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_error() -> Vec<StoreError> {
        let epic = || EpicId::new("1").unwrap();
        let owner = LockOwner { host: "h".to_owned(), pid: 7, started: None, boot: None };
        vec![
            StoreError::not_found(RecordKind::SessionPackage, PackageId(4)),
            StoreError::AlreadySuperseded { id: PackageId(1), latest: PackageId(2) },
            StoreError::OtherSession { id: PackageId(1), session: SessionId::new("s").unwrap() },
            StoreError::PathTaken { path: "a.md".to_owned(), id: PackageId(3) },
            StoreError::InUse { id: PackageId(3) },
            StoreError::WrongState {
                id: "r_1".to_owned(),
                from: ReceiptState::Failed,
                to: ReceiptState::Delivered,
            },
            StoreError::Claimed { id: "r_1".to_owned() },
            StoreError::Locked { epic: epic(), owner, fence: 9 },
            StoreError::Fenced { epic: epic() },
            StoreError::Ambiguous { prefix: "ab".to_owned(), count: 2 },
            StoreError::Differs { record: "package 1".to_owned() },
            StoreError::Newer { location: "x.db".to_owned(), found: 3, known: 1 },
            StoreError::Older { location: "x.db".to_owned(), found: 1, known: 3 },
            StoreError::Outdated { store: OldStore::File("x.db".into()), found: 12 },
            StoreError::Outdated {
                store: OldStore::Schema { database: "d".to_owned(), schema: "s".to_owned() },
                found: 6,
            },
            StoreError::Foreign { path: "x.db".into() },
            StoreError::Altered { path: "x.db".into(), what: "view `v`".to_owned() },
            StoreError::Aborted,
            StoreError::Index(IndexError::Version { part: IndexPart::Terms, found: 9 }),
            StoreError::Index(IndexError::Damaged { part: IndexPart::Candidates }),
            StoreError::Index(IndexError::Order { part: IndexPart::Postings }),
            StoreError::Index(IndexError::Missing { package: PackageId(5) }),
            StoreError::Denied { need: TokenScope::Admin },
            StoreError::Private,
            StoreError::damaged("a text"),
        ]
    }

    #[test]
    fn errors_survive_the_wire() {
        let mut messages = std::collections::BTreeSet::new();
        for error in every_error() {
            let (message, debug) = (error.to_string(), format!("{error:?}"));
            let sent = serde_json::to_string(&Failure::from(error)).unwrap();
            let received: Failure = serde_json::from_str(&sent).unwrap();
            let received = received.into_error();
            assert_eq!(received.to_string(), message);
            assert_eq!(format!("{received:?}"), debug);
            messages.insert(message);
        }
        assert_eq!(messages.len(), every_error().len(), "each error has its own message");
    }

    #[test]
    fn calls_survive_the_wire() {
        let session = SessionId::new("s1").unwrap();
        let asked = CallRef::reindex { session: Some(&session) };
        let sent = serde_json::to_string(&Request::Call { within: None, call: asked }).unwrap();
        let received: Request<Call> = serde_json::from_str(&sent).unwrap();
        let Request::Call { within: None, call: Call::reindex { session: Some(named) } } = received
        else {
            panic!("{sent}")
        };
        assert_eq!(named, session);
        let unknown = sent.replace("reindex", "destroy");
        assert!(serde_json::from_str::<Request<Call>>(&unknown).is_err());
    }
}
