//! `handover project template validate`

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Check the header, sections, version guards and size of template files
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project template validate .handover/specializations/*.md\n  handover project template validate ours.md --json"
)]
pub(crate) struct ValidateArgs {
    /// Files to check
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

pub(crate) fn run(app: &App, args: ValidateArgs) -> Outcome {
    let templates = app.templates();
    let checked: Vec<_> = args.files.iter().map(|file| (file, templates.validate(file))).collect();
    let valid = checked.iter().all(|(_, problems)| problems.is_empty());
    let answer: Vec<Value> = checked
        .iter()
        .map(|(file, problems)| {
            let problems: Vec<Value> = problems
                .iter()
                .map(|p| json!({"line": p.line, "rule": p.rule.as_str(), "message": p.message}))
                .collect();
            json!({"path": file, "ok": problems.is_empty(), "problems": problems})
        })
        .collect();
    app.ui.answer("templates", &answer, |ui| {
        for (file, problems) in &checked {
            let file = file.display();
            if problems.is_empty() {
                ui.line(format_args!("ok    {file}"))?;
            }
            for problem in problems {
                let (line, rule) = (problem.line, problem.rule.as_str());
                ui.line(format_args!("error {file}:{line}: {rule}: {}", problem.message))?;
            }
        }
        Ok(())
    })?;
    Ok(if valid { Exit::Done } else { Exit::Usage })
}
