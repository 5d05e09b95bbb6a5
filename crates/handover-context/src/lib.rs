//! What Handover does with records and projects: package files, search, learning,
//! stack, specialization.
//!
//! Synchronous, over the traits of handover-store; knows no database, no process, no terminal.

pub mod amendments;
pub mod archive;
pub mod assemble;
pub mod by_hand;
pub mod everything;
mod ignore_files;
pub mod learning;
pub mod notes;
pub mod package_file;
pub mod rank;
pub mod search;
pub mod shape;
pub mod specialize;
pub mod stack;
pub mod yaml;

#[cfg(test)]
mod testing;
pub mod trust;
pub mod why;
