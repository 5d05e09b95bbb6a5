//! A conversation came to a point where its state counts. A subagent that makes its window smaller
//! is noted as what it is, not as the conversation.

use handover_hosts::Moment;
use handover_model::KnownEvent;
use serde_json::json;

use super::scene::Scene;
use super::{Reply, tool};
use crate::error::CommandError;

pub(super) fn react(
    scene: &Scene<'_>,
    moment: Moment,
    cause: Option<&str>,
) -> Result<Reply, CommandError> {
    if moment == Moment::SessionEnd {
        tool::forget(scene)?;
    }
    if let Some(session) = scene.bound()? {
        let payload = json!({
            "host": scene.call.host,
            "host_session": scene.conversation(),
            "moment": moment.as_str(),
            "cause": cause,
            "agent": scene.call.agent.as_ref().map(|agent| &agent.id),
        });
        scene.log(&session, None, KnownEvent::Checkpoint, payload)?;
    }
    Ok(Reply::default())
}
