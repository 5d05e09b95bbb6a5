//! `cargo xtask eval screen PATH…`: recall of the screen on injections, and false alarms on ordinary text.
//!
//! A file holds one JSON object per line (`text`, `label`: `positive` or `negative`, `source`). A folder is a git
//! repository: the sections of its tracked documents and its commit messages are ordinary text.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use handover_text::screen::{Screened, screen};
use serde::Deserialize;

/// How many commits of a repository are read, newest first.
const COMMITS: &str = "6000";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Labeled texts as JSONL, or git repositories
    #[arg(required = true)]
    paths: Vec<PathBuf>,
    /// List the injections that are not found
    #[arg(long)]
    misses: bool,
    /// List the ordinary texts that are flagged
    #[arg(long)]
    alarms: bool,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    label: Label,
    source: String,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Label {
    Positive,
    Negative,
}

#[derive(Default)]
struct Tally {
    flagged: u32,
    all: u32,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut tallies: BTreeMap<(Label, String), Tally> = BTreeMap::new();
    let (mut bytes, mut time) = (0, Duration::ZERO);
    for path in &args.paths {
        let cases = if path.is_dir() { repository(path)? } else { labelled(path)? };
        for case in cases {
            let started = Instant::now();
            let screened = screen(&case.text);
            time += started.elapsed();
            bytes += case.text.len();
            let flagged = !screened.is_clean();
            match case.label {
                Label::Positive if args.misses && !flagged => {
                    println!("miss  {}", start(&case.text, 0))
                }
                Label::Negative if args.alarms && flagged => {
                    println!("alarm {}", shown(&case, &screened))
                }
                Label::Positive | Label::Negative => {}
            }
            let tally = tallies.entry((case.label, case.source)).or_default();
            tally.all += 1;
            tally.flagged += u32::from(flagged);
        }
    }
    for ((label, source), Tally { flagged, all }) in &tallies {
        let what = match label {
            Label::Positive => "found  ",
            Label::Negative => "flagged",
        };
        let percent = 100.0 * f64::from(*flagged) / f64::from(*all);
        println!("{what} {flagged:>6} of {all:>6} ({percent:6.2} %)  {source}");
    }
    println!("{:.1} MB/s", bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9));
    Ok(())
}

fn labelled(path: &Path) -> anyhow::Result<Vec<Case>> {
    let file = fs_err::File::open(path)?;
    let lines = std::io::BufReader::new(file).lines();
    lines.map(|line| serde_json::from_str(&line?).context("a labeled text")).collect()
}

/// The documents and commit messages of a repository, as ordinary text.
fn repository(path: &Path) -> anyhow::Result<Vec<Case>> {
    let git = |arguments: &[&str]| -> anyhow::Result<String> {
        let output = Command::new("git").arg("-C").arg(path).args(arguments).output()?;
        anyhow::ensure!(output.status.success(), "git {arguments:?} failed in {}", path.display());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let name = path.display().to_string();
    let case = |text: &str, what: &str| Case {
        text: text.to_owned(),
        label: Label::Negative,
        source: format!("{what} of {name}"),
    };
    let mut cases = Vec::new();
    for file in git(&["ls-tree", "-r", "--name-only", "HEAD"])?.lines() {
        if [".md", ".rst", ".adoc"].iter().any(|end| file.ends_with(end)) {
            let text = git(&["show", &format!("HEAD:{file}")])?;
            let sections = text.split("\n#").filter(|section| !section.trim().is_empty());
            cases.extend(sections.map(|section| case(section, "documents")));
        }
    }
    let log = git(&["log", "--format=%B%x00", "-n", COMMITS])?;
    let messages = log.split('\0').map(str::trim).filter(|message| !message.is_empty());
    cases.extend(messages.map(|message| case(message, "commits")));
    Ok(cases)
}

/// A flagged text: by which rules, and where.
fn shown(case: &Case, screened: &Screened) -> String {
    let rules: Vec<&str> = screened.found.iter().map(|found| found.rule).collect();
    let at = screened.found.first().map_or(0, |found| found.start);
    format!("{} {}", rules.join(" "), start(&case.text, at.saturating_sub(60)))
}

fn start(text: &str, from: usize) -> String {
    let from = (0..=from).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text[from..].replace('\n', " ").chars().take(200).collect()
}
