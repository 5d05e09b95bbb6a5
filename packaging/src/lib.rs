//! Makes everything that is released from one built program: archives, packages of every channel, checksums and
//! the bill of materials. It has few dependencies, because each platform of a release and every change builds it;
//! `cargo xtask dist` and `cargo xtask release` call it.

mod archive;
mod bump;
mod cargo;
mod changelog;
mod channels;
mod checksums;
mod contents;
mod dist;
mod release;
mod sbom;
mod target;
mod version;

pub use dist::{DistArgs, IndexArgs, dist, index};
pub use release::{ReleaseArgs, release};

/// The name of the package in every registry; the program is `handover`.
pub const PACKAGE: &str = "handover-cli";
const SUMMARY: &str = "The context and handoff layer for teams of coding agents";
const DESCRIPTION: &str = "\
Handover keeps what one coding agent learned and passes it to the next one
that needs it: ranked, redacted and within budget. Every spawn carries a
receipt of what the agent got, what was left out, and why.";
