//! What agent programs keep of conversations and their subagents, read with limits.

use std::ffi::OsStr;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use handover_hosts::HookHost;
use handover_hosts::transcript::{
    FilePart, HEAD_BYTES, Lineage, Origin, SHARED_BYTES, Scan, TAIL_BYTES, TranscriptFormat, began,
    first_line, lines_of, scan as scan_parts, subagents_in,
};
use handover_model::{AgentId, HostSessionId, Timestamp};
use serde_json::Value;

/// The most that is read of a file about the origin of a subagent.
const ORIGIN_BYTES: usize = 64 * 1024;

/// How many files of subagents are looked at.
const MOST: usize = 5_000;

/// How deep below the folder of a conversation they are: workflows have folders of their own.
const DEPTH: usize = 4;

/// A subagent that the host keeps files of.
#[derive(Debug, Clone)]
pub(crate) struct Child {
    pub(crate) agent: AgentId,
    pub(crate) transcript: PathBuf,
    pub(crate) origin: Origin,
}

impl Child {
    /// What the host kept of it shows.
    pub(crate) fn scan(&self, host: &dyn HookHost) -> Scan {
        scan_of(host, &self.transcript, Some(&self.agent))
    }

    /// When it began, if its host says so.
    pub(crate) fn began(&self, host: &dyn HookHost) -> Option<Timestamp> {
        let format = host.transcript()?;
        let part = |part, bytes| read_part(&self.transcript, part, bytes).ok();
        began(&match format.is_shared() {
            true => lines_of(format, &part(FilePart::Tail, SHARED_BYTES)?, &self.agent),
            false => part(FilePart::Head, HEAD_BYTES)?,
        })
    }
}

/// The subagents of a conversation, by its transcript; none if the host does not keep them where we look.
pub(crate) fn children(host: &dyn HookHost, conversation: &Path) -> Vec<Child> {
    let Some(format) = host.transcript() else { return Vec::new() };
    if format.is_shared() {
        let whole = read_part(conversation, FilePart::Tail, SHARED_BYTES).unwrap_or_default();
        let child = |(agent, origin)| Child { agent, transcript: conversation.to_owned(), origin };
        return subagents_in(format, &whole).into_iter().map(child).collect();
    }
    let Some(folder) = format.of_subagents(conversation) else {
        return descendants(format, conversation);
    };
    let mut files = Vec::new();
    collect(&folder, DEPTH, &mut files);
    files.sort();
    let mut found: Vec<Child> = Vec::new();
    for (agent, transcript) in files.iter().filter_map(|file| format.subagent(file)) {
        if found.last().is_some_and(|last| last.agent == agent) {
            continue;
        }
        let origin = origin(host, &transcript).unwrap_or_else(|| format.undescribed_origin(&agent));
        found.push(Child { agent, transcript, origin });
    }
    found
}

/// The subagents of a host that says in each transcript whose it is: in the folder of the conversation, else beside its
/// transcript and in the folders of all later days.
fn descendants(format: &dyn TranscriptFormat, conversation: &Path) -> Vec<Child> {
    let id = first(conversation).and_then(|first| format.conversation(&first));
    let (Some(id), Some(folder)) = (id, conversation.parent()) else { return Vec::new() };
    let mut files = Vec::new();
    match format.folder_of_subagents(conversation, &id) {
        Some(inside) => collect(&inside, 0, &mut files),
        None => {
            collect(folder, 0, &mut files);
            for (later, depth) in later_folders(folder) {
                collect(&later, depth, &mut files);
            }
        }
    }
    files.sort();
    let own = |file: PathBuf| {
        let (conversation, child) = descendant(format, &file)?;
        (conversation == id).then_some(child)
    };
    files.into_iter().filter_map(own).collect()
}

/// The subagent that a transcript is about, and its conversation, in a host that says that in each.
pub(crate) fn descendant(
    format: &dyn TranscriptFormat,
    file: &Path,
) -> Option<(HostSessionId, Child)> {
    let Lineage { conversation, agent, origin } = format.lineage(file, &first(file)?)?;
    Some((conversation, Child { agent, transcript: file.to_owned(), origin }))
}

