//! Error patterns. They belong to a project, not to a session.

use handover_model::learn::{self, Signature};
use handover_model::{
    ErrorIncident, ErrorPattern, GroupId, ProjectId, RecordState, Role, SessionId, Timestamp, Trust,
};
use handover_text::{Clean, Redactor};
use serde::{Deserialize, Serialize};

use crate::Result;

/// The [`Signature`] of an error in redacted form, stable under redaction: a normalized message can look
/// like a secret although the original does not, so its parts are redacted again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CleanSignature {
    kind: Clean,
    message: Clean,
    hints: Vec<Clean>,
    /// The original error message, on one line.
    said: Option<Clean>,
}

/// The longest error message that is stored.
const MAX_SAID_CHARS: usize = 300;

impl CleanSignature {
    /// The signature of a message, with its type and additional distinguishing words. `redactor` is the
    /// project's, with its own rules.
    pub fn new(kind: Option<&str>, message: &str, hints: &[String], redactor: &Redactor) -> Self {
        let clean = |text: &str| redactor.clean(text).as_str().to_owned();
        let hints: Vec<String> = hints.iter().map(|hint| clean(hint)).collect();
        let kind = kind.map(clean);
        let said = match &kind {
            Some(kind) if !message.contains(kind.as_str()) => format!("{kind}: {message}"),
            Some(_) | None => message.to_owned(),
        };
        let said = redactor.clean(&said).one_line().cut(MAX_SAID_CHARS);
        let Signature { kind, message, hints } =
            Signature::new(kind.as_deref(), &clean(message), &hints);
        Self {
            kind: redactor.clean(&kind),
            message: redactor.clean(&message),
            hints: hints.iter().map(|hint| redactor.clean(hint)).collect(),
            said: Some(said).filter(|said| !said.as_str().is_empty()),
        }
    }

    /// The original error message.
    pub fn said(&self) -> Option<&str> {
        self.said.as_ref().map(Clean::as_str)
    }

    /// The part of it that a pattern stores.
    pub fn signature(&self) -> Signature {
        Signature {
            kind: self.kind.to_string(),
            message: self.message.to_string(),
            hints: self.hints.iter().map(ToString::to_string).collect(),
        }
    }
}

/// An occurrence of an error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorSighting {
    /// The project that owns what is learned.
    pub project: ProjectId,
    /// What identifies the error.
    pub signature: CleanSignature,
    /// The programming language.
    pub language: Option<Clean>,
    /// How long the pattern is recalled after it was last seen.
    pub ttl_days: u32,
    /// The session in which it happened.
    pub session: Option<SessionId>,
    /// The group in which it happened; needs a session.
    pub group: Option<GroupId>,
    /// The role of the agent that encountered it.
    pub role: Option<Role>,
    /// The command that failed.
    pub command: Option<Clean>,
    /// When it happened.
    pub now: Timestamp,
    /// How far to believe the message and the solution.
    pub trust: Trust,
}

/// Whether a known solution helped when it was applied again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Judgement {
    /// It helped.
    Confirmed,
    /// It did not help.
    Rejected,
}

/// The trust in a solution from a point in time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustAt {
    /// When it changed.
    pub at: Timestamp,
    /// The new value.
    pub confidence: learn::Trust,
}

/// Which patterns to list.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ErrorFilter {
    /// Only of this language, or without one.
    pub language: Option<String>,
    /// Only with more trust than this.
    pub above: Option<learn::Trust>,
    /// Only patterns whose time to live had not expired at this time.
    pub live_at: Option<Timestamp>,
    /// Only in this state.
    pub state: Option<RecordState>,
    /// The maximum number of results; none means all.
    pub limit: Option<u32>,
}

/// Error patterns.
pub trait ErrorPatterns {
    /// Counts a sighting and stores its circumstances. A pattern has the lowest class of all sightings. A new pattern starts at [`learn::Trust::START`],
    /// without a solution.
    fn record_error(&self, sighting: &ErrorSighting) -> Result<ErrorPattern>;

    /// Counts a sighting that was solved. The first solution leaves the trust unchanged; every further one
    /// is a confirmation. All solutions are kept; the pattern shows the most frequent one, then the latest.
    fn resolve_error(&self, sighting: &ErrorSighting, solution: &Clean) -> Result<ErrorPattern>;

    /// Raises or lowers the trust atomically. `hash` may be a unique prefix.
    fn judge_error(
        &self,
        project: &ProjectId,
        hash: &str,
        verdict: Judgement,
        now: Timestamp,
    ) -> Result<ErrorPattern>;

    /// Retires a pattern or takes it back into use. Sightings are still counted. `hash` may be a unique prefix.
    fn set_error_state(
        &self,
        project: &ProjectId,
        hash: &str,
        state: RecordState,
        reason: Option<&Clean>,
    ) -> Result<ErrorPattern>;

    /// The project's patterns: most trusted first, then most frequent, then latest, then by hash.
    fn errors(&self, project: &ProjectId, filter: &ErrorFilter) -> Result<Vec<ErrorPattern>>;

    /// The sightings of one pattern.
    fn error_incidents(&self, project: &ProjectId, hash: &str) -> Result<Vec<ErrorIncident>>;

    /// How the trust in a pattern has changed, oldest first; the last entry is the current value. `hash` is
    /// complete. A store without a history returns the current value only.
    fn error_trust(&self, project: &ProjectId, hash: &str) -> Result<Vec<TrustAt>> {
        let patterns = self.errors(project, &ErrorFilter::default())?;
        let pattern = patterns.into_iter().find(|pattern| pattern.hash == hash);
        let now = pattern
            .map(|pattern| TrustAt { at: pattern.last_seen, confidence: pattern.confidence });
        Ok(now.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn redaction_leaves_a_signature_as_it_is(
            kind in proptest::option::of("[A-Za-z]{0,12}"),
            message in prop_oneof![any::<String>(), "(password|token)[=: ]{1,2}[a-zA-Z0-9+/<>]{6,40}"],
            hint in any::<String>(),
        ) {
            let redactor = Redactor::default();
            let signature = CleanSignature::new(kind.as_deref(), &message, &[hint], &redactor);
            let kept = signature.signature();
            prop_assert_eq!(redactor.clean(&kept.kind).to_string(), kept.kind);
            prop_assert_eq!(redactor.clean(&kept.message).to_string(), kept.message);
            for hint in &kept.hints {
                prop_assert_eq!(&redactor.clean(hint).to_string(), hint);
            }
        }
    }

    #[test]
    fn plain_messages_keep_their_signature() {
        let redactor = Redactor::default();
        let clean = CleanSignature::new(None, "TypeError: x at app.js:3", &[], &redactor);
        assert_eq!(clean.signature(), Signature::new(None, "TypeError: x at app.js:3", &[]));
        let given = CleanSignature::new(Some("TypeError"), "x at app.js:4", &[], &redactor);
        assert_eq!(given.signature().hash(), clean.signature().hash());
        assert_eq!(clean.said(), Some("TypeError: x at app.js:3"));
        assert_eq!(given.said(), Some("TypeError: x at app.js:4"));
        assert_eq!(CleanSignature::new(None, " ", &[], &redactor).said(), None);
    }
}
