//! The hook protocols of agent programs: what they ask, what they are answered, and why.
//!
//! A folder per program holds what it asks, one file per event, read as leniently as programs change;
//! `output` holds what both are answered. They are read into a [`Call`] and written from an
//! [`Answer`], which hold for every program.
//! What is decided is in `decide`, as functions from data to data: what is known is put in by
//! whoever calls, and nothing here opens a store, starts a process or reads a file.

mod call;
pub mod claude;
pub mod codex;
pub mod decide;
pub mod output;
mod schema;
pub mod settings;
pub mod transcript;

pub use call::{
    Act, Agent, Answer, Call, ChildStop, Event, Moment, Source, Spawn, Unreadable, read, write,
};
pub use schema::schemas;
