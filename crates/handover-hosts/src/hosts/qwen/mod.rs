//! Qwen Code. It speaks the protocol of Claude Code, but ignores rewritten prompts and what is added when a
//! subagent starts: a brief reaches its subagents by holding them back.

mod post_tool_use;
mod transcript;

use handover_model::Host;
use schemars::schema_for;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent};
use crate::host::{Capabilities, HookHost, TestedVersions};
use crate::protocol::dialect::{Dialect, SpawnTool};
use crate::protocol::{self, output};
use crate::settings::{Entry, FolderVariable, HookSettings, JsonHooks};
use crate::transcript::TranscriptFormat;

const HOST: Host = Host::from_static("qwen");

static DIALECT: Dialect = Dialect {
    host: HOST,
    model: |common| common.model.clone(),
    subagent: |_| None,
    spawn_tool: SpawnTool {
        is: |name| name == "agent",
        prompt_field: "prompt",
        name_field: "name",
        kind_field: "subagent_type",
        default_kind: "general-purpose",
    },
};

static SETTINGS: JsonHooks = JsonHooks {
    host: HOST,
    folder: ".qwen",
    folder_variable: FolderVariable::Folder("QWEN_HOME"),
    file: "settings.json",
    plugins: None,
    entries: &[
        Entry::new("SessionStart", None),
        Entry::new("PreToolUse", Some("agent")),
        Entry::new("PostToolUse", Some("run_shell_command|read_file|write_file|edit")),
        Entry::new("PostToolUseFailure", Some("run_shell_command")),
        Entry::new("SubagentStop", None),
        Entry::new("PreCompact", None),
        Entry::new("Stop", None),
        Entry::new("SessionEnd", None),
    ],
    comments: true,
    // Milliseconds.
    timeout: 15_000,
    install_note: None,
};

/// Qwen Code.
pub(crate) struct Qwen;

impl HookHost for Qwen {
    fn name(&self) -> Host {
        HOST
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { holds_back: true, ..Capabilities::default() }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["general-purpose"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["qwen"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["QWEN_CODE"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["QWEN.md"]
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        match protocol::event_name(head)? {
            name @ ("PostToolUse" | "PostToolUseFailure") => {
                let failed = name == "PostToolUseFailure";
                let fields: post_tool_use::Fields = serde_json::from_str(text)?;
                DIALECT.call(text, fields.into_event(failed))
            }
            _ => DIALECT.read(head, text),
        }
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        output::write(event, answer)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "0.23.0", newest: "0.24.4" })
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &SETTINGS
    }

    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        Some(&transcript::QwenTranscript)
    }

    fn schemas(&self) -> Vec<(String, Value)> {
        let fields = schema_for!(post_tool_use::Fields).to_value();
        vec![("qwen-post-tool-use.input".to_owned(), fields)]
    }
}
