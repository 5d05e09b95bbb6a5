//! Time and memory of `handover assemble`, which every spawn waits for.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use handover_context::assemble::{Assembly, ContextRequest, Sources, compose};
use handover_context::learning::Binding;
use handover_model::config::AssemblyConfig;
use handover_model::{ReceiptId, Role, SessionId, Timestamp};
use handover_store::{NewReceipt, Store};
use handover_text::{Redactor, words};

use super::{Builds, Project, TABLE, TABLE_OF_BUILDS, TASK, compare, time};

/// What to measure.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "10000")]
    packages: usize,

    /// Packages in the large session
    #[arg(long, default_value = "100000")]
    large: usize,

    /// Receipts of the same role in the long-used session
    #[arg(long, default_value = "10000")]
    receipts: usize,

    /// Runs per measurement
    #[arg(long, default_value = "30")]
    runs: usize,

    #[command(flatten)]
    builds: Builds,
}

const ASSEMBLE: [&str; 7] =
    ["assemble", "--session", "bench", "--role", "developer", "--task", TASK];
const BRIEF: [&str; 7] = ["brief", "--session", "bench", "--role", "developer", "--task", TASK];

/// Fills the sessions, measures, prints.
pub fn run(args: &Args) -> Result<()> {
    if let Some((other, this)) = args.builds.pair()? {
        return compare_builds(args, &other, &this);
    }
    let handover = args.builds.this()?;
    let folder = tempfile::tempdir()?;
    eprintln!("filling a session with {} packages", args.packages);
    let usual = Project::filled(&handover, folder.path().join("usual"), args.packages)?;
    eprintln!("filling a session with {} packages", args.large);
    let large = Project::filled(&handover, folder.path().join("large"), args.large)?;
    let worn = Project::filled(&handover, folder.path().join("worn"), args.packages)?;
    eprintln!("adding {} receipts to another one", args.receipts);
    add_receipts(&worn, args.receipts)?;

    let of = |project: &Project| project.handover(&ASSEMBLE);
    let (small_peak, large_peak) = (peak(&usual)?, peak(&large)?);
    println!("{TABLE}");
    let runs = args.runs;
    let python =
        || time(Command::new("python3").args(["-c", "pass"])).context("is python3 installed?");
    compare(runs, "a Python interpreter that does nothing / fresh `assemble`", python, || {
        of(&usual)
    })?;
    let queries = bare_queries();
    let shell = || usual.sqlite3(&queries);
    compare(runs, "sqlite3 shell with the bare queries / fresh `assemble`", shell, || of(&usual))?;
    let without = &ASSEMBLE[..5];
    compare(runs, "`assemble` with a task / without", || of(&usual), || usual.handover(without))?;
    compare(runs, "fresh `assemble` / fresh `brief`", || of(&usual), || usual.handover(&BRIEF))?;
    compare(runs, "fresh `assemble` / in a process that is warm", || of(&usual), || warm(&usual))?;
    compare(runs, "fresh `assemble`: session / large session", || of(&usual), || of(&large))?;
    compare(runs, "fresh `assemble`: few receipts / many", || of(&usual), || of(&worn))?;
    print_peaks(small_peak, large_peak);
    Ok(())
}

/// The commands a spawn waits for, in both builds.
fn compare_builds(args: &Args, other: &Path, this: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    eprintln!("filling two sessions with {} packages each", args.packages);
    let other = Project::filled(other, folder.path().join("other"), args.packages)?;
    let this = Project::filled(this, folder.path().join("this"), args.packages)?;
    println!("{TABLE_OF_BUILDS}");
    for (what, words) in [
        ("a process that does nothing", &["--version"][..]),
        ("the list of commands", &["--help"]),
        ("the help of a command", &["package", "add", "--help"]),
        ("`assemble`", &ASSEMBLE),
        ("`assemble` without a task", &ASSEMBLE[..5]),
        ("`brief`", &BRIEF),
    ] {
        compare(args.runs, what, || other.handover(words), || this.handover(words))?;
    }
    eprintln!("learning what is in them");
    other.learn()?;
    this.learn()?;
    for (what, words) in [
        ("`assemble` with notes and places", &ASSEMBLE[..]),
        ("`brief` with notes and places", &BRIEF),
    ] {
        compare(args.runs, what, || other.handover(words), || this.handover(words))?;
    }
    print_peaks(peak(&other)?, peak(&this)?);
    Ok(())
}

