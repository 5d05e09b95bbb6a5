//! The tail of the active agent's log.

use handover_engine::pipeline::Voice;
use handover_files::Folder;
use maud::{Markup, html};
use serde_json::Value;

use crate::run_view::RunView;
use crate::site::Site;
use crate::view::{self, excerpt, untrusted};

/// Bytes of a log that are read, and lines that are shown.
const TAIL: u64 = 24_000;
const LINES: usize = 40;

/// The log of the active agent, or of the last one.
pub(super) fn section(site: &Site<'_>, view: &RunView) -> Markup {
    let now = view
        .active_work()
        .into_iter()
        .map(|active| (active.story, active.what, active.attempt))
        .next_back();
    let last = view.finished_agents().pop().map(|agent| (agent.story, agent.phase, agent.attempt));
    let Some((story, phase, attempt)) = now.or(last) else { return html! {} };
    // Those of a story in progress are elsewhere.
    let places = ["logs", "runs"]
        .map(|name| Folder::of(site.paths.root()).inside(name).inside(view.run.id.as_str()));
    let lines = places
        .iter()
        .find_map(|place| log_file(place, &story, &phase, attempt, None))
        .map(|(folder, name)| tail(site, &folder, &name))
        .unwrap_or_default();
    let note = html! { (excerpt(&phase, 30)) " " (attempt) " of " (excerpt(&story, 60)) ", the last lines." };
    view::section(
        "log",
        "Agent output",
        note,
        html! {
            @if lines.is_empty() { p class="muted" { "Nothing yet." } }
            @else { pre class="log" tabindex="0" { @for line in &lines { (untrusted(line)) "\n" } } }
        },
    )
}

/// The folder and the name of a log. They come from a journal, so anything but plain file names is rejected.
pub(super) fn log_file(
    runs: &Folder,
    story: &str,
    phase: &str,
    attempt: u64,
    voice: Option<&Voice>,
) -> Option<(Folder, String)> {
    let is_name = |text: &str| {
        !text.is_empty() && !text.starts_with('.') && !text.contains(['/', '\\', '\0'])
    };
    if !is_name(story) || !is_name(phase) {
        return None;
    }
    let folder = runs.inside(handover_engine::git::ref_part(story));
    let voice = voice.map(|voice| {
        format!("-{}-{}", handover_engine::git::ref_part(&voice.persona), voice.round)
    });
    let name = format!("{phase}-{attempt}{}.log", voice.unwrap_or_default());
    // An agent may have planted a symlink.
    folder.has(&name).then_some((folder, name))
}

fn tail(site: &Site<'_>, folder: &Folder, name: &str) -> Vec<String> {
    let (mut bytes, whole) = folder.tail(name, TAIL).ok().flatten().unwrap_or_default();
    if !whole {
        // The first line may be incomplete.
        let start = bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        bytes.drain(..start);
    }
    let clean = site.redactor.redact_bytes(&bytes);
    let text = String::from_utf8_lossy(&clean);
    let lines: Vec<String> =
        text.lines().map(readable).filter(|line| !line.trim().is_empty()).collect();
    lines.iter().skip(lines.len().saturating_sub(LINES)).cloned().collect()
}

/// A line in readable form: for JSON events of agent programs, their text.
fn readable(line: &str) -> String {
    let line: String = line.chars().take(8_000).collect();
    let Ok(event) = serde_json::from_str::<Value>(&line) else {
        return handover_text::cut::cut(&line, 400);
    };
    let kind = event["type"].as_str().unwrap_or("event");
    let mut texts = Vec::new();
    collect_texts(&event, &mut texts, 0);
    format!("{kind}: {}", handover_text::cut::cut(&texts.join(" · "), 400))
}

/// Collects the texts of an event, outermost first.
fn collect_texts(value: &Value, out: &mut Vec<String>, depth: usize) {
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
                    Value::Object(_) | Value::Array(_) => collect_texts(value, out, depth + 1),
                    Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
                }
            }
        }
        Value::Array(list) => {
            for value in list {
                collect_texts(value, out, depth + 1);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_events_become_their_text() {
        let line = r#"{"type": "assistant", "message": {"content": [{"type": "text", "text": "Reading\nfiles"}]}}"#;
        assert_eq!(readable(line), "assistant: Reading files");
        let nested = r#"{"type": "item", "item": {"command": "ls", "aggregated_output": "a\nb"}}"#;
        assert_eq!(readable(nested), "item: ls · a b");
        assert_eq!(readable("{}"), "event: ");
        assert_eq!(readable("plain output"), "plain output");
        assert!(readable(&"x".repeat(9_000)).chars().count() <= 400);
    }

    #[test]
    fn only_plain_file_names_lead_to_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let story = folder.path().join("1-1-a");
        fs_err::create_dir_all(&story).unwrap();
        fs_err::write(story.join("dev-1.log"), "x").unwrap();
        assert!(log_file(&Folder::at(folder.path()), "1-1-a", "dev", 1, None).is_some());
        assert!(log_file(&Folder::at(folder.path()), "1-1-a", "dev", 2, None).is_none());
        for (story, phase) in [("..", "dev"), ("a/b", "dev"), ("1-1-a", "../x"), ("", "dev")] {
            assert!(
                log_file(&Folder::at(folder.path()), story, phase, 1, None).is_none(),
                "{story} {phase}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let story = folder.path().join("1-1-a");
        fs_err::create_dir_all(&story).unwrap();
        fs_err::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), story.join("dev-1.log")).unwrap();
        assert!(log_file(&Folder::at(folder.path()), "1-1-a", "dev", 1, None).is_none());
    }
}
