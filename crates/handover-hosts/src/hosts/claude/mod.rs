//! Claude Code. Its events have many more fields than are read here, and every version adds more.

mod post_tool_use;
mod transcript;

use std::path::{Path, PathBuf};

use handover_model::Host;
use schemars::schema_for;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent, Subagent};
use crate::host::{Capabilities, HookHost, ProbeSetup, TestedVersions, TextLimit};
use crate::protocol;
use crate::protocol::dialect::{self, Dialect, SpawnTool};
use crate::settings::{Entry, FolderVariable, HookSettings, JsonHooks, Scope, Variables};
use crate::transcript::TranscriptFormat;

static DIALECT: Dialect = Dialect {
    host: Host::CLAUDE,
    model: |_| None,
    subagent: |common| subagent_of(common.transcript_path.as_deref()?),
    spawn_tool: SpawnTool {
        // `Task` until 2.1.63.
        is: |name| matches!(name, "Agent" | "Task"),
        prompt_field: "prompt",
        name_field: "name",
        kind_field: "subagent_type",
        default_kind: "general-purpose",
    },
};

/// The subagent a transcript belongs to. Some events inside a subagent, such as the compaction of its
/// window, identify it in no other way.
fn subagent_of(transcript: &Path) -> Option<Subagent> {
    if transcript.parent()?.file_name()? != "subagents" {
        return None;
    }
    let name = transcript.file_name()?.to_str()?;
    dialect::subagent(name.strip_prefix("agent-")?.strip_suffix(".jsonl"), None)
}

static SETTINGS: JsonHooks = JsonHooks {
    host: Host::CLAUDE,
    folder: ".claude",
    folder_variable: FolderVariable::Folder("CLAUDE_CONFIG_DIR"),
    file: "settings.json",
    plugins: None,
    entries: &[
        Entry::new("SessionStart", None),
        Entry::new("PreToolUse", Some("Agent|Task")),
        Entry::new("PostToolUse", Some("Agent|Task|Bash|Read|Edit|MultiEdit|Write|NotebookEdit")),
        Entry::new("PostToolUseFailure", Some("Agent|Task|Bash")),
        Entry::new("SubagentStart", None),
        Entry::new("SubagentStop", None),
        Entry::new("PreCompact", None),
        Entry::new("Stop", None),
        Entry::new("SessionEnd", None),
    ],
    comments: false,
    timeout: 15,
    install_note: None,
};

/// Claude Code.
pub(crate) struct Claude;

impl HookHost for Claude {
    fn name(&self) -> Host {
        Host::CLAUDE
    }

    fn title(&self) -> &'static str {
        "Claude Code"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rewrites_prompt: true,
            injects_at_start: true,
            shows_prompt: false,
            holds_back: true,
            shortens_returns: true,
            // Documented: 10,000 characters.
            text_limit: Some(TextLimit::Chars(9_500)),
        }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["general-purpose", "worker", "default"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["claude"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["CLAUDE.md", "CLAUDE.local.md", ".claude/CLAUDE.md"]
    }

    fn provider(&self) -> Option<&'static str> {
        Some("anthropic")
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        match protocol::event_name(head)? {
            name @ ("PostToolUse" | "PostToolUseFailure") => {
                let failed = name == "PostToolUseFailure";
                let fields: post_tool_use::Fields = serde_json::from_str(text)?;
                let event = match (DIALECT.spawn_tool.is)(fields.tool()) {
                    true => fields.into_spawn(failed, text),
                    false => fields.into_event(failed),
                };
                DIALECT.call(text, event)
            }
            _ => DIALECT.read(head, text),
        }
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        protocol::output::write(event, answer)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "2.1.197", newest: "2.1.328" })
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &SETTINGS
    }

    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        Some(&transcript::ClaudeTranscript)
    }

    fn version(&self, variables: Variables<'_>) -> Option<String> {
        version_in(&variables("AI_AGENT")?)
    }

    fn start_folder(&self, variables: Variables<'_>) -> Option<PathBuf> {
        variables("CLAUDE_PROJECT_DIR").map(PathBuf::from)
    }

    fn probes(&self, home: &Path, model_url: &str) -> Vec<ProbeSetup> {
        let on = |name| (name, "1".into());
        vec![ProbeSetup {
            about: None,
            scope: Scope::Project,
            variables: vec![
                ("CLAUDE_CONFIG_DIR", home.into()),
                ("ANTHROPIC_BASE_URL", model_url.into()),
                ("ANTHROPIC_API_KEY", "probe".into()),
                on("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"),
                on("DISABLE_TELEMETRY"),
                on("DISABLE_AUTOUPDATER"),
                on("IS_SANDBOX"),
            ],
            files: Vec::new(),
            args: &[],
        }]
    }

    fn schemas(&self) -> Vec<(String, Value)> {
        let fields = schema_for!(post_tool_use::Fields).to_value();
        vec![("claude-post-tool-use.input".to_owned(), fields)]
    }
}

/// The version in `AI_AGENT`: `claude-code_2-1-197_harness` is 2.1.197.
fn version_in(agent: &str) -> Option<String> {
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit());
    is_version.then(|| version.replace('-', "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_its_version_from_the_environment() {
        let version = |agent| version_in(agent).unwrap_or_default();
        assert_eq!(version("claude-code_2-1-197_harness"), "2.1.197");
        assert_eq!(version("claude-code_2-2-0"), "2.2.0");
        assert_eq!((version("codex_1"), version("claude-code_"), version("")), Default::default());
        let known = |name: &str| (name == "AI_AGENT").then(|| "claude-code_3-0-1".to_owned());
        assert_eq!(Claude.version(&known).as_deref(), Some("3.0.1"));
        assert_eq!(Claude.version(&|_| None), None);
    }

    #[test]
    fn knows_subagents_by_their_transcripts() {
        let id = |path: &str| subagent_of(Path::new(path)).map(|agent| agent.id.to_string());
        assert_eq!(id("/t/c/subagents/agent-a1.jsonl").as_deref(), Some("a1"));
        for other in [
            "/t/c.jsonl",
            "/t/subagents/a1.jsonl",
            "/t/subagents/agent-a1.txt",
            "agent-a1.jsonl",
            "/",
        ] {
            assert_eq!(id(other), None, "{other}");
        }
    }
}
