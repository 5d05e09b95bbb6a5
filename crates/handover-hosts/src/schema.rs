//! The JSON Schemas of everything that is read and written here.

use schemars::{JsonSchema, schema_for};
use serde_json::Value;

use crate::{claude, codex, output};

/// Every schema, by the name of its file without the extension.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("claude-session-start.input", schema::<claude::session_start::Input>()),
        ("claude-pre-tool-use.input", schema::<claude::pre_tool_use::Input>()),
        ("claude-post-tool-use.input", schema::<claude::post_tool_use::Input>()),
        ("claude-subagent-start.input", schema::<claude::subagent_start::Input>()),
        ("claude-subagent-stop.input", schema::<claude::subagent_stop::Input>()),
        ("claude-checkpoint.input", schema::<claude::checkpoint::Input>()),
        ("codex-session-start.input", schema::<codex::session_start::Input>()),
        ("codex-pre-tool-use.input", schema::<codex::pre_tool_use::Input>()),
        ("codex-subagent-start.input", schema::<codex::subagent_start::Input>()),
        ("codex-subagent-stop.input", schema::<codex::subagent_stop::Input>()),
        ("codex-checkpoint.input", schema::<codex::checkpoint::Input>()),
        ("output", schema::<output::Output>()),
    ]
}

fn schema<T: JsonSchema>() -> Value {
    schema_for!(T).to_value()
}
