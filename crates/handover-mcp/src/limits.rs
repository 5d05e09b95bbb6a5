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
        // Truncating must save more than the note adds.
        let keep = ((longest as f64 * share) as usize).max(NOTE.len());
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
    fn never_makes_an_answer_longer() {
        // Nothing in it is worth truncating, however long it is.
        let short: Value = (0..20_000).map(|n| json!(format!("number {n}"))).collect();
        let mut answer = short.clone();
        fit(&mut answer);
        assert_eq!(answer, short);
        // Long texts are truncated to make room.
        let mut answer = json!({"names": short, "body": "words ".repeat(50_000)});
        fit(&mut answer);
        assert_eq!(answer["names"], short);
        assert_eq!(answer["body"].as_str(), Some(NOTE));
    }

    #[test]
    fn truncates_nested_texts_and_counts_escapes() {
        let quotes = "\"\\\u{1}".repeat(9_000);
        let mut answer = json!({"a": [{"b": {"c": [quotes, 7]}}, quotes]});
        fit(&mut answer);
        assert!(tokens_of(&answer) <= ANSWER_TOKENS, "{}", tokens_of(&answer));
        for text in [&answer["a"][0]["b"]["c"][0], &answer["a"][1]] {
            assert!(text.as_str().unwrap().ends_with(NOTE));
        }
        assert_eq!(answer["a"][0]["b"]["c"][1], 7);
    }

    #[test]
    fn truncated_texts_stay_within_the_limit() {
        for text in ["words and words ".repeat(20_000), "語".repeat(90_000), "👩‍👧 ".repeat(60_000)]
        {
            let cut = fit_text(&text);
            assert!(tokens::fits(tokens::for_model(None), &cut, ANSWER_TOKENS), "{}", cut.len());
            let kept = cut.strip_suffix(NOTE).unwrap().trim_end_matches('…').trim_end();
            assert!(text.starts_with(kept) && kept.len() > 20_000, "{} bytes", kept.len());
        }
    }

    #[test]
    fn arguments_are_measured_in_bytes_and_entries() {
        text("summary", &"é".repeat(5), 10).unwrap();
        let error = text("summary", &"é".repeat(6), 10).unwrap_err();
        assert!(error.to_string().contains("`summary` has 12 bytes; the limit is 10"), "{error}");
        for empty in ["", " ", "\n\t", "\u{a0}"] {
            let error = text("summary", empty, 10).unwrap_err().to_string();
            assert!(error.contains("`summary` is empty"), "{error}");
        }
        optional("summary", None, 10).unwrap();
        optional("summary", Some(&String::new()), 10).unwrap_err();
        items("files", &[(); MAX_ITEMS]).unwrap();
        items("files", &[(); MAX_ITEMS + 1]).unwrap_err();
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
