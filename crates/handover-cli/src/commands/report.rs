//! `handover report`

use std::path::PathBuf;

use handover_handoff::TechnologySource as _;
use handover_web::Site;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io};

/// Export a run as a single HTML file, for example to attach to a pull request
///
/// The file is self-contained: no service, no network, no scripts. Secrets are redacted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover report\n  handover report 4f2a91 --html report.html\n  handover report --html - > report.html"
)]
pub(crate) struct ReportArgs {
    /// Run: its id, or at least four characters of it [default: the latest]
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Write HTML to FILE; `-` prints it [default: handover-RUN.html in the current directory]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    html: Option<Option<PathBuf>>,
}

pub(crate) fn run(app: &App, args: ReportArgs) -> Outcome {
    let run = app.find_run(args.run.as_deref())?;
    let (project, machine) = (app.project_id()?, crate::env::machine());
    let fresh = app.freshness();
    let site = Site {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        paths: app.places()?,
        fresh: &*fresh,
        coverage: &|| None,
        project: &project,
        may_write: false,
        machine: &machine,
        now: app.now(),
    };
    let page = handover_web::report(&site, &run.id).map_err(|error| {
        CommandError::new(Exit::Failed, "report", error)
            .hinted("`handover journal` shows the raw entries.")
    })?;
    let file =
        args.html.flatten().unwrap_or_else(|| PathBuf::from(format!("handover-{}.html", run.id)));
    if file.as_os_str() == "-" {
        app.ui.bytes(page.as_bytes())?;
        return Ok(Exit::Done);
    }
    fs_err::write(&file, &page).map_err(|error| io(&error))?;
    let answer = json!({"run": run.id, "file": file, "bytes": page.len()});
    app.ui.answer("report", &answer, |ui| {
        ui.line(format_args!("Wrote {} ({} kB)", file.display(), page.len().div_ceil(1_000)))
    })?;
    Ok(Exit::Done)
}
