//! What a hook asks for: the brief of a subagent, before it starts or once it has.

use handover_context::package_file::vendor_secret;
use handover_handoff::{HandoffRequest, TicketRequest};
use handover_hosts::decide::spawn::group_in;
use handover_hosts::transcript::text_hash;
use handover_hosts::{Subagent, SubagentSpawn};
use handover_model::{BriefDelivery, GroupId, Role, SessionId};

use super::context::HookContext;
use crate::error::CommandError;

/// Whose brief it is.
#[derive(Clone, Copy)]
pub(super) enum Recipient<'a> {
    /// A subagent that is about to be spawned.
    Announced(&'a SubagentSpawn),
    /// One that has started. Its task is not known.
    Started(&'a Subagent),
}

impl HookContext<'_> {
    /// The request for the brief of a subagent.
    pub(super) fn request(
        &self,
        recipient: Recipient<'_>,
        session: SessionId,
        (role, debrief): (Role, bool),
        way: BriefDelivery,
    ) -> Result<HandoffRequest, CommandError> {
        let (spawn, started) = match recipient {
            Recipient::Announced(spawn) => (Some(spawn), None),
            Recipient::Started(agent) => (None, Some(agent)),
        };
        let prompt = spawn.map(|spawn| spawn.prompt.as_str());
        let ticket = |conversation| TicketRequest {
            host: self.call.host,
            conversation,
            agent_type: match recipient {
                Recipient::Announced(spawn) => spawn.kind.clone(),
                Recipient::Started(agent) => agent.kind.clone(),
            },
            name: spawn.and_then(|spawn| spawn.name().map(ToOwned::to_owned)),
            tool_use: self.call.tool_use.clone(),
            agent: started.map(|agent| agent.id.clone()),
            // Who spawns is the agent of the event; who starts is that agent.
            parent: spawn.and(self.call.agent.as_ref()).map(|parent| parent.id.clone()),
            task_hash: prompt.map(text_hash).unwrap_or_default(),
            way,
        };
        let app = self.app;
        Ok(HandoffRequest {
            group: self.group(prompt)?,
            task: prompt.map(ToOwned::to_owned),
            model: spawn.and_then(|spawn| spawn.model.clone()).or_else(|| self.call.model.clone()),
            debrief,
            ticket: self.conversation().cloned().map(ticket),
            ..HandoffRequest::new(session, role, app.new_receipt()?, app.now())
        })
    }

    /// The group that the prompt names, else that of the environment.
    fn group(&self, prompt: Option<&str>) -> Result<Option<GroupId>, CommandError> {
        let redactor = self.app.redactor()?;
        match prompt.and_then(group_in) {
            Some(group) if vendor_secret(redactor, group.as_str()).is_none() => Ok(Some(group)),
            Some(_) | None => self.app.group(),
        }
    }
}
