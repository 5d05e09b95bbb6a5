//! Time and size of the dashboard's pages over a large store, and how soon listeners hear of a change. Everything
//! is requested from the real service.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use handover_model::{
    EpicId, Form, ItemKind, LockOwner, Provided, ReceiptId, ReceiptItem, Role, RunId, Section,
    SessionId, Timestamp, Trust, Zone,
};
use handover_store::{
    LockClaim, NewJournalEntry, NewReceipt, NewRun, ReceiptStep, RunFilter, Store,
};
use handover_text::Redactor;

use super::serve::Listeners;
use super::service::Service;
use super::{Builds, Project, TABLE_OF_BUILDS, compare, median, run as runs};

/// How large, and how often.
#[derive(clap::Args)]
pub struct Args {
    /// Packages in the session
    #[arg(long, default_value = "100000")]
    packages: usize,

    /// Briefed agents
    #[arg(long, default_value = "10000")]
    briefs: usize,

    /// Runs of an epic
    #[arg(long, default_value = "50")]
    epics: usize,

    /// Requests per page
    #[arg(long, default_value = "30")]
    runs: usize,

    /// Connected event listeners
    #[arg(long, default_value = "200")]
    listeners: usize,

    #[command(flatten)]
    builds: Builds,
}

/// No page may be larger, or take longer.
const BYTES: usize = 200_000;
const SECONDS: f64 = 0.1;
/// Items of a brief.
const ITEMS: usize = 8;
/// Changes that listeners wait for, and how long at most.
const CHANGES: usize = 10;
const HEARD: f64 = 1.0;

/// Measures each page.
pub fn run(args: &Args) -> Result<()> {
    let folder = tempfile::tempdir()?;
    if let Some((other, this)) = args.builds.pair()? {
        let other = Dashboard::start(args, &other, &folder.path().join("other"))?;
        let this = Dashboard::start(args, &this, &folder.path().join("this"))?;
        println!("{TABLE_OF_BUILDS}");
        for (first, second) in other.pages()?.iter().zip(this.pages()?) {
            compare(args.runs, first, || other.time(first), || this.time(&second))?;
        }
        return Ok(());
    }
    let dashboard = Dashboard::start(args, &args.builds.this()?, &folder.path().join("this"))?;
    let typical = |path: &str| -> Result<f64> {
        dashboard.time(path)?;
        let mut times: Vec<Duration> =
            (0..args.runs).map(|_| dashboard.time(path)).collect::<Result<_>>()?;
        Ok(median(&mut times))
    };
    let alive = typical("/health")?;
    println!(
        "{} packages, {} briefs, {} runs; /health takes {:.2} ms\n",
        args.packages,
        args.briefs,
        args.epics,
        alive * 1e3
    );
    println!("| page | kB | ms | times /health |\n|---|---|---|---|");
    let (mut large, mut slow) = (Vec::new(), Vec::new());
    for path in dashboard.pages()? {
        let (time, size) = (typical(&path)?, dashboard.get(&path)?.len());
        println!("| {path} | {:.0} | {:.1} | {:.0} |", size as f64 / 1e3, time * 1e3, time / alive);
        slow.extend((time >= SECONDS).then(|| path.clone()));
        large.extend((size >= BYTES).then_some(path));
    }
    let heard = dashboard.heard(args.listeners);
    println!("\nTarget: every page under 100 ms and 200 kB; a change heard within a second.");
    ensure!(large.is_empty(), "too large: {}", large.join(", "));
    ensure!(slow.is_empty(), "too slow: {}", slow.join(", "));
    heard
}

/// A service over a large session with many briefs and runs.
struct Dashboard {
    project: Project,
    service: Service,
    agent: ureq::Agent,
}

impl Dashboard {
    fn start(args: &Args, handover: &Path, root: &Path) -> Result<Self> {
        let project = Project::new(handover, root.to_owned())?;
        eprintln!("filling a session with {} packages", args.packages);
        project.fill("s1", args.packages)?;
        let solution = [
            "error",
            "resolve",
            "--message",
            "connect ECONNREFUSED",
            "--solution",
            "start the database",
            "--quiet",
        ];
        project.handover(&solution)?;
        project.handover(&["note", "add", "Prices are in cents.", "--quiet"])?;
        let decision = ["reasoning", "add", "--role", "developer", "--phase", "decisions"];
        let said = ["One refresh at a time, behind a lock.", "--group", "login", "--quiet"];
        project.handover(&[&decision[..], &said[..]].concat())?;
        project.handover(&["strategy", "extract", "--group", "login", "--quiet"])?;
        // A real run, with real briefs; the others have its journal.
        runs::prepare(root, 4, 20)?;
        runs::run_epic_in(root, handover)?;
        match project.store() {
            Ok(store) => {
                eprintln!("adding {} briefs and {} runs", args.briefs, args.epics);
                brief(&*store, args)?;
                copy_runs(&*store, args.epics)?;
            }
            Err(error) => eprintln!("no briefs and runs: {error}"),
        }
        Ok(Self { service: Service::start(&project)?, project, agent: ureq::agent() })
    }

