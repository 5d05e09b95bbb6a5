//! Whether what was decided is in the brief itself: decisions of earlier conversations and of commit messages.
//!
//! Plays the blind sets in `xtask/data/decisions/` with the real program: a clone of a public repository with
//! 1,500 commits, the conversations as transcripts of Claude Code, one `handover learn`, and then the brief of a
//! later task for each decision, in the medium tier. A decision counts if every one of its literal answers is in
//! the text, not as a pointer to it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::project::{Project, Turn, letters, lines};
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

/// Sets of decisions. The others were written later, about other subjects, with tasks in partly other words.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Set {
    First,
    Second,
    Third,
    Fourth,
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
        Set::Third => data.join("third"),
        Set::Fourth => data.join("fourth"),
    };
    let conversations: Vec<Conversation> = lines(&set.join("conversations.jsonl"))?;
    let unrelated: Vec<Conversation> = lines(&data.join("unrelated.jsonl"))?;
    let commits: Vec<Commit> = lines(&set.join("commits.jsonl"))?;

    let temporary = tempfile::tempdir()?;
    let folder = args.keep.clone().unwrap_or_else(|| temporary.path().to_owned());
    let project = Project::new(program, &folder)?;
    project.clone_history(&args.history, args.commits)?;
    for commit in &commits {
        play(&project, commit)?;
    }
    for conversation in conversations.iter().chain(&unrelated) {
        let Conversation { id, time, turns, .. } = conversation;
        project.write_transcript(id, time, turns)?;
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
    judge(&project, "conversations", said.collect(), args)?;
    let recorded = commits.into_iter().enumerate().map(|(number, one)| Decision {
        id: format!("commit-{:02}", number + 1),
        task: one.task,
        answer: one.answer,
    });
    judge(&project, "commit messages", recorded.collect(), args)
}

/// Commits a line in each file, with the message and at the time of the set.
fn play(project: &Project, commit: &Commit) -> Result<()> {
    for file in &commit.files {
        let before = fs_err::read_to_string(project.root.join(file)).unwrap_or_default();
        project.write(file, &format!("{before}{}\n", commit.time))?;
    }
    project.commit_all(&format!("{}\n\n{}\n", commit.subject, commit.body), &commit.time)
}

/// Judges the briefs of a set of decisions.
fn judge(project: &Project, set: &str, decisions: Vec<Decision>, args: &Args) -> Result<()> {
    let (mut found, mut tokens, count) = (0_usize, 0, decisions.len());
    let mut missing = Vec::new();
    for decision in decisions {
        if args.show.as_ref().is_some_and(|id| *id != decision.id) {
            continue;
        }
        let brief = project.handover(&[
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
