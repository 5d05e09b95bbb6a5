//! `handover doctor`

mod disk;
mod protection;
pub(crate) mod repair;

use handover_context::package_file::{FileState, file_state};
use handover_handoff::spool;
use handover_knowledge::Git;
use handover_model::{RecordState, SessionStatus};
use handover_store::{CheckedPart, PackageFilter, StoreError};
use serde::Serialize;

use super::{Outcome, host, probe};
use crate::app::App;
use crate::error::{CommandError, Exit, INSTALL_GIT};
use crate::learn;
use crate::store::StoreLocation;
use crate::trust;
use crate::ui;

/// Check the project for problems
///
/// Checks the project, the configuration, the store (its log, every record and the text index), whether it can
/// be written, the package files of active sessions, and the hooks of agent programs. Exits with 0 only if
/// every check passes; then it also renews the last good copy of the store.
///
/// `--fix` rebuilds a damaged store out of every record that can still be read, here or in the last good copy,
/// and keeps the damaged files beside it.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover doctor\n  handover doctor --fix\n  handover doctor --probe\n  handover doctor --json | jq '.checks[] | select(.ok | not)'"
)]
pub(crate) struct DoctorArgs {
    /// Also run each installed agent program once, offline, to check that its hooks fire
    #[arg(long)]
    probe: bool,

    /// Repair the store if it is damaged
    #[arg(long)]
    fix: bool,
}

/// What a check is about, in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Group {
    Project,
    Store,
    Files,
    Agents,
}

impl Group {
    fn of(name: &str) -> Self {
        match name {
            "project" | "configuration" | "trust" | "protection" => Self::Project,
            "fix" | "writing" | "last good copy" => Self::Store,
            "package files" | "artifacts" | "spool" | "notes" => Self::Files,
            store if store.starts_with("store") => Self::Store,
            _ => Self::Agents,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Project => "Project",
            Self::Store => "Store",
            Self::Files => "Files and notes",
            Self::Agents => "Agent programs",
        }
    }
}

/// The result of one check.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    group: Group,
    name: String,
    ok: bool,
    detail: String,
    fix: Option<String>,
}

impl Check {
    pub(crate) fn fine(name: &str, detail: impl Into<String>) -> Self {
        Self {
            group: Group::of(name),
            name: name.to_owned(),
            ok: true,
            detail: detail.into(),
            fix: None,
        }
    }

    pub(crate) fn wrong(name: &str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            group: Group::of(name),
            name: name.to_owned(),
            ok: false,
            detail: detail.into(),
            fix: Some(fix.into()),
        }
    }

    pub(crate) fn failed(name: &str, error: CommandError) -> Self {
        Self {
            group: Group::of(name),
            name: name.to_owned(),
            ok: false,
            detail: error.message,
            fix: error.hint,
        }
    }
}

