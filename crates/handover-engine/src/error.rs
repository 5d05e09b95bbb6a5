//! Why a run could not go on. A story that fails is no error.

use handover_agents::AgentError;
use handover_context::package_file::PackageFileError;
use handover_handoff::HandoffError;
use handover_model::InvalidId;
use handover_store::StoreError;

use crate::chain::ChainError;
use crate::gates::GateError;
use crate::git::GitError;
use crate::story::StoryError;
use crate::uat::UatError;

/// Why a run could not go on.
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
    /// Epics cannot be run one after the other.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Scenarios cannot be used.
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
    /// A file around the run could not be read or written.
    #[error("failed to read or write a file of the run")]
    Io(#[from] std::io::Error),
    /// A run that did not come to its end is there.
    #[error("run `{run}` of epic `{epic}` has not come to its end ({state})")]
    Unfinished {
        /// The run.
        run: String,
        /// The epic.
        epic: String,
        /// Where it stands.
        state: handover_model::RunState,
    },
    /// A journal that this version cannot read.
    #[error("the journal of run `{run}` cannot be read at entry {seq}: {reason}")]
    Journal {
        /// The run.
        run: String,
        /// The entry.
        seq: u64,
        /// Why.
        reason: String,
    },
    /// An answer to nothing.
    #[error("nothing is asked{}", story.as_ref().map(|story| format!(" by story `{story}`")).unwrap_or_default())]
    NothingAsked {
        /// The story, if one was named.
        story: Option<String>,
    },
    /// An answer that may be to any of several questions.
    #[error("several questions are open")]
    SeveralAsked,
    /// An answer that says nothing.
    #[error("the answer is empty")]
    EmptyAnswer,
    /// An answer that no prompt has room for.
    #[error("the answer has {bytes} bytes; at most {most} are allowed")]
    LongAnswer {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        most: usize,
    },
    /// The story to start from does not exist.
    #[error("epic `{epic}` has no story `{story}`; it has {}", stories.join(", "))]
    NoSuchStory {
        /// The epic.
        epic: String,
        /// What was asked for.
        story: String,
        /// What there is.
        stories: Vec<String>,
    },
    /// A name that would not survive being written down.
    #[error("the name of story `{story}` looks like a secret ({rule})")]
    SecretName {
        /// The story.
        story: String,
        /// What it looks like.
        rule: String,
    },
    /// The program of a resumed run was not written down whole.
    #[error("the agent command of the run holds a secret and was not written down whole")]
    RedactedCommand,
    /// Processes of an earlier engine cannot be ended.
    #[error("{count} process(es) of an earlier engine cannot be ended")]
    Stuck {
        /// How many.
        count: u32,
    },
    /// Somebody must set something right before agents can work.
    #[error("the agent program cannot work: {message}")]
    Host {
        /// What it says.
        message: String,
    },
    /// A signal asked for the end.
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
