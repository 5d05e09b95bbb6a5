//! The one reader of endings: a debrief out of an agent's last message.
//!
//! A run reads more out of the same [`Message`]: results that are bound to one of its agents, and the
//! lines of text that agents of other systems end with.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::str::FromStr;

use handover_context::package_file::announced;
use handover_context::yaml::{self, YamlError};
use handover_model::{Phase, ReceiptId, Role, Verdict};
use serde_json::Value;

use super::message::is_placeholder;
use super::{Debrief, ErrorNote, Message, PackageNote};

/// What [`Debrief::missing`] calls the block itself.
pub(super) const BLOCK: &str = "block";

/// A larger block is no debrief.
const MAX_BLOCK_BYTES: usize = 64 * 1024;
/// Longer texts are cut.
const MAX_TEXT_CHARS: usize = 4_000;
/// More entries are left out.
const MAX_ENTRIES: usize = 50;

/// Reads the debrief out of a text. It never fails: `missing` and `problems` say what is wrong.
pub fn read_ending(text: &str) -> Debrief {
    Message::new(text).debrief()
}

/// Reads the debrief of an agent that answered several times, the last answer first: the latest one that
/// holds a block counts, because what follows it may only acknowledge that a child has ended.
pub fn read_endings<'t>(answers: impl IntoIterator<Item = &'t str>) -> Debrief {
    let mut last = None;
    for answer in answers {
        let debrief = read_ending(answer);
        if debrief.has_block() {
            return debrief;
        }
        last = last.or(Some(debrief));
    }
    last.unwrap_or_else(|| read_ending(""))
}

impl Message<'_> {
    /// Reads the debrief. It never fails: `missing` and `problems` say what is wrong.
    pub fn debrief(&self) -> Debrief {
        let mut debrief = Debrief::default();
        // An agent that repeats its prompt repeats the empty form in it, too.
        let blocks: Vec<&str> = self.debriefs().filter(|block| !is_form(block)).collect();
        let mut verdicts: Vec<Verdict> = Vec::new();
        for block in &blocks {
            match fields(block, &mut debrief.problems) {
                Ok(fields) => read(fields, &mut debrief),
                Err(problem) => debrief.problems.push(problem),
            }
            // By line, because a key that is there twice is parsed once or not at all.
            verdicts.extend(stated(block).filter_map(verdict));
            verdicts.extend(debrief.verdict);
        }
        if blocks.is_empty() {
            debrief.missing.push(BLOCK);
            verdicts.extend(self.prose.iter().filter_map(|line| spoken(line)));
            debrief.verdict = verdicts.last().copied();
        }
        verdicts.sort_unstable();
        verdicts.dedup();
        if verdicts.len() > 1 {
            // Two verdicts cannot both hold, and guessing which would be worse than asking.
            let words: Vec<&str> = verdicts.iter().map(|verdict| verdict.as_str()).collect();
            debrief.problems.push(format!("it has several verdicts: {}", words.join(", ")));
            debrief.verdict = None;
        }
        add_announced(self.text, &mut debrief);
        if debrief.verdict.is_none() {
            debrief.missing.push("verdict");
        }
        if debrief.summary.is_none() {
            debrief.missing.push("summary");
        }
        if debrief.reasoning.is_empty() {
            debrief.missing.push("reasoning");
        }
        debrief
    }
}

/// Reads the fields of a debrief out of a JSON object, as a run's result file has them, but for
/// the verdict: each phase of a run has rules of its own for that.
pub fn read_fields(object: &Value) -> Debrief {
    let mut debrief = Debrief::default();
    if let Value::Object(fields) = object {
        let fields = fields.iter().map(|(key, value)| (key.to_lowercase(), value.clone()));
        let fields = fields.filter(|(key, _)| !VERDICT_KEYS.contains(&key.as_str()));
        read(fields.collect(), &mut debrief);
    }
    debrief
}

/// The keys that agents state their verdict under.
const VERDICT_KEYS: [&str; 3] = ["verdict", "status", "result"];

/// Adds the packages that a text announces outside of its block.
fn add_announced(text: &str, debrief: &mut Debrief) {
    for announcement in announced(text) {
        let path = announcement.file.display().to_string();
        debrief.problems.extend(announcement.problems.iter().map(|p| format!("`{path}`: {p}")));
        if debrief.packages.len() < MAX_ENTRIES && debrief.packages.iter().all(|p| p.path != path) {
            let facts = announcement.facts;
            debrief.packages.push(PackageNote {
                path,
                kind: facts.kind,
                priority: facts.priority,
                summary: facts.summary,
                consumers: facts.consumers.unwrap_or_default(),
            });
        }
    }
}

