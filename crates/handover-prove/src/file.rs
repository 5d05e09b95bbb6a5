//! The file of an experiment: its tasks, read strictly.

use std::collections::{BTreeMap, HashSet};

use handover_model::Role;
use serde::{Deserialize, Serialize};

/// The most that is read of a file.
pub const MAX_BYTES: u64 = 4 << 20;

/// The longest prompt.
const MAX_PROMPT: usize = 64 << 10;

/// The tasks of an experiment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFile {
    /// The tasks, in the order of the file.
    pub tasks: Vec<Task>,
    /// The hash of the text.
    pub fingerprint: String,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// Its name.
    pub id: String,
    /// The commit from which the agent starts.
    pub start: String,
    /// What the agent is asked for.
    pub prompt: String,
    /// The words of the command that judges: it exits with 0 if the work is right.
    pub judge: Vec<String>,
    /// Files that the judge relies on, and the commit that has them as they should be. They replace whatever the
    /// agent left in their place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub judge_files: BTreeMap<String, String>,
    /// The words of a command that prepares each clone, such as installing dependencies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub setup: Vec<String>,
    /// The role of the agent.
    #[serde(default = "developer")]
    pub role: Role,
    /// After how many seconds the agent is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// After how many seconds the judge, or the setup, is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge_timeout: Option<u64>,
}

#[expect(clippy::expect_used, reason = "a constant")]
fn developer() -> Role {
    Role::new("developer").expect("a valid role")
}

/// Why a file is no experiment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    /// It is not TOML, or has a key that nothing reads.
    #[error("{0}")]
    Syntax(String),
    /// It has no task.
    #[error("there is no `[[task]]`")]
    Empty,
    /// Two tasks have one name.
    #[error("two tasks have the id `{id}`")]
    Twice {
        /// The name.
        id: String,
    },
    /// A value breaks a rule.
    #[error("task `{task}`: `{key}` {rule}")]
    Value {
        /// The name of the task.
        task: String,
        /// The key.
        key: &'static str,
        /// What is wrong with its value.
        rule: String,
    },
}

impl FileError {
    /// What to do next.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Syntax(_) | Self::Value { .. } => {
                "docs/prove.md describes every key of a task; `handover prove init` writes a file."
            }
            Self::Empty => "Add a `[[task]]`, or let `handover prove init` find some.",
            Self::Twice { .. } => "Give each task a name of its own.",
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    task: Vec<Task>,
}

impl TaskFile {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let document: Document = toml::from_str(text)
            .map_err(|error| FileError::Syntax(error.to_string().trim().to_owned()))?;
        if document.task.is_empty() {
            return Err(FileError::Empty);
        }
        let mut ids = HashSet::new();
        for task in &document.task {
            task.check()?;
            if !ids.insert(task.id.as_str()) {
                return Err(FileError::Twice { id: task.id.clone() });
            }
        }
        let fingerprint = blake3::hash(text.as_bytes()).to_hex().to_string();
        Ok(Self { tasks: document.task, fingerprint })
    }
}

impl Task {
    fn check(&self) -> Result<(), FileError> {
        let wrong = |key: &'static str, rule: String| {
            Err(FileError::Value { task: self.id.clone(), key, rule })
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !(1..=64).contains(&self.id.len()) || !self.id.chars().all(plain) {
            let rule =
                format!("is `{}`, but must be 1 to 64 letters, digits, `.`, `_` or `-`", self.id);
            return wrong("id", rule);
        }
        if !is_commit(&self.start) {
            let rule =
                format!("is `{}`, but must name a commit, best by its full hash", self.start);
            return wrong("start", rule);
        }
        if self.prompt.trim().is_empty() || self.prompt.len() > MAX_PROMPT {
            let size = self.prompt.len();
            return wrong("prompt", format!("has {size} bytes, but must have 1 to {MAX_PROMPT}"));
        }
        for (key, words) in [("judge", &self.judge), ("setup", &self.setup)] {
            let required = key == "judge";
            let first = words.first();
            if required && first.is_none() || first.is_some_and(|word| word.trim().is_empty()) {
                return wrong(key, "must start with the name of a program".to_owned());
            }
            if words.iter().any(|word| word.contains('\0')) {
                return wrong(key, "contains a zero byte".to_owned());
            }
        }
        for (path, commit) in &self.judge_files {
            if !is_inside(path) {
                let rule = format!("names `{path}`, but must name files inside the repository");
                return wrong("judge_files", rule);
            }
            if !is_commit(commit) {
                return wrong(
                    "judge_files",
                    format!("gives `{commit}` for `{path}`, but must give a commit"),
                );
            }
        }
        for (key, seconds) in [("timeout", self.timeout), ("judge_timeout", self.judge_timeout)] {
            if seconds == Some(0) {
                return wrong(key, "is 0, but must be at least one second".to_owned());
            }
        }
        Ok(())
    }
}

