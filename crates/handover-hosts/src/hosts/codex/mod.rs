//! Codex. Its events resemble those of Claude Code and are read as leniently; Codex itself reads answers
//! strictly.

mod transcript;
mod trust;

use std::path::Path;

use handover_model::Host;

use crate::event::{Answer, EventHead, HookCall, HookEvent};
use crate::host::{Capabilities, HookHost, HookTrust, ProbeSetup, TestedVersions, TextLimit};
use crate::protocol::dialect::{Dialect, SpawnTool};
use crate::protocol::output;
use crate::settings::{Entry, FolderVariable, HookSettings, JsonHooks, Scope};
use crate::transcript::TranscriptFormat;

static DIALECT: Dialect = Dialect {
    host: Host::CODEX,
    model: |common| common.model.clone(),
    subagent: |_| None,
    spawn_tool: SpawnTool {
        // Some versions prefix the namespace of the tool.
        is: |name| name.ends_with("spawn_agent"),
        prompt_field: "message",
        kind_field: "agent_type",
        default_kind: "default",
    },
};

static SETTINGS: JsonHooks = JsonHooks {
    host: Host::CODEX,
    folder: ".codex",
    folder_variable: FolderVariable::Folder("CODEX_HOME"),
    file: "hooks.json",
    entries: &[
        Entry::new("SessionStart", None),
        Entry::new("PreToolUse", Some("spawn_agent")),
        Entry::new("SubagentStart", None),
        Entry::new("SubagentStop", None),
        Entry::new("PreCompact", None),
        Entry::new("Stop", None),
        // A longer timeout is cut, with an error in the output of every conversation.
        Entry::new("SessionEnd", None).within(3),
    ],
    comments: false,
    timeout: 15,
    install_note: Some(
        "Codex asks once whether it may trust these hooks, and skips them in `codex exec` until you have \
         said yes; `handover doctor` says whether it does.",
    ),
};

/// Codex.
pub(crate) struct Codex;

impl HookHost for Codex {
    fn name(&self) -> Host {
        Host::CODEX
    }

    fn title(&self) -> &'static str {
        "Codex"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rewrites_prompt: true,
            injects_at_start: true,
            shows_prompt: false,
            holds_back: true,
            // What an agent reports is a message in the conversation, not the result of a call.
            shortens_returns: false,
            text_limit: Some(TextLimit::Tokens(2_400)),
        }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["worker", "default"]
    }

    /// Codex loads plugins of Claude Code and then calls their hooks with its own events.
    fn recognizes(&self, head: &EventHead) -> bool {
        let transcript = head.text("transcript_path").map(Path::new).and_then(Path::file_name);
        let rollout = transcript.is_some_and(|name| name.to_string_lossy().starts_with("rollout-"));
        rollout || head.has("turn_id")
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        // `PostToolUse` does not report whether a command failed, and files are read by commands.
        DIALECT.read(head, text)
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        output::write(event, answer)
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &SETTINGS
    }

    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        Some(&transcript::CodexTranscript)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "0.150.0", newest: "0.166.0" })
    }

    fn trust(&self) -> Option<&'static dyn HookTrust> {
        Some(&trust::CodexTrust)
    }

    fn probe(&self, home: &Path, model_url: &str) -> Option<ProbeSetup> {
        let config = format!(
            "model = \"probe\"\nmodel_provider = \"probe\"\n\n[model_providers.probe]\nname = \"probe\"\n\
             base_url = \"{model_url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n\
             request_max_retries = 0\nstream_max_retries = 0\n"
        );
        Some(ProbeSetup {
            scope: Scope::User,
            variables: vec![("CODEX_HOME", home.into()), ("OPENAI_API_KEY", "probe".into())],
            files: vec![(home.join("config.toml"), config)],
            args: &["--dangerously-bypass-hook-trust"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_its_events_by_turn_or_rollout() {
        let recognizes = |text: &str| Codex.recognizes(&serde_json::from_str(text).unwrap());
        assert!(recognizes(r#"{"hook_event_name": "Stop", "turn_id": "1"}"#));
        assert!(recognizes(r#"{"transcript_path": "/s/rollout-2026.jsonl"}"#));
        assert!(!recognizes(r#"{"transcript_path": "/rollout-x/c.jsonl", "session_id": "c"}"#));
        assert!(!recognizes(r#"{"transcript_path": null}"#));
    }
}
