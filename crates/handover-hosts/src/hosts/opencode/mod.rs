//! opencode. It has no commands as hooks, but plugins: ours (`plugin.js`) reports what happens in the protocol
//! of Claude Code and acts on the answers. Every session of it belongs to the conversation of its outermost
//! parent; a subagent is named like its own session.

mod post_tool_use;
mod settings;

use std::path::Path;

use handover_model::Host;
use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::Value;

use crate::event::{Answer, EventHead, HookCall, HookEvent};
use crate::host::{Capabilities, HookHost, ProbeSetup, TestedVersions};
use crate::protocol::dialect::{Dialect, SpawnTool};
use crate::protocol::{self, output};
use crate::settings::{HookSettings, Scope, Variables};

const HOST: Host = Host::from_static("opencode");

static DIALECT: Dialect = Dialect {
    host: HOST,
    model: |_| None,
    subagent: |_| None,
    spawn_tool: SpawnTool {
        is: |name| name == "task",
        prompt_field: "prompt",
        name_field: "name",
        kind_field: "subagent_type",
        default_kind: "general",
    },
};

/// `UserPromptSubmit`
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
struct Prompt {
    /// The prompt of a subagent.
    prompt: String,
}

/// opencode.
pub(crate) struct Opencode;

impl HookHost for Opencode {
    fn name(&self) -> Host {
        HOST
    }

    fn title(&self) -> &'static str {
        "opencode"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            rewrites_prompt: true,
            shows_prompt: true,
            holds_back: true,
            shortens_returns: true,
            ..Capabilities::default()
        }
    }

    fn general_kinds(&self) -> &'static [&'static str] {
        &["general"]
    }

    fn processes(&self) -> &'static [&'static str] {
        &["opencode"]
    }

    fn marks(&self) -> &'static [&'static str] {
        &["OPENCODE"]
    }

    fn loads(&self) -> &'static [&'static str] {
        &["AGENTS.md"]
    }

    fn read(&self, head: &EventHead, text: &str) -> Result<HookCall, serde_json::Error> {
        let event = match protocol::event_name(head)? {
            "UserPromptSubmit" if head.has("agent_id") => {
                let Prompt { prompt } = serde_json::from_str(text)?;
                HookEvent::SubagentPrompted { prompt }
            }
            "PostToolUse" => serde_json::from_str::<post_tool_use::Fields>(text)?.into_event(),
            _ => return DIALECT.read(head, text),
        };
        DIALECT.call(text, event)
    }

    fn write(&self, event: &HookEvent, answer: &Answer) -> Option<String> {
        output::write(event, answer)
    }

    fn tested(&self) -> Option<TestedVersions> {
        Some(TestedVersions { oldest: "1.18.3", newest: "1.18.33" })
    }

    fn settings(&self) -> &'static dyn HookSettings {
        &settings::OpencodePlugin
    }

    /// The plugin passes it on.
    fn version(&self, variables: Variables<'_>) -> Option<String> {
        variables("HANDOVER_HOST_VERSION")
    }

    fn probes(&self, home: &Path, model_url: &str) -> Vec<ProbeSetup> {
        let config = serde_json::json!({
            "provider": {"anthropic": {
                "options": {"baseURL": format!("{model_url}/v1"), "apiKey": "probe"},
                "models": {"probe": {"name": "probe", "limit": {"context": 200_000, "output": 8_000}}},
            }},
            "model": "anthropic/probe", "small_model": "anthropic/probe",
            "share": "disabled", "autoupdate": false,
        });
        let path = home.join("opencode.json");
        vec![ProbeSetup {
            about: None,
            scope: Scope::Project,
            variables: vec![
                ("OPENCODE_CONFIG", path.clone().into()),
                ("OPENCODE_DISABLE_MODELS_FETCH", "1".into()),
                ("OPENCODE_DISABLE_AUTOUPDATE", "1".into()),
                // It looks for a package that plugins may use; ours does not.
                ("npm_config_registry", "http://127.0.0.1:1".into()),
                ("npm_config_fetch_retries", "0".into()),
            ],
            files: vec![(path, config.to_string())],
            args: &[],
        }]
    }

    fn schemas(&self) -> Vec<(String, Value)> {
        vec![
            ("opencode-prompt.input".to_owned(), schema_for!(Prompt).to_value()),
            (
                "opencode-post-tool-use.input".to_owned(),
                schema_for!(post_tool_use::Fields).to_value(),
            ),
        ]
    }
}
