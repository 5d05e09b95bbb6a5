//! The agent programs whose transcripts can be read: a folder each, and a line in the registry.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod qwen;

pub(crate) use claude::folder_name as claude_folder;

use std::path::Path;

use handover_model::Host;

use super::find::Search;
use super::{Conversation, Transcript};
use crate::{ForeignTables, Homes, SkipReason};

/// How a program keeps its conversations.
pub(super) trait Program: Sync {
    fn host(&self) -> Host;

    /// Finds those of this project.
    fn find(&self, search: &mut Search<'_>);

    /// Whether a file that begins like this is one of its transcripts.
    fn recognizes(&self, head: &[u8]) -> bool;

    /// The id of the conversation in a file, by its path.
    fn id_of(&self, file: &Path) -> Option<String> {
        super::find::stem(file)
    }

    fn read(&self, file: &Path) -> Result<Conversation, SkipReason>;

    /// Reads the conversation of a subagent, for a program that keeps several in a file.
    fn read_subagent(&self, file: &Path, _agent: &str) -> Result<Conversation, SkipReason> {
        self.read(file)
    }

    /// Where the conversation with this id is or will be, for a program that keeps all of them in one place.
    fn by_id(&self, _homes: &Homes, _id: &str) -> Option<Transcript> {
        None
    }

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

/// Every program; Qwen Code before Claude Code, whose lines look alike.
pub(super) const ALL: &[&dyn Program] = &[
    &qwen::Qwen,
    &claude::Claude,
    &codex::Codex,
    &gemini::Gemini,
    &copilot::Copilot,
    &opencode::Opencode,
];

pub(super) fn of(host: Host) -> Option<&'static dyn Program> {
    ALL.iter().copied().find(|program| program.host() == host)
}
