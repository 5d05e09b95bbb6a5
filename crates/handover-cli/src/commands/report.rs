//! `handover report`

use std::path::PathBuf;

use handover_handoff::TechnologySource as _;
use handover_mcp::CoverageSource as _;
use handover_model::{OperationId, ReceiptId, RunId, SessionId};
use handover_web::Site;
use serde_json::json;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io};

/// Export a run, session or receipt as one HTML file
///
/// The file is self-contained (no service, no network, no scripts), for example to attach to a pull request. Secrets are
/// redacted.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover report\n  handover report 4f2a91 --html report.html\n  handover report login-rework --html session.html\n  handover report --html - > report.html"
)]
pub(crate) struct ReportArgs {
    /// Run, session or receipt: its id, or at least four characters of it [default: the latest run]
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// Write HTML to FILE; `-` prints it [default: handover-ID.html in the current directory]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    html: Option<Option<PathBuf>>,
}

/// What is exported.
enum Subject {
    Run(RunId),
    Session(SessionId),
    Receipt(ReceiptId),
}

impl Subject {
    /// The record that an id names: a run before a session before a receipt.
    fn find(app: &App, name: Option<&str>) -> Result<Self, CommandError> {
        let no_run = match app.find_run(name) {
            Ok(run) => return Ok(Self::Run(run.id)),
            Err(error) => error,
        };
        let Some(name) = name.filter(|_| no_run.missing.is_some()) else { return Err(no_run) };
        let no_session = match app.find_session(name) {
            Ok(session) => return Ok(Self::Session(session.id)),
            Err(error) => error,
        };
        match app.find_receipt(name) {
            Ok(receipt) => Ok(Self::Receipt(receipt.id)),
            Err(error) if error.missing.is_some() => {
                let message = format!("there is no run, session or receipt `{name}`");
                let meant = [no_session, error, no_run]
                    .into_iter()
                    .find_map(|error| error.hint.filter(|hint| hint.starts_with("Did you mean")));
                Err(CommandError::new(Exit::Usage, "not_found", message).hinted(
                    meant.unwrap_or_else(|| {
                        "`handover status`, `session list` and `receipt list` show what exists."
                            .to_owned()
                    }),
                ))
            }
            Err(error) => Err(error),
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Session(_) => "session",
            Self::Receipt(_) => "receipt",
        }
    }

    fn id(&self) -> &str {
        match self {
            Self::Run(id) => id.as_str(),
            Self::Session(id) => id.as_str(),
            Self::Receipt(id) => id.as_str(),
        }
    }
}

pub(crate) fn run(app: &App, args: ReportArgs) -> Outcome {
    let subject = Subject::find(app, args.id.as_deref())?;
    let (project, machine) = (app.project_id()?, crate::env::machine());
    let fresh = app.freshness();
    let site = Site {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        paths: app.places()?,
        fresh: &*fresh,
        coverage: &|| None,
        candidates: &|_, _| Vec::new(),
        patch: &|from, to, most| app.patch(from, to, most),
        project: &project,
        author: "",
        operation: OperationId::new("op_none")?,
        form_token: "",
        may_write: false,
        machine: &machine,
        now: app.now(),
    };
    let page = match &subject {
        Subject::Run(id) => handover_web::report(&site, id),
        Subject::Session(id) => handover_web::report_session(&site, id),
        Subject::Receipt(id) => handover_web::report_receipt(&site, id),
    };
    let page = page.map_err(|error| {
        CommandError::new(Exit::Failed, "report", error)
            .hinted("`handover run journal` shows the raw entries.")
    })?;
    let file = args
        .html
        .flatten()
        .unwrap_or_else(|| PathBuf::from(format!("handover-{}.html", subject.id())));
    if file.as_os_str() == "-" {
        app.ui.bytes(page.as_bytes())?;
        return Ok(Exit::Done);
    }
    fs_err::write(&file, &page).map_err(|error| io(&error))?;
    let answer = json!({subject.kind(): subject.id(), "file": file, "bytes": page.len()});
    app.ui.answer("report", &answer, |ui| {
        ui.line(format_args!("Wrote {} ({} kB)", file.display(), page.len().div_ceil(1_000)))
    })?;
    Ok(Exit::Done)
}
