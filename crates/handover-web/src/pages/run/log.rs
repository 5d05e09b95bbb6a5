//! The end of what the agent at work has printed.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use maud::{Markup, html};
use serde_json::Value;

use crate::Site;
use crate::journal::Told;
use crate::show::{said, section as part, short};

/// How much of a log is looked at, and how many lines of it are shown.
const TAIL: u64 = 24_000;
const LINES: usize = 40;

/// The log of the agent at work, or of the last one.
pub(super) fn section(site: &Site<'_>, told: &Told) -> Markup {
    let now =
        told.doing().into_iter().map(|doing| (doing.story, doing.what, doing.attempt)).next_back();
    let last = told.ended().pop().map(|end| (end.story, end.phase, end.attempt));
    let Some((story, phase, attempt)) = now.or(last) else { return html! {} };
    let folder = site.places.root().join(".handover/runs").join(told.run.id.as_str());
    let lines =
        place(&folder, &story, &phase, attempt).map(|file| tail(site, &file)).unwrap_or_default();
    let note =
        html! { (short(&phase, 30)) " " (attempt) " of " (short(&story, 60)) ", the last lines." };
    part(
        "log",
        "What the agent prints",
        note,
        html! {
            @if lines.is_empty() { p class="muted" { "Nothing yet." } }
            @else { pre class="log" tabindex="0" { @for line in &lines { (said(line)) "\n" } } }
        },
    )
}

/// Where the log is. The names come from a journal, so they are taken as names and nothing else.
fn place(folder: &Path, story: &str, phase: &str, attempt: u64) -> Option<PathBuf> {
    let is_name = |text: &str| {
        !text.is_empty() && !text.starts_with('.') && !text.contains(['/', '\\', '\0'])
    };
    if !is_name(story) || !is_name(phase) {
        return None;
    }
    let file =
        folder.join(handover_engine::git::ref_part(story)).join(format!("{phase}-{attempt}.log"));
    // An agent may have put a link there.
    let metadata = fs_err::symlink_metadata(&file).ok()?;
    metadata.is_file().then_some(file)
}

fn tail(site: &Site<'_>, file: &Path) -> Vec<String> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = fs_err::File::open(file)?;
        let from = file.metadata()?.len().saturating_sub(TAIL);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        // The first line may have lost its beginning.
        let start = if from > 0 {
            bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        } else {
            0
        };
        Ok(bytes.split_off(start))
    };
    let bytes = read().unwrap_or_default();
    let clean = site.redactor.redact_bytes(&bytes);
    let text = String::from_utf8_lossy(&clean);
    let lines: Vec<String> =
        text.lines().map(words).filter(|line| !line.trim().is_empty()).collect();
    lines.iter().skip(lines.len().saturating_sub(LINES)).cloned().collect()
}

/// A line as people read it: of an event of an agent program, what it says.
fn words(line: &str) -> String {
    let line: String = line.chars().take(8_000).collect();
    let Ok(event) = serde_json::from_str::<Value>(&line) else {
        return handover_text::cut::cut(&line, 400);
    };
    let kind = event["type"].as_str().unwrap_or("event");
    let mut said = Vec::new();
    collect(&event, &mut said, 0);
    format!("{kind}: {}", handover_text::cut::cut(&said.join(" · "), 400))
}

/// The texts of an event, outermost first.
fn collect(value: &Value, out: &mut Vec<String>, depth: usize) {
    const KEYS: [&str; 6] = ["text", "result", "command", "name", "message", "aggregated_output"];
    if depth > 6 || out.len() > 8 {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(text) if KEYS.contains(&key.as_str()) && !text.is_empty() => {
                        out.push(handover_text::cut::one_line(text));
                    }
                    Value::Object(_) | Value::Array(_) => collect(value, out, depth + 1),
                    Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                collect(value, out, depth + 1);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
