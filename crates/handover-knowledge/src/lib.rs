//! What a project already knows, and where it stands: documents, git history, conversations with agent
//! programs, the memories of other tools.
//!
//! A [`Source`] finds units and turns them into [`Draft`]s: passages, not dumps. Nothing here calls a model,
//! opens a database or reads the clock. Texts are raw: the caller redacts them before it stores anything.

mod draft;
mod extract;
mod git;
mod mentions;
mod passage;
pub mod places;
mod reverts;
mod source;
mod sources;
#[cfg(test)]
mod testing;
pub mod transcripts;

pub use draft::{Draft, MAX_TEXT_CHARS, note_id};
pub use extract::{first_outside, repeats};
pub use git::{Git, GitError, GitOutput};
pub use source::{
    ForeignTables, ForeignValue, Found, Homes, Learned, Place, SkipReason, Skipped, Source,
    SourceContext, SourceError, Unit,
};
pub use sources::{section_now, source, sources};
