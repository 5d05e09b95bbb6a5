//! Time and size of the dashboard's pages over a large store, and how soon open pages show a change. Everything is
//! requested from the real service.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use handover_model::{
    EpicId, Form, ItemKind, JournalEntry, JournalKind, LockOwner, Provided, ReceiptId, ReceiptItem,
    Role, RunId, RunState, Section, SessionId, Timestamp, Trust, Zone,
};
use handover_store::{
    LockClaim, NewJournalEntry, NewReceipt, NewRun, ReceiptStep, RunFilter, Store,
};
use handover_text::Redactor;
use serde_json::json;

use super::service::Service;
use super::viewers::Viewers;
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

    /// Browsers with an open page
    #[arg(long, default_value = "200")]
    viewers: usize,

    #[command(flatten)]
    builds: Builds,
}

/// No page may be larger, or take longer.
const BYTES: usize = 200_000;
const SECONDS: f64 = 0.1;
/// Items of a brief.
const ITEMS: usize = 8;
/// Changes that open pages wait for, and how long at most.
const CHANGES: usize = 10;
const SHOWN: f64 = 1.0;
/// Bytes of the log of an agent that said a lot.
const LOG: usize = 1 << 20;

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
    let live = dashboard.shows_changes(args.viewers);
    println!(
        "\nTarget: every page under 100 ms and 200 kB; a change on every page within a second."
    );
    ensure!(large.is_empty(), "too large: {}", large.join(", "));
    ensure!(slow.is_empty(), "too slow: {}", slow.join(", "));
    live
}

