//! What Claude Code is answered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An answer to any event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Keeps a subagent at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// What the subagent is told then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A line for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// What only this event knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Specific>,
}

/// The one decision there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Go on.
    Block,
}

/// Whether a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// What only one event knows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "hookEventName", rename_all_fields = "camelCase")]
pub enum Specific {
    /// A tool is about to run.
    PreToolUse {
        /// Whether it may.
        permission_decision: Permission,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<String>,
        /// The whole input that it gets instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
    },
    /// A conversation starts.
    SessionStart {
        /// What the model is to know.
        additional_context: String,
    },
    /// A subagent starts.
    SubagentStart {
        /// What it is to know.
        additional_context: String,
    },
}

impl Specific {
    pub(super) fn rewritten(input: Value) -> Self {
        Self::PreToolUse {
            permission_decision: Permission::Allow,
            permission_decision_reason: None,
            updated_input: Some(input),
        }
    }

    pub(super) fn refused(reason: String) -> Self {
        Self::PreToolUse {
            permission_decision: Permission::Deny,
            permission_decision_reason: Some(reason),
            updated_input: None,
        }
    }
}
