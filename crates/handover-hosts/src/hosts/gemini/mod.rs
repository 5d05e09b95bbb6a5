//! Gemini CLI. Its events resemble those of Claude Code under other names. It has none for the start and the
//! stop of a subagent: a subagent is a tool, what it leaves is the result of that tool, and it ends by calling
//! another tool, which can be refused. None of these say which subagent it is.

mod after_tool;
mod output;
mod transcript;

use std::path::{Path, PathBuf};

use handover_model::Host;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::Value;

use crate::event::{Answer, Checkpoint, EventHead, HookCall, HookEvent};
use crate::folder_trust::Start;
use crate::host::{Capabilities, HookHost, ProbeSetup, TestedVersions};
use crate::protocol;
use crate::protocol::dialect::{Dialect, SpawnTool};
use crate::settings::{Entry, FolderVariable, HookSettings, JsonHooks, Scope, Variables};
use crate::transcript::TranscriptFormat;

/// The tool that spawns subagents.
const SPAWN_TOOL: &str = "invoke_agent";

/// The tool that a subagent ends with.
const END_TOOL: &str = "complete_task";

/// `BeforeTool`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Ending {
    /// The tool.
    tool_name: String,
    /// Its input: the result of a subagent is text in any form.
    tool_input: Value,
}

static DIALECT: Dialect = Dialect {
    host: Host::GEMINI,
    model: |_| None,
    subagent: |_| None,
    spawn_tool: SpawnTool {
        is: |name| name == SPAWN_TOOL,
        prompt_field: "prompt",
        name_field: "name",
        kind_field: "agent_name",
        default_kind: "generalist",
    },
};

static SETTINGS: JsonHooks = JsonHooks {
    host: Host::GEMINI,
    folder: ".gemini",
    folder_variable: FolderVariable::Home("GEMINI_CLI_HOME"),
    file: "settings.json",
    plugins: None,
    entries: &[
        Entry::new("SessionStart", None),
        Entry::new("BeforeTool", Some("invoke_agent|complete_task")),
        Entry::new(
            "AfterTool",
            Some("invoke_agent|run_shell_command|read_file|write_file|replace"),
        ),
        Entry::new("AfterAgent", None),
        Entry::new("SessionEnd", None),
    ],
    comments: true,
    // Milliseconds.
    timeout: 15_000,
    install_note: Some(
        "Gemini CLI runs the hooks of folders that it trusts; GEMINI_CLI_TRUST_WORKSPACE=true says so.",
    ),
};

/// Gemini CLI.
pub(crate) struct Gemini;

impl HookHost for Gemini {
    fn name(&self) -> Host {
        Host::GEMINI
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { rewrites_prompt: true, ..Capabilities::default() }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["generalist"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["gemini"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["GEMINI_CLI"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["GEMINI.md", ".gemini/GEMINI.md"]
    }

    fn provider(&self) -> Option<&'static str> {
        Some("gcp.gemini")
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        let event = match protocol::event_name(head)? {
            "BeforeTool" => match serde_json::from_str::<Ending>(text)? {
                Ending { tool_name, tool_input } if tool_name == END_TOOL => {
                    HookEvent::SubagentEnding { last_message: after_tool::texts(&tool_input) }
                }
                _ => DIALECT.spawn(text)?,
            },
            "AfterTool" => serde_json::from_str::<after_tool::Fields>(text)?.into_event(),
            "AfterAgent" => HookEvent::Checkpoint { at: Checkpoint::Stop, cause: None },
            _ => return DIALECT.read(head, text),
        };
        DIALECT.call(text, event)
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        output::write(event, answer)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "0.58.0", newest: "0.61.0" })
    }

    fn runs_project_hooks(&self, start: &Start<'_>) -> bool {
        match start.variable("GEMINI_CLI_TRUST_WORKSPACE").as_deref() {
            Some("true") => return true,
            Some("false") => return false,
            _ => {}
        }
        let Some(settings) = SETTINGS.path(Scope::User, start.folders) else { return false };
        if start.json(&settings).pointer("/security/folderTrust/enabled")
            == Some(&Value::Bool(false))
        {
            return true;
        }
        let listed = match start.variable("GEMINI_CLI_TRUSTED_FOLDERS_PATH") {
            Some(path) => PathBuf::from(path),
            None => settings.with_file_name("trustedFolders.json"),
        };
        // The nearest folder decides.
        let listed = start.json(&listed);
        let rules = listed.as_object().into_iter().flatten().filter_map(|(path, level)| {
            let (path, level) = (Path::new(path), level.as_str()?);
            let path = if level == "TRUST_PARENT" { path.parent()? } else { path };
            start.folder.starts_with(path).then(|| (path.components().count(), level))
        });
        let nearest = rules.max_by_key(|(depth, _)| *depth);
        nearest.is_some_and(|(_, level)| level != "DO_NOT_TRUST")
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &SETTINGS
    }

    fn transcript(&self) -> Option<&'static dyn TranscriptFormat> {
        Some(&transcript::GeminiTranscript)
    }

    fn start_folder(&self, variables: Variables<'_>) -> Option<PathBuf> {
        variables("GEMINI_PROJECT_DIR").map(PathBuf::from)
    }

    fn probes(&self, home: &Path, model_url: &str) -> Vec<ProbeSetup> {
        let account = r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}}"#;
        vec![ProbeSetup {
            about: None,
            scope: Scope::Project,
            variables: vec![
                ("GEMINI_CLI_HOME", home.into()),
                ("GEMINI_CLI_TRUST_WORKSPACE", "true".into()),
                ("GEMINI_API_KEY", "probe".into()),
                ("GOOGLE_GEMINI_BASE_URL", model_url.into()),
            ],
            files: vec![(home.join(".gemini/settings.json"), account.to_owned())],
            // The default model is chosen by asking another one.
            args: &["--model", "gemini-2.5-pro"],
        }]
    }

    fn schemas(&self) -> Vec<(String, Value)> {
        vec![
            ("gemini-before-tool.input".to_owned(), schema_for!(Ending).to_value()),
            ("gemini-after-tool.input".to_owned(), schema_for!(after_tool::Fields).to_value()),
            ("gemini-output".to_owned(), schema_for!(output::Output).to_value()),
        ]
    }
}
