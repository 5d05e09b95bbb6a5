//! Codex. Its events resemble those of Claude Code and are read as leniently; Codex itself reads answers
//! strictly.

mod transcript;
mod trust;

use std::path::Path;

use handover_model::Host;

use crate::event::{Answer, EventHead, HookCall, HookEvent, SubagentSpawn};
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
        is: is_spawn_tool,
        prompt_field: "message",
        name_field: "task_name",
        kind_field: "agent_type",
        default_kind: "default",
    },
};

static SETTINGS: JsonHooks = JsonHooks {
    host: Host::CODEX,
    folder: ".codex",
    folder_variable: FolderVariable::Folder("CODEX_HOME"),
    file: "hooks.json",
    plugins: Some("config.toml"),
    entries: &[
        Entry::new("SessionStart", None),
        // In front of it is the namespace of the tool, if it has one.
        Entry::new("PreToolUse", Some(".*spawn_agent")),
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

    fn processes(&self) -> &'static [&'static str] {
        &["codex"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["CODEX_SANDBOX", "CODEX_THREAD_ID"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["AGENTS.md", "AGENTS.override.md"]
    }

    fn provider(&self) -> Option<&'static str> {
        Some("openai")
    }

    /// Codex loads plugins of Claude Code and then calls their hooks with its own events.
    fn recognizes(&self, head: &EventHead) -> bool {
        let transcript = head.text("transcript_path").map(Path::new).and_then(Path::file_name);
        let rollout = transcript.is_some_and(|name| name.to_string_lossy().starts_with("rollout-"));
        rollout || head.has("turn_id")
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        // `PostToolUse` does not report whether a command failed, and files are read by commands.
        let mut call = DIALECT.read(head, text)?;
        if let HookEvent::SubagentSpawn(spawn) = &mut call.event {
            seal(spawn);
        }
        Ok(call)
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
        Some(TestedVersions { oldest: "0.150.0", newest: "0.169.0" })
    }

    fn trust(&self) -> Option<&'static dyn HookTrust> {
        Some(&trust::CodexTrust)
    }

    fn probes(&self, home: &Path, model_url: &str) -> Vec<ProbeSetup> {
        let probe = |about, model| {
            let config = format!(
                "model = \"{model}\"\nmodel_provider = \"probe\"\n\n[model_providers.probe]\nname = \"probe\"\n\
                 base_url = \"{model_url}/v1\"\nwire_api = \"responses\"\nenv_key = \"OPENAI_API_KEY\"\n\
                 request_max_retries = 0\nstream_max_retries = 0\n"
            );
            ProbeSetup {
                about,
                scope: Scope::User,
                variables: vec![("CODEX_HOME", home.into()), ("OPENAI_API_KEY", "probe".into())],
                files: vec![(home.join("config.toml"), config)],
                args: &["--dangerously-bypass-hook-trust"],
            }
        };
        // Which of its tools for agents it has depends on the model; an unknown one has the first.
        vec![probe(None, "probe"), probe(Some("with named agents"), NAMING_MODEL)]
    }
}

/// A model of every catalogue that was seen whose agents have names.
const NAMING_MODEL: &str = "gpt-5.6-sol";

/// The tool in any namespace: `collaboration` in the second version of its agents, which belongs to the model. Tools of
/// MCP servers have names of their own.
fn is_spawn_tool(name: &str) -> bool {
    name.ends_with("spawn_agent") && !name.starts_with("mcp__")
}

/// Longer texts without a space may be encrypted ones.
const SHORT: usize = 60;

/// A subagent of the second version has a name. Its message is declared encrypted: with the real service, it is no text,
/// and a changed one could not be read. What is known of its task is its name, and the message where that is a text.
fn seal(spawn: &mut SubagentSpawn) {
    let Some(name) = spawn.name().map(|name| name.replace('_', " ")) else { return };
    let encoded = |byte: u8| byte.is_ascii_alphanumeric() || b"-_+/=".contains(&byte);
    let is_encrypted = spawn.prompt.len() > SHORT && spawn.prompt.bytes().all(encoded);
    spawn.sealed = true;
    spawn.prompt = match is_encrypted {
        true => name,
        // Markers of ours must stay on lines of their own.
        false => format!("{}\n\n{name}", spawn.prompt.trim_end()),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_with_a_name_is_sealed_and_its_message_read_only_as_a_text() {
        let spawn = |tool: &str, input: serde_json::Value| {
            let event = serde_json::json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input});
            let text = event.to_string();
            let call = Codex.read(&serde_json::from_str(&text).unwrap(), &text).unwrap();
            if let HookEvent::SubagentSpawn(spawn) = call.event { Some(spawn) } else { None }
        };
        let input =
            |message: &str| serde_json::json!({"message": message, "task_name": "refresh_tokens"});
        let readable =
            spawn("collaborationspawn_agent", input("Rotate them in src/auth.rs\n")).unwrap();
        assert!(readable.sealed);
        assert_eq!(readable.name(), Some("refresh_tokens"));
        assert_eq!(readable.prompt, "Rotate them in src/auth.rs\n\nrefresh tokens");
        let encrypted =
            spawn("collaborationspawn_agent", input(&"gAAAAABo-_9=".repeat(8))).unwrap();
        assert!(encrypted.sealed);
        assert_eq!(encrypted.prompt, "refresh tokens");
        let first = spawn("spawn_agent", serde_json::json!({"message": "Rotate"})).unwrap();
        assert_eq!((first.sealed, first.name(), first.prompt.as_str()), (false, None, "Rotate"));
        assert_eq!(spawn("mcp__fleet__spawn_agent", input("Rotate")), None);
    }

    #[test]
    fn recognizes_its_events_by_turn_or_rollout() {
        let recognizes = |text: &str| Codex.recognizes(&serde_json::from_str(text).unwrap());
        assert!(recognizes(r#"{"hook_event_name": "Stop", "turn_id": "1"}"#));
        assert!(recognizes(r#"{"transcript_path": "/s/rollout-2026.jsonl"}"#));
        assert!(!recognizes(r#"{"transcript_path": "/rollout-x/c.jsonl", "session_id": "c"}"#));
        assert!(!recognizes(r#"{"transcript_path": null}"#));
    }
}
