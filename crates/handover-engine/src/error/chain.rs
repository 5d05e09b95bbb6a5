//! Why a chain of epics cannot run.

use handover_model::EpicId;

use crate::story::StoryError;

/// Why a chain of epics cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// An epic cannot be read.
    #[error(transparent)]
    Story(#[from] StoryError),
    /// An epic was named twice.
    #[error("epic `{epic}` is named twice")]
    Twice {
        /// The epic.
        epic: EpicId,
    },
    /// Epics depend on each other.
    #[error("these epics depend on each other: {}", names(epics))]
    Cycle {
        /// The cycle of epics.
        epics: Vec<EpicId>,
    },
}

fn names(epics: &[EpicId]) -> String {
    epics.iter().map(EpicId::as_str).collect::<Vec<_>>().join(" → ")
}
