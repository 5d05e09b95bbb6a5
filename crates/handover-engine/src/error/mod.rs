//! Why a run cannot start or continue. A failed story is not an error.

mod chain;

use handover_agents::AgentError;
use handover_context::package_file::PackageFileError;
use handover_files::FileError;
use handover_handoff::HandoffError;
use handover_model::InvalidId;
use handover_store::StoreError;

use crate::gates::GateError;
use crate::git::GitError;
use crate::story::StoryError;
use crate::uat::UatError;

pub use chain::ChainError;

/// Why a run cannot start or continue.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The stories cannot be run.
    #[error(transparent)]
    Story(#[from] StoryError),
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A handoff was refused or failed.
    #[error(transparent)]
    Handoff(HandoffError),
    /// A chain of epics cannot run.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Scenarios are invalid.
    #[error(transparent)]
    Uat(#[from] UatError),
    /// A text cannot become a package.
    #[error(transparent)]
    Package(#[from] PackageFileError),
    /// Git refused or failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A gate has no result.
    #[error(transparent)]
    Gate(#[from] GateError),
    /// The agent program could not be run.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A name that cannot be an id.
    #[error(transparent)]
    Id(#[from] InvalidId),
    /// A file of the run is not valid.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of the run could not be read or written.
    #[error("failed to read or write a file of the run")]
    Io(#[from] std::io::Error),
    /// An unfinished run exists.
    #[error("run `{run}` of epic `{epic}` is unfinished ({state})")]
    Unfinished {
        /// The run.
        run: String,
        /// The epic.
        epic: String,
        /// The state of the run.
        state: handover_model::RunState,
    },
    /// There is no run to abandon.
    #[error("no run of epic `{epic}` is unfinished")]
    NothingUnfinished {
        /// The epic.
        epic: String,
    },
    /// A journal that this version cannot read.
    #[error("the journal of run `{run}` cannot be read at entry {seq}: {reason}")]
    Journal {
        /// The run.
        run: String,
        /// The entry.
        seq: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// No question is open.
    #[error("no question is open{}", story.as_ref().map(|story| format!(" for story `{story}`")).unwrap_or_default())]
    NothingAsked {
        /// The story, if one was named.
        story: Option<String>,
    },
    /// Several questions are open and the answer names no story.
    #[error("several questions are open")]
    SeveralAsked,
    /// The answer is empty.
    #[error("the answer is empty")]
    EmptyAnswer,
    /// The answer is too long for a prompt.
    #[error("the answer has {bytes} bytes; at most {most} are allowed")]
    LongAnswer {
        /// The length of the answer.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The story to start from does not exist.
    #[error("epic `{epic}` has no story `{story}`; it has {}", stories.join(", "))]
    NoSuchStory {
        /// The epic.
        epic: String,
        /// The story that was named.
        story: String,
        /// The stories of the epic.
        stories: Vec<String>,
    },
    /// A story's name looks like a secret and would be redacted.
    #[error("the name of story `{story}` looks like a secret ({rule})")]
    SecretName {
        /// The story.
        story: String,
        /// The redaction rule that it matches.
        rule: String,
    },
    /// The agent command of a resumed run was redacted in the journal.
    #[error("the agent command of the run contains a secret and was redacted")]
    RedactedCommand,
    /// Orphaned processes of an earlier engine cannot be killed.
    #[error("{count} orphaned process(es) of an earlier engine cannot be killed")]
    Stuck {
        /// The number of processes.
        count: u32,
    },
    /// The agent program cannot be used: no login, no quota or no such model.
    #[error("the agent program cannot be used: {message}")]
    Host {
        /// The program's message.
        message: String,
    },
    /// The run was interrupted by a signal.
    #[error("interrupted")]
    Interrupted,
}

impl From<HandoffError> for EngineError {
    fn from(error: HandoffError) -> Self {
        if let HandoffError::Store(error) = error {
            return Self::Store(error);
        }
        Self::Handoff(error)
    }
}
