//! How the embedded store behaves as it grows, as ratios within one run: machines are noisy, and a
//! number of milliseconds says little about another machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use handover_model::{PackageKind, Priority, ProjectId, Role, Scope, SessionId, Timestamp};
use handover_sqlite::SqliteStore;
use handover_store::{NewPackage, NewSession, PackageFilter, Packages, Sessions, Supersede};
use handover_text::{CleanJson, Redactor};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session that is looked at
    #[arg(long, default_value = "10000")]
    session: usize,

    /// Packages in other sessions of the large store
    #[arg(long, default_value = "1000000")]
    others: usize,

    /// How often each thing is run
    #[arg(long, default_value = "30")]
    runs: usize,
}

const QUERY: &str = "refresh token rotation after login timeout";

/// Builds both stores, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    let handover = build()?;
    let folder = tempfile::tempdir()?;
    let small = Project::new(&handover, folder.path().join("small"))?;
    eprintln!("filling a session with {} packages", args.session);
    small.fill("bench", args.session)?;
    let large = Project::new(&handover, folder.path().join("large"))?;
    large.fill("bench", args.session)?;
    eprintln!("filling other sessions with {} packages", args.others);
    for n in 0..args.others.div_ceil(1_000) {
        large.fill(&format!("other-{n}"), 1_000.min(args.others - n * 1_000))?;
    }
    println!("| what | first (ms) | second (ms) | ratio |\n|---|---|---|---|");

    let list = ["package", "list", "--session", "bench", "--json"];
    compare(
        args.runs,
        "fresh process, whole listing: sqlite3 shell / handover",
        || small.sqlite3(LISTING),
        || small.handover(&list),
    )?;
    compare(
        args.runs,
        "fresh process that does nothing: sqlite3 shell / handover",
        || small.sqlite3("SELECT 1"),
        || small.handover(&["session", "list", "--json"]),
    )?;
    compare(
        args.runs,
        "indexed query on an open store: small / large",
        || small.indexed_query(),
        || large.indexed_query(),
    )?;
    let search = ["search", QUERY, "--session", "bench", "--json"];
    compare(
        args.runs,
        "fresh process with a full-text query: small / large",
        || small.handover(&search),
        || large.handover(&search),
    )?;
    let some = ["package", "list", "--session", "bench", "--limit", "20", "--json"];
    compare(
        args.runs,
        "fresh process with an indexed query: small / large",
        || small.handover(&some),
        || large.handover(&some),
    )
}

/// The query that `package list` runs, as the shell gets it.
const LISTING: &str = "SELECT p.id, s.id, p.group_id, p.scope, p.kind, p.path, p.title, p.summary, \
    p.files, p.producer, p.priority, p.iteration, p.version, p.supersedes, p.superseded_by, \
    p.size_bytes, p.tokens, p.content_hash, p.created_at, \
    (SELECT json_group_array(role) FROM package_consumer c WHERE c.package = p.id) \
    FROM package p JOIN session s ON s.key = p.session \
    WHERE s.id = 'bench' AND p.superseded_by IS NULL ORDER BY p.created_at DESC, p.id DESC";

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
}

impl Project {
    fn new(handover: &Path, root: PathBuf) -> Result<Self> {
        fs_err::create_dir_all(&root)?;
        let project = Self { root, handover: handover.to_owned() };
        project.handover(&["init", "--quiet"])?;
        Ok(project)
    }

    fn store(&self) -> Result<SqliteStore> {
        Ok(SqliteStore::open(&self.root.join(".handover/store.db"))?)
    }

    fn handover(&self, args: &[&str]) -> Result<Duration> {
        time(Command::new(&self.handover).args(args).current_dir(&self.root))
    }

    fn sqlite3(&self, sql: &str) -> Result<Duration> {
        let path = self.root.join(".handover/store.db");
        time(Command::new("sqlite3").arg(path).arg(sql)).context("is the sqlite3 shell installed?")
    }

    fn indexed_query(&self) -> Result<Duration> {
        let store = self.store()?;
        let session = SessionId::new("bench")?;
        let filter = PackageFilter { limit: Some(20), ..PackageFilter::default() };
        store.packages(&session, &filter)?;
        let start = Instant::now();
        for _ in 0..100 {
            store.packages(&session, &filter)?;
        }
        Ok(start.elapsed() / 100)
    }

    fn fill(&self, session: &str, count: usize) -> Result<()> {
        let store = self.store()?;
        let session = SessionId::new(session)?;
        let now = Timestamp::from_micros(1_700_000_000_000_000);
        let project = ProjectId::new("bench")?;
        let metadata = CleanJson::default();
        store.open_session(&NewSession { id: session.clone(), project, metadata, now })?;
        let redactor = Redactor::default();
        let mut words = Words::new();
        let packages: Vec<NewPackage> = (0..count)
            .map(|n| {
                let body = words.text(60);
                Ok(NewPackage {
                    session: session.clone(),
                    group: None,
                    scope: Scope::Global,
                    kind: PackageKind::Research,
                    path: format!("docs/{n}.md"),
                    title: Some(redactor.clean(&words.text(5))),
                    summary: redactor.clean(&words.text(20)),
                    files: Vec::new(),
                    size_bytes: body.len() as u64,
                    tokens: 80,
                    content_hash: format!("{n:064x}"),
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
