//! The log of failed hooks: nobody sees their standard error.

use std::io::Write;

use handover_files::{Folder, Sync};
use handover_hosts::HookEvent;
use handover_model::{Host, Timestamp};

/// The name of the log below `.handover/`.
pub(crate) const FILE: &str = "hooks.log";

/// Beyond this size the older half is dropped.
const MAX_BYTES: u64 = 64 * 1024;

/// Adds a line. A failure to do so has nowhere to be reported.
pub(super) fn note(folder: &Folder, now: Timestamp, host: Host, event: &HookEvent, message: &str) {
    if folder.size(FILE).is_some_and(|bytes| bytes > MAX_BYTES) {
        let lines = last_lines(folder, usize::MAX);
        let half = lines.get(lines.len() / 2..).unwrap_or_default().join("\n");
        let _ = folder.replace(FILE, format!("{half}\n").as_bytes(), Sync::No);
    }
    let message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let message: String = message.chars().take(500).collect();
    let line = format!("{now} {host} {}: {message}\n", event.label());
    let _ = folder.append(FILE).map(|mut file| file.write_all(line.as_bytes()));
}

/// The last lines of the log.
pub(crate) fn last_lines(folder: &Folder, count: usize) -> Vec<String> {
    let Ok(Some((bytes, whole))) = folder.tail(FILE, 2 * MAX_BYTES) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    // The first line may be incomplete.
    let lines = text.lines().skip(usize::from(!whole)).map(ToOwned::to_owned);
    let lines: Vec<String> = lines.collect();
    lines.get(lines.len().saturating_sub(count)..).unwrap_or_default().to_vec()
}
