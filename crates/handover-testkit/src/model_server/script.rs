//! Maps requests to responses.

use std::time::Duration;

use serde_json::Value;

use super::ModelRequest;

/// A response of the model.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A text that ends the turn.
    Text(String),
    /// A text followed by tool calls, by name and input.
    Tools(String, Vec<(String, Value)>),
    /// An HTTP status and an error message.
    Status(u16, String),
    /// A delayed response.
    Slow(Duration, Box<Self>),
    /// A stream that breaks off in the middle of a text.
    BreakOff(String),
    /// No response for as long as the server lives.
    Silence,
    /// A response that depends on the request.
    Computed(fn(&ModelRequest) -> Self),
}

impl Answer {
    /// A text response.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// One tool call. Codex keeps tools of MCP servers in namespaces: `mcp__server/tool`.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::Tools(String::new(), vec![(name.to_owned(), input)])
    }

    /// An error response.
    pub fn status(code: u16) -> Self {
        Self::Status(code, format!("scripted error {code}"))
    }

    /// This response after a delay.
    pub fn after(self, delay: Duration) -> Self {
        Self::Slow(delay, Box::new(self))
    }
}

type When = Box<dyn Fn(&ModelRequest) -> bool + Send + Sync>;
type Respond = Box<dyn Fn(&ModelRequest) -> Answer + Send + Sync>;

/// Rules, tried in order: the first one that matches and is not used up provides the response.
#[derive(Default)]
pub struct Script {
    rules: Vec<ScriptRule>,
}

struct ScriptRule {
    when: When,
    answer: Respond,
    left: Option<usize>,
}

impl Script {
    /// No rules: every response is the text `ok`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a response for every request that satisfies `when`.
    pub fn when(
        self,
        when: impl Fn(&ModelRequest) -> bool + Send + Sync + 'static,
        answer: Answer,
    ) -> Self {
        self.rule(Box::new(when), always(answer), None)
    }

    /// Adds a response that depends on the request.
    pub fn respond(
        self,
        when: impl Fn(&ModelRequest) -> bool + Send + Sync + 'static,
        answer: impl Fn(&ModelRequest) -> Answer + Send + Sync + 'static,
    ) -> Self {
        self.rule(Box::new(when), Box::new(answer), None)
    }

    /// Adds a response for every request whose conversation contains the text.
    pub fn on(self, text: &str, answer: Answer) -> Self {
        let text = text.to_owned();
        self.when(move |request| request.conversation_contains(&text), answer)
    }

    /// Adds a response for the next request that matches no earlier rule, once.
    pub fn then(self, answer: Answer) -> Self {
        self.rule(Box::new(|_| true), always(answer), Some(1))
    }

    /// Adds a response for every request that matches no earlier rule.
    pub fn always(self, answer: Answer) -> Self {
        self.when(|_| true, answer)
    }

    fn rule(mut self, when: When, answer: Respond, left: Option<usize>) -> Self {
        self.rules.push(ScriptRule { when, answer, left });
        self
    }

    pub(super) fn answer(&mut self, request: &ModelRequest) -> Answer {
        let fitting =
            self.rules.iter_mut().find(|rule| rule.left != Some(0) && (rule.when)(request));
        match fitting {
            Some(rule) => {
                rule.left = rule.left.map(|left| left - 1);
                (rule.answer)(request)
            }
            None => Answer::text("ok"),
        }
    }
}

fn always(answer: Answer) -> Respond {
    Box::new(move |_| answer.clone())
}
