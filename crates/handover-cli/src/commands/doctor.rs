//! `handover doctor`

use handover_context::package_file::{FileState, file_state};
use handover_handoff::spool;
use handover_model::SessionStatus;
use handover_store::{PackageFilter, StoreError};
use serde::Serialize;

use super::{Outcome, host, probe};
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Check that everything Handover needs is in order
///
/// Looks at the project, the configuration, the store (a full integrity check), the files of every
/// package of the active sessions, and the hooks of agent programs. Exits with 0 only when all is well.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover doctor\n  handover doctor --probe\n  handover doctor --json | jq '.checks[] | select(.ok | not)'"
)]
pub(crate) struct DoctorArgs {
    /// Run each installed agent program once, offline, to see whether its hooks fire
    #[arg(long)]
    probe: bool,
}

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    name: String,
    ok: bool,
    detail: String,
    fix: Option<String>,
}

impl Check {
    pub(crate) fn fine(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: true, detail: detail.into(), fix: None }
    }

    pub(crate) fn wrong(name: &str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.to_owned(), ok: false, detail: detail.into(), fix: Some(fix.into()) }
    }

    pub(crate) fn failed(name: &str, error: CommandError) -> Self {
        Self { name: name.to_owned(), ok: false, detail: error.message, fix: error.hint }
    }
}

pub(crate) fn run(app: &App, args: DoctorArgs) -> Outcome {
    let mut checks = Vec::new();
    match app.project() {
        Ok(project) => checks.push(Check::fine("project", project.root.display().to_string())),
        Err(error) => checks.push(Check::failed("project", error)),
    }
    match app.loaded_config() {
        Ok(loaded) if loaded.warnings.is_empty() => {
            checks.push(Check::fine("configuration", "all keys are known"));
        }
        Ok(loaded) => checks.push(Check::wrong(
            "configuration",
            loaded.warnings.join(" "),
            "Remove or rename the keys.",
        )),
        Err(error) => checks.push(Check::failed("configuration", error)),
    }
    // Without a project or a configuration nothing else can be looked at.
    if app.project().is_ok() && app.loaded_config().is_ok() {
        match store(app) {
            Ok(found) => checks.extend(found),
            Err(error) => checks.push(Check::failed("store", error)),
        }
        checks.extend(host::checks(app));
        if args.probe {
            checks.extend(probe::checks(app));
        }
    }
    let all_fine = checks.iter().all(|check| check.ok);
    app.ui.answer("checks", &checks, |ui| {
        for check in &checks {
            let mark = if check.ok { "ok  " } else { "FAIL" };
            ui.line(format_args!("{mark}  {}: {}", check.name, check.detail))?;
            if let Some(fix) = check.fix.as_ref().filter(|_| !check.ok) {
                ui.line(format_args!("      {fix}"))?;
            }
        }
        Ok(())
    })?;
    Ok(if all_fine { Exit::Done } else { Exit::Failed })
}

fn store(app: &App) -> Result<Vec<Check>, CommandError> {
    let place = app.store_place()?;
    let mut checks = vec![];
    let store = app.store()?;
    checks.push(Check::fine("store", place.to_string()));
    let looked = match store.check() {
        // It answers, and that is all that the holder of such a token has to care for.
        Err(StoreError::Denied { .. }) => {
            checks.push(Check::fine("store integrity", "an admin token is needed to look"));
            Vec::new()
        }
        looked => looked?,
    };
    for check in looked {
        let name = format!("store {}", check.name);
        checks.push(match check.problems.first() {
            None => Check::fine(&name, "ok"),
            Some(first) => Check::wrong(
                &name,
                format!("{} problems, the first: {first}", check.problems.len()),
                place.mend(),
            ),
        });
    }
    checks.push(files(app)?);
    checks.push(artifacts(app)?);
    checks.push(spooled(app)?);
    Ok(checks)
}

/// Whether receipts still wait for the store; those that can come in now do.
fn spooled(app: &App) -> Result<Check, CommandError> {
    let folder = app.project()?.folder().join(spool::FOLDER);
    let imported = spool::import(&folder, app.store()?, app.redactor()?);
    Ok(match imported.waiting.first() {
        None => Check::fine("spool", format!("{} receipts had to wait and are in", imported.kept)),
        Some((path, reason)) => Check::wrong(
            "spool",
            format!("{} receipts wait, the first: {reason}", imported.waiting.len()),
            format!("Look at {} and mend or remove it.", path.display()),
        ),
    })
}

/// Whether every folder of artifacts has its session: a lost store leaves folders behind.
fn artifacts(app: &App) -> Result<Check, CommandError> {
    let orphans = app.orphaned_artifacts(app.store()?)?;
    Ok(match orphans.first() {
        None => Check::fine("artifacts", "every folder belongs to a session"),
        Some(first) => Check::wrong(
            "artifacts",
            format!("{} folder(s) belong to no session: {}", orphans.len(), orphans.join(", ")),
            format!("`handover session new {first}` registers its files; or remove the folder."),
        ),
    })
}

/// Whether the files of the active sessions' packages are what was registered.
fn files(app: &App) -> Result<Check, CommandError> {
    let (mut seen, mut odd) = (0, Vec::new());
    for session in app.store()?.sessions(Some(SessionStatus::Active))? {
        for package in app.store()?.packages(&session.id, &PackageFilter::default())? {
            seen += 1;
            let what = match file_state(app.places()?, &package) {
                FileState::Current | FileState::Elsewhere => continue,
                FileState::Changed => "has changed",
                FileState::Vanished => "is gone",
            };
            odd.push(format!("{} (package {} of {}) {what}", package.path, package.id, session.id));
        }
    }
    Ok(match odd.first() {
        None => Check::fine("package files", format!("{seen} files are as registered")),
        Some(first) => Check::wrong(
            "package files",
            format!("{} of {seen} are not as registered, the first: {first}", odd.len()),
            "Register changed files again with `handover package add FILE`; restore those that are gone.",
        ),
    })
}
