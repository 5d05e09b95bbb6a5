//! What Copilot CLI keeps of a conversation: one file of events. Its last one sums up all models and subagents, since the
//! beginning of the conversation; the output has no tokens at all.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::Value;

use crate::{Environment, Usage};

/// What all agents of a conversation have used since its beginning; none if it was not kept.
pub(super) fn used(environment: &Environment, conversation: &str) -> Option<Usage> {
    let home = match environment.get("COPILOT_HOME") {
        Some(home) => PathBuf::from(home),
        None => Path::new(environment.get("HOME")?).join(".copilot"),
    };
    // An id becomes a part of a path.
    conversation.chars().all(|c| c.is_ascii_alphanumeric() || c == '-').then_some(())?;
    let file = home.join("session-state").join(conversation).join("events.jsonl");
    let mut file = BufReader::new(fs_err::File::open(file).ok()?);
    let (mut line, mut last) = (Vec::new(), None);
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line).ok()? == 0 {
            return last;
        }
        if memmem::find(&line, b"\"session.shutdown\"").is_some()
            && let Ok(event) = serde_json::from_slice::<Value>(&line)
            && event["type"] == "session.shutdown"
            && let Some(models) = event.pointer("/data/modelMetrics").and_then(Value::as_object)
        {
            last = models.values().map(|model| usage(&model["usage"])).reduce(|sum, one| sum + one);
        }
    }
}

fn usage(of: &Value) -> Usage {
    let count = |name: &str| of[name].as_u64().unwrap_or_default();
    Usage {
        input: count("inputTokens"),
        cached_input: count("cacheReadTokens"),
        output: count("outputTokens"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sum_of_a_conversation_counts() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".copilot/session-state/c-1");
        fs_err::create_dir_all(&folder).unwrap();
        let model = |input: u64| {
            serde_json::json!({"usage": {
                "inputTokens": input, "outputTokens": 2, "cacheReadTokens": 1, "cacheWriteTokens": 9,
            }})
        };
        let end = |models: Value| serde_json::json!({"type": "session.shutdown", "data": {"modelMetrics": models}});
        let quoted = serde_json::json!({"type": "tool", "data": {"text": "\"session.shutdown\""}});
        let lines = [
            end(serde_json::json!({"a": model(5)})),
            end(serde_json::json!({"a": model(10), "b": model(20)})),
            quoted,
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        fs_err::write(folder.join("events.jsonl"), text + "{\"session.shutdown\" cut").unwrap();
        let host = super::super::Copilot::HOST;
        let mut environment = Environment::scrubbed([], host, &[]);
        assert_eq!(used(&environment, "c-1"), None);
        environment.set("HOME", home.path());
        let sum = Usage { input: 30, cached_input: 2, output: 4 };
        assert_eq!(used(&environment, "c-1"), Some(sum));
        assert_eq!(used(&environment, "c-2"), None);
        assert_eq!(used(&environment, "../session-state/c-1"), None);
        environment.set("COPILOT_HOME", home.path());
        assert_eq!(used(&environment, "c-1"), None);
    }
}
