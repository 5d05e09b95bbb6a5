//! A store's methods as data: what a client asks of a store that is elsewhere, and what it is answered.
//!
//! Made out of the table of [`store_methods!`](crate::store_methods). [`Asked`] borrows, for whoever
//! sends; [`Call`] owns, for whoever performs. Texts are redacted again as a [`Call`] is read, so
//! reading one works inside of [`Redactor::reading`](handover_text::Redactor::reading) alone. Times
//! travel in milliseconds.

use std::path::PathBuf;

use handover_model::*;
use handover_text::Clean;
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
        /// A call of a method, as it is sent.
        #[derive(Debug, Serialize)]
        #[serde(tag = "method", content = "arguments")]
        #[expect(non_camel_case_types, missing_docs, reason = "the methods' own names")]
        pub enum Asked<'a> {
            $($($name { $($arg: borrowed!($kind $ty)),* },)+)+
            #[serde(skip)]
            Nothing(std::marker::PhantomData<&'a ()>),
        }

        /// A call of a method, as it is received.
        #[derive(Debug, Deserialize)]
        #[serde(tag = "method", content = "arguments", deny_unknown_fields)]
        #[expect(non_camel_case_types, missing_docs, reason = "the methods' own names")]
        pub enum Call {
            $($($name { $($arg: owned!($kind $ty)),* },)+)+
        }

        impl Call {
            /// Does it.
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

/// What a transaction is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// [`Store::exclusively`]
    Exclusive,
    /// [`Store::consistently`]
    Consistent,
}

/// What a client can ask for. `C` is [`Asked`] or [`Call`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Request<C> {
    /// One method, within a transaction or on its own.
    Call {
        /// The transaction.
        within: Option<String>,
        /// The method.
        call: C,
    },
    /// A transaction begins, inside of another or on its own. The answer is its name.
    Begin {
        /// The transaction around it.
        within: Option<String>,
        /// What it is for.
        mode: Mode,
    },
    /// The innermost transaction ends.
    End {
        /// The transaction.
        within: String,
        /// Whether what was written stays.
        keep: bool,
    },
    /// [`Store::check`]
    Check,
}

/// What a client is answered.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply<T> {
    /// What was asked for.
    Done(T),
    /// Why it was not done.
    Failed(Failure),
}

/// A [`StoreError`] on its way.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields of StoreError")]
pub enum Failure {
    NotFound { what: String, id: String },
    AlreadySuperseded { id: PackageId, latest: PackageId },
    OtherSession { id: PackageId, session: SessionId },
    PathTaken { path: String, id: PackageId },
    WrongState { id: String, from: ReceiptState, to: ReceiptState },
    Claimed { id: String },
    Locked { epic: EpicId, owner: LockOwner, fence: u64 },
    Fenced { epic: EpicId },
    Ambiguous { prefix: String, count: usize },
    Newer { location: String, found: i64, known: i64 },
    Foreign { path: PathBuf },
    Denied { need: TokenScope },
    Backend { fault: Fault, message: String },
}

/// What [`StoreError::NotFound`] can be about.
const THINGS: &[&str] = &[
    "epic",
    "error pattern",
    "group",
    "outcome",
    "package",
    "package of this receipt",
    "package of this session",
    "project",
    "receipt",
    "run",
    "session",
    "strategy",
    "token",
];

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what, id } => Self::NotFound { what: what.to_owned(), id },
            StoreError::AlreadySuperseded { id, latest } => Self::AlreadySuperseded { id, latest },
            StoreError::OtherSession { id, session } => Self::OtherSession { id, session },
            StoreError::PathTaken { path, id } => Self::PathTaken { path, id },
            StoreError::WrongState { id, from, to } => Self::WrongState { id, from, to },
            StoreError::Claimed { id } => Self::Claimed { id },
            StoreError::Locked { epic, owner, fence } => Self::Locked { epic, owner, fence },
            StoreError::Fenced { epic } => Self::Fenced { epic },
            StoreError::Ambiguous { prefix, count } => Self::Ambiguous { prefix, count },
            StoreError::Newer { location, found, known } => Self::Newer { location, found, known },
            StoreError::Foreign { path } => Self::Foreign { path },
            StoreError::Denied { need } => Self::Denied { need },
            StoreError::Backend { fault, source } => {
                Self::Backend { fault, message: source.to_string() }
            }
        }
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::NotFound { what, id } => {
                let known = THINGS.iter().find(|thing| **thing == what);
                Self::NotFound { what: known.copied().unwrap_or("record"), id }
            }
            Failure::AlreadySuperseded { id, latest } => Self::AlreadySuperseded { id, latest },
            Failure::OtherSession { id, session } => Self::OtherSession { id, session },
            Failure::PathTaken { path, id } => Self::PathTaken { path, id },
            Failure::WrongState { id, from, to } => Self::WrongState { id, from, to },
            Failure::Claimed { id } => Self::Claimed { id },
            Failure::Locked { epic, owner, fence } => Self::Locked { epic, owner, fence },
            Failure::Fenced { epic } => Self::Fenced { epic },
            Failure::Ambiguous { prefix, count } => Self::Ambiguous { prefix, count },
            Failure::Newer { location, found, known } => Self::Newer { location, found, known },
            Failure::Foreign { path } => Self::Foreign { path },
            Failure::Denied { need } => Self::Denied { need },
            Failure::Backend { fault, message } => backend(fault, message),
        }
    }
}

/// One thing that [`Store::check`] looked at, on its way.
#[derive(Debug, Serialize, Deserialize)]
pub struct Finding {
    /// What was looked at.
    pub name: String,
    /// What was found wrong.
    pub problems: Vec<String>,
}
