//! Which request gets which answer.

use std::time::Duration;

use serde_json::Value;

use super::ModelRequest;

/// What the model answers.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A text, and the turn is over.
    Text(String),
    /// Words, then calls of tools, by name and input.
    Tools(String, Vec<(String, Value)>),
    /// An HTTP status and the text of the error.
    Status(u16, String),
    /// The same answer, later.
    Slow(Duration, Box<Self>),
    /// The stream breaks off in the middle of a text.
    BreakOff(String),
    /// No answer for as long as the server lives.
    Silence,
}

impl Answer {
    /// A text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// One call of a tool. Codex keeps tools of MCP servers in namespaces: `mcp__server/tool`.
    pub fn tool(name: &str, input: Value) -> Self {
        Self::Tools(String::new(), vec![(name.to_owned(), input)])
    }

    /// An HTTP status.
    pub fn status(code: u16) -> Self {
        Self::Status(code, format!("scripted error {code}"))
    }

    /// The same answer, later.
    pub fn after(self, delay: Duration) -> Self {
        Self::Slow(delay, Box::new(self))
    }
}

type When = Box<dyn Fn(&ModelRequest) -> bool + Send + Sync>;

/// Rules, tried in order: the first one that fits and is not used up answers.
#[derive(Default)]
pub struct Script {
    rules: Vec<Rule>,
}

struct Rule {
    when: When,
    answer: Answer,
    left: Option<usize>,
}

impl Script {
    /// No rule: every request is answered with the text `ok`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every request for which `when` holds gets this answer.
    pub fn when(
        self,
        when: impl Fn(&ModelRequest) -> bool + Send + Sync + 'static,
        answer: Answer,
    ) -> Self {
        self.rule(Box::new(when), answer, None)
    }

    /// Every request whose conversation holds the text gets this answer.
    pub fn on(self, text: &str, answer: Answer) -> Self {
        let text = text.to_owned();
        self.when(move |request| request.conversation_contains(&text), answer)
    }

    /// The next request for which no earlier rule fits gets this answer, once.
    pub fn then(self, answer: Answer) -> Self {
        self.rule(Box::new(|_| true), answer, Some(1))
    }

    /// Every request for which no earlier rule fits gets this answer.
    pub fn always(self, answer: Answer) -> Self {
        self.when(|_| true, answer)
    }

    fn rule(mut self, when: When, answer: Answer, left: Option<usize>) -> Self {
        self.rules.push(Rule { when, answer, left });
        self
    }

    pub(super) fn answer(&mut self, request: &ModelRequest) -> Answer {
        let fitting =
            self.rules.iter_mut().find(|rule| rule.left != Some(0) && (rule.when)(request));
        match fitting {
            Some(rule) => {
                rule.left = rule.left.map(|left| left - 1);
                rule.answer.clone()
            }
            None => Answer::text("ok"),
        }
    }
}