/// The first line of a transcript.
pub(crate) fn first(file: &Path) -> Option<Value> {
    first_line(&read_part(file, FilePart::Head, ORIGIN_BYTES).ok()?)
}

/// The folders of later days, where folders are named year/month/day, with the depth at which the days are: a
/// conversation may go on after midnight, or be resumed months later.
fn later_folders(day: &Path) -> Vec<(PathBuf, usize)> {
    let is_number = |path: &Path| {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut found = Vec::new();
    let parts = day.ancestors().take_while(|folder| is_number(folder));
    for (depth, part) in parts.enumerate() {
        let all = part.parent().and_then(|above| fs_err::read_dir(above).ok());
        let others = all.into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let later = others.filter(|other| is_number(other) && other.as_path() > part);
        found.extend(later.map(|folder| (folder, depth)));
    }
    found.sort();
    found
}

/// The files below a folder. Links are not followed: they are not the host's.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs_err::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        match entry.file_type() {
            _ if files.len() >= MOST => return,
            Ok(kind) if kind.is_dir() && depth > 0 => collect(&entry.path(), depth - 1, files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            Ok(_) | Err(_) => {}
        }
    }
}

/// How a subagent came to be, by what its host keeps beside its transcript.
pub(crate) fn origin(host: &dyn HookHost, transcript: &Path) -> Option<Origin> {
    let format = host.transcript()?;
    let bytes = read_part(&format.origin_file(transcript)?, FilePart::Head, ORIGIN_BYTES);
    format.origin(&String::from_utf8_lossy(&bytes.ok()?))
}

/// What a transcript shows; nothing if the host has none, or not this one.
pub(crate) fn scan(host: &dyn HookHost, path: &Path) -> Scan {
    let Some(format) = host.transcript() else { return Scan::default() };
    // The brief of a fork follows after the conversation that it copied.
    let is_fork = first(path).is_some_and(|first| format.is_fork(&first));
    let bytes = if is_fork { SHARED_BYTES } else { HEAD_BYTES };
    let head = read_part(path, FilePart::Head, bytes).unwrap_or_default();
    let tail = read_part(path, FilePart::Tail, TAIL_BYTES).unwrap_or_default();
    scan_parts(format, &head, &tail)
}

/// The same of one subagent, in a transcript that it may share with its conversation.
pub(crate) fn scan_of(host: &dyn HookHost, path: &Path, agent: Option<&AgentId>) -> Scan {
    let shared = host.transcript().filter(|format| format.is_shared());
    let Some(format) = shared else { return scan(host, path) };
    let Some(agent) = agent else { return Scan::default() };
    let whole = read_part(path, FilePart::Tail, SHARED_BYTES).unwrap_or_default();
    let own = lines_of(format, &whole, agent);
    scan_parts(format, &own, &own)
}

/// When the conversation in a transcript of its own began, if its host says so.
pub(crate) fn began_in(path: &Path) -> Option<Timestamp> {
    began(&read_part(path, FilePart::Head, ORIGIN_BYTES).ok()?)
}

/// When a file was last written.
pub(crate) fn modified(path: &Path) -> Option<Timestamp> {
    let at = fs_err::metadata(path).ok()?.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(Timestamp::from_micros(i64::try_from(at.as_micros()).ok()?))
}

/// Reads at most so many bytes of one end of a file.
pub(crate) fn read_part(path: &Path, part: FilePart, bytes: usize) -> std::io::Result<Vec<u8>> {
    let mut file = open(path)?;
    if part == FilePart::Tail {
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(bytes as u64)))?;
    }
    let mut read = Vec::new();
    file.take(bytes as u64).read_to_end(&mut read)?;
    Ok(read)
}

