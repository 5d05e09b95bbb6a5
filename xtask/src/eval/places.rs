//! Where to look, against plain BM25 over file contents: for recent commits of real repositories, which files does
//! the message find at the parent commit?
//!
//! Each repository is cloned and checked out at the parent of one commit after the other, oldest first. The index is
//! updated, so it knows the history up to that parent and nothing later. What counts are the source files that the
//! commit changed and that existed before. Both rankings get the same message and the same files.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use handover_files::Folder;
use handover_knowledge::Git;
use handover_knowledge::places::{Checkout, Evidence, Index, Watch};
use handover_text::{Redactor, words};

/// Ends of names of source files, in any language that the repositories have.
const SOURCE: &[&str] = &[
    "c", "cc", "cpp", "cs", "go", "h", "hpp", "java", "js", "jsx", "kt", "lua", "mjs", "php", "py",
    "rb", "rs", "scala", "sh", "swift", "tcl", "ts", "tsx",
];
/// The number of places that count.
const AT: usize = 10;

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Git repositories, with their history
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// How many commits of each, the newest
    #[arg(long, default_value = "60")]
    commits: usize,
}

pub fn run(args: &Args) -> Result<()> {
    println!("repository\tcommits\tfiles\tBM25\tplaces\tdifference\tupdate ms\tquery ms");
    for folder in &args.folders {
        let mut trials = Trials::new(folder, args.commits)?;
        let (mut plain, mut ours, mut query) = (0.0, 0.0, Duration::ZERO);
        let (mut updates, mut files) = (Vec::new(), 0);
        while let Some(trial) = trials.next()? {
            updates.push(trial.update);
            let paths = trial.index.files();
            files = paths.len();
            plain += trial.recall(&trials.baseline.rank(&trials.root, &paths, &trial.message));
            let started = Instant::now();
            let index = Index::open(&Folder::of(&trials.root), &trials.root).context("no index")?;
            let places = index.places(&trial.message, &Evidence::default(), AT);
            query += started.elapsed();
            ours += trial.recall(&places.into_iter().map(|place| place.path).collect::<Vec<_>>());
        }
        let count = updates.len().max(1) as f64;
        updates.sort();
        let median = updates.get(updates.len() / 2).copied().unwrap_or_default();
        println!(
            "{}\t{}\t{files}\t{:.3}\t{:.3}\t{:+.3}\t{}\t{:.1}",
            folder.display(),
            updates.len(),
            plain / count,
            ours / count,
            (ours - plain) / count,
            median.as_millis(),
            query.as_secs_f64() * 1000.0 / count,
        );
    }
    Ok(())
}

/// The commits of one repository, played one after the other.
pub struct Trials {
    _scratch: tempfile::TempDir,
    pub root: PathBuf,
    /// Oldest last.
    commits: Vec<Commit>,
    pub baseline: Baseline,
}

struct Commit {
    parent: String,
    message: String,
    changed: Vec<String>,
}

/// One commit, with the index as it was before.
pub struct Trial {
    pub message: String,
    /// The files to find.
    changed: HashSet<String>,
    pub index: Index,
    pub update: Duration,
}

impl Trial {
    /// The share of changed files among the first.
    pub fn recall(&self, paths: &[String]) -> f64 {
        let found = paths.iter().take(AT).filter(|path| self.changed.contains(*path)).count();
        found as f64 / self.changed.len() as f64
    }
}

impl Trials {
    pub fn new(folder: &Path, count: usize) -> Result<Self> {
        let scratch = tempfile::tempdir()?;
        let root = fs_err::canonicalize(scratch.path())?.join("clone");
        let from = folder.to_str().context("the path is not UTF-8")?;
        git(scratch.path(), &["clone", "-q", "--shared", "--no-checkout", from, "clone"])?;
        let commits = choose(
            &git(
                &root,
                &[
                    "log",
                    "-z",
                    "--topo-order",
                    "--no-merges",
                    "-M",
                    "--name-status",
                    "--max-count=3000",
                    "--format=%x01%P%x00%B",
                    "HEAD",
                ],
            )?,
            count,
        );
        Ok(Self { _scratch: scratch, root, commits, baseline: Baseline::default() })
    }

