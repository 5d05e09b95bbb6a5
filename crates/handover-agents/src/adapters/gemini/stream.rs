//! The lines of `--output-format stream-json`.

use serde::Deserialize;
use serde_json::Value;

use crate::adapters::lenient;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    Init {
        #[serde(default, deserialize_with = "lenient")]
        session_id: Option<String>,
        #[serde(default, deserialize_with = "lenient")]
        model: Option<String>,
    },
    Message {
        #[serde(default)]
        role: String,
        #[serde(default)]
        content: String,
        /// Part of a message, to be appended to the previous part.
        #[serde(default, deserialize_with = "lenient")]
        delta: Option<bool>,
    },
    ToolUse {
        #[serde(default)]
        tool_name: String,
        #[serde(default)]
        tool_id: String,
        #[serde(default)]
        parameters: Value,
    },
    ToolResult {
        #[serde(default)]
        tool_id: String,
        #[serde(default)]
        status: String,
        #[serde(default)]
        output: Value,
    },
    Error {
        #[serde(default)]
        severity: String,
        #[serde(default)]
        message: String,
    },
    Result(Final),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Final {
    #[serde(default)]
    pub(super) status: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) error: Option<ErrorInfo>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stats: Option<Stats>,
}

#[derive(Debug, Deserialize)]
pub(super) struct ErrorInfo {
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Stats {
    /// Including cached tokens.
    pub(super) input_tokens: u64,
    pub(super) cached: u64,
    pub(super) output_tokens: u64,
    /// Includes thoughts, which do not count as output here.
    pub(super) total_tokens: u64,
}
