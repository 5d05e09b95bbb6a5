//! The log of failed hooks: nobody sees their standard error.

use std::io::Write;
use std::path::Path;

use handover_hosts::HookEvent;
use handover_model::{Host, Timestamp};

/// The name of the log below `.handover/`.
pub(crate) const FILE: &str = "hooks.log";

/// Beyond this size the older half is dropped.
const MAX_BYTES: u64 = 64 * 1024;

/// Adds a line. A failure to do so has nowhere to be reported.
pub(super) fn note(folder: &Path, now: Timestamp, host: Host, event: &HookEvent, message: &str) {
    let path = folder.join(FILE);
    if fs_err::metadata(&path).is_ok_and(|file| file.len() > MAX_BYTES) {
        let lines = last_lines(folder, usize::MAX);
        let half = lines.get(lines.len() / 2..).unwrap_or_default().join("\n");
        let _ = fs_err::write(&path, format!("{half}\n"));
    }
    let message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message: String = message.chars().take(500).collect();
    let line = format!("{now} {host} {}: {message}\n", event.label());
    let file = fs_err::OpenOptions::new().create(true).append(true).open(path);
    let _ = file.and_then(|mut file| file.write_all(line.as_bytes()));
}

/// The last lines of the log.
pub(crate) fn last_lines(folder: &Path, count: usize) -> Vec<String> {
    let Ok(bytes) = fs_err::read(folder.join(FILE)) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().to_vec()
}