    /// Moves on to the next commit that leaves something to find.
    pub fn next(&mut self) -> Result<Option<Trial>> {
        while let Some(commit) = self.commits.pop() {
            git(&self.root, &["checkout", "-q", "--detach", "-f", &commit.parent])?;
            let environment = std::env::vars_os();
            let repository = Git::open(&self.root, environment)?.context("no repository")?;
            let started = Instant::now();
            let project = Folder::of(&self.root);
            let redactor = Redactor::default();
            let checkout = Checkout { root: &self.root, git: &repository, redactor: &redactor };
            Index::update(&project, checkout, Watch::TO_THE_END)?;
            let update = started.elapsed();
            let index = Index::open(&project, &self.root).context("no index")?;
            let known: HashSet<String> = index.files().into_iter().collect();
            let changed: HashSet<String> =
                commit.changed.into_iter().filter(|path| known.contains(path)).collect();
            if !changed.is_empty() {
                return Ok(Some(Trial { message: commit.message, changed, index, update }));
            }
        }
        Ok(None)
    }
}

pub(super) fn is_source(path: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| SOURCE.contains(&end))
}

/// The newest commits that change one to ten source files which existed before.
fn choose(log: &str, count: usize) -> Vec<Commit> {
    let mut chosen = Vec::new();
    for record in log.split('\u{1}').skip(1) {
        let mut fields = record.split('\0');
        let (Some(parents), Some(message)) = (fields.next(), fields.next()) else { continue };
        let mut changed = Vec::new();
        while let Some(status) = fields.next() {
            let path = fields.next().unwrap_or_default();
            match status.trim_start().chars().next() {
                Some('M') => changed.push(path.to_owned()),
                // The former name existed.
                Some('R' | 'C') => {
                    changed.push(path.to_owned());
                    fields.next();
                }
                _ => {}
            }
        }
        changed.retain(|path| is_source(path));
        let message = strip(message);
        let alone = !parents.is_empty() && !parents.contains(' ');
        if alone && (1..=10).contains(&changed.len()) && words::terms(&message).len() >= 3 {
            chosen.push(Commit { parent: parents.to_owned(), message, changed });
        }
        if chosen.len() == count {
            break;
        }
    }
    chosen
}

/// A message without the lines that tools add, which are no task.
fn strip(message: &str) -> String {
    let tools = |line: &&str| {
        let line = line.to_ascii_lowercase();
        !["signed-off-by:", "co-authored-by:", "reviewed-by:", "acked-by:"]
            .iter()
            .any(|start| line.starts_with(start))
    };
    message.lines().filter(tools).collect::<Vec<_>>().join("\n").trim().to_owned()
}

pub(super) fn git(folder: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git").current_dir(folder).args(args).output()?;
    if !output.status.success() {
        bail!("git {}: {}", args.join(" "), String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// BM25 over file contents, with the usual constants. Files are split into terms once per version.
#[derive(Default)]
pub struct Baseline {
    files: HashMap<String, (Version, Counted)>,
}

/// Size and time of a file.
type Version = (u64, Option<std::time::SystemTime>);

struct Counted {
    length: f64,
    counts: HashMap<String, u32>,
}

impl Baseline {
    pub fn rank(&mut self, root: &Path, paths: &[String], query: &str) -> Vec<String> {
        for path in paths {
            let Ok(data) = fs_err::metadata(root.join(path)) else { continue };
            let version = (data.len(), data.modified().ok());
            if self.files.get(path).is_none_or(|(known, _)| *known != version) {
                let bytes = fs_err::read(root.join(path)).unwrap_or_default();
                let terms = words::terms(&String::from_utf8_lossy(&bytes));
                let mut counted = Counted { length: terms.len() as f64, counts: HashMap::new() };
                for term in terms {
                    *counted.counts.entry(term).or_default() += 1;
                }
                self.files.insert(path.clone(), (version, counted));
            }
        }
        let files: Vec<(&String, &Counted)> =
            paths.iter().filter_map(|path| Some((path, &self.files.get(path)?.1))).collect();
        let average =
            files.iter().map(|(_, file)| file.length).sum::<f64>() / files.len().max(1) as f64;
        let mut query = words::terms(query);
        query.sort();
        query.dedup();
        let mut scores = vec![0.0; files.len()];
        for term in &query {
            let with =
                files.iter().filter(|(_, file)| file.counts.contains_key(term)).count() as f64;
            let rarity = (1.0 + (files.len() as f64 - with + 0.5) / (with + 0.5)).ln();
            for ((_, file), score) in files.iter().zip(&mut scores) {
                let count = f64::from(file.counts.get(term).copied().unwrap_or(0));
                let length = 0.25 + 0.75 * file.length / average;
                *score += rarity * count * 2.2 / (count + 1.2 * length);
            }
        }
        let mut ranked: Vec<(f64, &String)> = scores
            .into_iter()
            .zip(files.iter().map(|(path, _)| *path))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        ranked.into_iter().take(AT).map(|(_, path)| path.clone()).collect()
    }
}
