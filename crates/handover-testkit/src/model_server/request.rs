//! Requests of agent programs to the model.

use serde_json::Value;

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// `POST /v1/messages`
    Anthropic,
    /// `POST /v1/responses`
    OpenAi,
    /// `POST /v1/chat/completions`
    Chat,
    /// `POST /v1beta/models/NAME:streamGenerateContent`, or without `stream`.
    Google {
        /// Whether the response is a stream.
        stream: bool,
    },
}

/// One request to the model.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The vendor's protocol.
    pub api: Api,
    /// The request body as received.
    pub body: Value,
}

impl ModelRequest {
    /// Whether the text occurs anywhere in the request: system prompt, messages, tools.
    pub fn contains(&self, text: &str) -> bool {
        strings(&self.body).any(|part| part.contains(text))
    }

    /// Whether the text occurs in the conversation, excluding system prompt and tools.
    pub fn conversation_contains(&self, text: &str) -> bool {
        self.conversation().any(|part| part.contains(text))
    }

    /// The first text of the conversation between two others.
    pub fn between(&self, start: &str, end: &str) -> Option<String> {
        self.conversation().find_map(|part| {
            let rest = part.split_once(start)?.1;
            Some(rest.split_once(end)?.0.to_owned())
        })
    }

    /// The names of the tools available to the model.
    pub fn tools(&self) -> Vec<&str> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let functions = tools.iter().flat_map(|tool| list(&tool["functionDeclarations"]));
        tools
            .iter()
            .chain(functions)
            .filter_map(|tool| tool["name"].as_str().or_else(|| tool["type"].as_str()))
            .collect()
    }

    /// How many turns the model has taken in this conversation.
    pub fn turns(&self) -> usize {
        let own = |message: &&Value| {
            message["role"] == "assistant"
                || message["role"] == "model"
                || message["type"] == "function_call"
        };
        list(self.messages()).iter().filter(own).count()
    }

    /// How many tool results the conversation contains: 0 in the first turn.
    pub fn tool_results(&self) -> usize {
        match self.api {
            Api::Anthropic => list(&self.body["messages"])
                .iter()
                .flat_map(|message| list(&message["content"]))
                .filter(|block| block["type"] == "tool_result")
                .count(),
            Api::OpenAi => list(&self.body["input"])
                .iter()
                .filter(|item| {
                    item["type"].as_str().is_some_and(|kind| kind.ends_with("_call_output"))
                })
                .count(),
            Api::Chat => {
                let results = list(&self.body["messages"]).iter();
                results.filter(|message| message["role"] == "tool").count()
            }
            Api::Google { .. } => list(&self.body["contents"])
                .iter()
                .flat_map(|content| list(&content["parts"]))
                .filter(|part| part["functionResponse"].is_object())
                .count(),
        }
    }

    fn conversation(&self) -> impl Iterator<Item = &str> {
        strings(self.messages())
    }

    fn messages(&self) -> &Value {
        match self.api {
            Api::Anthropic | Api::Chat => &self.body["messages"],
            Api::OpenAi => &self.body["input"],
            Api::Google { .. } => &self.body["contents"],
        }
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Every string inside a value.
fn strings(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(strings)),
        Value::Object(fields) => Box::new(fields.values().flat_map(strings)),
        Value::Null | Value::Bool(_) | Value::Number(_) => Box::new(std::iter::empty()),
    }
}
