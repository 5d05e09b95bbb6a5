//! A conversation as turns: what was asked for, and everything until the next request.

use handover_model::Timestamp;

use super::clean::spoken;
use super::outside::is_outside;
use crate::transcripts::{Conversation, Role};

/// Something that was said, without what programs add.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) id: String,
    pub(super) time: Timestamp,
    pub(super) text: String,
    /// Whether the agent had read something from outside before.
    pub(super) after_outside: bool,
}

/// A request, and what came of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    /// What the agent said last before the request.
    pub(super) before: Option<Said>,
    pub(super) request: Option<Said>,
    pub(super) replies: Vec<Said>,
    /// The telling line of each error that came up.
    pub(super) errors: Vec<String>,
}

/// The longest line of an error.
const MAX_ERROR_CHARS: usize = 240;

/// The turns of a conversation.
pub(super) fn turns(conversation: &Conversation) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    let mut turn = Turn::default();
    let mut now = Timestamp::from_micros(0);
    let mut after_outside = false;
    for message in &conversation.messages {
        now = message.time.unwrap_or(now);
        let said = || {
            let text = spoken(&message.text);
            (!text.is_empty()).then(|| Said {
                id: message.id.clone(),
                time: now,
                text,
                after_outside,
            })
        };
        match message.role {
            Role::Person => {
                let Some(said) = said() else { continue };
                // What is said in several messages before an answer is one request.
                if turn.replies.is_empty()
                    && let Some(request) = &mut turn.request
                {
                    request.text.push_str("\n\n");
                    request.text.push_str(&said.text);
                    continue;
                }
                let before = turn.replies.last().cloned();
                let next = Turn { before, request: Some(said), ..Turn::default() };
                turns.push(std::mem::replace(&mut turn, next));
            }
            Role::Assistant => turn.replies.extend(said()),
            Role::Tool { failed: true } => turn.errors.extend(error_line(&message.text)),
            Role::Tool { failed: false } => {}
        }
        after_outside |= message.tools.iter().any(is_outside);
    }
    turns.push(turn);
    turns.retain(|turn| turn.request.is_some() || !turn.replies.is_empty());
    turns
}

/// The line of an output that names the error.
fn error_line(output: &str) -> Option<String> {
    const WORDS: &[&str] =
        &["error", "panicked", "exception", "failed", "cannot", "not found", "denied", "fatal"];
    let lines =
        || output.lines().map(str::trim).filter(|line| line.chars().any(char::is_alphabetic));
    let tells = |line: &&str| {
        let line = line.to_lowercase();
        WORDS.iter().any(|word| line.contains(word)) && !line.starts_with("process exited")
    };
    let line = lines().find(tells).or_else(|| lines().next_back())?;
    Some(line.chars().take(MAX_ERROR_CHARS).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_found() {
        let output = "Process exited with code 101\n   Compiling x\nerror[E0382]: use of moved value\nhelp: clone";
        assert_eq!(error_line(output).unwrap(), "error[E0382]: use of moved value");
        assert_eq!(error_line("a\nb\n---"), Some("b".to_owned()));
        assert_eq!(error_line("---\n"), None);
    }
}
