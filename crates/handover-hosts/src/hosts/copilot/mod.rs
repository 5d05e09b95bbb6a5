//! Copilot CLI. Hooks that are registered under the names of Claude Code's events get Claude Code's fields,
//! with a few of Copilot's own; answers are in Copilot's own words. It also runs the hooks in a project's
//! `.claude/settings.json`, with the same events.
//!
//! An agent inside a conversation has a conversation of its own, named like the agent. What it spawns belongs
//! to that one, so starts and stops are looked for in the conversation of the parent.

mod output;
mod post_tool_use;
mod settings;
mod transcript;

use std::path::{Path, PathBuf};

use handover_model::{Host, HostSessionId};
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent, StartReason};
use crate::folder_trust::Start;
use crate::host::{Capabilities, HookHost, ProbeSetup, TestedVersions};
use crate::protocol;
use crate::protocol::dialect::{Dialect, SpawnTool};
use crate::settings::{HookSettings, Scope, Variables};
use crate::transcript::TranscriptFormat;

const HOST: Host = Host::from_static("copilot");

static DIALECT: Dialect = Dialect {
    host: HOST,
    model: |_| None,
    subagent: |_| None,
    spawn_tool: SpawnTool {
        is: |name| matches!(name, "Agent" | "Task" | "task"),
        prompt_field: "prompt",
        name_field: "name",
        kind_field: "agent_type",
        default_kind: "general-purpose",
    },
};

/// The fields of its events that Claude Code does not have.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Fields {
    /// The agent that spawned the one of this event, or the conversation.
    parent_agent_id: Option<String>,
    /// The transcript of the conversation, in `SubagentStart`.
    #[serde(rename = "transcriptPath")]
    transcript_path: Option<PathBuf>,
    /// Why a conversation starts: startup, resume, new.
    source: Option<String>,
    /// The prompt of an agent, in `UserPromptSubmit`.
    prompt: String,
}

/// Copilot CLI.
pub(crate) struct Copilot;

impl HookHost for Copilot {
    fn name(&self) -> Host {
        HOST
    }

