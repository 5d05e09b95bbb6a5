//! Reads a file of JSON lines with limits: what is too long is skipped without being kept.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use handover_files::open_regular;
use handover_text::replace_in_bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Conversation;
use crate::SkipReason;

/// The longest line that is read. Longer ones are results of tools, with pictures in them.
const MAX_LINE: u64 = 8 << 20;

/// As much is read of one file.
const MAX_FILE: u64 = 1 << 30;

/// How much of the beginning of a file is searched for what it is about.
pub(super) const HEAD_BYTES: u64 = 256 << 10;

/// As much is read first.
const NEAR_BYTES: u64 = 8 << 10;

/// Calls `each` with every line of a file; returns how many were too long.
pub(crate) fn each_line(path: &Path, each: &mut dyn FnMut(&[u8])) -> Result<usize, SkipReason> {
    let mut input = BufReader::with_capacity(1 << 16, open(path)?.take(MAX_FILE));
    let (mut line, mut too_long) = (Vec::new(), 0);
    loop {
        line.clear();
        let read = (&mut input).take(MAX_LINE).read_until(b'\n', &mut line);
        if read.map_err(|_| SkipReason::Unreadable)? == 0 {
            return Ok(too_long);
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if line.len() as u64 >= MAX_LINE {
            too_long += 1;
            input.skip_until(b'\n').map_err(|_| SkipReason::Unreadable)?;
            continue;
        }
        if !line.iter().all(u8::is_ascii_whitespace) {
            each(&line);
        }
    }
}

/// A line as JSON. One that a program has cut in the middle of a character is read without that character.
pub(super) fn parse<'l, T: Deserialize<'l>>(line: &'l [u8], spare: &'l mut Vec<u8>) -> Option<T> {
    match serde_json::from_slice(line) {
        Ok(value) => Some(value),
        Err(_) => {
            *spare = replace_in_bytes(line)?;
            serde_json::from_slice(spare).ok()
        }
    }
}

/// Reads every line of a file as a record and adds it to the conversation, which counts the lines that
/// cannot be read.
pub(super) fn each_record<T: DeserializeOwned>(
    path: &Path,
    conversation: &mut Conversation,
    mut add: impl FnMut(&mut Conversation, T),
) -> Result<(), SkipReason> {
    let mut damaged = 0;
    let too_long = each_line(path, &mut |line| {
        let mut spare = Vec::new();
        match parse::<T>(line, &mut spare) {
            Some(record) => add(conversation, record),
            None => damaged += 1,
        }
    })?;
    conversation.damaged = damaged + too_long;
    Ok(())
}

/// The beginning of a file.
pub(crate) fn head(path: &Path, max: u64) -> Result<Vec<u8>, SkipReason> {
    let mut head = Vec::new();
    open(path)?.take(max).read_to_end(&mut head).map_err(|_| SkipReason::Unreadable)?;
    Ok(head)
}

/// The first string that follows a key in a file. It is usually near the beginning; a first message that is very
/// long may stand before it.
pub(super) fn string_in_file(path: &Path, key: &str) -> Result<Option<String>, SkipReason> {
    for size in [NEAR_BYTES, HEAD_BYTES] {
        let head = head(path, size)?;
        let found = string_after(&head, key);
        if found.is_some() || (head.len() as u64) < size {
            return Ok(found);
        }
    }
    Ok(None)
}

/// All of a file that is one JSON value.
pub(super) fn whole(path: &Path, max: u64) -> Result<Vec<u8>, SkipReason> {
    let bytes = head(path, max + 1)?;
    if bytes.len() as u64 > max { Err(SkipReason::TooLarge) } else { Ok(bytes) }
}

fn open(path: &Path) -> Result<File, SkipReason> {
    open_regular(path).map_err(|error| match error {
        error if error.is_irregular() => SkipReason::Irregular,
        _ => SkipReason::Unreadable,
    })
}

/// The first string that follows a key in JSON text which may be cut off.
pub(super) fn string_after(text: &[u8], key: &str) -> Option<String> {
    let mark = format!("\"{key}\":");
    memchr::memmem::find_iter(text, mark.as_bytes()).find_map(|at| {
        let rest = text[at + mark.len()..].trim_ascii_start();
        // Stops at the end of the first value.
        let mut values = serde_json::Deserializer::from_slice(rest).into_iter::<String>();
        values.next()?.ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_strings_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let long = format!("\"{}\"", "x".repeat(9 << 20));
        fs_err::write(&path, format!("1\n\n{long}\n2\n{long}")).unwrap();
        let mut seen = Vec::new();
        let too_long = each_line(&path, &mut |line| seen.push(line.to_vec())).unwrap();
        assert_eq!((too_long, seen), (2, vec![b"1".to_vec(), b"2".to_vec()]));
        assert_eq!(each_line(folder.path(), &mut |_| {}), Err(SkipReason::Irregular));
        let text = br#"{"cwd":7,"a":{"cwd": "/tmp/\"x"},"cwd":"/y"#;
        assert_eq!(string_after(text, "cwd").as_deref(), Some("/tmp/\"x"));
        assert_eq!(string_after(b"{\"cwd\":\"/cut", "cwd"), None);
    }
}
