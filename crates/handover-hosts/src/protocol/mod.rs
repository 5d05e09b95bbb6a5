//! The hook protocol that Claude Code introduced and others speak with small differences: JSON
//! objects with `hook_event_name` in, `hookSpecificOutput` out. Hosts that speak it share this
//! module; others do not need it.

pub(crate) mod input;
pub mod output;

use serde_json::Value;

/// A field of a tool's input that is text.
pub(crate) fn text<'a>(input: &'a serde_json::Map<String, Value>, field: &str) -> Option<&'a str> {
    input.get(field).and_then(Value::as_str)
}

/// The name of an event; the error says that it is missing.
pub(crate) fn event_name(head: &crate::EventHead) -> Result<&str, serde_json::Error> {
    let missing = || serde::de::Error::missing_field("hook_event_name");
    head.text("hook_event_name").ok_or_else(missing)
}