    fn get(&self, path: &str) -> Result<String> {
        let url = format!("http://{}{path}", self.service.address);
        let answer = self.agent.get(url).call();
        Ok(answer.with_context(|| path.to_owned())?.body_mut().read_to_string()?)
    }

    fn time(&self, path: &str) -> Result<Duration> {
        let start = Instant::now();
        self.get(path)?;
        Ok(start.elapsed())
    }

    /// The pages that are measured; the addresses of receipts and runs differ from store to store.
    fn pages(&self) -> Result<Vec<String>> {
        let first = |page: &str, prefix: &str| -> Result<String> {
            let page = self.get(page)?;
            let link = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let mut link = link.filter(|link| link.starts_with(prefix));
            Ok(link.next().with_context(|| format!("no {prefix}"))?.replace("&amp;", "&"))
        };
        let receipt = first("/sessions/s1/receipts", "/receipts/")?;
        let older = first("/sessions/s1/receipts?from=200", "/receipts/")?;
        let older_id = older.trim_start_matches("/receipts/");
        let run = first("/runs", "/runs/")?;
        let (story, step) =
            (first(&run, &format!("{run}/stories"))?, first(&run, &format!("{run}/steps"))?);
        let mut pages: Vec<String> = [
            "/",
            "/sessions",
            "/sessions/s1",
            "/sessions/s1?scale=time",
            "/sessions/s1/picture.svg",
            "/sessions/s1/packages",
            "/sessions/s1/packages?reach=nobody",
            "/sessions/s1/packages?role=developer&from=50000",
            "/sessions/s1/receipts",
            "/sessions/s1/receipts?sort=tokens",
            "/sessions/s1/receipts?from=9000",
            "/sessions/s1/reasoning",
            "/sessions/s1/report.html",
            "/packages/1",
            "/runs",
            "/runs?from=20",
            "/knowledge",
            "/knowledge?q=refresh+token",
            "/notes",
            "/errors",
            "/strategies",
            "/use",
            "/away",
            "/changes",
            "/search?q=refresh+token",
        ]
        .map(str::to_owned)
        .into();
        pages.push(format!("{receipt}?why=docs/s1/7.md"));
        pages.push(first("/errors", "/errors/")?);
        pages.push(first("/notes", "/notes/")?);
        pages.push(first("/strategies", "/strategies/")?);
        pages.push(format!("{receipt}/compare"));
        pages.push(format!("{receipt}/compare?with={older_id}"));
        pages.push(format!("{receipt}/report.html"));
        pages.push(receipt);
        pages.push(older);
        pages.push(format!("{run}/journal"));
        pages.push(format!("{run}/report.html"));
        pages.extend([run, story, step]);
        Ok(pages)
    }

    /// How long after a write the last listener has heard of it.
    fn heard(&self, listeners: usize) -> Result<()> {
        let listeners = Listeners::connect(&self.service, listeners)?;
        let write = ["reasoning", "add", "--role", "qa", "--phase", "risks", "x", "--quiet"];
        let mut waits = Vec::new();
        for _ in 0..CHANGES {
            let before = listeners.events();
            self.project.handover(&write)?;
            waits.push(listeners.wait(before + listeners.count())?);
        }
        let typical = median(&mut waits);
        let longest = waits.last().copied().unwrap_or_default().as_secs_f64();
        println!(
            "\n{} listeners: the last one hears of a change after {:.0} ms, at most {:.0} ms",
            listeners.count(),
            typical * 1e3,
            longest * 1e3
        );
        ensure!(longest < HEARD, "a change was heard after {longest:.2} s");
        Ok(())
    }
}

