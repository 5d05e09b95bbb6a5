//! Error patterns. They belong to a project, not to a session.

use handover_model::learn::{Signature, Trust};
use handover_model::{ErrorIncident, ErrorPattern, GroupId, ProjectId, Role, SessionId, Timestamp};
use handover_text::Clean;
use serde::{Deserialize, Serialize};

use crate::Result;

/// An error that was just met.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorSighting {
    /// The project.
    pub project: ProjectId,
    /// Its type, if known apart from the message.
    pub kind: Option<Clean>,
    /// What it said.
    pub message: Clean,
    /// Words that tell apart what the message does not.
    pub hints: Vec<Clean>,
    /// The programming language.
    pub language: Option<Clean>,
    /// How long the pattern lives unseen.
    pub ttl_days: u32,
    /// Where it happened.
    pub session: Option<SessionId>,
    /// In which group.
    pub group: Option<GroupId>,
    /// Who met it.
    pub role: Option<Role>,
    /// The command that failed.
    pub command: Option<Clean>,
    /// Now.
    pub now: Timestamp,
}

impl ErrorSighting {
    /// What makes this error the same as another.
    pub fn signature(&self) -> Signature {
        let hints: Vec<String> = self.hints.iter().map(ToString::to_string).collect();
        Signature::new(self.kind.as_ref().map(Clean::as_str), self.message.as_str(), &hints)
    }
}

/// Whether a known solution helped when it was used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judgement {
    /// It did.
    Confirmed,
    /// It did not.
    Rejected,
}

/// What the trust in a solution was, from a moment on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustAt {
    /// When it became that.
    pub at: Timestamp,
    /// What it became.
    pub confidence: Trust,
}

/// Which patterns to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ErrorFilter {
    /// Only of this language, or of none.
    pub language: Option<String>,
    /// Only with more trust than this.
    pub above: Option<Trust>,
    /// Only those seen within their time to live before this moment.
    pub live_at: Option<Timestamp>,
    /// At most so many.
    pub limit: Option<u32>,
}

/// Error patterns.
pub trait ErrorPatterns {
    /// Counts a sighting and keeps its circumstances. A new pattern starts at [`Trust::START`],
    /// without a solution.
    fn record_error(&self, sighting: &ErrorSighting) -> Result<ErrorPattern>;

    /// Counts a sighting that was solved. The first solution leaves the trust as it is; every further
    /// one is a confirmation. All solutions are kept; the pattern
    /// shows the one used most often, then the latest.
    fn resolve_error(&self, sighting: &ErrorSighting, solution: &Clean) -> Result<ErrorPattern>;

    /// Raises or lowers the trust in one atomic step. `hash` may be a prefix that fits one pattern.
    fn judge_error(
        &self,
        project: &ProjectId,
        hash: &str,
        verdict: Judgement,
        now: Timestamp,
    ) -> Result<ErrorPattern>;

    /// The project's patterns: most trusted first, then most frequent, then latest, then by hash.
    fn errors(&self, project: &ProjectId, filter: &ErrorFilter) -> Result<Vec<ErrorPattern>>;

    /// The sightings of one pattern.
    fn error_incidents(&self, project: &ProjectId, hash: &str) -> Result<Vec<ErrorIncident>>;

    /// How the trust in one pattern came to be what it is, oldest first; the last is what it is now.
    /// `hash` is whole. A store that does not remember says only what it is now.
    fn error_trust(&self, project: &ProjectId, hash: &str) -> Result<Vec<TrustAt>> {
        let patterns = self.errors(project, &ErrorFilter::default())?;
        let pattern = patterns.into_iter().find(|pattern| pattern.hash == hash);
        let now = pattern
            .map(|pattern| TrustAt { at: pattern.last_seen, confidence: pattern.confidence });
        Ok(now.into_iter().collect())
    }
}
