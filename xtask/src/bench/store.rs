//! Queries on a growing store, and the cost of sharing it.

use std::time::{Duration, Instant};

use anyhow::Result;
use handover_model::SessionId;
use handover_store::PackageFilter;

use super::{Builds, Project, TABLE, TABLE_OF_BUILDS, compare};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session that is read
    #[arg(long, default_value = "10000")]
    session: usize,

    /// Packages in other sessions of the large store
    #[arg(long, default_value = "1000000")]
    others: usize,

    /// Runs per measurement
    #[arg(long, default_value = "30")]
    runs: usize,

    /// Measure a PostgreSQL database instead, and compare it with the embedded store
    #[arg(long, value_name = "URL")]
    store: Option<String>,

    #[command(flatten)]
    builds: Builds,
}

const QUERY: &str = "refresh token rotation after login timeout";

/// Builds both stores, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let url = args.store.as_deref();
    if let Some((other, this)) = args.builds.pair()? {
        eprintln!("filling two sessions with {} packages each", args.session);
        let other = Project::with_store(&other, folder.path().join("other"), url)?;
        other.fill("bench", args.session)?;
        let this = Project::with_store(&this, folder.path().join("this"), url)?;
        this.fill("bench", args.session)?;
        println!("{TABLE_OF_BUILDS}");
        for (what, words) in commands() {
            compare(args.runs, what, || other.handover(words), || this.handover(words))?;
        }
        return Ok(());
    }
    let handover = args.builds.this()?;
    let small = Project::with_store(&handover, folder.path().join("small"), url)?;
    eprintln!("filling a session with {} packages", args.session);
    small.fill("bench", args.session)?;
    let large = Project::with_store(&handover, folder.path().join("large"), url)?;
    large.fill("bench", args.session)?;
    eprintln!("filling other sessions with {} packages", args.others);
    for n in 0..args.others.div_ceil(1_000) {
        large.fill(&format!("other-{n}"), 1_000.min(args.others - n * 1_000))?;
    }
    println!("{TABLE}");

    match url {
        None => against_the_shell(args, &small)?,
        Some(_) => {
            let embedded = Project::new(&handover, folder.path().join("embedded"))?;
            embedded.fill("bench", args.session)?;
            against_each_other(args, &embedded, &small)?;
        }
    }
    compare(
        args.runs,
        "indexed query on an open store: small / large",
        || indexed_query(&small),
        || indexed_query(&large),
    )?;
    compare(
        args.runs,
        "fresh process with a full-text query: small / large",
        || small.handover(&SEARCH),
        || large.handover(&SEARCH),
    )?;
    let some = ["package", "list", "--session", "bench", "--limit", "20", "--json"];
    compare(
        args.runs,
        "fresh process with an indexed query: small / large",
        || small.handover(&some),
        || large.handover(&some),
    )
}

fn against_the_shell(args: &Args, project: &Project) -> Result<()> {
    compare(
        args.runs,
        "fresh process, whole listing: sqlite3 shell / handover",
        || project.sqlite3(LISTING),
        || project.handover(&LIST),
    )?;
    compare(
        args.runs,
        "fresh process that does nothing: sqlite3 shell / handover",
        || project.sqlite3("SELECT 1"),
        || project.handover(&["session", "list", "--json"]),
    )
}

fn against_each_other(args: &Args, embedded: &Project, shared: &Project) -> Result<()> {
    for (what, words) in commands() {
        compare(
            args.runs,
            &format!("{what}: embedded / shared"),
            || embedded.handover(words),
            || shared.handover(words),
        )?;
    }
    compare(
        args.runs,
        "indexed query on an open store: embedded / shared",
        || indexed_query(embedded),
        || indexed_query(shared),
    )
}

/// What a new process is asked to do, from nothing to a write.
fn commands() -> [(&'static str, &'static [&'static str]); 5] {
    [
        ("fresh process that does nothing", &["session", "list", "--json"]),
        ("fresh process, whole listing", &LIST),
        ("fresh process with a full-text query", &SEARCH),
        ("fresh process that assembles", &ASSEMBLE),
        ("fresh process that writes", &WRITE),
    ]
}

const LIST: [&str; 5] = ["package", "list", "--session", "bench", "--json"];
const SEARCH: [&str; 5] = ["search", QUERY, "--session", "bench", "--json"];
const ASSEMBLE: [&str; 7] =
    ["assemble", "--session", "bench", "--role", "developer", "--task", QUERY];
const WRITE: [&str; 9] =
    ["reasoning", "add", "--session", "bench", "--role", "developer", "--phase", "risks", "x"];

/// The query that `package list` runs, for the sqlite3 shell.
const LISTING: &str = "SELECT p.id, s.id, p.group_id, p.scope, p.kind, p.path, p.title, p.summary, \
    p.files, p.producer, p.priority, p.iteration, p.version, p.supersedes, p.superseded_by, \
    p.size_bytes, p.tokens, p.content_hash, p.created_at, \
    (SELECT json_group_array(role) FROM package_consumer c WHERE c.package = p.id) \
    FROM package p JOIN session s ON s.key = p.session \
    WHERE s.id = 'bench' AND p.superseded_by IS NULL ORDER BY p.created_at DESC, p.id DESC";

fn indexed_query(project: &Project) -> Result<Duration> {
    let store = project.store()?;
    let session = SessionId::new("bench")?;
    let filter = PackageFilter { limit: Some(20), ..PackageFilter::default() };
    store.packages(&session, &filter)?;
    let start = Instant::now();
    for _ in 0..100 {
        store.packages(&session, &filter)?;
    }
    Ok(start.elapsed() / 100)
}
