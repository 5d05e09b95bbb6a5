//! The answer to an event, in Copilot's own words.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::event::{Action, Answer, HookEvent};
use crate::protocol::output::{Decision, Permission};

/// An answer to any event.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Output {
    /// A tool may not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<Permission>,
    /// Why it may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<String>,
    /// The whole input that the tool gets instead. Whether it may run is still the user's decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_args: Option<Value>,
    /// What the model reads as the result of a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    modified_result: Option<ModifiedResult>,
    /// Added to the context of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<String>,
    /// A line for the user; 1.0.102 does not show it when it runs without a terminal.
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<String>,
    /// Keeps a subagent working.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Decision>,
    /// The message that it continues with.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// The result of a tool.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ModifiedResult {
    /// Whether the tool did what it should.
    result_type: &'static str,
    /// What the model reads.
    text_result_for_llm: String,
}

/// Writes an answer; none if there is nothing to say, or if this event cannot carry it.
pub(super) fn write(event: &HookEvent, answer: &Answer) -> Option<String> {
    let mut output = Output { system_message: answer.notice.clone(), ..Output::default() };
    match (event, answer.action.clone()) {
        (HookEvent::SubagentSpawn(_), Action::Rewrite(input)) => output.modified_args = Some(input),
        (HookEvent::SubagentSpawn(_), Action::Refuse(reason)) => {
            output.permission_decision = Some(Permission::Deny);
            output.permission_decision_reason = Some(reason);
        }
        (
            HookEvent::SessionStarted(_)
            | HookEvent::SubagentStarted
            | HookEvent::SubagentPrompted { .. }
            | HookEvent::CommandFailed { .. },
            Action::Inject(text),
        ) => output.additional_context = Some(text),
        (HookEvent::SubagentSpawned { .. }, Action::Shorten(text_result_for_llm)) => {
            output.modified_result =
                Some(ModifiedResult { result_type: "success", text_result_for_llm });
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::{StartReason, SubagentSpawn, SubagentStop};

    fn written(event: &HookEvent, action: Action) -> Option<Value> {
        write(event, &Answer::from(action)).map(|text| serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn answers_in_its_own_words() {
        let spawn = HookEvent::SubagentSpawn(SubagentSpawn {
            kind: "general-purpose".to_owned(),
            prompt: "do it".to_owned(),
            model: None,
            input: serde_json::Map::new(),
            prompt_field: "prompt",
            name_field: "name",
            sealed: false,
        });
        let rewritten = written(&spawn, Action::Rewrite(json!({"prompt": "brief"})));
        assert_eq!(rewritten.unwrap(), json!({"modifiedArgs": {"prompt": "brief"}}));
        let refused = written(&spawn, Action::Refuse("no".to_owned())).unwrap();
        let expected = json!({"permissionDecision": "deny", "permissionDecisionReason": "no"});
        assert_eq!(refused, expected);
        for event in [
            HookEvent::SessionStarted(StartReason::Startup),
            HookEvent::SubagentStarted,
            HookEvent::SubagentPrompted { prompt: String::new() },
        ] {
            let injected = written(&event, Action::Inject("state".to_owned())).unwrap();
            assert_eq!(injected, json!({"additionalContext": "state"}));
        }
        let stop = SubagentStop { transcript: None, last_message: None, held_before: false };
        let stop = HookEvent::SubagentStopping(stop);
        let held = written(&stop, Action::HoldBack("debrief".to_owned())).unwrap();
        assert_eq!(held, json!({"decision": "block", "reason": "debrief"}));
        let spawned = HookEvent::SubagentSpawned { agent: None, ended: true, returned: None };
        let shortened = written(&spawned, Action::Shorten("short".to_owned())).unwrap();
        let result = json!({"resultType": "success", "textResultForLlm": "short"});
        assert_eq!(shortened, json!({"modifiedResult": result}));
        assert_eq!(written(&stop, Action::Inject("state".to_owned())), None);
        assert_eq!(written(&HookEvent::Other, Action::Proceed), None);
        let noticed = Answer { notice: Some("look".to_owned()), ..Answer::default() };
        assert_eq!(write(&stop, &noticed).unwrap(), r#"{"systemMessage":"look"}"#);
    }
}
