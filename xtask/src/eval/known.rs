//! Whether what was decided is in the brief itself: decisions of earlier conversations and of commit messages.
//!
//! Plays the blind sets in `xtask/data/decisions/` with the real program: a clone of a public repository with
//! 1,500 commits, the conversations as transcripts of Claude Code, one `handover learn`, and then the brief of a
//! later task for each decision, in the medium tier. A decision counts if every one of its literal answers is in
//! the text, not as a pointer to it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::cargo;

/// What to play.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Git repository whose newest commits surround the decisions
    #[arg(long, value_name = "DIR")]
    history: PathBuf,

    /// Number of commits to keep of it
    #[arg(long, default_value = "1500")]
    commits: usize,

    /// Which decisions to play
    #[arg(long, value_enum, default_value = "first")]
    set: Set,

    /// Program to judge instead of a release build
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,

    /// Print the tasks whose decision is not in the brief
    #[arg(long)]
    missing: bool,

    /// Print the brief of one decision instead of figures
    #[arg(long, value_name = "ID")]
    show: Option<String>,

    /// Keep the project in this folder, to look at it afterwards
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
}

/// Sets of decisions. The second was written later, about other subjects, with tasks in partly other words.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Set {
    First,
    Second,
}

#[derive(Deserialize)]
struct Conversation {
    id: String,
    time: String,
    turns: Vec<Turn>,
    task: Option<String>,
    #[serde(default)]
    answer: Vec<String>,
}

#[derive(Deserialize)]
struct Turn {
    speaker: Speaker,
    text: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Speaker {
    Person,
    Agent,
}

#[derive(Deserialize)]
struct Commit {
    subject: String,
    body: String,
    files: Vec<String>,
    time: String,
    task: String,
    answer: Vec<String>,
}

/// A decision, and the later task whose brief must contain it.
struct Decision {
    id: String,
    task: String,
    answer: Vec<String>,
}

/// Plays both sets in one project and prints the share of decisions in the brief.
pub fn run(args: &Args) -> Result<()> {
    let program = match &args.program {
        Some(program) => fs_err::canonicalize(program)?,
        None => cargo::build_handover("release")?,
    };
    let data = Path::new(cargo::ROOT).join("xtask/data/decisions");
    let set = match args.set {
        Set::First => data.clone(),
        Set::Second => data.join("second"),
    };
    let conversations: Vec<Conversation> = lines(&set.join("conversations.jsonl"))?;
    let unrelated: Vec<Conversation> = lines(&data.join("unrelated.jsonl"))?;
    let commits: Vec<Commit> = lines(&set.join("commits.jsonl"))?;

    let temporary = tempfile::tempdir()?;
    let folder = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let project = Project::new(program, &folder)?;
    project.clone_history(&args.history, args.commits)?;
    for commit in &commits {
        project.commit(commit)?;
    }
    for conversation in conversations.iter().chain(&unrelated) {
        project.write_transcript(conversation)?;
    }
    project.handover(&["init", "--json"])?;
    project.handover(&["session", "new", "later", "--json"])?;
    let learned = project.handover(&["learn", "--json"])?;
    if args.show.is_none() {
        println!("{}\n", learned["learned"]);
        println!("| decisions in | tasks | in the brief | share | tokens |\n|---|---|---|---|---|");
    }
    let said = conversations
        .into_iter()
        .filter_map(|one| Some(Decision { id: one.id, task: one.task?, answer: one.answer }));
    project.judge("conversations", said.collect(), args)?;
    let recorded = commits.into_iter().enumerate().map(|(number, one)| Decision {
        id: format!("commit-{:02}", number + 1),
        task: one.task,
        answer: one.answer,
    });
    project.judge("commit messages", recorded.collect(), args)
}

/// A project with a home folder of its own.
struct Project {
    program: PathBuf,
    home: PathBuf,
    root: PathBuf,
}

impl Project {
    fn new(program: PathBuf, folder: &Path) -> Result<Self> {
        let (home, root) = (folder.join("home"), folder.join("project"));
        fs_err::create_dir_all(&home)?;
        Ok(Self { program, home, root })
    }