/// Adds receipts whose agents have ended, with packages of the session.
fn brief(store: &dyn Store, args: &Args) -> Result<()> {
    let redactor = Redactor::default();
    let session = SessionId::new("s1")?;
    let roles = ["developer", "qa_expert", "tech_lead", "requirements_engineer"];
    let start = store.session(&session)?.created_at.as_micros();
    for from in (0..args.briefs).step_by(500) {
        store.exclusively(&mut |store: &dyn Store| {
            (from..(from + 500).min(args.briefs)).try_for_each(|n| {
                let now = Timestamp::from_micros(start + n as i64 * 1_000_000);
                let new = receipt(&redactor, &session, roles[n % roles.len()], n, args, now);
                store.put_receipt(&new)?;
                let step = ReceiptStep::Delivered { host: None };
                store.advance_receipt(&new.id, &step, now)?;
                if n % 3 > 0 {
                    store.advance_receipt(&new.id, &ReceiptStep::Confirmed, now)?;
                }
                Ok(())
            })
        })?;
    }
    Ok(())
}

fn receipt(
    redactor: &Redactor,
    session: &SessionId,
    role: &str,
    n: usize,
    args: &Args,
    now: Timestamp,
) -> NewReceipt {
    let item = |nth: usize| ReceiptItem {
        kind: ItemKind::Package,
        id: ((n * 97 + nth * 31) % args.packages.max(1) + 1).to_string(),
        version: 1,
        form: Form::Short,
        score: 1.0 / (nth + 1) as f64,
        terms: [("task".to_owned(), 0.7), ("priority".to_owned(), 0.3)].into(),
        tokens: 60,
        read_at: None,
        outdated: None,
        used: None,
        trust: Trust::Agent,
        flags: Vec::new(),
        stale: Vec::new(),
    };
    let mut items: Vec<ReceiptItem> = (0..ITEMS).map(item).collect();
    items.dedup_by(|a, b| a.id == b.id);
    NewReceipt {
        id: ReceiptId::new(format!("r_{n:012}")).unwrap_or_else(|_| unreachable!("digits")),
        session: session.clone(),
        group: None,
        role: Role::new(role).unwrap_or_else(|_| unreachable!("a word")),
        iteration: (n / 4) as u32,
        model: None,
        tokenizer: "claude".to_owned(),
        zone: Zone::Normal,
        tokens: 900,
        prompt_hash: "0".repeat(64),
        sections: vec![Section { name: "packages".to_owned(), budget: 2_000, used: 900 }],
        items,
        left_out: Vec::new(),
        left_out_counts: [("over the budget".to_owned(), 40)].into(),
        redactions: [].into(),
        trimmed: Vec::new(),
        provided: Provided::default(),
        task: Some(redactor.clean("Refresh tokens in parallel, and keep the rotation.")),
        text: Some(redactor.clean(&"A line of the brief about tokens.\n".repeat(60))),
        claim: false,
        now,
    }
}

/// Starts runs that have the journal of the one that is there.
fn copy_runs(store: &dyn Store, count: usize) -> Result<()> {
    let filter = RunFilter { epic: None, limit: Some(1) };
    let run = store.runs(&filter)?.pop().context("no run")?;
    let redactor = Redactor::default();
    let journal = store.journal(&run.id, 1)?;
    let owner = LockOwner { host: "bench".to_owned(), pid: 1, started: None, boot: None };
    for n in 1..count {
        let id = RunId::new(format!("run_{n:06}"))?;
        let later = |time: Timestamp| Timestamp::from_micros(time.as_micros() + n as i64 * 1_000);
        let until = Timestamp::from_micros(run.updated_at.as_micros() + 60_000_000);
        let epic: EpicId = run.epic.clone();
        let claim =
            LockClaim { epic, owner: owner.clone(), until, over: None, now: run.updated_at };
        let fence = store.lock_epic(&claim)?;
        let (epic, session) = (run.epic.clone(), run.session.clone());
        store.start_run(
            &NewRun { id: id.clone(), epic, session, now: later(run.created_at) },
            fence,
        )?;
        store.exclusively(&mut |store: &dyn Store| {
            journal.iter().try_for_each(|entry| {
                let is_last = Some(entry.seq) == journal.last().map(|last| last.seq);
                let new = NewJournalEntry {
                    seq: entry.seq,
                    kind: entry.kind,
                    entry: redactor.clean_json(entry.entry.clone()),
                    state: is_last.then_some(run.state),
                    until,
                    now: later(entry.created_at),
                };
                store.append_journal(&id, &new, fence)
            })
        })?;
        store.unlock_epic(&run.epic, fence)?;
    }
    Ok(())
}