    fn title(&self) -> &'static str {
        "Copilot CLI"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rewrites_prompt: true,
            injects_at_start: true,
            shows_prompt: false,
            holds_back: true,
            shortens_returns: true,
            text_limit: None,
        }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["general-purpose"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["copilot"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["COPILOT_AGENT_SESSION_ID"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["AGENTS.md", ".github/copilot-instructions.md"]
    }

    fn recognizes(&self, head: &EventHead) -> bool {
        let path = head.text("transcript_path").or_else(|| head.text("transcriptPath"));
        match path {
            Some(path) => Path::new(path).ends_with("events.jsonl"),
            None => head.has("timestamp"),
        }
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        let fields: Fields = serde_json::from_str(text)?;
        let name = match head.text("hook_event_name") {
            // The only event without its name.
            None if head.has("agentName") => "SubagentStart",
            _ => protocol::event_name(head)?,
        };
        let mut call = match name {
            "SessionStart" => {
                let reason = match fields.source.as_deref() {
                    Some("new") => StartReason::Startup,
                    reason => StartReason::from_name(reason),
                };
                DIALECT.call(text, HookEvent::SessionStarted(reason))?
            }
            "SubagentStart" => DIALECT.call(text, HookEvent::SubagentStarted)?,
            "UserPromptSubmit" if head.has("agent_id") => {
                DIALECT.call(text, HookEvent::SubagentPrompted { prompt: fields.prompt })?
            }
            "PostToolUse" => {
                let tool: post_tool_use::Fields = serde_json::from_str(text)?;
                DIALECT.call(text, tool.into_event())?
            }
            _ => DIALECT.read(head, text)?,
        };
        call.transcript = call.transcript.or(fields.transcript_path);
        if matches!(
            call.event,
            HookEvent::SubagentStarted
                | HookEvent::SubagentPrompted { .. }
                | HookEvent::SubagentStopping(_)
        ) {
            let parent = fields.parent_agent_id.and_then(|id| HostSessionId::new(id).ok());
            let agent = call.agent.as_ref().map(|agent| agent.id.as_str());
            let own = |id: &HostSessionId| Some(id.as_str()) == agent;
            // 1.0.92 does not name it, but reports the stop in the parent's conversation.
            let named = call.conversation.take();
            call.conversation = parent.or_else(|| named.filter(|id| !own(id)));
        }
        Ok(call)
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        output::write(event, answer)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "1.0.92", newest: "1.0.102" })
    }

    fn runs_project_hooks(&self, start: &Start<'_>) -> bool {
        let is_told = start.args.iter().any(|arg| arg == "--trust-folder");
        let allows_all = start.variable("COPILOT_ALLOW_ALL").is_some_and(|value| value == "true");
        let home = match start.variable("COPILOT_HOME") {
            Some(home) => Some(PathBuf::from(home)),
            None => start.folders.home.map(|home| home.join(".copilot")),
        };
        let config = home.map(|home| start.json(&home.join("config.json"))).unwrap_or_default();
        let listed = ["trustedFolders", "trusted_folders"].map(|key| config[key].as_array());
        let mut listed = listed.into_iter().flatten().flatten().filter_map(Value::as_str);
        is_told || allows_all || listed.any(|folder| start.folder.starts_with(folder))
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &settings::CopilotHooks
    }

    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        Some(&transcript::CopilotTranscript)
    }

    fn version(&self, variables: Variables<'_>) -> Option<String> {
        variables("COPILOT_CLI_BINARY_VERSION")
    }

    fn start_folder(&self, variables: Variables<'_>) -> Option<PathBuf> {
        variables("COPILOT_PROJECT_DIR").map(PathBuf::from)
    }

    fn probes(&self, home: &Path, model_url: &str) -> Vec<ProbeSetup> {
        vec![ProbeSetup {
            about: None,
            scope: Scope::User,
            variables: vec![
                ("COPILOT_HOME", home.into()),
                ("COPILOT_OFFLINE", "true".into()),
                ("COPILOT_PROVIDER_TYPE", "anthropic".into()),
                ("COPILOT_PROVIDER_BASE_URL", model_url.into()),
                ("COPILOT_PROVIDER_API_KEY", "handover-probe-key".into()),
                ("COPILOT_MODEL", "probe".into()),
            ],
            files: Vec::new(),
            args: &[],
        }]
    }

    fn schemas(&self) -> Vec<(String, Value)> {
        vec![
            ("copilot-event.input".to_owned(), schema_for!(Fields).to_value()),
            (
                "copilot-post-tool-use.input".to_owned(),
                schema_for!(post_tool_use::Fields).to_value(),
            ),
            ("copilot-output".to_owned(), schema_for!(output::Output).to_value()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_its_events_by_transcript_or_time() {
        let recognizes = |text: &str| Copilot.recognizes(&serde_json::from_str(text).unwrap());
        assert!(recognizes(r#"{"hook_event_name": "SessionStart", "timestamp": "2026"}"#));
        assert!(recognizes(r#"{"transcriptPath": "/h/session-state/c/events.jsonl"}"#));
        assert!(recognizes(r#"{"transcript_path": "/h/session-state/c/events.jsonl"}"#));
        // Gemini CLI and its relatives have a time, too.
        assert!(!recognizes(r#"{"transcript_path": "/t/chats/c.jsonl", "timestamp": "2026"}"#));
        assert!(!recognizes(r#"{"hook_event_name": "Stop", "session_id": "c"}"#));
    }

    #[test]
    fn knows_version_and_folder_from_the_environment() {
        let known = |name: &str| match name {
            "COPILOT_CLI_BINARY_VERSION" => Some("1.0.102".to_owned()),
            "COPILOT_PROJECT_DIR" => Some("/project".to_owned()),
            _ => None,
        };
        assert_eq!(Copilot.version(&known).as_deref(), Some("1.0.102"));
        assert_eq!(Copilot.start_folder(&known).as_deref(), Some(Path::new("/project")));
        assert_eq!((Copilot.version(&|_| None), Copilot.start_folder(&|_| None)), (None, None));
    }
}