    fn clone_history(&self, repository: &Path, commits: usize) -> Result<()> {
        let url = format!("file://{}", fs_err::canonicalize(repository)?.display());
        let status = Command::new("git")
            .args(["clone", "--quiet", "--depth", &commits.to_string(), &url])
            .arg(&self.root)
            .status()?;
        ensure!(status.success(), "cloning {} failed", repository.display());
        Ok(())
    }

    /// Commits a line in each file, with the message and at the time of the set.
    fn commit(&self, commit: &Commit) -> Result<()> {
        for file in &commit.files {
            let path = self.root.join(file);
            if let Some(parent) = path.parent() {
                fs_err::create_dir_all(parent)?;
            }
            let before = fs_err::read_to_string(&path).unwrap_or_default();
            fs_err::write(&path, format!("{before}{}\n", commit.time))?;
        }
        let message = format!("{}\n\n{}\n", commit.subject, commit.body);
        self.git(&["add", "--all", "--force"], commit)?;
        self.git(&["commit", "--quiet", "--message", &message], commit)
    }

    fn git(&self, args: &[&str], commit: &Commit) -> Result<()> {
        let status = Command::new("git")
            .current_dir(&self.root)
            .args(["-c", "user.name=Robin", "-c", "user.email=robin@example.org"])
            .args(["-c", "commit.gpgsign=false"])
            .args(args)
            .env("GIT_AUTHOR_DATE", &commit.time)
            .env("GIT_COMMITTER_DATE", &commit.time)
            .status()?;
        ensure!(status.success(), "git {} failed for `{}`", args[0], commit.subject);
        Ok(())
    }

    /// Writes a conversation where Claude Code keeps those of this project.
    fn write_transcript(&self, conversation: &Conversation) -> Result<()> {
        let cwd = fs_err::canonicalize(&self.root)?;
        let slug: String = cwd
            .to_string_lossy()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
            .collect();
        let folder = self.home.join(".claude/projects").join(slug);
        fs_err::create_dir_all(&folder)?;
        let session = session_id(&conversation.id);
        let mut text = String::new();
        for (number, turn) in conversation.turns.iter().enumerate() {
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
                "uuid": session_id(&format!("{session}{number}")), "timestamp": conversation.time,
            });
            text += &line.to_string();
            text.push('\n');
        }
        Ok(fs_err::write(folder.join(format!("{session}.jsonl")), text)?)
    }

    fn handover(&self, args: &[&str]) -> Result<Value> {
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

    fn judge(&self, set: &str, decisions: Vec<Decision>, args: &Args) -> Result<()> {
        let (mut found, mut tokens, count) = (0_usize, 0, decisions.len());
        let mut missing = Vec::new();
        for decision in decisions {
            if args.show.as_ref().is_some_and(|id| *id != decision.id) {
                continue;
            }
            let brief = self.handover(&[
                "brief",
                "--role",
                "developer",
                "--task",
                &decision.task,
                "--json",
            ])?;
            let text = brief["text"].as_str().context("a brief without text")?;
            if args.show.is_some() {
                println!("{text}\n\nwanted: {:?}", decision.answer);
            }
            let sections = &brief["sections"];
            tokens += sections["context"].as_u64().unwrap_or(0)
                + sections["specialization"].as_u64().unwrap_or(0);
            let letters_of_brief = letters(text);
            match decision.answer.iter().all(|answer| letters_of_brief.contains(&letters(answer))) {
                true => found += 1,
                false => missing.push(decision),
            }
        }
        if args.show.is_none() {
            let n = count.max(1) as f64;
            println!(
                "| {set} | {count} | {found} | {:.2} | {:.0} |",
                found as f64 / n,
                tokens as f64 / n
            );
        }
        for decision in missing.iter().filter(|_| args.missing) {
            println!("  {}: {} -> {:?}", decision.id, decision.task, decision.answer);
        }
        Ok(())
    }
}

/// A text without everything that quoting may change.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// An id in the form that Claude Code gives its conversations, the same in every run.
fn session_id(name: &str) -> String {
    let hex = blake3::hash(name.as_bytes()).to_hex();
    let part = |from: usize, to: usize| &hex[from..to];
    [part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-")
}

fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<T>> {
    let text = fs_err::read_to_string(path)?;
    let parse = |(number, line): (usize, &str)| {
        serde_json::from_str(line).with_context(|| format!("{}:{}", path.display(), number + 1))
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(parse).collect()
}
