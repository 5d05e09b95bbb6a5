//! The fields that every event has, and what differs between hosts.

use std::path::PathBuf;

use handover_model::{AgentId, Host, HostSessionId, ToolUseId};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use super::{checkpoint, event_name, pre_tool_use, session_start, subagent_stop};
use crate::event::{Checkpoint, EventHead, HookCall, HookEvent, Subagent};

/// The fields of every event. There are many more, and more in every version.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Common {
    /// The id of the conversation.
    pub(crate) session_id: Option<String>,
    /// The transcript of the conversation.
    pub(crate) transcript_path: Option<PathBuf>,
    /// The working folder.
    pub(crate) cwd: Option<PathBuf>,
    /// The subagent inside which, or to which, it happened.
    pub(crate) agent_id: Option<String>,
    /// The kind of that subagent.
    pub(crate) agent_type: Option<String>,
    /// The model; only Codex names it in every event.
    pub(crate) model: Option<String>,
    /// The call of a tool.
    pub(crate) tool_use_id: Option<String>,
    /// What runs in the background: a list of objects with `id`, `type` and `status`.
    pub(crate) background_tasks: Value,
}

impl Common {
    /// The subagents that run in the background.
    fn running(&self) -> Option<Vec<AgentId>> {
        let tasks = self.background_tasks.as_array()?.iter();
        // Others, such as workflows, may have subagents that are not in the list.
        let listed = |task: &Value| {
            matches!(task["type"].as_str(), Some("subagent" | "shell" | "bash" | "local_bash"))
        };
        let known = tasks.clone().all(listed);
        let ids = tasks.filter_map(|task| AgentId::new(task["id"].as_str()?).ok());
        known.then(|| ids.collect())
    }
}

/// What differs between hosts that speak the protocol.
pub(crate) struct Dialect {
    pub(crate) host: Host,
    /// The model that the event is about.
    pub(crate) model: fn(&Common) -> Option<String>,
    /// The subagent of an event that does not name it.
    pub(crate) subagent: fn(&Common) -> Option<Subagent>,
    pub(crate) spawn_tool: SpawnTool,
}

/// The tool that spawns subagents.
pub(crate) struct SpawnTool {
    /// Whether a tool of this name is the one.
    pub(crate) is: fn(&str) -> bool,
    /// The field of its input that holds the prompt.
    pub(crate) prompt_field: &'static str,
    /// The field of its input that holds the name that the caller gives the subagent.
    pub(crate) name_field: &'static str,
    /// The field of its input that names the kind of subagent.
    pub(crate) kind_field: &'static str,
    /// The kind of a subagent when the caller does not choose one.
    pub(crate) default_kind: &'static str,
}

impl Dialect {
    /// Reads an event of the protocol; one that we do not use is [`HookEvent::Other`].
    pub(crate) fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        let checkpoint = |at| -> Result<HookEvent, serde_json::Error> {
            Ok(serde_json::from_str::<checkpoint::Fields>(text)?.into_event(at))
        };
        let event = match event_name(head)? {
            "SessionStart" => serde_json::from_str::<session_start::Fields>(text)?.into_event(),
            "PreToolUse" => self.spawn(text)?,
            // Neither its prompt nor its transcript is known yet.
            "SubagentStart" => HookEvent::SubagentStarted,
            "SubagentStop" => serde_json::from_str::<subagent_stop::Fields>(text)?.into_event(),
            "PreCompact" => checkpoint(Checkpoint::PreCompact)?,
            "Stop" => checkpoint(Checkpoint::Stop)?,
            "SessionEnd" => checkpoint(Checkpoint::SessionEnd)?,
            _ => return Ok(HookCall::new(self.host, HookEvent::Other)),
        };
        self.call(text, event)
    }

    /// Reads the event of a tool that is about to run.
    pub(crate) fn spawn(&self, text: &str) -> Result<HookEvent, serde_json::Error> {
        Ok(serde_json::from_str::<pre_tool_use::Fields>(text)?.into_event(&self.spawn_tool))
    }

    /// An event together with the fields that every event has.
    pub(crate) fn call(&self, text: &str, event: HookEvent) -> Result<HookCall, serde_json::Error> {
        let common: Common = serde_json::from_str(text)?;
        Ok(HookCall {
            host: self.host,
            conversation: common.session_id.as_deref().and_then(|id| HostSessionId::new(id).ok()),
            agent: subagent(common.agent_id.as_deref(), common.agent_type.as_deref())
                .or_else(|| (self.subagent)(&common)),
            model: (self.model)(&common),
            tool_use: common.tool_use_id.as_deref().and_then(|id| ToolUseId::new(id).ok()),
            running: common.running(),
            folder: common.cwd,
            transcript: common.transcript_path,
            event,
        })
    }
}

/// A subagent by the id and the kind that a host gives it.
pub(crate) fn subagent(id: Option<&str>, kind: Option<&str>) -> Option<Subagent> {
    let id = AgentId::new(id?).ok()?;
    Some(Subagent { id, kind: kind.unwrap_or_default().to_owned() })
}
