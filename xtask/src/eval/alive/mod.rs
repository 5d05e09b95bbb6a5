//! What became of names: renames, deletions and reverts of real histories, against what git itself says.
//!
//! A text was written at an older commit and is shown at the newest one. `truth.rs` knows what became of the files,
//! symbols and commits that it could name, without Handover's code: trees and differences along the first parents,
//! words of the files, and patches that undo each other. Names that are still there, or never were, count as wrong
//! if anything is claimed about them.

mod truth;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use handover_files::Folder;
use handover_knowledge::Git;
use handover_knowledge::places::{Checkout, Index, Names, Watch};
use handover_model::StaleName;
use handover_text::Redactor;

use super::places::git;
use truth::{Became, Case, Kind};

/// Texts and names of a brief whose check is timed: more than any has.
const TEXTS: usize = 24;
const NAMES: usize = 3;
/// How many briefs are timed.
const ROUNDS: usize = 100;
/// How often each of them; the fastest counts, because the machine has other work.
const REPEATS: usize = 5;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Git repositories, with their history
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// The most cases of each kind in a repository
    #[arg(long, default_value = "200")]
    cases: usize,
    /// How many commits ago texts were written, along the first parents
    #[arg(long, value_delimiter = ',', default_value = "200,800,2500,8000")]
    ages: Vec<usize>,
    /// Print every case that went wrong
    #[arg(long)]
    wrong: bool,
}

/// How often names were judged rightly.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    /// All names, also those of which nothing must be claimed.
    names: usize,
    /// Cases in which something must be claimed.
    cases: usize,
    claimed: usize,
    right: usize,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.names += other.names;
        self.cases += other.cases;
        self.claimed += other.claimed;
        self.right += other.right;
    }

    fn line(&self) -> String {
        let share = |of: usize| {
            if of == 0 {
                "–".to_owned()
            } else {
                format!("{:.1} %", 100.0 * self.right as f64 / of as f64)
            }
        };
        let Self { names, cases, claimed, right } = *self;
        format!("{names}\t{cases}\t{claimed}\t{right}\t{}\t{}", share(claimed), share(cases))
    }
}

pub fn run(args: &Args) -> Result<()> {
    println!("repository\tkind\tnames\tcases\tclaimed\tright\tprecision\trecall");
    let mut all: BTreeMap<Kind, Tally> = BTreeMap::new();
    let mut times = Vec::new();
    for folder in &args.folders {
        let tallies = repository(folder, args, &mut times)?;
        for (kind, tally) in tallies {
            println!("{}\t{kind}\t{}", folder.display(), tally.line());
            all.entry(kind).or_default().add(tally);
        }
    }
    let mut sum = Tally::default();
    for (kind, tally) in &all {
        println!("all\t{kind}\t{}", tally.line());
        if !matches!(kind, Kind::Symbol) {
            sum.add(*tally);
        }
    }
    println!("all\tfiles and commits\t{}", sum.line());
    times.sort();
    let at =
        |share: f64| times.get((times.len() as f64 * share) as usize).copied().unwrap_or_default();
    println!(
        "a brief of {TEXTS} texts with {NAMES} names each: median {:?}, 99 % within {:?}, all within {:?}",
        at(0.5),
        at(0.99),
        times.last().copied().unwrap_or_default()
    );
    Ok(())
}

/// Judges the names of one repository.
fn repository(
    folder: &Path,
    args: &Args,
    times: &mut Vec<Duration>,
) -> Result<BTreeMap<Kind, Tally>> {
    let scratch = tempfile::tempdir()?;
    let root = fs_err::canonicalize(scratch.path())?.join("clone");
    let from = folder.to_str().context("the path is not UTF-8")?;
    git(scratch.path(), &["clone", "-q", "--shared", "--no-checkout", from, "clone"])?;
    let line = git(&root, &["rev-list", "--first-parent", "HEAD"])?;
    let line: Vec<&str> = line.lines().collect();
    let head = *line.first().context("no commits")?;
    let mut cases = truth::reverts(&root, head, args.cases)?;
    let each = args.cases.div_ceil(args.ages.len().max(1));
    let mut ages: Vec<usize> = args.ages.iter().map(|age| (*age).min(line.len() - 1)).collect();
    ages.sort_unstable();
    ages.dedup();
    // Oldest first, as a project lives. The index knows the symbols of then.
    for age in ages.into_iter().rev() {
        checkout(&root, line[age])?;
        cases.extend(truth::files(&root, line[age], head, each)?);
        cases.extend(truth::symbols(&root, line[age], head, each)?);
    }
    checkout(&root, head)?;
    // A file that is named at several ages counts once.
    let mut seen = HashSet::new();
    cases.retain(|case| seen.insert((case.kind, case.name.clone())));
    let mut tallies: BTreeMap<Kind, Tally> = BTreeMap::new();
    for case in &cases {
        // Each text is of a brief of its own.
        let names = open(&root)?;
        let text = case.text();
        let claimed = names.check(&text).stale.into_iter().find(|stale| stale.name() == case.name);
        let became = claimed.as_ref().map(became);
        let right = became == case.became;
        if args.wrong && !right {
            println!("wrong: {} {}: {became:?}, not {:?}", case.kind, case.name, case.became);
        }
        let tally = tallies.entry(case.kind).or_default();
        tally.names += 1;
        tally.cases += usize::from(case.became.is_some());
        tally.claimed += usize::from(became.is_some());
        tally.right += usize::from(right && became.is_some());
    }
    times.extend(timed(&root, &cases)?);
    Ok(tallies)
}

fn became(stale: &StaleName) -> Became {
    match stale {
        StaleName::Renamed { to, .. } => Became::Renamed(to.clone()),
        StaleName::Gone { .. } => Became::Gone,
        StaleName::Reverted { by, .. } => Became::Reverted(by.clone()),
    }
}

/// Checks out a commit and updates the index.
fn checkout(root: &Path, commit: &str) -> Result<()> {
    git(root, &["checkout", "-q", "--detach", "-f", commit])?;
    git(root, &["clean", "-qffdx", "-e", ".handover"])?;
    let repository = Git::open(root, std::env::vars_os())?.context("no repository")?;
    let redactor = Redactor::default();
    let checkout = Checkout { root, git: &repository, redactor: &redactor };
    Index::update(&Folder::of(root), checkout, Watch::TO_THE_END)?;
    Ok(())
}

fn open(root: &Path) -> Result<Names> {
    Ok(Names::new(Index::open(&Folder::of(root), root).context("no index")?))
}

/// How long it takes to open the index and check the names of one brief.
fn timed(root: &Path, cases: &[Case]) -> Result<Vec<Duration>> {
    let step = (cases.len() / (TEXTS * NAMES)).max(1);
    (0..ROUNDS)
        .map(|round| {
            let mut some = cases.iter().skip(round % step.max(1)).step_by(step);
            let texts: Vec<String> = (0..TEXTS)
                .map(|_| some.by_ref().take(NAMES).map(Case::text).collect::<Vec<_>>().join(" "))
                .collect();
            let mut fastest = Duration::MAX;
            for _ in 0..REPEATS {
                fastest = fastest.min(brief(root, &texts)?);
            }
            Ok(fastest)
        })
        .collect()
}

fn brief(root: &Path, texts: &[String]) -> Result<Duration> {
    let started = Instant::now();
    let names = open(root)?;
    // To rank it, to show it, and for the receipt.
    for text in texts {
        std::hint::black_box(names.check(text).gone());
        let shown = names.check(text).annotate(text);
        std::hint::black_box(names.check(&shown));
    }
    Ok(started.elapsed())
}
