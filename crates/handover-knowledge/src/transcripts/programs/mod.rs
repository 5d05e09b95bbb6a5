//! The agent programs whose transcripts can be read: a folder each, and a line in the registry.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;

pub(crate) use claude::folder_name as claude_folder;

use std::path::Path;

use handover_model::Host;

use super::{Conversation, Transcript};
use crate::{ForeignTables, SkipReason, Skipped, SourceContext};

/// How a program keeps its conversations.
pub(super) trait Program: Sync {
    fn host(&self) -> Host;

    /// Finds those of this project.
    fn find(
        &self,
        context: &SourceContext<'_>,
        found: &mut Vec<Transcript>,
        skipped: &mut Vec<Skipped>,
    );

    /// Whether a file that begins like this is one of its transcripts.
    fn recognizes(&self, head: &[u8]) -> bool;

    /// The id of the conversation in a file, by its path.
    fn id_of(&self, file: &Path) -> Option<String> {
        super::find::stem(file)
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason>;

    /// Reads a conversation from a database, for a program that has one.
    fn read_row(
        &self,
        _tables: &dyn ForeignTables,
        _database: &Path,
        _id: &str,
    ) -> Result<Conversation, SkipReason> {
        Err(SkipReason::Foreign)
    }
}

/// Every program.
pub(super) const ALL: &[&dyn Program] =
    &[&claude::Claude, &codex::Codex, &gemini::Gemini, &copilot::Copilot, &opencode::Opencode];

pub(super) fn of(host: Host) -> Option<&'static dyn Program> {
    ALL.iter().copied().find(|program| program.host() == host)
}
