//! What Codex keeps of a conversation: a file for each of its agents, whose lines say what that has used so far. Its output
//! only counts the first of them.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use memchr::memmem;
use serde_json::Value;

use crate::{Environment, Usage};

/// How many files are looked at.
const MOST: usize = 5_000;

/// What all agents of a conversation have used since its beginning; none if it was not kept.
pub(super) fn used(environment: &Environment, conversation: &str) -> Option<Usage> {
    let home = match environment.get("CODEX_HOME") {
        Some(home) => PathBuf::from(home),
        None => Path::new(environment.get("HOME")?).join(".codex"),
    };
    let files = files(&home.join("sessions"), conversation)?;
    let used = files.iter().filter_map(|file| used_by(file, conversation));
    used.reduce(|sum, one| sum + one)
}

/// The files of the day on which a conversation began, and of all later ones.
fn files(sessions: &Path, conversation: &str) -> Option<Vec<PathBuf>> {
    let mut days = vec![sessions.to_owned()];
    for _ in ["year", "month", "day"] {
        days = days.iter().flat_map(|folder| entries(folder)).collect();
    }
    days.sort();
    let lead = format!("-{conversation}.jsonl");
    let mut later: Vec<PathBuf> = Vec::new();
    for day in days.into_iter().rev() {
        let files = entries(&day);
        let is_first = files.iter().any(|file| file.to_string_lossy().ends_with(&lead));
        later.extend(files);
        if is_first {
            return Some(later);
        }
        if later.len() > MOST {
            break;
        }
    }
    None
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(folder).into_iter().flatten();
    entries.filter_map(Result::ok).map(|entry| entry.path()).collect()
}

/// What the agent in a file has used, if it is one of the conversation.
fn used_by(file: &Path, conversation: &str) -> Option<Usage> {
    let mut file = BufReader::new(fs_err::File::open(file).ok()?);
    let (mut line, mut last) = (Vec::new(), Usage::default());
    file.read_until(b'\n', &mut line).ok()?;
    let first: Value = serde_json::from_slice(&line).ok()?;
    let is_ours = ["session_id", "id"].iter().any(|id| first["payload"][id] == conversation);
    is_ours.then_some(())?;
    loop {
        line.clear();
        if file.read_until(b'\n', &mut line).ok()? == 0 {
            return Some(last);
        }
        if memmem::find(&line, b"\"token_count\"").is_some()
            && let Ok(line) = serde_json::from_slice::<Value>(&line)
            && line["payload"]["type"] == "token_count"
            && let Some(sum) = line.pointer("/payload/info/total_token_usage")
        {
            let count = |name: &str| sum[name].as_u64().unwrap_or_default();
            last = Usage {
                input: count("input_tokens"),
                cached_input: count("cached_input_tokens"),
                output: count("output_tokens"),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    #[test]
    fn adds_up_the_agents_of_a_conversation_and_no_others() {
        let home = tempfile::tempdir().unwrap();
        let write = |day: &str, id: &str, session: &str, sums: &[u64]| {
            let folder = home.path().join(format!(".codex/sessions/2026/11/{day}"));
            fs_err::create_dir_all(&folder).unwrap();
            let mut text =
                format!("{{\"payload\": {{\"id\": \"{id}\", \"session_id\": \"{session}\"}}}}\n");
            for sum in sums {
                let _ = writeln!(
                    text,
                    "{{\"payload\": {{\"type\": \"token_count\", \"info\": {{\"total_token_usage\": \
                     {{\"input_tokens\": {sum}, \"cached_input_tokens\": 1, \"output_tokens\": 2}}}}}}}}"
                );
            }
            text += "{\"payload\": {\"type\": \"token_count\", \"info\": null}}\n{\"cut off";
            fs_err::write(folder.join(format!("rollout-{id}.jsonl")), text).unwrap();
        };
        write("17", "x-before", "x-before", &[1_000]);
        write("18", "x-lead", "x-lead", &[10, 30]);
        write("18", "x-child", "x-lead", &[5]);
        write("19", "x-late", "x-lead", &[7]);
        write("19", "x-other", "x-other", &[1_000]);
        let mut environment = Environment::scrubbed([], handover_model::Host::CODEX, &[]);
        assert_eq!(used(&environment, "x-lead"), None);
        environment.set("HOME", home.path());
        let sum = Usage { input: 42, cached_input: 3, output: 6 };
        assert_eq!(used(&environment, "x-lead"), Some(sum));
        assert_eq!(used(&environment, "x-gone"), None);
        environment.set("CODEX_HOME", home.path());
        assert_eq!(used(&environment, "x-lead"), None);
    }
}
