//! Reading the transcript of a conversation: one JSON value per line.
//!
//! Formats differ and change, so as little as possible is assumed: a marker anywhere, a text anywhere. The
//! caller decides how much of the file to read; an incomplete line is skipped.

use std::path::{Path, PathBuf};

use handover_context::package_file::content_hash;
use handover_model::{AgentId, HostSessionId, ReceiptId, Timestamp, ToolUseId};
use handover_text::replace_in_bytes;
use memchr::memmem;
use serde_json::Value;

/// How much of the beginning to read: the prompt is there.
pub const HEAD_BYTES: usize = 1 << 20;

/// How much of the end to read: it contains what a hook said when it held the agent back.
pub const TAIL_BYTES: usize = 1 << 20;

/// How much of the end of a shared transcript to read.
pub const SHARED_BYTES: usize = 64 << 20;

/// In how many lines the first time is looked for.
const TIMED_LINES: usize = 50;

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

    /// The folder with the transcripts of all subagents of a conversation, for a host that does not say which
    /// one is whose.
    fn folder_of_subagents(&self, _transcript: &Path, _id: &HostSessionId) -> Option<PathBuf> {
        None
    }

    /// Whether one file holds a conversation and all of its subagents.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether the end of a transcript shows that the conversation is over, for a host that writes with a delay.
    fn is_over(&self, _tail: &[u8]) -> bool {
        true
    }

    /// The id of the subagent that a line of a shared transcript belongs to.
    fn agent<'a>(&self, _line: &'a Value) -> Option<&'a str> {
        None
    }

    /// The folder with the transcripts of a conversation's subagents, at any depth; none if they are not
    /// in one place.
    fn of_subagents(&self, _conversation: &Path) -> Option<PathBuf> {
        None
    }

    /// Whether a transcript begins with a copy of the conversation that spawned the subagent, by its first line.
    fn is_fork(&self, _first: &Value) -> bool {
        false
    }

    /// Whether a line of such a transcript belongs to that copy.
    fn is_copied(&self, _first: &Value, _line: &Value) -> bool {
        false
    }

    /// The conversation that a transcript is about, by its first line; none if its name says it.
    fn conversation(&self, _first: &Value) -> Option<HostSessionId> {
        None
    }

    /// Whose subagent a transcript is about, by its path and its first line.
    fn lineage(&self, _file: &Path, _first: &Value) -> Option<Lineage> {
        None
    }

    /// The subagent whose start a line of a shared transcript records.
    fn starts(&self, _line: &Value) -> Option<(AgentId, Origin)> {
        None
    }

    /// The transcript of another conversation, given one of the same project.
    fn sibling(&self, _conversation: &Path, _other: &HostSessionId) -> Option<PathBuf> {
        None
    }

    /// The subagent that a file below that folder is about, and its transcript.
    fn subagent(&self, _file: &Path) -> Option<(AgentId, PathBuf)> {
        None
    }

    /// The file beside a subagent's transcript that says how it came to be.
    fn origin_file(&self, _transcript: &Path) -> Option<PathBuf> {
        None
    }

    /// Reads that file.
    fn origin(&self, _text: &str) -> Option<Origin> {
        None
    }

    /// How a subagent came to be that has no such file.
    fn undescribed_origin(&self, _agent: &AgentId) -> Origin {
        Origin::default()
    }

    /// The tool calls whose results are in a line, each with the error if it failed.
    fn results(&self, _line: &Value) -> Vec<(ToolUseId, Option<String>)> {
        Vec::new()
    }

    /// The spawns in a line: the calls of the tool that spawns subagents, each with the kind.
    fn spawns(&self, _line: &Value) -> Vec<(ToolUseId, String)> {
        Vec::new()
    }

    /// The task in a text that the host has put around it.
    fn unwrapped<'a>(&self, _text: &'a str) -> Option<&'a str> {
        None
    }

    /// The message in a line: an object with `role` and `content`.
    fn message<'a>(&self, line: &'a Value) -> Option<&'a Value>;

    /// The part of the file that contains the program's version.
    fn version_part(&self) -> FilePart;

    /// The version in a line.
    fn version<'a>(&self, line: &'a Value) -> Option<&'a str>;
}

/// Whose subagent a conversation is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lineage {
    /// The conversation of the person.
    pub conversation: HostSessionId,
    /// The subagent.
    pub agent: AgentId,
    /// How it came to be.
    pub origin: Origin,
}

/// How a subagent came to be, in the words of its host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// Its kind.
    pub kind: String,
    /// The tool call that spawned it; none if it was started in another way.
    pub tool_use: Option<ToolUseId>,
    /// The name that its caller gave it, with those of the agents above it where its host adds them: `/root/tests`.
    pub name: Option<String>,
    /// The chore of the host that it was started for, such as `compact`; none if somebody asked for it.
    pub chore: Option<String>,
}

impl Origin {
    /// Whether it has that name.
    pub fn is_named(&self, name: &str) -> bool {
        let own = self.name.as_deref();
        own.is_some_and(|own| own == name || own.rsplit('/').next() == Some(name))
    }
}