pub(crate) fn run(app: &App, args: DoctorArgs) -> Outcome {
    app.shorten_patience();
    app.keep_older_format();
    app.tolerate_unknown_keys();
    let mut checks = Vec::new();
    app.keep_trust_to_itself();
    match app.project() {
        Ok(project) => checks.push(Check::fine("project", project.root.display().to_string())),
        Err(error) => checks.push(Check::failed("project", error)),
    }
    match app.loaded_config().map(|loaded| loaded.warnings()) {
        Ok(warnings) if warnings.is_empty() => {
            checks.push(Check::fine("configuration", "all keys are valid"));
        }
        Ok(warnings) => checks.push(Check::wrong(
            "configuration",
            warnings.join(" "),
            "Remove or rename the keys.",
        )),
        Err(error) => checks.push(Check::failed("configuration", error)),
    }
    // Everything else needs a project and a valid configuration.
    if let (Ok(_), Ok(loaded)) = (app.project(), app.loaded_config()) {
        match trust(app) {
            Ok(check) => checks.push(check),
            Err(error) => checks.push(Check::failed("trust", error)),
        }
        checks.push(protection::check(loaded));
        if args.fix {
            match repair::fix(app) {
                Ok(done) => checks.extend(done),
                Err(error) => checks.push(Check::failed("fix", error)),
            }
        }
        match store(app) {
            Ok(found) => checks.extend(found),
            Err(error) => checks.push(Check::failed("store", error)),
        }
        if checks.iter().all(|check| check.ok) {
            checks.extend(last_good_copy(app));
        }
        // These open the store, which would drop what a repair can still read in a damaged log.
        if checks.iter().all(|check| check.ok || check.name != disk::LOG) {
            match notes(app) {
                Ok(check) => checks.push(check),
                Err(error) => checks.push(Check::failed("notes", error)),
            }
            checks.extend(host::checks(app));
        }
        if args.probe {
            checks.extend(probe::checks(app));
        }
    }
    checks.sort_by_key(|check| check.group);
    let failed = checks.iter().filter(|check| !check.ok).count();
    app.ui.answer("checks", &checks, |ui| {
        let mut group = None;
        for check in &checks {
            if group.replace(check.group) != Some(check.group) {
                ui.heading(check.group.title())?;
            }
            let mark = if check.ok { "ok  " } else { "FAIL" };
            ui.wrapped(8, format_args!("  {mark}  {}: {}", check.name, check.detail))?;
            if let Some(fix) = check.fix.as_ref().filter(|_| !check.ok) {
                ui.wrapped(8, format_args!("        {fix}"))?;
            }
        }
        match failed {
            0 => ui.note("Everything is in order."),
            failed => {
                let checks = ui::count(checks.len(), "check");
                ui.note(format_args!("{failed} of {checks} failed."));
            }
        }
        Ok(())
    })?;
    Ok(if failed == 0 { Exit::Done } else { Exit::Failed })
}

/// Reports what the files of the checkout want and do not get.
fn trust(app: &App) -> Result<Check, CommandError> {
    let report = app.trust_report()?;
    let ignored: Vec<&str> = report.ignored().map(|want| want.key.as_str()).collect();
    Ok(match (report.wants.len(), ignored.as_slice()) {
        (0, _) => Check::fine("trust", "nothing in the files of this checkout needs trust"),
        (count, []) => {
            Check::fine("trust", format!("{} of this checkout trusted", ui::count(count, "value")))
        }
        (_, ignored) => Check::wrong(
            "trust",
            format!("not trusted, and therefore ignored: {}", ignored.join(", ")),
            trust::hint(),
        ),
    })
}

/// Says how much the project knows, and what is left to learn.
fn notes(app: &App) -> Result<Check, CommandError> {
    let (_, project) = app.learning()?;
    let known = app.store()?.note_postings(&project, &[String::new()])?.notes;
    if let Err(error) = Git::open(&app.project()?.root, app.environment()?) {
        let detail = format!("{known} in use; whether they are up to date is unknown: {error}");
        return Ok(Check::wrong("notes", detail, INSTALL_GIT));
    }
    Ok(match learn::left(app)? {
        0 => Check::fine("notes", format!("{known} in use; documents and commits are up to date")),
        left => Check::fine(
            "notes",
            format!("{known} in use; {left} documents and commits are left for `handover learn`"),
        ),
    })
}

/// Renews the copy that a repair falls back to, now that the store is known to be sound.
fn last_good_copy(app: &App) -> Option<Check> {
    let Ok(StoreLocation::File(store)) = app.store_location() else { return None };
    Some(match repair::back_up(&store) {
        Ok(copy) => Check::fine("last good copy", copy.display().to_string()),
        Err(error) => Check::failed("last good copy", error),
    })
}

