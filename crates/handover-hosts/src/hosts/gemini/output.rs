//! The answer to an event, in the words of Gemini CLI.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::event::{Action, Answer, HookEvent};
use crate::protocol::output::Permission;

/// An answer to any event.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// A tool may not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Permission>,
    /// Why it may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// A line for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    /// The part that depends on the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific>,
}

/// The part of an answer that depends on the event.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "hookEventName")]
enum Specific {
    /// A tool is about to run.
    BeforeTool {
        /// The whole input that it gets instead.
        tool_input: Value,
    },
    /// A tool has run.
    #[serde(rename_all = "camelCase")]
    AfterTool {
        /// Added to what the model reads.
        additional_context: String,
    },
    /// A conversation starts.
    #[serde(rename_all = "camelCase")]
    SessionStart {
        /// Added to the context of the model.
        additional_context: String,
    },
}

/// Writes an answer; none if there is nothing to say, or if this event cannot carry it.
pub(super) fn write(event: &HookEvent, answer: &Answer) -> Option<String> {
    let mut output = Output { system_message: answer.notice.clone(), ..Output::default() };
    match (event, answer.action.clone()) {
        (HookEvent::SubagentSpawn(_), Action::Rewrite(tool_input)) => {
            output.hook_specific_output = Some(Specific::BeforeTool { tool_input });
        }
        (HookEvent::SubagentSpawn(_), Action::Refuse(reason))
        | (HookEvent::SubagentEnding { .. }, Action::HoldBack(reason)) => {
            output.decision = Some(Permission::Deny);
            output.reason = Some(reason);
        }
        (HookEvent::SessionStarted(_), Action::Inject(text)) => {
            output.hook_specific_output = Some(Specific::SessionStart { additional_context: text });
        }
        (HookEvent::CommandFailed { .. }, Action::Inject(text)) => {
            output.hook_specific_output = Some(Specific::AfterTool { additional_context: text });
        }
        // An action that this event cannot carry is dropped.
        _ if output.system_message.is_none() => return None,
        _ => {}
    }
    serde_json::to_string(&output).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{StartReason, SubagentSpawn};

    #[test]
    fn answers_in_its_own_words() {
        let written = |event: &HookEvent, action: Action| -> Value {
            serde_json::from_str(&write(event, &Answer::from(action)).unwrap()).unwrap()
        };
        let spawn = HookEvent::SubagentSpawn(SubagentSpawn {
            kind: "generalist".to_owned(),
            prompt: "do it".to_owned(),
            model: None,
            input: serde_json::Map::new(),
            prompt_field: "prompt",
            name_field: "name",
            sealed: false,
        });
        let input = json!({"agent_name": "generalist", "prompt": "brief"});
        let specific = json!({"hookEventName": "BeforeTool", "tool_input": input});
        let rewritten = written(&spawn, Action::Rewrite(input));
        assert_eq!(rewritten, json!({"hookSpecificOutput": specific}));
        let refused = written(&spawn, Action::Refuse("no".to_owned()));
        assert_eq!(refused, json!({"decision": "deny", "reason": "no"}));
        let ending = HookEvent::SubagentEnding { last_message: String::new() };
        let held = written(&ending, Action::HoldBack("debrief".to_owned()));
        assert_eq!(held, json!({"decision": "deny", "reason": "debrief"}));
        let failed =
            HookEvent::CommandFailed { command: "make".to_owned(), error: "busy".to_owned() };
        for (event, name) in
            [(HookEvent::SessionStarted(StartReason::Clear), "SessionStart"), (failed, "AfterTool")]
        {
            let specific = json!({"hookEventName": name, "additionalContext": "known"});
            let injected = written(&event, Action::Inject("known".to_owned()));
            assert_eq!(injected, json!({"hookSpecificOutput": specific}));
        }
        assert_eq!(write(&HookEvent::Other, &Action::HoldBack(String::new()).into()), None);
    }
}
