//! The stories of a run that several runners share, on as many machines as there are.
//!
//! How a shared run works: one engine takes the lock of the epic, starts the run, offers its stories
//! and gives the lock back. From then on nobody works alone: every runner claims a story, writes to
//! the run's journal in its name, renews its lease with every entry, and closes the story or gives it
//! back. A runner that dies is replaced when its time has run out. Whoever sees that a story has become
//! ready offers it; offering twice does no harm.
//!
//! A claim is known by a fence that grows with every owner of the story. What is written with an old
//! one is refused with [`Fenced`](crate::StoreError::Fenced). Places in the journal are given out by
//! the store, so entries of many runners make one order; within a story it is the order in which they
//! were written.

use handover_model::{EpicId, JournalKind, LockOwner, RunId, RunState, StoryId, Timestamp};
use handover_text::CleanJson;

use crate::Result;

/// A runner that wants a story.
#[derive(Debug, Clone)]
pub struct StoryClaim {
    /// The run.
    pub run: RunId,
    /// The epic that the run works on.
    pub epic: EpicId,
    /// Who wants it.
    pub owner: LockOwner,
    /// How long the story is held without another sign of life.
    pub until: Timestamp,
    /// Now.
    pub now: Timestamp,
}

/// A story that was claimed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedStory {
    /// The story.
    pub story: StoryId,
    /// What its owner is known by.
    pub fence: u64,
    /// Whose time had run out: the story was begun and perhaps done.
    pub taken_over: Option<LockOwner>,
}

/// Where a shared story stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedStory {
    /// The story.
    pub story: StoryId,
    /// Whether it is done with, however it ended.
    pub closed: bool,
    /// Who works on it, whether or not the time has run out.
    pub owner: Option<LockOwner>,
    /// The fence of its last owner; 0 if nobody had it.
    pub fence: u64,
    /// When its owner's time runs out.
    pub expires_at: Timestamp,
}

/// What becomes of a story that its owner lets go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoryEnd {
    /// Nobody needs to work on it any more.
    Closed,
    /// Somebody else shall go on.
    GivenBack,
}

/// An entry of a shared run's journal, written in the name of a story.
#[derive(Debug, Clone)]
pub struct NewStoryEntry {
    /// The story.
    pub story: StoryId,
    /// What it is.
    pub kind: JournalKind,
    /// What it says.
    pub entry: CleanJson,
    /// Where the run stands from now on; none leaves it.
    pub state: Option<RunState>,
    /// How long the story is held without another sign of life.
    pub until: Timestamp,
    /// Now.
    pub now: Timestamp,
}

/// Stories of runs that runners share.
pub trait Stories {
    /// Offers stories of a run to whoever comes, behind those offered before. One that was offered
    /// already stays as it is.
    fn offer_stories(&self, run: &RunId, stories: &[StoryId]) -> Result<()>;

    /// Claims the first story of a run that is free or whose owner's time has run out. None if there
    /// is none at this moment; runners that ask at once get different ones and do not wait for each
    /// other. A run that does not exist or works on another epic is
    /// [`NotFound`](crate::StoreError::NotFound).
    fn claim_story(&self, claim: &StoryClaim) -> Result<Option<ClaimedStory>>;

    /// Keeps a story for longer; refused with [`Fenced`](crate::StoreError::Fenced) if it is another's.
    fn renew_story(&self, run: &RunId, story: &StoryId, fence: u64, until: Timestamp)
    -> Result<()>;

    /// Lets a story go; an old fence changes nothing.
    fn release_story(&self, run: &RunId, story: &StoryId, fence: u64, end: StoryEnd) -> Result<()>;

    /// The stories of a run, in the order in which they were offered.
    fn stories(&self, run: &RunId) -> Result<Vec<SharedStory>>;

    /// Appends to the journal of a shared run and keeps the story; returns the place that the entry
    /// got. It has reached the disk on return, even if the power fails. Refused with
    /// [`Fenced`](crate::StoreError::Fenced) if the story is another's.
    fn append_story_journal(&self, run: &RunId, new: &NewStoryEntry, fence: u64) -> Result<u64>;
}