fn store(app: &App) -> Result<Vec<Check>, CommandError> {
    let place = app.store_location()?;
    let mut checks: Vec<Check> = disk::log(&place).into_iter().collect();
    if checks.iter().any(|check| !check.ok) {
        return Ok(checks);
    }
    let store = match app.store() {
        Ok(store) => store,
        Err(error) => {
            checks.push(Check::failed("store", error));
            return Ok(checks);
        }
    };
    checks.push(Check::fine("store", place.to_string()));
    checks.push(disk::writing(app, store)?);
    let looked = match store.check() {
        // The service responds; integrity is not this token's business.
        Err(StoreError::Denied { .. }) => {
            checks.push(Check::fine("store integrity", "skipped; requires an admin token"));
            Vec::new()
        }
        looked => looked?,
    };
    for check in looked {
        let name = format!("store {}", check.part);
        let fix = match check.part {
            CheckedPart::TextIndex => "Run `handover data reindex`.",
            CheckedPart::Integrity | CheckedPart::Records | CheckedPart::References => {
                place.repair_hint()
            }
        };
        checks.push(match check.problems.first() {
            None => Check::fine(&name, "ok"),
            Some(first) => {
                let count = check.problems.len();
                Check::wrong(&name, format!("{}, first: {first}", ui::count(count, "problem")), fix)
            }
        });
    }
    checks.push(files(app)?);
    checks.push(artifacts(app)?);
    checks.push(spooled(app)?);
    Ok(checks)
}

/// Imports spooled receipts, and reports those that cannot be imported.
fn spooled(app: &App) -> Result<Check, CommandError> {
    let folder = match app.spool() {
        Ok(folder) => folder,
        Err(error) => return Ok(Check::failed("spool", error)),
    };
    let imported = spool::import(&folder, app.store()?, app.redactor()?);
    Ok(match imported.waiting.first() {
        None => Check::fine(
            "spool",
            match imported.kept {
                0 => "no receipt is waiting for the store".to_owned(),
                kept => {
                    format!("added {} that had waited for the store", ui::count(kept, "receipt"))
                }
            },
        ),
        Some((path, reason)) => Check::wrong(
            "spool",
            format!(
                "{} kept while the store was unavailable cannot be added, first: {reason}",
                ui::count(imported.waiting.len(), "receipt")
            ),
            format!("Fix or delete {}.", path.display()),
        ),
    })
}

/// Finds artifact folders without a session, as a lost store leaves behind.
fn artifacts(app: &App) -> Result<Check, CommandError> {
    let orphans = app.orphaned_artifacts(app.store()?)?;
    Ok(match orphans.first() {
        None => Check::fine("artifacts", "every artifacts folder belongs to a session"),
        Some(first) => Check::wrong(
            "artifacts",
            format!(
                "{} without a session: {}",
                ui::count(orphans.len(), "folder"),
                orphans.join(", ")
            ),
            format!(
                "Register its files with `handover session new {first}`, or delete the folder."
            ),
        ),
    })
}

/// Compares package files of active sessions with what was registered.
fn files(app: &App) -> Result<Check, CommandError> {
    let (mut seen, mut mismatches) = (0, Vec::new());
    let in_use = PackageFilter { state: Some(RecordState::Live), ..PackageFilter::default() };
    for session in app.store()?.sessions(Some(SessionStatus::Active))? {
        for package in app.store()?.packages(&session.id, &in_use)? {
            seen += 1;
            let what = match file_state(app.places()?, &package) {
                FileState::Current | FileState::Elsewhere => continue,
                FileState::Changed => "has changed",
                FileState::Vanished => "is missing",
            };
            mismatches.push(format!(
                "{} (package {} of {}) {what}",
                package.path, package.id, session.id
            ));
        }
    }
    Ok(match mismatches.first() {
        None => Check::fine("package files", format!("{} as registered", ui::count(seen, "file"))),
        Some(first) => Check::wrong(
            "package files",
            format!(
                "{} of {} not as registered, first: {first}",
                mismatches.len(),
                ui::count(seen, "file")
            ),
            "Register changed files again with `handover package add FILE`; restore missing ones.",
        ),
    })
}
