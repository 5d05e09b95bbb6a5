//! Benchmarks, as ratios within one run: machines are noisy, and a number of milliseconds says
//! little about another machine.

pub mod assemble;
pub mod hook;
pub mod run;
pub mod serve;
pub mod store;
pub mod web;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use handover_context::package_file::content_hash;
use handover_model::{PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp};
use handover_store::{NewPackage, NewSession, Store, Supersede};
use handover_text::{CleanJson, Redactor};

use crate::place::Place;

/// What agents are asked to do, with words that some packages have.
const TASK: &str = "Refresh tokens in parallel\n\
    Two refreshes at once sign the user out after a login timeout. Keep the rotation, hold a lock in the \
    session cache, and add a test with word35, word136 and word2202.";

fn build() -> Result<PathBuf> {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--release", "--package", "handover-cli"])
        .status()?;
    ensure!(status.success(), "the release build failed");
    Ok(fs_err::canonicalize("target/release/handover")?)
}

/// Runs both in turn, so that noise hits both, and prints medians and their ratio.
fn compare(
    runs: usize,
    what: &str,
    first: impl Fn() -> Result<Duration>,
    second: impl Fn() -> Result<Duration>,
) -> Result<()> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    first()?;
    second()?;
    for _ in 0..runs {
        a.push(first()?);
        b.push(second()?);
    }
    let (a, b) = (median(&mut a), median(&mut b));
    println!("| {what} | {:.2} | {:.2} | {:.2} |", a * 1e3, b * 1e3, b / a);
    Ok(())
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

struct Project {
    root: PathBuf,
    handover: PathBuf,
    place: Place,
}

impl Project {
    fn new(handover: &Path, root: PathBuf) -> Result<Self> {
        Self::with_store(handover, root, None)
    }

    /// The same with its records in a database, if a URL is given.
    fn with_store(handover: &Path, root: PathBuf, url: Option<&str>) -> Result<Self> {
        fs_err::create_dir_all(&root)?;
        let place = Place::new(&root.join(".handover/store.db"), url)?;
        let project = Self { root, handover: handover.to_owned(), place };
        project.handover(&["init", "--quiet"])?;
        Ok(project)
    }

    fn store(&self) -> Result<Box<dyn Store>> {
        self.place.open()
    }

    fn handover(&self, args: &[&str]) -> Result<Duration> {
        time(self.place.tell(Command::new(&self.handover).args(args).current_dir(&self.root)))
    }

    fn sqlite3(&self, sql: &str) -> Result<Duration> {
        let path = self.root.join(".handover/store.db");
        time(Command::new("sqlite3").arg(path).arg(sql)).context("is the sqlite3 shell installed?")
    }

    fn fill(&self, session: &str, count: usize) -> Result<()> {
        let store = self.store()?;
        let session = SessionId::new(session)?;
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let project = ProjectId::new("bench")?;
        let metadata = CleanJson::default();
        store.open_session(&NewSession { id: session.clone(), project, metadata, now })?;
        let redactor = Redactor::default();
        let docs = self.root.join(format!("docs/{session}"));
        fs_err::create_dir_all(&docs)?;
        let mut words = Words::new();
        let packages: Vec<NewPackage> = (0..count)
            .map(|n| {
                let body = words.text(60);
                fs_err::write(docs.join(format!("{n}.md")), &body)?;
                Ok(NewPackage {
                    session: session.clone(),
                    group: None,
                    scope: Scope::Global,
                    kind: PackageKind::Research,
                    path: format!("docs/{session}/{n}.md"),
                    title: Some(redactor.clean(&words.text(5))),
                    summary: redactor.clean(&words.text(20)),
                    files: Vec::new(),
                    size_bytes: body.len() as u64,
                    tokens: 80,
                    content_hash: content_hash(body.as_bytes()),
                    body: redactor.clean(&body),
                    producer: Role::new("developer")?,
                    consumers: vec![Role::new("developer")?, Role::new("qa_expert")?],
                    priority: Priority::Medium,
                    iteration: None,
                    supersede: Supersede::SamePath,
                    created_at: Timestamp::from_micros(now.as_micros() + n as i64),
                })
            })
            .collect::<Result<_>>()?;
        for chunk in packages.chunks(1_000) {
            store.register_packages(chunk)?;
        }
        Ok(())
    }
}

fn time(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(start.elapsed())
}

/// Text with few frequent and many rare words, as texts have, the same at every run.
struct Words {
    seed: u64,
}

impl Words {
    const FREQUENT: [&'static str; 8] =
        ["token", "login", "timeout", "cache", "session", "refresh", "rotation", "database"];

    fn new() -> Self {
        Self { seed: 0x9E37_79B9_7F4A_7C15 }
    }

    fn text(&mut self, count: usize) -> String {
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn word(&mut self) -> String {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let share = (self.seed % 1_000_000) as f64 / 1e6;
        let rank = 20_000_f64.powf(share) as usize;
        match Self::FREQUENT.get(rank / 12) {
            Some(word) if rank.is_multiple_of(12) => (*word).to_owned(),
            _ => format!("word{rank}"),
        }
    }
}
