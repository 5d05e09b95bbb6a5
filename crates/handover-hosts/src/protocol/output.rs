//! The answer to an event, in the strictest form of the protocol: Codex rejects unknown keys, a
//! permission without a rewritten input, and a refusal without a reason; Claude Code accepts
//! whatever Codex does.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
    /// A tool has run.
    PostToolUse {
        /// What the model reads as its result.
        updated_tool_output: Value,
    },
    /// A tool has failed.
    PostToolUseFailure {
        /// Added to what the model reads about the failure.
        additional_context: String,
    },
    /// An agent gets its prompt.
    UserPromptSubmit {
        /// Added to the prompt.
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
        (HookEvent::CommandFailed { .. }, Action::Inject(text)) => {
            output.hook_specific_output =
                Some(Specific::PostToolUseFailure { additional_context: text });
        }
        (HookEvent::SubagentStarted, Action::Inject(text)) => {
            output.hook_specific_output =
                Some(Specific::SubagentStart { additional_context: text });
        }
        (HookEvent::SubagentPrompted { .. }, Action::Inject(text)) => {
            output.hook_specific_output =
                Some(Specific::UserPromptSubmit { additional_context: text });
        }
        (HookEvent::SubagentSpawned { returned: Some(returned), .. }, Action::Shorten(text)) => {
            let updated_tool_output = with_text(&returned.result, text);
            output.hook_specific_output = Some(Specific::PostToolUse { updated_tool_output });
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

/// The result of the call that spawned a subagent, with another text. Every other field stays.
fn with_text(result: &Value, text: String) -> Value {
    let Value::Object(fields) = result else { return Value::String(text) };
    let mut fields = fields.clone();
    fields.insert("content".to_owned(), json!([{"type": "text", "text": text}]));
    Value::Object(fields)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::event::{StartReason, SubagentReturn, SubagentStop};

    fn written(event: &HookEvent, action: Action) -> Value {
        let text = write(event, &Answer::from(action)).unwrap();
        serde_json::from_str(&text).unwrap()
    }

    fn stopping() -> HookEvent {
        let stop = SubagentStop { transcript: None, last_message: None, held_before: false };
        HookEvent::SubagentStopping(stop)
    }

    #[test]
    fn context_is_injected_when_a_conversation_starts() {
        let started = HookEvent::SessionStarted(StartReason::Compact);
        assert_eq!(
            written(&started, Action::Inject("state".to_owned())),
            json!({"hookSpecificOutput": {
                "hookEventName": "SessionStart", "additionalContext": "state",
            }})
        );
    }

    #[test]
    fn a_failed_command_is_answered_under_the_name_of_its_event() {
        let failed =
            HookEvent::CommandFailed { command: "make".to_owned(), error: "busy".to_owned() };
        assert_eq!(
            written(&failed, Action::Inject("known".to_owned())),
            json!({"hookSpecificOutput": {
                "hookEventName": "PostToolUseFailure", "additionalContext": "known",
            }})
        );
    }

    #[test]
    fn a_stop_is_blocked_with_its_reason() {
        let held = written(&stopping(), Action::HoldBack("debrief".to_owned()));
        assert_eq!(held, json!({"decision": "block", "reason": "debrief"}));
    }

    #[test]
    fn a_shortened_return_keeps_every_other_field() {
        let spawned = |result: Value| HookEvent::SubagentSpawned {
            agent: None,
            ended: true,
            returned: Some(SubagentReturn {
                prompt: String::new(),
                text: "long".to_owned(),
                result,
            }),
        };
        let result = json!({"status": "completed", "content": [{"type": "text", "text": "long"}]});
        for (result, expected) in [
            (
                result,
                json!({"status": "completed", "content": [{"type": "text", "text": "short"}]}),
            ),
            (json!("long"), json!("short")),
        ] {
            assert_eq!(
                written(&spawned(result), Action::Shorten("short".to_owned())),
                json!({"hookSpecificOutput": {
                    "hookEventName": "PostToolUse", "updatedToolOutput": expected,
                }})
            );
        }
        let other = HookEvent::SubagentSpawned { agent: None, ended: true, returned: None };
        assert_eq!(write(&other, &Action::Shorten("short".to_owned()).into()), None);
    }

    #[test]
    fn a_notice_goes_along_with_an_action() {
        let action = Action::HoldBack("debrief".to_owned());
        let answer = Answer { action, notice: Some("slow".to_owned()) };
        let value: Value = serde_json::from_str(&write(&stopping(), &answer).unwrap()).unwrap();
        let expected = json!({"decision": "block", "reason": "debrief", "systemMessage": "slow"});
        assert_eq!(value, expected);
    }

    #[test]
    fn an_action_of_another_event_is_dropped_but_its_notice_is_not() {
        let refused = Answer::from(Action::Refuse("no".to_owned()));
        assert_eq!(write(&stopping(), &refused), None);
        let noticed = Answer { notice: Some("look".to_owned()), ..refused };
        let text = write(&stopping(), &noticed).unwrap();
        assert_eq!(text, r#"{"systemMessage":"look"}"#);
    }

    #[test]
    fn output_is_read_strictly() {
        for text in [
            r#"{"unknown": 1}"#,
            r#"{"decision": "approve"}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "Stop"}}"#,
            r#"{"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x", "more": 1}}"#,
        ] {
            assert!(serde_json::from_str::<Output>(text).is_err(), "{text}");
        }
    }
}
