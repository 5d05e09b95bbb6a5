//! The sources of notes: a folder each, and a line in the registry.

mod docs;
mod git;
mod memories;
mod transcripts;

use handover_model::SourceName;

use crate::Source;
pub use docs::section_now;

/// Every source, in the order in which they are learned.
const SOURCES: &[&dyn Source] =
    &[&docs::Docs, &git::History, &transcripts::Transcripts, &memories::Memories];

/// Every source, in the order in which they are learned.
pub fn sources() -> &'static [&'static dyn Source] {
    SOURCES
}

/// The source of a name.
pub fn source(name: SourceName) -> Option<&'static dyn Source> {
    SOURCES.iter().copied().find(|source| source.name() == name)
}