/// The verdicts that a block states, line by line.
fn stated(block: &str) -> impl Iterator<Item = &str> {
    let pairs = block.lines().filter_map(|line| line.split_once(':'));
    pairs.filter(|(key, _)| key.eq_ignore_ascii_case("verdict")).map(|(_, value)| value.trim())
}

/// Whether a block is the form of the prompt, not filled in.
fn is_form(block: &str) -> bool {
    stated(block).any(is_placeholder)
}

/// The fields of a block: YAML, of which JSON is a part. Sentences with colons, quotes and the like
/// are what agents write and no YAML; then the same is tried with every plain value quoted.
fn fields(block: &str, problems: &mut Vec<String>) -> Result<BTreeMap<String, Value>, String> {
    if block.len() > MAX_BLOCK_BYTES {
        return Err(format!("the block has more than {MAX_BLOCK_BYTES} bytes"));
    }
    let parsed = |text: &str| match yaml::read(text)? {
        Value::Object(fields) => Ok(fields.into_iter().collect::<BTreeMap<_, _>>()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(YamlError { line: 1, message: "there is no `key: value`".to_owned() })
        }
    };
    let fields = match parsed(block).or_else(|_| parsed(&quoted(block))) {
        Ok(fields) => fields,
        Err(error) => {
            let message = error.to_string();
            let message: Vec<&str> = message.split_whitespace().take(30).collect();
            let problem = format!("the block is not YAML: {}", message.join(" "));
            let lines = by_line(block);
            if lines.is_empty() {
                return Err(problem);
            }
            problems.push(format!("{problem}; only its plain lines were read"));
            lines
        }
    };
    Ok(fields.into_iter().map(|(key, value)| (key.to_lowercase(), value)).collect())
}

/// The block with every value quoted that stands plainly behind a key or a dash.
fn quoted(block: &str) -> String {
    let mut text = String::new();
    for line in block.lines() {
        let line = line.replace('\t', "  ");
        let content = line.trim_start();
        let indent = &line[..line.len() - content.len()];
        let (dash, content) = match content.strip_prefix("- ") {
            Some(rest) => ("- ", rest.trim_start()),
            None => ("", content),
        };
        let is_key = |key: &str| {
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'))
        };
        let (key, value) = match content.split_once(':') {
            Some((key, value)) if is_key(key) => (Some(key), value.trim()),
            _ => (None, content.trim()),
        };
        let _ = write!(text, "{indent}{dash}");
        if let Some(key) = key {
            let _ = write!(text, "{key}: ");
        }
        if let Some(inside) = value.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            let _ = writeln!(text, "{{{}}}", quoted_entries(inside));
            continue;
        }
        let is_flow = |open, close| value.starts_with(open) && value.ends_with(close);
        let is_structure = is_flow('[', ']')
            || value.len() > 1 && is_flow('"', '"')
            || matches!(value, "" | "|" | ">" | "|-" | ">-");
        let plain = !is_structure && (key.is_some() || !dash.is_empty());
        if plain {
            let _ = write!(text, "{}", Value::String(value.to_owned()));
        } else {
            text.push_str(value);
        }
        text.push('\n');
    }
    text
}

/// The entries between braces, with every plain value quoted: one ends where the next key begins.
fn quoted_entries(inside: &str) -> String {
    let is_key = |text: &str| {
        let key = text.split_once(": ").map(|(key, _)| key.trim());
        key.is_some_and(|key| {
            !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        })
    };
    let mut entries: Vec<String> = Vec::new();
    for part in inside.split(',') {
        match entries.last_mut() {
            Some(last) if !is_key(part) => {
                last.push(',');
                last.push_str(part);
            }
            Some(_) | None => entries.push(part.to_owned()),
        }
    }
    let quoted = entries.iter().map(|entry| match entry.split_once(": ") {
        Some((key, value)) if !value.trim_start().starts_with(['[', '{', '"', '\'']) => {
            format!("{}: {}", key.trim(), Value::String(value.trim().to_owned()))
        }
        Some(_) | None => entry.trim().to_owned(),
    });
    quoted.collect::<Vec<_>>().join(", ")
}

