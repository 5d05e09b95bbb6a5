//! What an agent of a run is asked to do, as a request for one handoff.

use std::path::PathBuf;

use handover_context::package_file::ProjectPaths;
use handover_handoff::{Handoff, HandoffRequest, Handoffs};
use handover_model::{GroupId, Host, ReceiptId, Role, SessionId, Timestamp};

use crate::EngineError;

/// One agent that a run is about to start.
#[derive(Debug, Clone)]
pub struct PromptRequest {
    /// The session that keeps its records.
    pub session: SessionId,
    /// The group of its story.
    pub group: GroupId,
    /// The role that it works as.
    pub role: Role,
    /// Its identity, and the few rules of the workflow.
    pub role_text: String,
    /// Whether it gets other agents' reasoning; `None` leaves it to the role.
    pub reasoning: Option<bool>,
    /// The program that will read the prompt.
    pub host: Host,
    /// The model, by any of its names.
    pub model: Option<String>,
    /// The checkout that it works in, once there is one.
    pub folder: Option<PathBuf>,
    /// What it should do.
    pub task: String,
    /// Text to rank by: the story without our instructions.
    pub about: String,
    /// Generates its receipt id.
    pub unique: String,
    /// The time of the request.
    pub now: Timestamp,
}

impl PromptRequest {
    /// Prepares the agent's handoff.
    pub(crate) fn prepare(&self, handoffs: &Handoffs<'_>) -> Result<Handoff, EngineError> {
        let paths = self.paths(handoffs)?;
        // A run cannot continue without its store, so receipts are never spooled.
        let handoffs = Handoffs { paths: &paths, spool: None, ..*handoffs };
        Ok(handoffs.prepare(&self.request()?)?.handoff)
    }

    /// The prompt, without leaving a trace.
    pub(crate) fn preview(&self, handoffs: &Handoffs<'_>) -> Result<String, EngineError> {
        let paths = self.paths(handoffs)?;
        let handoffs = Handoffs { paths: &paths, ..*handoffs };
        Ok(handoffs.preview(&self.request()?).text)
    }

    /// The paths of package files as seen from the agent's folder.
    fn paths(&self, handoffs: &Handoffs<'_>) -> Result<ProjectPaths, EngineError> {
        match &self.folder {
            Some(folder) => Ok(handoffs.paths.seen_from(folder)?),
            None => Ok(handoffs.paths.clone()),
        }
    }

    fn request(&self) -> Result<HandoffRequest, EngineError> {
        let receipt = ReceiptId::new(format!("r_{}", self.unique))?;
        Ok(HandoffRequest {
            group: Some(self.group.clone()),
            task: Some(self.task.clone()),
            relevance: Some(self.about.clone()),
            model: self.model.clone(),
            reasoning: self.reasoning,
            host: Some(self.host),
            role_text: Some(self.role_text.clone()),
            ..HandoffRequest::new(self.session.clone(), self.role.clone(), receipt, self.now)
        })
    }
}