/// The subagent that a file `agent-<id>.jsonl`, or the one about its origin, is about, and its transcript.
pub(crate) fn agent_file(file: &Path) -> Option<(AgentId, PathBuf)> {
    let name = file.file_name()?.to_str()?.strip_prefix("agent-")?;
    // The file about its origin is written first.
    let id = name.strip_suffix(".jsonl").or_else(|| name.strip_suffix(".meta.json"))?;
    let agent = AgentId::new(id).ok()?;
    Some((agent, file.with_file_name(format!("agent-{id}.jsonl"))))
}

/// The origin that a file `agent-<id>.meta.json` describes.
pub(crate) fn described_origin(text: &str) -> Option<Origin> {
    let value: Value = serde_json::from_str(text).ok()?;
    let text = |field: &str| value[field].as_str().map(ToOwned::to_owned);
    Some(Origin {
        // The type of a teammate is its name.
        kind: text("spawnedAgentType").or_else(|| text("agentType")).unwrap_or_default(),
        tool_use: value["toolUseId"].as_str().and_then(|id| ToolUseId::new(id).ok()),
        name: None,
        chore: None,
    })
}

/// The spawns of a conversation and what became of each call, by its transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Calls {
    /// The calls that should have spawned a subagent, with its kind, in order.
    pub spawns: Vec<(ToolUseId, String)>,
    /// The calls of any tool that failed, with the error.
    pub failed: Vec<(ToolUseId, String)>,
}

impl Calls {
    /// Adds those of another transcript, which may repeat some.
    pub fn extend(&mut self, other: Self) {
        for (known, more) in [(&mut self.spawns, other.spawns), (&mut self.failed, other.failed)] {
            for (id, text) in more {
                if !known.iter().any(|(known, _)| *known == id) {
                    known.push((id, text));
                }
            }
        }
    }
}

/// Reads the calls in a part of a transcript.
pub fn calls(format: &dyn TranscriptFormat, part: &[u8]) -> Calls {
    let mut calls = Calls::default();
    for line in lines(own(format, first_line(part).as_ref(), part)) {
        calls.spawns.extend(format.spawns(&line));
        let failed = |(id, error): (ToolUseId, Option<String>)| Some((id, error?));
        calls.failed.extend(format.results(&line).into_iter().filter_map(failed));
    }
    calls
}

/// A part of a transcript without the copy that it may begin with.
fn own<'a>(format: &dyn TranscriptFormat, first: Option<&Value>, part: &'a [u8]) -> &'a [u8] {
    let Some(first) = first.filter(|first| format.is_fork(first)) else { return part };
    let (mut copied, mut end) = (0, 0);
    for line in part.split_inclusive(|byte| *byte == b'\n') {
        end += line.len();
        // The end of a file may begin in the middle of a line.
        let Some(line) = read_line(line) else { continue };
        if !format.is_copied(first, &line) {
            break;
        }
        copied = end;
    }
    &part[copied..]
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
    let (mut scan, first) = (Scan::default(), first_line(head));
    let [head, tail] = [head, tail].map(|part| own(format, first.as_ref(), part));
    for id in markers(head).chain(markers(tail)) {
        if !scan.receipts.contains(&id) {
            scan.receipts.push(id);
        }
    }
    for line in lines(head) {
        texts(format, &line, &mut scan.texts);
    }
    scan.last_message = lines(tail).filter_map(|line| said(format.message(&line)?)).last();
    scan
}

/// The first line of a transcript.
pub fn first_line(head: &[u8]) -> Option<Value> {
    read_line(head.split(|byte| *byte == b'\n').next()?)
}

/// The subagents that a shared transcript tells of, in order.
pub fn subagents_in(format: &dyn TranscriptFormat, transcript: &[u8]) -> Vec<(AgentId, Origin)> {
    let mut found: Vec<(AgentId, Origin)> = Vec::new();
    for line in lines(transcript) {
        found.extend(
            format
                .starts(&line)
                .filter(|(agent, _)| !found.iter().any(|(known, _)| known == agent)),
        );
    }
    found
}

/// The receipts whose markers are in a text, in order.
pub fn markers(text: &[u8]) -> impl Iterator<Item = ReceiptId> {
    memmem::find_iter(text, MARKER).filter_map(|at| {
        let rest = &text[at + MARKER.len()..];
        let length = memchr::memchr(b' ', &rest[..rest.len().min(80)]).unwrap_or(0);
        ReceiptId::new(std::str::from_utf8(&rest[..length]).ok()?).ok()
    })
}

/// The lines of a shared transcript that belong to a subagent.
pub fn lines_of(format: &dyn TranscriptFormat, transcript: &[u8], agent: &AgentId) -> Vec<u8> {
    let mut own = Vec::new();
    let named = memmem::Finder::new(agent.as_str());
    for line in transcript.split_inclusive(|byte| *byte == b'\n') {
        // Most lines belong to others, so only those that mention it are parsed.
        if named.find(line).is_some()
            && read_line(line).is_some_and(|line| format.agent(&line) == Some(agent.as_str()))
        {
            own.extend_from_slice(line);
        }
    }
    own
}