/// What can be read of a block that is no YAML at all: the plain `key: text` lines of the outermost
/// level.
fn by_line(block: &str) -> BTreeMap<String, Value> {
    block
        .lines()
        .filter(|line| !line.starts_with([' ', '\t', '-']))
        .filter_map(|line| line.split_once(':'))
        .map(|(key, value)| (key.trim().to_lowercase(), value.trim().trim_matches('"')))
        .filter(|(key, value)| {
            matches!(key.as_str(), "receipt" | "verdict" | "summary") && !value.is_empty()
        })
        .map(|(key, value)| (key, Value::String(value.to_owned())))
        .collect()
}

fn read(fields: BTreeMap<String, Value>, debrief: &mut Debrief) {
    for (key, value) in fields {
        match key.as_str() {
            "receipt" => debrief.receipt = words(&value).and_then(|id| ReceiptId::new(id).ok()),
            key if VERDICT_KEYS.contains(&key) => match words(&value) {
                Some(word) => match verdict(&word) {
                    Some(verdict) => debrief.verdict = Some(verdict),
                    None => {
                        let word: String = word.chars().take(60).collect();
                        debrief.problems.push(format!("`{word}` is no verdict"));
                    }
                },
                None => debrief.problems.push("the verdict is not text".to_owned()),
            },
            "summary" => debrief.summary = words(&value),
            "findings" | "issues" => {
                debrief.findings = list(&value).filter_map(finding).collect();
            }
            // The form lists all three words; a form that was not filled in says nothing.
            "confidence" => {
                debrief.confidence = words(&value).and_then(|word| known(Some(word)).ok()?);
            }
            "reasoning" => read_reasoning(&value, debrief),
            "packages" | "context_packages" => {
                debrief.packages = packages_in(&value, &mut debrief.problems);
            }
            "errors" | "errors_solved" | "solved" => {
                debrief.errors = list(&value).filter_map(error).collect();
            }
            // Fields that are not ours are for somebody else.
            _ => {}
        }
    }
}

fn read_reasoning(value: &Value, debrief: &mut Debrief) {
    let mut add = |phase: &str, text: Option<String>| {
        let Some(text) = text else { return };
        match phase.trim().to_lowercase().parse::<Phase>() {
            Ok(phase) => {
                let entry = debrief.reasoning.entry(phase).or_default();
                if !entry.is_empty() {
                    entry.push('\n');
                }
                entry.push_str(&text);
            }
            Err(error) => debrief.problems.push(error.to_string()),
        }
    };
    match value {
        Value::Object(phases) => {
            for (phase, text) in phases.iter().take(MAX_ENTRIES) {
                add(phase, words(text));
            }
        }
        Value::Array(entries) => {
            for entry in entries.iter().take(MAX_ENTRIES) {
                let phase = entry.get("phase").and_then(Value::as_str).unwrap_or("completion");
                let text = entry.get("content").or_else(|| entry.get("text")).unwrap_or(entry);
                add(phase, words(text));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            add("completion", words(value));
        }
    }
}

fn list(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter().take(MAX_ENTRIES)),
        Value::Null => Box::new(std::iter::empty()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Box::new(std::iter::once(value))
        }
    }
}

/// The files of a list, or a single one, in any of the shapes that agents use. One with a kind,
/// priority or consumer that does not exist is left out and named in `problems`.
fn packages_in(value: &Value, problems: &mut Vec<String>) -> Vec<PackageNote> {
    let notes = list(value).filter_map(package);
    notes.filter_map(|note| note.map_err(|problem| problems.push(problem)).ok()).collect()
}

fn package(item: &Value) -> Option<Result<PackageNote, String>> {
    if item.is_string() {
        return Some(Ok(PackageNote { path: words(item)?, ..PackageNote::default() }));
    }
    let field = |names: &[&str]| names.iter().find_map(|name| words(item.get(name)?));
    let path = field(&["path", "file"])?;
    let consumers = item.get("consumers").into_iter().flat_map(list).filter_map(words);
    let names: Vec<String> = consumers
        .flat_map(|names| names.split(',').map(|n| n.trim().to_lowercase()).collect::<Vec<_>>())
        .filter(|name| !name.is_empty())
        .collect();
    let note = || -> Result<PackageNote, String> {
        let consumers: Result<Vec<Role>, _> = names.into_iter().map(Role::new).collect();
        Ok(PackageNote {
            path: path.clone(),
            kind: known(field(&["kind", "type"]))?,
            priority: known(field(&["priority"]))?,
            summary: field(&["summary", "description"]),
            consumers: consumers.map_err(|error| error.to_string())?,
        })
    };
    Some(note().map_err(|reason| format!("package `{path}`: {reason}")))
}

