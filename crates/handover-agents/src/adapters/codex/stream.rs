//! The lines of `--json`.

use serde::Deserialize;
use serde_json::Value;

use crate::adapters::lenient;

#[derive(Debug, Deserialize)]
#[serde(tag = "type")]
pub(super) enum Line {
    #[serde(rename = "thread.started")]
    ThreadStarted {
        #[serde(default, deserialize_with = "lenient")]
        thread_id: Option<String>,
    },
    #[serde(rename = "turn.started")]
    TurnStarted,
    #[serde(rename = "turn.completed")]
    TurnCompleted {
        #[serde(default, deserialize_with = "lenient")]
        usage: Option<TurnUsage>,
    },
    #[serde(rename = "turn.failed")]
    TurnFailed {
        #[serde(default, deserialize_with = "lenient")]
        error: Option<ErrorInfo>,
    },
    #[serde(rename = "item.started")]
    ItemStarted { item: Item },
    #[serde(rename = "item.completed")]
    ItemCompleted { item: Item },
    #[serde(rename = "error")]
    Error(ErrorInfo),
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct ErrorInfo {
    #[serde(default)]
    pub(super) message: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TurnUsage {
    /// Including cached tokens.
    pub(super) input_tokens: u64,
    pub(super) cached_input_tokens: u64,
    /// Including reasoning.
    pub(super) output_tokens: u64,
}

/// All kinds of items in one type: `kind` determines which fields are present.
#[derive(Debug, Deserialize)]
pub(super) struct Item {
    #[serde(default)]
    pub(super) id: String,
    #[serde(default, rename = "type")]
    pub(super) kind: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) text: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) aggregated_output: Value,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) exit_code: Option<i64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) server: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) tool: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) query: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) changes: Option<Vec<Change>>,
    #[serde(default)]
    pub(super) arguments: Value,
}

#[derive(Debug, Deserialize)]
pub(super) struct Change {
    #[serde(default)]
    pub(super) path: String,
}
