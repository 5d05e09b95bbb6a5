//! `handover package validate`

use std::path::PathBuf;

use handover_context::package_file::{Facts, Placement, draft};
use handover_model::SessionId;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Check package files without registering them
///
/// Reports what `package add` would report, and changes nothing. Exits with 2 if a file cannot be
/// registered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover package validate docs/*.md")]
pub(crate) struct ValidateArgs {
    /// Files to check
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(app: &App, args: ValidateArgs) -> Outcome {
    // A session is optional; without one, no groups are known.
    let session = match app.session_if_any() {
        Ok(Some(session)) => session,
        Ok(None) | Err(_) => SessionId::new("none")?,
    };
    let groups = app.group_ids(&session).unwrap_or_default();
    let setting = app.package_setting(&session, &groups)?;
    let folder = app.folder()?;
    let facts = Facts {
        placement: app.common.group.as_deref().map(Placement::parse).transpose()?,
        default_group: app.default_group()?,
        ..Facts::default()
    };
    let mut results = Vec::new();
    let mut all_fine = true;
    for file in &args.files {
        let checked = setting
            .paths
            .locate(&folder, file)
            .and_then(|located| draft(&setting, &located, facts.clone()));
        results.push(match checked {
            Ok(draft) => {
                json!({"path": file, "ok": true, "problems": [], "warnings": draft.warnings,
                "kind": draft.package.kind, "summary": draft.package.summary.as_str()})
            }
            Err(error) => {
                all_fine = false;
                let error = CommandError::from(error);
                json!({"path": file, "ok": false, "problems": [error.message], "hint": error.hint})
            }
        });
    }
    app.ui.answer("packages", &results, |ui| {
        for result in &results {
            let path = result["path"].as_str().unwrap_or_default();
            if result["ok"] == true {
                ui.line(format_args!("ok    {path}"))?;
            } else {
                ui.line(format_args!(
                    "error {path}: {}",
                    result["problems"][0].as_str().unwrap_or_default()
                ))?;
            }
        }
        Ok(())
    })?;
    Ok(if all_fine { Exit::Done } else { Exit::Usage })
}
