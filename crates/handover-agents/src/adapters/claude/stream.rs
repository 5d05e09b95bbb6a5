//! The lines of `--output-format stream-json`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::adapters::lenient;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    System(System),
    Assistant(Said),
    User(Said),
    Result(Box<Final>),
    RateLimitEvent {
        #[serde(default, deserialize_with = "lenient")]
        rate_limit_info: Option<RateLimit>,
    },
    /// Partial messages, hooks, and whatever future versions add.
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct System {
    #[serde(default)]
    pub(super) subtype: String,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) attempt: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) error: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Said {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) message: Option<Message>,
    /// An error code such as `rate_limit`, on messages that the program generated itself.
    #[serde(default, deserialize_with = "lenient")]
    pub(super) error: Option<String>,
    /// Set on messages of a subagent.
    #[serde(default, deserialize_with = "lenient")]
    pub(super) parent_tool_use_id: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Message {
    /// Lines with the same id are parts of one answer of the model.
    #[serde(default, deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) content: Option<Vec<Block>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) usage: Option<MainUsage>,
}

/// The state of a subscription's limit.
#[derive(Debug, Deserialize)]
pub(super) struct RateLimit {
    /// `allowed`, `allowed_warning` or `rejected`.
    #[serde(default)]
    pub(super) status: String,
    /// Seconds since 1970.
    #[serde(default, rename = "resetsAt", deserialize_with = "lenient")]
    pub(super) resets_at: Option<i64>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        #[serde(default)]
        text: String,
    },
    ToolUse {
        #[serde(default)]
        id: String,
        #[serde(default)]
        name: String,
        #[serde(default)]
        input: Value,
    },
    ToolResult {
        #[serde(default)]
        tool_use_id: String,
        #[serde(default, deserialize_with = "lenient")]
        is_error: Option<bool>,
        #[serde(default)]
        content: Value,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
pub(super) struct Final {
    #[serde(default, deserialize_with = "lenient")]
    pub(super) subtype: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) is_error: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) api_error_status: Option<u16>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) result: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) errors: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) stop_reason: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) session_id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) num_turns: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) total_cost_usd: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) usage: Option<MainUsage>,
    #[serde(default, rename = "modelUsage", deserialize_with = "lenient")]
    pub(super) model_usage: Option<BTreeMap<String, ModelUsage>>,
    /// The part of `model_usage` that no earlier result had, in new versions.
    #[serde(default, deserialize_with = "lenient")]
    pub(super) model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) permission_denials: Option<Vec<Value>>,
}

/// Usage of the main conversation, or of one message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MainUsage {
    pub(super) input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// Usage of one model, including subagents.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct ModelUsage {
    pub(super) input_tokens: u64,
    pub(super) cache_creation_input_tokens: u64,
    pub(super) cache_read_input_tokens: u64,
    pub(super) output_tokens: u64,
    #[serde(rename = "costUSD", deserialize_with = "lenient")]
    pub(super) cost_usd: Option<f64>,
}
