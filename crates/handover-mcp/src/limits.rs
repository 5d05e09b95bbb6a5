//! How much may come in, and how much goes out.

use handover_text::{cut, tokens};
use serde_json::Value;

use crate::ToolError;

/// No answer has more tokens: hosts cut or refuse what is longer.
pub(crate) const ANSWER_TOKENS: u64 = 25_000;
/// A thought, a solution, a task: more is a document.
pub(crate) const MAX_TEXT_BYTES: usize = 100_000;
/// A summary, a name, a query.
pub(crate) const MAX_LINE_BYTES: usize = 4_000;
/// The longest list.
pub(crate) const MAX_ITEMS: usize = 100;

const NOTE: &str = "\n\n[Cut here by Handover: the answer was longer than 25,000 tokens.]";

/// Refuses a text that says nothing or too much.
pub(crate) fn text(what: &str, text: &str, max: usize) -> Result<(), ToolError> {
    if text.trim().is_empty() {
        return Err(ToolError::invalid(
            format!("`{what}` is empty"),
            "Say something or leave it out.",
        ));
    }
    if text.len() > max {
        return Err(ToolError::invalid(
            format!("`{what}` has {} bytes, and {max} are allowed", text.len()),
            "Save what is longer as a package.",
        ));
    }
    Ok(())
}

/// The same for a text that may be missing.
pub(crate) fn optional(what: &str, value: Option<&String>, max: usize) -> Result<(), ToolError> {
    value.map_or(Ok(()), |value| text(what, value, max))
}

/// Refuses a list that is too long.
pub(crate) fn items<T>(what: &str, items: &[T]) -> Result<(), ToolError> {
    if items.len() > MAX_ITEMS {
        return Err(ToolError::invalid(
            format!("`{what}` has {} entries, and {MAX_ITEMS} are allowed", items.len()),
            "Split them over several calls.",
        ));
    }
    Ok(())
}

/// Shortens the longest texts of an answer until the whole fits.
pub(crate) fn fit(answer: &mut Value) {
    let tokenizer = tokens::for_model(None);
    // Every round takes a tenth more than is needed, so a few are enough; the number is a fuse.
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

/// A text of at most as many tokens as an answer may have.
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
    fn a_long_answer_is_cut_where_it_is_longest() {
        let mut answer =
            json!({"id": 7, "short": "stays", "body": "word \"quoted\"\n".repeat(40_000)});
        fit(&mut answer);
        assert!(tokens_of(&answer) <= ANSWER_TOKENS);
        assert!(tokens_of(&answer) > ANSWER_TOKENS / 2, "{}", tokens_of(&answer));
        assert_eq!((&answer["id"], &answer["short"]), (&json!(7), &json!("stays")));
        assert!(answer["body"].as_str().unwrap().ends_with(NOTE));
    }

    #[test]
    fn many_long_texts_are_cut_too() {
        let mut answer: Value =
            (0..20).map(|_| json!({"text": "many words ".repeat(2_000)})).collect();
        fit(&mut answer);
        assert!((ANSWER_TOKENS / 2..=ANSWER_TOKENS).contains(&tokens_of(&answer)));
        assert_eq!(answer.as_array().map(Vec::len), Some(20));
    }

    #[test]
    fn what_fits_is_left_alone() {
        let mut answer = json!({"text": "a\u{0}b", "list": [1, null, true]});
        let before = answer.clone();
        fit(&mut answer);
        assert_eq!(answer, before);
        assert_eq!(fit_text("short"), "short");
        assert!(fit_text(&"words ".repeat(60_000)).ends_with(NOTE));
    }
}
