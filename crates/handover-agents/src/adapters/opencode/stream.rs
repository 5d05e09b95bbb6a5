//! The lines of `--format json`: what the user's session does; those of subagents are not among them.

use serde::Deserialize;
use serde_json::Value;

use crate::adapters::lenient;

#[derive(Debug, Deserialize)]
pub(super) struct Line {
    #[serde(flatten)]
    pub(super) event: Event,
    #[serde(default, rename = "sessionID", deserialize_with = "lenient")]
    pub(super) session: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Text {
        #[serde(default)]
        part: Text,
    },
    ToolUse {
        #[serde(default)]
        part: ToolUse,
    },
    StepFinish {
        #[serde(default)]
        part: Step,
    },
    Error {
        #[serde(default)]
        error: ErrorInfo,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Text {
    pub(super) text: String,
}

/// A tool that has run.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolUse {
    pub(super) tool: String,
    #[serde(rename = "callID")]
    pub(super) id: String,
    pub(super) state: ToolState,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolState {
    pub(super) status: String,
    pub(super) input: Value,
    pub(super) output: Value,
    #[serde(deserialize_with = "lenient")]
    pub(super) metadata: Option<ToolMetadata>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolMetadata {
    /// The exit code of a command.
    #[serde(deserialize_with = "lenient")]
    pub(super) exit: Option<i64>,
}

/// A turn of the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Step {
    pub(super) reason: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) tokens: Option<Tokens>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cost: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Tokens {
    /// Without cached tokens.
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) reasoning: u64,
    pub(super) cache: Cache,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Cache {
    pub(super) read: u64,
    pub(super) write: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorInfo {
    pub(super) name: String,
    pub(super) data: ErrorData,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ErrorData {
    pub(super) message: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) status_code: Option<u16>,
}
