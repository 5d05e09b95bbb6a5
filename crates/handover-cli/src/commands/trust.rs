//! `handover trust` and `handover untrust`

use std::path::PathBuf;

use handover_text::redact_message;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::error::{Code, CommandError, Exit};
use crate::trust::{self, Report, Want};

/// Trust the files of this checkout
///
/// Shows what the configuration, templates and personas in `.handover/` want that could run a program, weaken
/// a protection, send data elsewhere or tell agents what to do, and remembers that you agree to exactly that.
/// Whatever changes later is ignored until you agree again; everything else keeps counting.
///
/// On a terminal it asks first. Worktrees are trusted with their main checkout.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TrustArgs {
    /// List what you have trusted, without changing it
    #[arg(long)]
    list: bool,

    /// Do not ask
    #[arg(long, conflicts_with = "list")]
    yes: bool,
}

const EXAMPLES: &str = "\
Examples:
  handover trust                               show what the files want, and ask
  handover trust --yes
  handover trust --list
  handover run 1 --trust-project               only for this command; in CI, set HANDOVER_TRUST=1";

/// Stop trusting the files of this checkout
///
/// Settings that could do harm are ignored again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover untrust\n  handover untrust ../shop")]
pub(crate) struct UntrustArgs {
    /// Checkout, if it is another one; it need not exist any more
    #[arg(value_name = "DIR")]
    checkout: Option<PathBuf>,
}

pub(crate) fn run(app: &App, args: TrustArgs) -> Outcome {
    app.accept_any_owner();
    app.tolerate_unknown_keys();
    app.keep_trust_to_itself();
    if args.list {
        return list(app);
    }
    let report = app.trust_report()?;
    trust::refuse_agents()?;
    if !app.ui.is_json() {
        show(app, &report)?;
        if report.wants.is_empty() {
            return Ok(Exit::Done);
        }
    }
    let asks =
        !args.yes && !app.ui.is_json() && app.stdin.is_terminal() && !report.wants.is_empty();
    if asks && !app.ui.confirm("Trust this checkout?") {
        return Err(CommandError::new(Exit::Usage, "not_confirmed", "nothing was changed"));
    }
    trust::remember(&report.root, &report.wants, app.now())?;
    let report = Report { trusted: true, ..report };
    app.ui.answer("trust", &report, |ui| {
        ui.line(format_args!("Trusted {}", report.root.display()))
    })?;
    Ok(Exit::Done)
}

fn show(app: &App, report: &Report) -> Result<(), CommandError> {
    if report.wants.is_empty() {
        return app.ui.line("Nothing in the files of this checkout needs trust.");
    }
    app.ui.line(format_args!("{} wants:", report.root.display()))?;
    for Want { key, value, why, agreed, .. } in &report.wants {
        let before = if *agreed { " (trusted before)" } else { "" };
        app.ui.line(format_args!("  {key} = {value}\n      {why}{before}"))?;
    }
    Ok(())
}

fn list(app: &App) -> Outcome {
    let here = match app.project() {
        Ok(_) => Some(app.trust_report()?),
        Err(error) if error.code == Code::NoProject => None,
        Err(error) => return Err(error),
    };
    let records = trust::all();
    let checkouts: Vec<Value> = records
        .iter()
        .map(|record| {
            let keys: Vec<&String> = record.agreed.values().collect();
            json!({"root": record.root, "at": record.at, "agreed": keys})
        })
        .collect();
    app.ui.answer_all(json!({"trust": here, "checkouts": checkouts}), |ui| {
        let rows = records.iter().map(|record| {
            vec![record.root.clone(), app.ui.time(record.at), record.agreed.len().to_string()]
        });
        ui.table(&["checkout", "trusted", "values"], rows.collect(), "No checkout is trusted.")
    })?;
    Ok(Exit::Done)
}

pub(crate) fn untrust(app: &App, args: UntrustArgs) -> Outcome {
    app.accept_any_owner();
    app.tolerate_unknown_keys();
    app.keep_trust_to_itself();
    let root = match &args.checkout {
        Some(folder) => {
            let folder = app.folder()?.join(folder);
            fs_err::canonicalize(&folder).unwrap_or(folder)
        }
        None => app.trust()?.root(),
    };
    let was_there = trust::forget(&root)?;
    let report = match &args.checkout {
        // What is typed here need not be a checkout.
        Some(_) => {
            let root = redact_message(&root.display().to_string()).into();
            Report { root, trusted: false, wants: Vec::new() }
        }
        None => app.trust_report()?,
    };
    app.ui.answer("trust", &report, |ui| match was_there {
        true => ui.line(format_args!("No longer trusted: {}", report.root.display())),
        false => ui.line(format_args!("This checkout was not trusted: {}", report.root.display())),
    })?;
    Ok(Exit::Done)
}
