//! What Claude Code and Codex are answered, in the same words: Codex takes no key that it does not
//! know, no permission without a rewritten input, and no refusal without a reason, and Claude Code
//! takes whatever Codex does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Act, Answer, Event};

/// An answer to any event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
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
#[serde(tag = "hookEventName", rename_all_fields = "camelCase", deny_unknown_fields)]
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

pub(crate) fn write(event: &Event, answer: &Answer) -> Option<String> {
    let mut output = Output { system_message: answer.notice.clone(), ..Output::default() };
    match (event, answer.act.clone()) {
        (Event::Spawn(_), Act::Rewrite(input)) => {
            output.hook_specific_output = Some(Specific::rewritten(input));
        }
        (Event::Spawn(_), Act::Refuse(reason)) => {
            output.hook_specific_output = Some(Specific::refused(reason));
        }
        (Event::Opened(_), Act::Tell(text)) => {
            output.hook_specific_output = Some(Specific::SessionStart { additional_context: text });
        }
        (Event::ChildStarts, Act::Tell(text)) => {
            output.hook_specific_output =
                Some(Specific::SubagentStart { additional_context: text });
        }
        (Event::ChildStops(_), Act::Hold(reason)) => {
            output.decision = Some(Decision::Block);
            output.reason = Some(reason);
        }
        // What an event cannot be answered with is not said.
        _ if output.system_message.is_none() => return None,
        _ => {}
    }
    serde_json::to_string(&output).ok()
}
