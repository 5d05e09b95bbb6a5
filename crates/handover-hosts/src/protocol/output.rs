//! The answer to an event, in the strictest form of the protocol: Codex rejects unknown keys, a
//! permission without a rewritten input, and a refusal without a reason; Claude Code accepts
//! whatever Codex does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Action, Answer, HookEvent};

/// An answer to any event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Output {
    /// Keeps a subagent working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The message that it continues with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A line for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// The part that depends on the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Specific>,
}

/// The only decision that we use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// Keep working.
    Block,
}

/// Whether a tool may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Permission {
    /// It may run.
    Allow,
    /// It may not run.
    Deny,
}

/// The part of an answer that depends on the event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "hookEventName", rename_all_fields = "camelCase", deny_unknown_fields)]
pub enum Specific {
    /// A tool is about to run.
    PreToolUse {
        /// Whether it may run.
        permission_decision: Permission,
        /// The reason, required for a refusal.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_decision_reason: Option<String>,
        /// The whole input that it gets instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
    },
    /// A conversation starts.
    SessionStart {
        /// Added to the context of the model.
        additional_context: String,
    },
    /// A subagent starts.
    SubagentStart {
        /// Added to the context of the subagent.
        additional_context: String,
    },
}

impl Specific {
    fn rewritten(input: Value) -> Self {
        Self::PreToolUse {
            permission_decision: Permission::Allow,
            permission_decision_reason: None,
            updated_input: Some(input),
        }
    }

    fn refused(reason: String) -> Self {
        Self::PreToolUse {
            permission_decision: Permission::Deny,
            permission_decision_reason: Some(reason),
            updated_input: None,
        }
    }
}

/// The JSON Schema of an answer.
pub(crate) fn schema() -> Value {
    schemars::schema_for!(Output).to_value()
}

/// Writes an answer; none if there is nothing to say, or if this event cannot carry it.
pub fn write(event: &HookEvent, answer: &Answer) -> Option<String> {
    if answer.is_empty() {
        return None;
    }
    let mut output = Output { system_message: answer.notice.clone(), ..Output::default() };
    match (event, answer.action.clone()) {
        (HookEvent::SubagentSpawn(_), Action::Rewrite(input)) => {
            output.hook_specific_output = Some(Specific::rewritten(input));
        }
        (HookEvent::SubagentSpawn(_), Action::Refuse(reason)) => {
            output.hook_specific_output = Some(Specific::refused(reason));
        }
        (HookEvent::SessionStarted(_), Action::Inject(text)) => {
            output.hook_specific_output = Some(Specific::SessionStart { additional_context: text });
        }
        (HookEvent::SubagentStarted, Action::Inject(text)) => {
            output.hook_specific_output =
                Some(Specific::SubagentStart { additional_context: text });
        }
        (HookEvent::SubagentStopping(_), Action::HoldBack(reason)) => {
            output.decision = Some(Decision::Block);
            output.reason = Some(reason);
        }
        // An action that this event cannot carry is dropped.
        _ if output.system_message.is_none() => return None,
        _ => {}
    }
    serde_json::to_string(&output).ok()
}