/// A word of a closed set, in any case.
fn known<T: FromStr<Err: ToString>>(word: Option<String>) -> Result<Option<T>, String> {
    let word = word.map(|word| word.to_lowercase().parse()).transpose();
    word.map_err(|error: T::Err| error.to_string())
}

/// One thing to fix, as a line: `[high] src/a.rs:12: off by one`.
fn finding(item: &Value) -> Option<String> {
    if !item.is_object() {
        return words(item);
    }
    let field = |names: &[&str]| names.iter().find_map(|name| words(item.get(name)?));
    let text = field(&["text", "message", "description", "issue", "summary", "problem"]);
    let Some(text) = text else {
        // `- src/a.rs:12: off by one` is a map to YAML.
        let (place, said) = item.as_object().filter(|entries| entries.len() == 1)?.iter().next()?;
        let is_place = place.contains(['.', '/', ':', ' ']);
        return Some(format!("{place}: {}", words(said).filter(|_| is_place)?));
    };
    let place = field(&["place", "location", "file", "path"]);
    let line = field(&["line"]).filter(|_| item.get("place").is_none());
    let severity = field(&["severity", "priority", "level"]);
    let mut said = severity.map(|word| format!("[{}] ", word.to_lowercase())).unwrap_or_default();
    if let Some(place) = place {
        said.push_str(&place);
        if let Some(line) = line {
            let _ = write!(said, ":{line}");
        }
        said.push_str(": ");
    }
    said.push_str(&text);
    Some(said)
}

fn error(item: &Value) -> Option<ErrorNote> {
    if let Some(message) = words(item).filter(|_| item.is_string()) {
        return Some(ErrorNote { message, solution: None });
    }
    let field = |names: [&str; 2]| names.iter().find_map(|name| words(item.get(name)?));
    Some(ErrorNote { message: field(["message", "error"])?, solution: field(["solution", "fix"]) })
}

/// A value as text, trimmed and cut; none if there is nothing in it.
fn words(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Bool(flag) => flag.to_string(),
        Value::Array(items) => {
            let lines: Vec<String> = items.iter().take(MAX_ENTRIES).filter_map(words).collect();
            lines.join("\n")
        }
        Value::Null | Value::Object(_) => String::new(),
    };
    let text = text.trim();
    let nothing = ["", "…", "...", "-", "none", "n/a", "na", "null", "nothing"];
    if nothing.iter().any(|word| text.trim_end_matches('.').eq_ignore_ascii_case(word)) {
        return None;
    }
    Some(handover_text::cut::cut(text, MAX_TEXT_CHARS))
}

/// A verdict by its name, or by the words that agents of other systems use.
fn verdict(word: &str) -> Option<Verdict> {
    let plain: String =
        word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace([' ', '-'], "_");
    match plain.as_str() {
        "completed" | "done" | "success" | "ready_for_qa" | "ready_for_review" | "implemented"
        | "root_cause_found" | "planning_complete" => Some(Verdict::Complete),
        "pass" | "approved" | "approve" | "accept" | "accepted" | "ok" => Some(Verdict::Passed),
        "approved_with_notes" | "pass_with_fixes" => Some(Verdict::PassedWithFixes),
        "fail" | "changes_requested" | "rejected" | "reject" | "error" => Some(Verdict::Failed),
        "escalate_senior" | "escalated" | "spawn_investigator" | "needs_clarification" => {
            Some(Verdict::Escalate)
        }
        "skipped" => Some(Verdict::Skip),
        other => other.parse().ok(),
    }
}

/// A verdict that a line of prose states: `Status: READY_FOR_QA`, `**Verdict:** passed`.
fn spoken(line: &str) -> Option<Verdict> {
    if line.trim_start().starts_with('>') {
        return None;
    }
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '`' | '#')).collect();
    let (key, value) = plain.split_once(':')?;
    let is_key = matches!(
        key.trim().trim_start_matches('-').trim().to_lowercase().as_str(),
        "verdict" | "status" | "report status" | "final status"
    );
    if is_key { verdict(value.trim()) } else { None }
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
