//! Requests that are first answered with a question: the client repeats the request with the answers and
//! with the state the server wanted back.

use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, InputRequiredResult, InputResponses};
use serde_json::{Value, json};

/// Such a request, as far as it has come.
pub(crate) struct Round {
    pub(crate) capabilities: ClientCapabilities,
    pub(crate) answers: InputResponses,
    pub(crate) state: Option<String>,
}

/// A question, and the token that has to come back with the answers.
struct Question {
    asked: Value,
    state: Option<&'static str>,
}

impl Round {
    /// The next question, or none if a request of this name has everything it needs.
    pub(crate) fn next(&self, name: &str) -> Result<Option<InputRequiredResult>, ErrorData> {
        let Question { asked, state } = self.question(name);
        let answered = |key: &String| self.answers.get(key).is_some_and(Value::is_object);
        if asked.as_object().unwrap().keys().all(answered) {
            return match state == self.state.as_deref() {
                true => Ok(None),
                false => Err(ErrorData::invalid_params("that is not what we said", None)),
            };
        }
        let mut result = json!({"resultType": "input_required", "inputRequests": asked});
        if let Some(state) = state {
            result["requestState"] = json!(state);
        }
        Ok(Some(serde_json::from_value(result).unwrap()))
    }

    fn question(&self, name: &str) -> Question {
        let (asked, state) = match name.trim_start_matches("test_input_required_result_") {
            "sampling" => (json!({"capital_question": sample()}), None),
            "list_roots" => (json!({"client_roots": roots()}), None),
            "request_state" | "tampered_state" => {
                (json!({"confirm": elicit("ok")}), Some("signed"))
            }
            "multiple_inputs" => {
                let asked = json!({"user_name": elicit("name"), "greeting": sample(), "client_roots": roots()});
                (asked, Some("signed"))
            }
            "multi_round" if self.state.is_none() => {
                (json!({"step1": elicit("name")}), Some("one"))
            }
            "multi_round" => (json!({"step2": elicit("color")}), Some("two")),
            "capabilities" if self.capabilities.elicitation.is_none() => {
                (json!({"greeting": sample()}), None)
            }
            "prompt" => (json!({"user_context": elicit("context")}), None),
            _ => (json!({"user_name": elicit("name")}), None),
        };
        Question { asked, state }
    }
}

fn elicit(field: &str) -> Value {
    let kind = if field == "ok" { "boolean" } else { "string" };
    let schema =
        json!({"type": "object", "properties": {field: {"type": kind}}, "required": [field]});
    json!({"method": "elicitation/create", "params": {"message": "Please say.", "requestedSchema": schema}})
}

fn sample() -> Value {
    let content = json!({"type": "text", "text": "What is the capital of France?"});
    let messages = json!([{"role": "user", "content": content}]);
    json!({"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 100}})
}

fn roots() -> Value {
    json!({"method": "roots/list", "params": {}})
}