fn print_peaks(first: f64, second: f64) {
    println!(
        "\npeak memory of `assemble`: {:.1} MB / {:.1} MB, ratio {:.2}",
        first / 1024.0,
        second / 1024.0,
        second / first
    );
}

/// The queries of an assembly, for the sqlite3 shell.
fn bare_queries() -> String {
    let session = "(SELECT key FROM session WHERE id = 'bench')";
    let terms: Vec<String> = words::terms(TASK).iter().map(|term| format!("'{term}'")).collect();
    format!(
        "SELECT * FROM session WHERE id = 'bench';
         SELECT sheet, candidates FROM candidate_sheet WHERE session = {session} ORDER BY sheet;
         SELECT page, postings FROM posting_page WHERE session = {session} AND term IN ({});
         SELECT p.*, (SELECT json_group_array(role) FROM package_consumer c WHERE c.package = p.id)
            FROM package p WHERE p.id IN (1, 500, 5000);
         SELECT * FROM error_pattern WHERE project = 'bench';
         SELECT * FROM strategy WHERE project = 'bench' LIMIT 3;",
        terms.join(", ")
    )
}

/// The same work on an open store.
fn warm(project: &Project) -> Result<Duration> {
    const TIMES: u32 = 100;
    let (store, request) = (project.store()?, request()?);
    // As one transaction, like every assembly.
    let assemble = || store.reading(|store| assemble(store, &request));
    assemble()?;
    let start = Instant::now();
    for _ in 0..TIMES {
        assemble()?;
    }
    Ok(start.elapsed() / TIMES)
}

/// Adds receipts like those of a session used for weeks.
fn add_receipts(project: &Project, receipts: usize) -> Result<()> {
    let store = project.store()?;
    let receipt = assemble(&*store, &request()?)?.receipt;
    for n in 0..receipts {
        let id = ReceiptId::new(format!("r_bench{n}"))?;
        store.put_receipt(&NewReceipt { id, ..receipt.clone() })?;
    }
    Ok(())
}

fn assemble(store: &dyn Store, request: &ContextRequest) -> handover_store::Result<Assembly> {
    let (redactor, config) = (Redactor::default(), AssemblyConfig::default());
    let binding = &Binding::default;
    let sources = Sources {
        store,
        redactor: &redactor,
        config: &config,
        where_to_look: &|_| Vec::new(),
        fresh: &handover_context::assemble::Unchecked,
        notes: true,
        binding,
        places: None,
    };
    compose(sources, request)
}

fn request() -> Result<ContextRequest> {
    Ok(ContextRequest {
        session: SessionId::new("bench")?,
        role: Role::new("developer")?,
        group: None,
        task: Some(TASK.to_owned()),
        model: None,
        current_tokens: 0,
        iteration: 0,
        reasoning: None,
        reasoning_level: None,
        limit: None,
        cap: None,
        loaded: Vec::new(),
        claim: false,
        explain: false,
        receipt: ReceiptId::new("r_bench")?,
        now: Timestamp::from_micros(1_700_000_000_000_000),
    })
}

/// The peak memory of the program, in kilobytes. Python, which is needed here anyway, can report it for a
/// single child process.
fn peak(project: &Project) -> Result<f64> {
    const ASK: &str = "import resource, subprocess, sys; \
        subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); \
        print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
    let output = Command::new("python3")
        .args(["-c", ASK])
        .arg(&project.handover)
        .args(ASSEMBLE)
        .current_dir(&project.root)
        .output()?;
    Ok(String::from_utf8(output.stdout)?.trim().parse()?)
}
