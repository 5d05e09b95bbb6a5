//! Reading the transcript of a conversation: one JSON value per line.
//!
//! Formats differ and change, so as little as possible is assumed: a marker anywhere, a text anywhere. The
//! caller decides how much of the file to read; an incomplete line is skipped.

use std::path::{Path, PathBuf};

use handover_context::package_file::content_hash;
use handover_model::{AgentId, ReceiptId};
use handover_text::replace_in_bytes;
use memchr::memmem;
use serde_json::Value;

/// How much of the beginning to read: the prompt is there.
pub const HEAD_BYTES: usize = 1 << 20;

/// How much of the end to read: it contains what a hook said when it held the agent back.
pub const TAIL_BYTES: usize = 1 << 20;

/// Texts beyond this number are ignored.
const MAX_TEXTS: usize = 2_000;

const MARKER: &[u8] = b"<!-- handover:receipt ";

/// A part of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilePart {
    /// Its beginning.
    Head,
    /// Its end.
    Tail,
}

/// How a host records conversations.
pub trait TranscriptFormat: Sync {
    /// The transcript of a subagent, given that of the conversation that spawned it; none if it
    /// cannot be derived.
    fn of_subagent(&self, _conversation: &Path, _agent: &AgentId) -> Option<PathBuf> {
        None
    }

    /// The message in a line: an object with `role` and `content`.
    fn message<'a>(&self, line: &'a Value) -> Option<&'a Value>;

    /// The part of the file that contains the program's version.
    fn version_part(&self) -> FilePart;

    /// The version in a line.
    fn version<'a>(&self, line: &'a Value) -> Option<&'a str>;
}

/// What a transcript shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The receipts whose markers are in it, in order.
    pub receipts: Vec<ReceiptId>,
    /// The hashes of the texts of its beginning, each without surrounding whitespace.
    pub texts: Vec<String>,
    /// The last message of the agent.
    pub last_message: Option<String>,
}

/// Scans the beginning and the end of a transcript, which may overlap.
pub fn scan(format: &dyn TranscriptFormat, head: &[u8], tail: &[u8]) -> Scan {
    let mut scan = Scan::default();
    for part in [head, tail] {
        for at in memmem::find_iter(part, MARKER) {
            let rest = &part[at + MARKER.len()..];
            let length = memchr::memchr(b' ', &rest[..rest.len().min(80)]).unwrap_or(0);
            let id = std::str::from_utf8(&rest[..length]).ok();
            if let Some(id) = id.and_then(|id| ReceiptId::new(id).ok())
                && !scan.receipts.contains(&id)
            {
                scan.receipts.push(id);
            }
        }
    }
    for line in lines(head) {
        texts(&line, &mut scan.texts);
    }
    scan.last_message = lines(tail).filter_map(|line| said(format.message(&line)?)).last();
    scan
}

/// The hash that identifies a task.
pub fn text_hash(text: &str) -> String {
    content_hash(text.trim().as_bytes())
}

/// The version of the program that wrote this part of a transcript.
pub fn version(format: &dyn TranscriptFormat, part: &[u8]) -> Option<String> {
    lines(part).filter_map(|line| format.version(&line).map(ToOwned::to_owned)).last()
}

fn lines(part: &[u8]) -> impl Iterator<Item = Value> {
    part.split(|byte| *byte == b'\n').filter_map(read_line)
}

/// A line that a program cut in the middle of a character is read without that character.
fn read_line(line: &[u8]) -> Option<Value> {
    serde_json::from_slice(line)
        .ok()
        .or_else(|| serde_json::from_slice(&replace_in_bytes(line)?).ok())
}

fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if found.len() < MAX_TEXTS => found.push(text_hash(text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, found)),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The text of a message, if the agent wrote it.
fn said(message: &Value) -> Option<String> {
    if message.get("role")? != "assistant" {
        return None;
    }
    let text = match message.get("content")? {
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
    use handover_model::Host;

    use super::*;
    use crate::Registry;

    const CLAUDE: &str = concat!(
        r#"{"type":"user","version":"2.1.197","message":{"role":"user","content":"x\n<!-- handover:receipt r_1 -->\n\ndo it"}}"#,
        "\n",
        r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done"}]},"version":"2.1.198"}"#,
        "\n{\"cut off"
    );

    const CODEX: &str = concat!(
        r#"{"type":"session_meta","payload":{"cli_version":"0.166.0"}}"#,
        "\n",
        r#"{"payload":{"role":"user","content":[{"text":" do it\n"}]}}"#,
        "\n",
        r#"{"payload":{"role":"assistant","content":"done"}}"#,
    );

    fn format(host: Host) -> &'static dyn TranscriptFormat {
        Registry::built_in().find(host).unwrap().transcript().unwrap()
    }

    #[test]
    fn finds_markers_texts_the_last_message_and_the_version() {
        let (claude, bytes) = (format(Host::CLAUDE), CLAUDE.as_bytes());
        let seen = scan(claude, bytes, bytes);
        assert_eq!(seen.receipts, [ReceiptId::new("r_1").unwrap()]);
        assert_eq!(seen.last_message.as_deref(), Some("done"));
        assert_eq!(version(claude, bytes).as_deref(), Some("2.1.198"));
        assert_eq!(claude.version_part(), FilePart::Tail);

        let (codex, bytes) = (format(Host::CODEX), CODEX.as_bytes());
        let seen = scan(codex, bytes, bytes);
        assert!(seen.texts.contains(&text_hash("do it")));
        assert_eq!(seen.last_message.as_deref(), Some("done"));
        assert_eq!(version(codex, bytes).as_deref(), Some("0.166.0"));
        assert_eq!(codex.version_part(), FilePart::Head);
    }

    #[test]
    fn a_format_does_not_read_another_one() {
        let bytes = CODEX.as_bytes();
        assert_eq!(scan(format(Host::CLAUDE), bytes, bytes).last_message, None);
        assert_eq!(version(format(Host::CLAUDE), bytes), None);
        assert_eq!(version(format(Host::CODEX), CLAUDE.as_bytes()), None);
    }

    #[test]
    fn only_claude_has_a_file_per_subagent() {
        let (conversation, agent) = (Path::new("/t/c.jsonl"), AgentId::new("a1").unwrap());
        let found = format(Host::CLAUDE).of_subagent(conversation, &agent);
        assert_eq!(found.unwrap(), Path::new("/t/c/subagents/agent-a1.jsonl"));
        assert_eq!(format(Host::CODEX).of_subagent(conversation, &agent), None);
    }

    #[test]
    fn any_input_is_read_without_a_panic() {
        let claude = format(Host::CLAUDE);
        for bytes in [
            &b""[..],
            b"\xff\xfe\n{}\n[]\nnull",
            b"<!-- handover:receipt ",
            b"<!-- handover:receipt ../../x -->",
        ] {
            assert_eq!(scan(claude, bytes, bytes).receipts, []);
            assert_eq!(version(claude, bytes), None);
        }
    }

    #[test]
    fn reads_a_bounded_number_of_texts() {
        let many = format!("[{}]", vec!["\"x\""; 3 * MAX_TEXTS].join(","));
        assert_eq!(scan(format(Host::CLAUDE), many.as_bytes(), b"").texts.len(), MAX_TEXTS);
    }
}