/// Opens a file that a host named. Opening a named pipe would block until somebody writes to it.
fn open(path: &Path) -> std::io::Result<fs_err::File> {
    if !fs_err::metadata(path)?.is_file() {
        return Err(std::io::Error::other("it is not a file"));
    }
    fs_err::File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_either_end_of_a_file_and_no_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript");
        fs_err::write(&path, "0123456789").unwrap();
        assert_eq!(read_part(&path, FilePart::Head, 3).unwrap(), b"012");
        assert_eq!(read_part(&path, FilePart::Tail, 3).unwrap(), b"789");
        assert_eq!(read_part(&path, FilePart::Tail, 99).unwrap(), b"0123456789");
        assert!(read_part(folder.path(), FilePart::Head, 3).is_err());
        assert!(read_part(&folder.path().join("missing"), FilePart::Head, 3).is_err());
    }

    #[test]
    fn finds_the_subagents_of_later_days() {
        let folder = tempfile::tempdir().unwrap();
        let host = handover_hosts::Registry::built_in().find(handover_model::Host::CODEX).unwrap();
        let write = |day: &str, id: &str| {
            let path = folder.path().join(day).join(format!("rollout-{id}.jsonl"));
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            let payload = serde_json::json!({"session_id": "lead", "id": id});
            fs_err::write(&path, serde_json::json!({"payload": payload}).to_string()).unwrap();
            path
        };
        write("2026/11/17", "before");
        let lead = write("2026/11/18", "lead");
        write("2026/11/18", "same");
        write("2026/11/21", "three-days-later");
        write("2026/12/01", "next-month");
        write("2027/01/01", "next-year");
        let found: Vec<String> =
            children(host, &lead).iter().map(|child| child.agent.to_string()).collect();
        assert_eq!(found, ["same", "three-days-later", "next-month", "next-year"]);
    }

    #[test]
    fn finds_the_subagents_of_a_conversation_at_any_depth() {
        let folder = tempfile::tempdir().unwrap();
        let host = handover_hosts::Registry::built_in().find(handover_model::Host::CLAUDE).unwrap();
        let lead = folder.path().join("c.jsonl");
        assert!(children(host, &lead).is_empty());
        let nested = folder.path().join("c/subagents/workflows/wf_1");
        fs_err::create_dir_all(&nested).unwrap();
        let kept = [
            (folder.path().join("c/subagents/agent-a1.jsonl"), "{}"),
            (
                folder.path().join("c/subagents/agent-a1.meta.json"),
                r#"{"agentType": "Explore", "toolUseId": "toolu_1"}"#,
            ),
            (nested.join("agent-a2.meta.json"), r#"{"agentType": "workflow-subagent"}"#),
            (nested.join("journal.jsonl"), "{}"),
        ];
        for (path, text) in kept {
            fs_err::write(path, text).unwrap();
        }
        let found = children(host, &lead);
        let shown: Vec<String> = found
            .iter()
            .map(|child| {
                let call = child.origin.tool_use.as_ref().map_or("-", |call| call.as_str());
                format!("{} {} {call}", child.agent, child.origin.kind)
            })
            .collect();
        assert_eq!(shown, ["a1 Explore toolu_1", "a2 workflow-subagent -"]);
        assert_eq!(found[1].transcript, nested.join("agent-a2.jsonl"));
    }

    #[test]
    fn the_brief_of_a_fork_is_found_behind_a_long_copy() {
        let folder = tempfile::tempdir().unwrap();
        let host = handover_hosts::Registry::built_in().find(handover_model::Host::CODEX).unwrap();
        let path = folder.path().join("rollout-1.jsonl");
        let long = "word ".repeat(HEAD_BYTES / 4);
        let says = |ordinal: u64, text: &str| serde_json::json!({"ordinal": ordinal, "payload": {"role": "assistant", "content": text}});
        let first = serde_json::json!({"ordinal": 0, "type": "session_meta", "payload": {"id": "child",
            "session_id": "lead", "forked_from_id": "lead", "subagent_history_start_ordinal": 2}});
        let brief = "<!-- handover:receipt r_1 -->";
        let lines = [first, says(1, &long), says(2, brief), says(3, &long), says(4, "done")];
        fs_err::write(&path, lines.map(|line| line.to_string()).join("\n")).unwrap();
        let seen = scan(host, &path);
        assert_eq!(seen.receipts, [handover_model::ReceiptId::new("r_1").unwrap()]);
        assert_eq!(seen.last_message.as_deref(), Some("done"));
    }
}
