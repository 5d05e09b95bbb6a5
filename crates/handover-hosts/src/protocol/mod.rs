//! The hook protocol that Claude Code introduced and others speak with small differences: JSON
//! objects with `hook_event_name` in, `hookSpecificOutput` out. A host that speaks it describes
//! its differences as a `Dialect`; others do not need this module.

mod checkpoint;
pub(crate) mod dialect;
pub mod output;
mod pre_tool_use;
mod session_start;
mod subagent_stop;

use schemars::schema_for;
use serde_json::Value;

/// The name of an event; the error says that it is missing.
pub(crate) fn event_name(head: &crate::EventHead) -> Result<&str, serde_json::Error> {
    let missing = || serde::de::Error::missing_field("hook_event_name");
    head.text("hook_event_name").ok_or_else(missing)
}

/// The JSON Schemas shared by all dialects, by file name without the extension. `common` holds the fields
/// of every event, the others what each event adds.
pub(crate) fn schemas() -> Vec<(String, Value)> {
    let schemas = [
        ("common.input", schema_for!(dialect::Common)),
        ("session-start.input", schema_for!(session_start::Fields)),
        ("pre-tool-use.input", schema_for!(pre_tool_use::Fields)),
        ("subagent-stop.input", schema_for!(subagent_stop::Fields)),
        ("checkpoint.input", schema_for!(checkpoint::Fields)),
        ("output", schema_for!(output::Output)),
    ];
    schemas.map(|(name, schema)| (name.to_owned(), schema.to_value())).into()
}
