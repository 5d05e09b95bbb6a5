//! `handover data gc`

mod experiments;
mod spawns;

use handover_agents::Environment;
use handover_context::by_hand::{self, Expiring, Forgotten};
use handover_engine::garbage::{Findings, Garbage, Kept, Leftovers};
use handover_engine::git::Repo;
use handover_model::config::ForgetConfig;
use handover_model::{Host, ProjectId, Timestamp};
use handover_store::OperationFilter;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::ui::{Ui, count};

/// Delete what nothing refers to any more
///
/// Folders and worktrees of runs that are over, output of ended agents and of experiments that are over, the shared
/// build cache, retired records that no receipt names and whose source is gone, and old entries of the log that
/// `handover undo` uses. What a run or an experiment could still need, what belongs to an open session, work that is on
/// no branch and other users' files stay. Before that, records expire if the configuration says so
/// (`forget.after_days`, `forget.unused_days`).
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GcArgs {
    /// List what would be deleted, and delete nothing
    #[arg(long, short = 'n')]
    dry_run: bool,

    /// Keep what is younger than this many days [default: `forget.keep_days`]
    #[arg(long, value_name = "DAYS")]
    older_than: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  handover data gc --dry-run
  handover data gc
  handover data gc --older-than 7 --json";

/// What was deleted, or would be.
struct Collected {
    dry_run: bool,
    findings: Findings,
    expired: Vec<Expiring>,
    forgotten: Vec<Forgotten>,
    /// Entries of the log.
    operations: u64,
}

pub(crate) fn run(app: &App, args: GcArgs) -> Outcome {
    let (_, project) = app.learning()?;
    let config = &app.config()?.forget;
    let before = app.now().days_before(args.older_than.unwrap_or(config.keep_days));
    let repo = Repo::open(&app.project()?.root, repo_environment(app)?).ok();
    let folder = app.project()?.folder();
    let store = app.store()?;
    let leftovers = Leftovers { store, folder, repo: repo.as_ref(), before };
    let mut findings = leftovers.find()?;
    spawns::find(app, before, &mut findings)?;
    experiments::find(app, before, &mut findings)?;
    let collected = match args.dry_run {
        true => listed(app, &project, config, before, findings)?,
        false => {
            let mut deleted = Vec::new();
            for garbage in findings.garbage {
                if delete(app, &leftovers, &garbage)? {
                    deleted.push(garbage);
                }
            }
            collect(app, &project, config, before, Findings { garbage: deleted, ..findings })?
        }
    };
    app.ui.answer("gc", &collected.document(), |ui| collected.print(ui))?;
    Ok(Exit::Done)
}

/// Git sees no more of the environment than an agent would.
fn repo_environment(app: &App) -> Result<Environment, CommandError> {
    let env = &app.config()?.runs.env;
    Ok(Environment::scrubbed(app.environment()?.iter().cloned(), Host::COMMAND, env))
}

fn delete(app: &App, leftovers: &Leftovers<'_>, garbage: &Garbage) -> Result<bool, CommandError> {
    if spawns::is_one(garbage) {
        spawns::delete(app, garbage)
    } else if experiments::is_one(garbage) {
        experiments::delete(app, garbage)
    } else {
        Ok(leftovers.delete(garbage)?)
    }
}

fn listed(
    app: &App,
    project: &ProjectId,
    config: &ForgetConfig,
    before: Timestamp,
    findings: Findings,
) -> Result<Collected, CommandError> {
    let store = app.store()?;
    let all = store.operations(project, &OperationFilter::default())?;
    Ok(Collected {
        dry_run: true,
        findings,
        expired: by_hand::expired(store, project, config, app.now())?,
        forgotten: by_hand::forgotten(store, project, app.places()?, before)?,
        operations: all.iter().filter(|operation| operation.created_at < before).count() as u64,
    })
}

fn collect(
    app: &App,
    project: &ProjectId,
    config: &ForgetConfig,
    before: Timestamp,
    findings: Findings,
) -> Result<Collected, CommandError> {
    let store = app.store()?;
    let forgotten = by_hand::delete(store, project, app.places()?, before, app.now())?;
    let operations = store.drop_operations(project, before)?;
    let expired = app.by_hand(project)?.expire(config)?;
    Ok(Collected { dry_run: false, findings, expired, forgotten, operations })
}

impl Collected {
    fn bytes(&self) -> u64 {
        let files: u64 = self.findings.garbage.iter().map(|garbage| garbage.bytes).sum();
        files + self.forgotten.iter().map(|forgotten| forgotten.bytes).sum::<u64>()
    }

    fn document(&self) -> Value {
        let expired =
            self.expired.iter().map(|one| json!({"subject": one.subject(), "reason": one.reason}));
        let records =
            self.forgotten.iter().map(|one| json!({"subject": one.subject(), "bytes": one.bytes}));
        json!({
            "dry_run": self.dry_run,
            "files": self.findings.garbage,
            "records": records.collect::<Vec<_>>(),
            "expired": expired.collect::<Vec<_>>(),
            "operations": self.operations,
            "bytes": self.bytes(),
            "kept": self.findings.kept,
        })
    }

    fn print(&self, ui: &Ui) -> Result<(), CommandError> {
        let would = if self.dry_run { "Would delete" } else { "Deleted" };
        for Garbage { path, bytes, reason } in &self.findings.garbage {
            ui.line(format_args!("{would} .handover/{path} ({bytes} bytes): {reason}"))?;
        }
        for one in &self.forgotten {
            let (subject, bytes) = (one.subject(), one.bytes);
            ui.line(format_args!("{would} {subject} ({bytes} bytes): nothing refers to it"))?;
        }
        let would_retire = if self.dry_run { "Would retire" } else { "Retired" };
        for one in &self.expired {
            ui.line(format_args!("{would_retire} {}: {}", one.subject(), one.reason))?;
        }
        if self.operations > 0 {
            ui.line(format_args!("{would} {} of the log", count(self.operations, "entry")))?;
        }
        for Kept { path, reason } in &self.findings.kept {
            ui.note(format_args!("kept .handover/{path}: {reason}"));
        }
        let nothing = self.findings.garbage.is_empty()
            && self.forgotten.is_empty()
            && self.expired.is_empty()
            && self.operations == 0;
        match nothing {
            true => ui.line("Nothing to delete."),
            false => ui.line(count(self.bytes(), "byte")),
        }
    }
}
