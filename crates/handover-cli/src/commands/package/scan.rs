//! `handover package scan`

use std::path::PathBuf;

use handover_context::package_file::{
    Facts, Located, PackageFileError, Put, Reach, announced, register_file, scan,
};
use handover_model::SessionId;
use handover_store::Registered;
use serde_json::{Value, json};

use super::with_created;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input;

/// Find and register unregistered package files
///
/// Searches the session's artifacts folder, where every Markdown file is a package, and the project for
/// artifacts with well-known names such as `qa_failures_group_P1.md`. Files stay where they are. With
/// --announced, registers the packages named in the "Context Package Created" sections of an agent's
/// output instead.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover package scan\n  handover package scan --announced agent-output.md\n  claude -p \"Fix the login\" | handover package scan --announced -"
)]
pub(crate) struct ScanArgs {
    /// Agent output to read announcements from, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    announced: Option<PathBuf>,
}

/// The result of a scan.
#[derive(Debug, Default)]
pub(crate) struct Scanned {
    pub(crate) registered: Vec<Registered>,
    pub(crate) unchanged: Vec<Registered>,
    /// Path and reason.
    pub(crate) skipped: Vec<(String, String)>,
}

pub(crate) fn run(app: &App, args: ScanArgs) -> Outcome {
    let session = app.session()?;
    let scanned = match &args.announced {
        Some(file) => register_announced(
            app,
            &session,
            &input::file(file, &app.stdin, "the agent's output")?,
        )?,
        None => {
            let sessions = app.store()?.sessions(None)?;
            let others: Vec<SessionId> =
                sessions.into_iter().map(|s| s.id).filter(|id| *id != session).collect();
            register_found(
                app,
                &session,
                Reach::Project { roots: &app.scan_roots()?, others: &others },
            )?
        }
    };
    let packages: Vec<Value> =
        scanned.registered.iter().chain(&scanned.unchanged).map(with_created).collect();
    let skipped: Vec<Value> = scanned
        .skipped
        .iter()
        .map(|(path, reason)| json!({"path": path, "reason": reason}))
        .collect();
    app.ui.answer_all(json!({"packages": packages, "skipped": skipped}), |ui| {
        for registered in &scanned.registered {
            ui.line(format_args!(
                "Registered package {}: {}",
                registered.package.id, registered.package.path
            ))?;
        }
        for (path, reason) in &scanned.skipped {
            ui.line(format_args!("Skipped {path}: {reason}"))?;
        }
        ui.line(format_args!(
            "{} registered, {} unchanged, {} skipped",
            scanned.registered.len(),
            scanned.unchanged.len(),
            scanned.skipped.len()
        ))
    })?;
    Ok(Exit::Done)
}

/// Scans for package files and registers them.
pub(crate) fn register_found(
    app: &App,
    session: &SessionId,
    reach: Reach<'_>,
) -> Result<Scanned, CommandError> {
    let mut scanned = Scanned::default();
    for path in scan(app.places()?, session, reach) {
        let root = app.places()?.root();
        let shown = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let located = app.places()?.locate(root, &path);
        let facts = Facts { default_group: app.group()?, ..Facts::default() };
        scanned.register(app, session, shown, located, facts)?;
    }
    Ok(scanned)
}

fn register_announced(app: &App, session: &SessionId, text: &str) -> Result<Scanned, CommandError> {
    let mut scanned = Scanned::default();
    for announcement in announced(text) {
        let shown = announcement.file.display().to_string();
        if let Some(problem) = announcement.problems.into_iter().next() {
            scanned.skipped.push((shown, problem));
            continue;
        }
        let located = app.places()?.locate_untrusted(&announcement.file);
        let facts = Facts { default_group: app.group()?, ..announcement.facts };
        scanned.register(app, session, shown, located, facts)?;
    }
    Ok(scanned)
}

impl Scanned {
    fn register(
        &mut self,
        app: &App,
        session: &SessionId,
        shown: String,
        located: Result<Located, PackageFileError>,
        facts: Facts,
    ) -> Result<(), CommandError> {
        let groups = app.group_ids(session)?;
        let setting = app.package_setting(session, &groups)?;
        match register_file(app.store()?, &setting, located, facts)? {
            Put::Registered(registered) => self.registered.push(registered),
            Put::Unchanged(registered) => self.unchanged.push(registered),
            Put::Skipped(reason) => self.skipped.push((shown, reason)),
        }
        Ok(())
    }
}
