//! The lines of `--output-format json`. Those of a subagent have its id.

use serde::Deserialize;
use serde_json::Value;

use crate::adapters::lenient;

#[derive(Debug, Deserialize)]
pub(super) struct Line {
    #[serde(flatten)]
    pub(super) event: Event,
    /// The subagent that it is about.
    #[serde(default, rename = "agentId", deserialize_with = "lenient")]
    pub(super) agent: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Event {
    #[serde(rename = "assistant.message")]
    Message {
        #[serde(default)]
        data: Message,
    },
    #[serde(rename = "tool.execution_start")]
    ToolStarted {
        #[serde(default)]
        data: ToolStart,
    },
    #[serde(rename = "tool.execution_complete")]
    ToolEnded {
        #[serde(default)]
        data: ToolEnd,
    },
    #[serde(rename = "session.error")]
    Error {
        #[serde(default)]
        data: ErrorInfo,
    },
    #[serde(rename = "result")]
    Result(Final),
    #[serde(other)]
    Other,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Message {
    pub(super) content: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) model: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolStart {
    pub(super) tool_call_id: String,
    pub(super) tool_name: String,
    pub(super) arguments: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ToolEnd {
    pub(super) tool_call_id: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) success: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<ToolError>,
    #[serde(deserialize_with = "lenient")]
    pub(super) shell_execution: Option<Shell>,
    pub(super) result: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ToolError {
    pub(super) code: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Shell {
    pub(super) exit_code: i64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ErrorInfo {
    pub(super) message: String,
    #[serde(deserialize_with = "lenient")]
    pub(super) status_code: Option<u16>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Final {
    #[serde(deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) exit_code: Option<i64>,
}
