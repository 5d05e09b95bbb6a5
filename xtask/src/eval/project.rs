//! A project with a home folder of its own, played with the real program: commits, conversations, commands.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
pub(super) struct Turn {
    pub(super) speaker: Speaker,
    pub(super) text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Speaker {
    Person,
    Agent,
}

pub(super) struct Project {
    program: PathBuf,
    home: PathBuf,
    pub(super) root: PathBuf,
}

impl Project {
    pub(super) fn new(program: PathBuf, folder: &Path) -> Result<Self> {
        let (home, root) = (folder.join("home"), folder.join("project"));
        fs_err::create_dir_all(&home)?;
        Ok(Self { program, home, root })
    }

    pub(super) fn clone_history(&self, repository: &Path, commits: usize) -> Result<()> {
        let url = format!("file://{}", fs_err::canonicalize(repository)?.display());
        let status = Command::new("git")
            .args(["clone", "--quiet", "--depth", &commits.to_string(), &url])
            .arg(&self.root)
            .status()?;
        ensure!(status.success(), "cloning {} failed", repository.display());
        Ok(())
    }

    /// An empty repository.
    pub(super) fn init(&self) -> Result<()> {
        fs_err::create_dir_all(&self.root)?;
        self.git(&["init", "--quiet"], "2026-01-01T00:00:00Z")
    }

    /// Commits everything with this message and at this time.
    pub(super) fn commit_all(&self, message: &str, time: &str) -> Result<()> {
        self.git(&["add", "--all", "--force"], time)?;
        self.git(&["commit", "--quiet", "--message", message], time)
    }

    fn git(&self, args: &[&str], time: &str) -> Result<()> {
        let status = Command::new("git")
            .current_dir(&self.root)
            .args(["-c", "user.name=Robin", "-c", "user.email=robin@example.org"])
            .args(["-c", "commit.gpgsign=false"])
            .args(args)
            .env("GIT_AUTHOR_DATE", time)
            .env("GIT_COMMITTER_DATE", time)
            .status()?;
        ensure!(status.success(), "git {} failed", args.join(" "));
        Ok(())
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, file: &str, text: &str) -> Result<()> {
        let path = self.root.join(file);
        if let Some(parent) = path.parent() {
            fs_err::create_dir_all(parent)?;
        }
        Ok(fs_err::write(path, text)?)
    }

    /// Writes a conversation where Claude Code keeps those of this project.
    pub(super) fn write_transcript(&self, id: &str, time: &str, turns: &[Turn]) -> Result<()> {
        let cwd = fs_err::canonicalize(&self.root)?;
        let slug: String = cwd
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let folder = self.home.join(".claude/projects").join(slug);
        fs_err::create_dir_all(&folder)?;
        let session = session_id(id);
        let mut text = String::new();
        for (number, turn) in turns.iter().enumerate() {
            let message = match turn.speaker {
                Speaker::Person => json!({"role": "user", "content": turn.text}),
                Speaker::Agent => json!({
                    "role": "assistant", "type": "message", "model": "claude-sonnet-4-5",
                    "content": [{"type": "text", "text": turn.text}],
                }),
            };
            let kind = match turn.speaker {
                Speaker::Person => "user",
                Speaker::Agent => "assistant",
            };
            let line = json!({
                "parentUuid": number.checked_sub(1).map(|n| session_id(&format!("{session}{n}"))),
                "isSidechain": false, "userType": "external", "cwd": cwd, "sessionId": session,
                "version": "2.1.197", "gitBranch": "main", "type": kind, "message": message,
                "uuid": session_id(&format!("{session}{number}")), "timestamp": time,
            });
            text += &line.to_string();
            text.push('\n');
        }
        Ok(fs_err::write(folder.join(format!("{session}.jsonl")), text)?)
    }

    pub(super) fn handover(&self, args: &[&str]) -> Result<Value> {
        let output = Command::new(&self.program)
            .args(args)
            .current_dir(&self.root)
            .env("HOME", &self.home)
            .env("XDG_CONFIG_HOME", self.home.join(".config"))
            .stderr(Stdio::inherit())
            .output()?;
        ensure!(output.status.success(), "handover {} failed", args.join(" "));
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("handover {}", args.join(" ")))
    }
}

/// A text without everything that quoting may change.
pub(super) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// An id in the form that Claude Code gives its conversations, the same in every run.
fn session_id(name: &str) -> String {
    let hex = blake3::hash(name.as_bytes()).to_hex();
    let part = |from: usize, to: usize| &hex[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

pub(super) fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = fs_err::read_to_string(path)?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}
