//! Markup that poses as another speaker: control tokens of chat formats, tags of agent programs, and the markers of
//! our own briefs.

use handover_model::ScreenFlag;
use memchr::memchr3_iter;

use super::Found;

/// Texts that nobody but a machine writes, in lower case. Each starts with `<`, `[` or `#`.
const MARKERS: &[(&str, &str)] = &[
    ("chat-token", "<|im_start|>"),
    ("chat-token", "<|im_end|>"),
    ("chat-token", "<|im_sep|>"),
    ("chat-token", "<|system|>"),
    ("chat-token", "<|user|>"),
    ("chat-token", "<|assistant|>"),
    ("chat-token", "<|start_header_id|>"),
    ("chat-token", "<|eot_id|>"),
    ("chat-token", "<|endofprompt|>"),
    ("chat-token", "<start_of_turn>"),
    ("chat-token", "<end_of_turn>"),
    ("chat-token", "<<sys>>"),
    ("chat-token", "<</sys>>"),
    ("chat-token", "[inst]"),
    ("chat-token", "[/inst]"),
    ("chat-tag", "[system](#"),
    ("chat-tag", "[assistant](#"),
    ("chat-tag", "[system message]"),
    ("chat-tag", "[system override]"),
    ("chat-tag", "[end of prompt]"),
    ("chat-tag", "[begin system"),
    ("chat-tag", "[end system"),
    ("chat-tag", "<system-reminder>"),
    ("chat-tag", "</system-reminder>"),
    ("chat-tag", "<system_prompt>"),
    ("chat-tag", "</system_prompt>"),
    ("chat-tag", "<system_message>"),
    ("chat-tag", "<system-prompt>"),
    ("chat-tag", "<user_query>"),
    ("chat-tag", "<function_calls>"),
    ("chat-tag", "<tool_call>"),
    ("chat-tag", "<function_results>"),
    ("chat-heading", "### system:"),
    ("chat-heading", "### instruction:"),
    ("chat-heading", "### instructions:"),
    ("chat-heading", "### response:"),
    ("chat-heading", "#### system"),
    ("brief-marker", "<!-- handover:"),
];

/// The longest marker.
const LONGEST: usize = 24;

/// An image whose address has a place to fill in: rendering it sends what is filled in.
fn fills_in(rest: &str) -> bool {
    let address =
        rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(address, _)| address);
    let query =
        address.filter(|address| address.starts_with("http")).and_then(|a| a.split_once('?'));
    query.is_some_and(|(_, query)| {
        let capitals =
            query.split(|c: char| !c.is_ascii_uppercase() && c != '_').any(|word| word.len() >= 6);
        query.contains(['{', '<', '[']) || capitals
    })
}

/// Images that send something when they are rendered.
pub(super) fn images(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"![") {
        let rest = text.get(at + 2..).unwrap_or_default();
        // The text before the address is short.
        let close = rest.bytes().take(200).position(|byte| byte == b']');
        if close.is_some_and(|close| fills_in(rest.get(close + 1..).unwrap_or_default())) {
            found.push(Found { flag: ScreenFlag::Exfiltration, rule: "image-address", start: at });
        }
    }
    found
}

/// Every marker in a text.
pub(super) fn find(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for at in memchr3_iter(b'<', b'[', b'#', bytes) {
        let rest = &bytes[at..bytes.len().min(at + LONGEST)];
        let is_here = |marker: &str| {
            rest.len() >= marker.len()
                && rest[..marker.len()].eq_ignore_ascii_case(marker.as_bytes())
        };
        if let Some((rule, _)) = MARKERS.iter().find(|(_, marker)| is_here(marker)) {
            found.push(Found { flag: ScreenFlag::Impersonation, rule, start: at });
        }
    }
    found
}