/// The hash that identifies a task.
pub fn text_hash(text: &str) -> String {
    content_hash(text.trim().as_bytes())
}

/// When a conversation began, by the first time in its transcript.
pub fn began(head: &[u8]) -> Option<Timestamp> {
    let time = |line: Value| {
        let at = |field: &str| line.pointer(field)?.as_str()?.parse().ok();
        at("/timestamp").or_else(|| at("/startTime")).or_else(|| at("/payload/timestamp"))
    };
    lines(head).take(TIMED_LINES).find_map(time)
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

fn texts(format: &dyn TranscriptFormat, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if found.len() < MAX_TEXTS => {
            found.push(text_hash(text));
            found.extend(format.unwrapped(text).map(text_hash));
        }
        Value::Array(items) => items.iter().for_each(|item| texts(format, item, found)),
        Value::Object(fields) => fields.values().for_each(|field| texts(format, field, found)),
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
    fn reads_the_spawns_of_a_conversation_and_which_calls_failed() {
        let lines = concat!(
            r#"{"message": {"role": "assistant", "content": [{"type": "text", "text": "Now."},"#,
            r#" {"type": "tool_use", "id": "t1", "name": "Agent", "input": {"subagent_type": "Plan"}},"#,
            r#" {"type": "tool_use", "id": "t2", "name": "Task", "input": {}},"#,
            r#" {"type": "tool_use", "id": "t3", "name": "Bash", "input": {}}]}}"#,
            "\n",
            r#"{"message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1","#,
            r#" "is_error": true, "content": [{"type": "text", "text": "denied"}]},"#,
            r#" {"type": "tool_result", "tool_use_id": "t2", "content": "done"}]}}"#,
            "\n{\"message\": {\"content\": \"text\"}}\n",
        );
        let found = calls(format(Host::CLAUDE), lines.as_bytes());
        let shown = |pairs: &[(ToolUseId, String)]| -> Vec<String> {
            pairs.iter().map(|(id, text)| format!("{id} {text}")).collect()
        };
        assert_eq!(shown(&found.spawns), ["t1 Plan", "t2 general-purpose"]);
        assert_eq!(shown(&found.failed), ["t1 denied"]);
        assert_eq!(calls(format(Host::CODEX), lines.as_bytes()), Calls::default());
    }

    #[test]
    fn knows_how_a_subagent_of_claude_came_to_be() {
        let claude = format(Host::CLAUDE);
        let transcript = Path::new("/t/c/subagents/agent-a1.jsonl");
        let origin = claude.origin_file(transcript).unwrap();
        assert_eq!(origin, Path::new("/t/c/subagents/agent-a1.meta.json"));
        for file in [transcript, &origin] {
            let (agent, own) = claude.subagent(file).unwrap();
            assert_eq!((agent.as_str(), own.as_path()), ("a1", transcript));
        }
        assert_eq!(claude.subagent(Path::new("/t/c/subagents/journal.jsonl")), None);
        let read = claude.origin(r#"{"agentType": "Plan", "toolUseId": "toolu_1", "new": 1}"#);
        let read = read.unwrap();
        assert_eq!((read.kind.as_str(), read.tool_use.unwrap().as_str()), ("Plan", "toolu_1"));
        assert_eq!(claude.origin("{}"), Some(Origin::default()));
        assert_eq!(claude.origin("no JSON"), None);
        let other = HostSessionId::new("c-2").unwrap();
        let sibling = claude.sibling(Path::new("/t/c-1.jsonl"), &other);
        assert_eq!(sibling.unwrap(), Path::new("/t/c-2.jsonl"));
        assert_eq!(format(Host::CODEX).origin("{}"), None);
    }

    #[test]
    fn a_teammate_has_a_kind_besides_its_name_and_a_task_within_a_message() {
        let claude = format(Host::CLAUDE);
        let meta = r#"{"agentType": "mate", "name": "mate", "spawnedAgentType": "Plan"}"#;
        assert_eq!(claude.origin(meta).unwrap().kind, "Plan");
        let line = serde_json::json!({"message": {"role": "user", "content":
            "<teammate-message teammate_id=\"team-lead\" summary=\"work\">\nRefresh <b>.\n</teammate-message>"}});
        let seen = scan(claude, line.to_string().as_bytes(), b"");
        assert!(seen.texts.contains(&text_hash("Refresh <b>.")));
    }

    #[test]
    fn knows_when_a_conversation_began() {
        let first = |lines: &str| began(lines.as_bytes()).map(|at| at.to_string());
        let at = Some("2026-11-18T19:57:18.246Z".to_owned());
        for lines in [
            "{}\n{\"timestamp\": \"2026-11-18T19:57:18.246Z\"}\n{\"timestamp\": \"2027-01-01T00:00:00Z\"}",
            "{\"startTime\": \"2026-11-18T19:57:18.246Z\"}",
            "{\"payload\": {\"timestamp\": \"2026-11-18T19:57:18.246Z\"}}",
        ] {
            assert_eq!(first(lines), at, "{lines}");
        }
        assert_eq!(first("{\"timestamp\": 3}\n[]"), None);
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
