//! Redaction, halves of characters, cutting and quoting.

use handover_text::cut::{cut, cut_to_tokens};
use handover_text::quote::{quote_block, quote_inline};
use handover_text::tokens::{Tokenizer, count, fits};
use handover_text::{RedactionStream, Redactor, replace_in_bytes, replace_lone_surrogates};

use super::lossy;

pub(super) fn redaction(data: &[u8]) {
    let (redactor, text) = (Redactor::default(), lossy(data));
    let clean = redactor.clean(&text);
    assert_eq!(redactor.clean(clean.as_str()).as_str(), clean.as_str(), "twice is once");
    for pair in redactor.find(&text).windows(2) {
        assert!(pair[0].start < pair[0].end && pair[0].end <= pair[1].start);
    }
    let _ = redactor.redact_bytes(data);
    if let Ok(value) = serde_json::from_slice(data) {
        let _ = redactor.clean_json(value);
    }
}

/// The first byte says how long the pieces are.
pub(super) fn redaction_stream(data: &[u8]) {
    let Some((first, data)) = data.split_first() else { return };
    let redactor = Redactor::default();
    let mut stream = RedactionStream::new(redactor.clone());
    let mut streamed = Vec::new();
    for piece in data.chunks(usize::from(*first) + 1) {
        streamed.extend(stream.push(piece));
    }
    streamed.extend(stream.finish());
    let mut at_once = RedactionStream::new(redactor);
    let mut whole = at_once.push(data);
    whole.extend(at_once.finish());
    assert_eq!(streamed, whole, "the result depends on where pieces end");
}

pub(super) fn surrogates(data: &[u8]) {
    let text = lossy(data);
    let replaced = replace_lone_surrogates(&text);
    assert_eq!(replace_lone_surrogates(&replaced), replaced);
    if serde_json::from_str::<serde_json::Value>(&text).is_ok() {
        serde_json::from_str::<serde_json::Value>(&replaced).expect("JSON stays JSON");
    }
    let _ = replace_in_bytes(data);
}

pub(super) fn cutting(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let (max, text) = (usize::from(*first), lossy(rest));
    assert!(cut(&text, max).chars().count() <= max);
    for tokenizer in [Tokenizer::O200k, Tokenizer::ClaudeNew] {
        let tokens = cut_to_tokens(&text, tokenizer, max as u64);
        assert!(count(tokenizer, &tokens) <= max as u64);
        assert_eq!(fits(tokenizer, &text, max as u64), count(tokenizer, &text) <= max as u64);
    }
    let line = quote_inline(&text);
    assert_eq!(quote_inline(&line), line);
    let _ = quote_block(&text);
    let _ = handover_text::words::terms(&text);
    let _ = handover_text::short(&text);
}