/// Whether git can read it as the name of a commit, and as nothing else.
fn is_commit(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-/~^".contains(c);
    (1..=200).contains(&name.len()) && !name.starts_with('-') && name.chars().all(plain)
}

/// Whether a path stays inside the folder that it is relative to, and is not git's own.
pub fn is_inside(path: &str) -> bool {
    let parts = || path.split('/');
    !path.is_empty()
        && !path.contains(['\0', '\\'])
        && parts().all(|part| !matches!(part, "" | "." | ".."))
        && parts().next().is_some_and(|first| !first.eq_ignore_ascii_case(".git"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = "[[task]]\nid = \"a\"\nstart = \"HEAD~1\"\nprompt = \"fix it\"\njudge = [\"make\", \"test\"]\n";

    fn rejected(text: &str) -> String {
        TaskFile::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn the_four_keys_are_enough() {
        let file = TaskFile::parse(TASK).unwrap();
        let task = &file.tasks[0];
        assert_eq!((task.id.as_str(), task.role.as_str()), ("a", "developer"));
        assert_eq!(task.judge, ["make", "test"]);
        assert_eq!(file.fingerprint.len(), 64);
    }

    #[test]
    fn every_key_is_read() {
        let text = format!(
            "{TASK}role = \"qa_expert\"\ntimeout = 60\njudge_timeout = 5\nsetup = [\"npm\", \"ci\"]\n\
             judge_files = {{ \"tests/a.py\" = \"abc123\" }}\n"
        );
        let task = TaskFile::parse(&text).unwrap().tasks.remove(0);
        assert_eq!((task.timeout, task.judge_timeout), (Some(60), Some(5)));
        assert_eq!(task.judge_files["tests/a.py"], "abc123");
        assert_eq!((task.setup.len(), task.role.as_str()), (2, "qa_expert"));
    }

    #[test]
    fn errors_name_the_value_and_the_rule() {
        let with = |from: &str, to: &str| rejected(&TASK.replace(from, to));
        assert_eq!(rejected(""), "there is no `[[task]]`");
        assert!(rejected(&format!("{TASK}speed = 1\n")).contains("unknown field `speed`"));
        assert!(rejected("[[task]]\nid = \"a\"\n").contains("missing field `start`"));
        assert!(rejected("x").contains("line 1"));
        assert_eq!(rejected(&format!("{TASK}{TASK}")), "two tasks have the id `a`");
        assert!(with("\"a\"", "\"a b\"").starts_with("task `a b`: `id` is `a b`"));
        assert!(with("HEAD~1", "--all").contains("`start` is `--all`"));
        assert!(with("fix it", " ").contains("`prompt` has 1 bytes"));
        assert!(with("[\"make\", \"test\"]", "[]").contains("`judge` must start with"));
        let files =
            |path: &str| rejected(&format!("{TASK}judge_files = {{ \"{path}\" = \"abc\" }}\n"));
        for path in ["../x", "/etc/passwd", ".git/hooks/x", "a//b", ""] {
            assert!(files(path).contains("must name files inside"), "{path}");
        }
        assert!(rejected(&format!("{TASK}timeout = 0\n")).contains("at least one second"));
    }
}
