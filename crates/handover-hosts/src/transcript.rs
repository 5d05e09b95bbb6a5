//! What the file says in which a host writes a conversation down: one JSON value per line.
//!
//! Formats differ and change, so as little as possible is expected: a marker anywhere, a text
//! anywhere. Whoever reads the file bounds it; a line that was cut off is skipped.

use handover_context::package_file::content_hash;
use handover_model::{Host, ReceiptId};
use memchr::memmem;
use serde_json::Value;

/// How much of a conversation's beginning is looked at: the prompt stands there.
pub const HEAD_BYTES: usize = 1 << 20;

/// How much of its end: what a hook said when it held the agent back stands there.
pub const TAIL_BYTES: usize = 1 << 20;

/// Texts beyond so many are not looked at.
const MAX_TEXTS: usize = 2_000;

const MARKER: &[u8] = b"<!-- handover:receipt ";

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// The receipts whose markers are in there, in order.
    pub receipts: Vec<ReceiptId>,
    /// The hashes of the texts of its beginning, each without the space around it.
    pub texts: Vec<String>,
    /// The last words of the agent.
    pub last_message: Option<String>,
}

/// Looks through the beginning and the end of a conversation, which may be the same.
pub fn look(head: &[u8], tail: &[u8]) -> Seen {
    let mut seen = Seen::default();
    for part in [head, tail] {
        for at in memmem::find_iter(part, MARKER) {
            let rest = &part[at + MARKER.len()..];
            let length = memchr::memchr(b' ', &rest[..rest.len().min(80)]).unwrap_or(0);
            let id = std::str::from_utf8(&rest[..length]).ok();
            if let Some(id) = id.and_then(|id| ReceiptId::new(id).ok())
                && !seen.receipts.contains(&id)
            {
                seen.receipts.push(id);
            }
        }
    }
    for line in lines(head) {
        texts(&line, &mut seen.texts);
    }
    seen.last_message = lines(tail).filter_map(|line| assistant(&line)).last();
    seen
}

/// The hash by which a task is found again.
pub fn text_hash(text: &str) -> String {
    content_hash(text.trim().as_bytes())
}

/// The version of the program that wrote a conversation down.
pub fn version(host: Host, part: &[u8]) -> Option<String> {
    let of = |line: Value| {
        let version = match host {
            Host::Codex => line.pointer("/payload/cli_version"),
            Host::Claude | Host::Gemini | Host::Command => line.get("version"),
        };
        Some(version?.as_str()?.to_owned())
    };
    lines(part).filter_map(of).last()
}

fn lines(part: &[u8]) -> impl Iterator<Item = Value> {
    part.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok())
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if found.len() < MAX_TEXTS => found.push(text_hash(text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The words of a line that the agent said.
fn assistant(line: &Value) -> Option<String> {
    let message = line.get("message").or_else(|| line.get("payload"))?;
    if message.get("role")? != "assistant" {
        return None;
    }
    let content = message.get("content")?;
    let text = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
            texts.join("\n")
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLAUDE: &str = concat!(
        r#"{"type":"user","version":"2.1.197","message":{"role":"user","content":"x\n<!-- handover:receipt r_1 -->\n\ndo it"}}"#,
        "\n",
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"}]},"version":"2.1.198"}"#,
        "\n{\"cut off"
    );

    #[test]
    fn markers_texts_words_and_version() {
        let seen = look(CLAUDE.as_bytes(), CLAUDE.as_bytes());
        assert_eq!(seen.receipts, [ReceiptId::new("r_1").unwrap()]);
        assert_eq!(seen.last_message.as_deref(), Some("done"));
        assert_eq!(version(Host::Claude, CLAUDE.as_bytes()).as_deref(), Some("2.1.198"));
        let codex = br#"{"type":"session_meta","payload":{"cli_version":"0.166.0"}}
{"payload":{"role":"user","content":[{"text":" do it\n"}]}}"#;
        assert!(look(codex, b"").texts.contains(&text_hash("do it")));
        assert_eq!(version(Host::Codex, codex).as_deref(), Some("0.166.0"));
    }

    #[test]
    fn whatever_it_is_nothing_falls_over() {
        for bytes in [
            &b""[..],
            b"\xff\xfe\n{}\n[]\nnull",
            b"<!-- handover:receipt ",
            b"<!-- handover:receipt ../../x -->",
        ] {
            assert_eq!(look(bytes, bytes).receipts, []);
            assert_eq!(version(Host::Claude, bytes), None);
        }
    }
}
