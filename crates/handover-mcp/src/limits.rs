//! Size limits of arguments and answers.

use handover_text::{cut, tokens};
use serde_json::Value;

use crate::error::ToolError;

/// The largest answer in tokens: hosts truncate or reject longer ones.
pub(crate) const ANSWER_TOKENS: u64 = 25_000;
/// A piece of reasoning, a solution, a task. Anything longer belongs in a package.
pub(crate) const MAX_TEXT_BYTES: usize = 100_000;
/// A summary, a name, a query.
pub(crate) const MAX_LINE_BYTES: usize = 4_000;
/// Entries of one list argument.
pub(crate) const MAX_ITEMS: usize = 100;

const NOTE: &str = "\n\n[Truncated by Handover: the answer exceeded 25,000 tokens.]";

/// Rejects an empty or oversized text.
pub(crate) fn text(what: &str, text: &str, max: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::invalid(
            format!("`{what}` is empty"),
            "Provide a value or omit it.",
        ));
    }
    if text.len() > max {
        return Err(ToolError::invalid(
            format!("`{what}` has {} bytes; the limit is {max}", text.len()),
            "Save longer texts as a package.",
        ));
    }
    Ok(())
}

/// [`text`] for an optional argument.
pub(crate) fn optional(what: &str, value: Option<&String>, max: usize) -> Result<(), ToolError> {
    value.map_or(Ok(()), |value| text(what, value, max))
}

/// Rejects a list that is too long.
pub(crate) fn items<T>(what: &str, items: &[T]) -> Result<(), ToolError> {
    if items.len() > MAX_ITEMS {
        return Err(ToolError::invalid(
            format!("`{what}` has {} entries; the limit is {MAX_ITEMS}", items.len()),
            "Split them across several calls.",
        ));
    }
    Ok(())
}

/// Truncates the longest strings of an answer until it fits into [`ANSWER_TOKENS`].
pub(crate) fn fit(answer: &mut Value) {
    let tokenizer = tokens::for_model(None);
    // Each round removes a tenth more than necessary, so a few suffice; the bound is a safety net.
    for _ in 0..32 {
        let text = answer.to_string();
        if tokens::fits(tokenizer, &text, ANSWER_TOKENS) {
            return;
        }
        let count = tokens::count(tokenizer, &text).max(1);
        let share = (ANSWER_TOKENS as f64 / count as f64 * 0.9).min(0.9);
        let mut longest = 0;
        each_text(answer, &mut |text| longest = longest.max(text.chars().count()));
        let keep = (longest as f64 * share) as usize;
        each_text(answer, &mut |text| {
            if text.chars().count() > keep {
                let plain = text.strip_suffix(NOTE).unwrap_or(text);
                *text = format!("{}{NOTE}", cut::cut(plain, keep.saturating_sub(NOTE.len())));
            }
        });
    }
}

/// Truncates a text to [`ANSWER_TOKENS`].
pub(crate) fn fit_text(text: &str) -> String {
    let tokenizer = tokens::for_model(None);
    if tokens::fits(tokenizer, text, ANSWER_TOKENS) {
        return text.to_owned();
    }
    let note = tokens::count(tokenizer, NOTE);
    format!("{}{NOTE}", cut::cut_to_tokens(text, tokenizer, ANSWER_TOKENS - note - 1))
}

fn each_text(value: &mut Value, visit: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => visit(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_text(item, visit)),
        Value::Object(fields) => fields.values_mut().for_each(|field| each_text(field, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tokens_of(value: &Value) -> u64 {
        tokens::count(tokens::for_model(None), &value.to_string())
    }

    #[test]
    fn truncates_the_longest_text_of_an_answer() {
        let mut answer =
            json!({"id": 7, "short": "stays", "body": "word \"quoted\"\n".repeat(40_000)});
        fit(&mut answer);
        assert!(tokens_of(&answer) <= ANSWER_TOKENS);
        assert!(tokens_of(&answer) > ANSWER_TOKENS / 2, "{}", tokens_of(&answer));
        assert_eq!((&answer["id"], &answer["short"]), (&json!(7), &json!("stays")));
        assert!(answer["body"].as_str().unwrap().ends_with(NOTE));
    }

    #[test]
    fn truncates_many_long_texts() {
        let mut answer: Value =
            (0..20).map(|_| json!({"text": "many words ".repeat(2_000)})).collect();
        fit(&mut answer);
        assert!((ANSWER_TOKENS / 2..=ANSWER_TOKENS).contains(&tokens_of(&answer)));
        assert_eq!(answer.as_array().map(Vec::len), Some(20));
    }

    #[test]
    fn leaves_small_answers_unchanged() {
        let mut answer = json!({"text": "a\u{0}b", "list": [1, null, true]});
        let before = answer.clone();
        fit(&mut answer);
        assert_eq!(answer, before);
        assert_eq!(fit_text("short"), "short");
        assert!(fit_text(&"words ".repeat(60_000)).ends_with(NOTE));
    }
}