/// A service over a large session with many briefs and runs.
struct Dashboard {
    project: Project,
    service: Service,
    agent: ureq::Agent,
    /// Requests that were timed.
    turn: AtomicU64,
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
        let (service, turn) = (Service::start(&project)?, AtomicU64::new(0));
        Ok(Self { service, project, agent: ureq::agent(), turn })
    }

    fn get(&self, path: &str) -> Result<String> {
        let url = format!("http://{}{path}", self.service.address);
        let answer = self.agent.get(url).call();
        Ok(answer.with_context(|| path.to_owned())?.body_mut().read_to_string()?)
    }

    /// How long a page takes that is rendered for this request: the same address again, within half a second, would be
    /// answered with what is there already.
    fn time(&self, path: &str) -> Result<Duration> {
        let mark = if path.contains('?') { '&' } else { '?' };
        let path = format!("{path}{mark}turn={}", self.turn.fetch_add(1, Ordering::Relaxed));
        let start = Instant::now();
        self.get(&path)?;
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
        self.write_log(&run, &step)?;
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

    /// The agent of a step has said a lot: long lines, many of whose characters take more bytes on a page.
    fn write_log(&self, run: &str, step: &str) -> Result<()> {
        let asked = |name: &str| {
            let (_, rest) = step.split_once(&format!("{name}="))?;
            rest.split('&').next()
        };
        let (story, phase) = asked("story").zip(asked("phase")).context("no step")?;
        let folder =
            self.project.root.join(".handover").join(run.trim_start_matches('/')).join(story);
        fs_err::create_dir_all(&folder)?;
        let line = format!("{}\n", "\"quoted\" & <marked> ".repeat(40));
        fs_err::write(folder.join(format!("{phase}-1.log")), line.repeat(LOG / line.len()))?;
        ensure!(self.get(step)?.contains("The rest is in"), "{step} does not show the log");
        Ok(())
    }

    /// How long after a write the last open page shows it: the event, the pause of the script, the page again.
    fn shows_changes(&self, count: usize) -> Result<()> {
        let all = self.pages()?;
        let of_run = |page: &&String| page.starts_with("/runs/") && page.matches('/').count() == 2;
        let run = all.iter().find(of_run).context("no run")?;
        let pages = ["/sessions/s1".to_owned(), run.clone(), "/".to_owned()];
        let viewers = Viewers::open(&self.service, count, &pages)?;
        let write = ["reasoning", "add", "--role", "qa", "--phase", "risks", "x", "--quiet"];
        let mut waits = Vec::new();
        for _ in 0..CHANGES {
            viewers.settle()?;
            let before = viewers.heard();
            self.project.handover(&write)?;
            waits.push(viewers.wait_for_newer(before)?);
        }
        let typical = median(&mut waits);
        let longest = waits.last().copied().unwrap_or_default().as_secs_f64();
        println!(
            "\n{} open pages: the last one shows a change after {:.0} ms, at most {:.0} ms",
            viewers.count(),
            typical * 1e3,
            longest * 1e3
        );
        ensure!(longest < SHOWN, "a change was shown after {longest:.2} s");
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

/// Starts runs of other epics that have the journal of the one that is there; half of them are blocked.
fn copy_runs(store: &dyn Store, count: usize) -> Result<()> {
    let filter = RunFilter { epic: None, limit: Some(1) };
    let run = store.runs(&filter)?.pop().context("no run")?;
    let redactor = Redactor::default();
    let whole = store.journal(&run.id, 1)?;
    let blocked = blocked(&whole).context("no agent")?;
    let owner = LockOwner { host: "bench".to_owned(), pid: 1, started: None, boot: None };
    for n in 1..count {
        let id = RunId::new(format!("run_{n:06}"))?;
        let epic = EpicId::new(format!("bench-{n}"))?;
        let (journal, state) =
            if n % 2 == 0 { (&whole, run.state) } else { (&blocked, RunState::Blocked) };
        let later = |time: Timestamp| Timestamp::from_micros(time.as_micros() + n as i64 * 1_000);
        let until = Timestamp::from_micros(run.updated_at.as_micros() + 60_000_000);
        let (owner, now) = (owner.clone(), run.updated_at);
        let claim = LockClaim { epic: epic.clone(), owner, until, over: None, now };
        let fence = store.lock_epic(&claim)?;
        let new = NewRun {
            id: id.clone(),
            epic: epic.clone(),
            session: run.session.clone(),
            now: later(run.created_at),
        };
        store.start_run(&new, fence)?;
        store.exclusively(&mut |store: &dyn Store| {
            (1..).zip(journal).try_for_each(|(seq, entry)| {
                let mut value = entry.entry.clone();
                if let Some(of) = value.pointer_mut("/plan/epic") {
                    *of = json!(epic);
                }
                let new = NewJournalEntry {
                    seq,
                    kind: entry.kind,
                    entry: redactor.clean_json(value),
                    state: (seq == journal.len() as u64).then_some(state),
                    until,
                    now: later(entry.created_at),
                };
                store.append_journal(&id, &new, fence)
            })
        })?;
        store.unlock_epic(&epic, fence)?;
    }
    Ok(())
}

/// The journal of a run whose last developer had a question.
fn blocked(whole: &[JournalEntry]) -> Option<Vec<JournalEntry>> {
    let is_developer = |entry: &JournalEntry| {
        entry.entry["event"] == "phase_ended" && entry.entry["phase"] == "dev"
    };
    let at = whole.iter().rposition(is_developer)?;
    let mut journal = whole.get(..=at)?.to_vec();
    let end = journal.last_mut()?;
    (end.entry["verdict"], end.entry["summary"]) = (json!("blocked"), json!("Which port?"));
    let (story, last) = (end.entry["story"].clone(), end.clone());
    let closing = [
        (JournalKind::Intent, json!({"effect": "park", "story": story})),
        (JournalKind::Result, json!({"event": "parked", "story": story, "branch": null})),
        (JournalKind::Intent, json!({"effect": "ask"})),
        (
            JournalKind::Result,
            json!({"event": "stopped", "state": "blocked", "reason": "a story has a question"}),
        ),
    ];
    journal.extend(closing.map(|(kind, entry)| JournalEntry { kind, entry, ..last.clone() }));
    Some(journal)
}
