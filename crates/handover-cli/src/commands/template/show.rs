//! `handover project template show`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Print the source of a template
///
/// Useful as a starting point for your own.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project template show rust\n  handover project template show python > .handover/specializations/python.md"
)]
pub(crate) struct ShowArgs {
    /// Template name
    name: String,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let templates = app.templates();
    let Some(template) = templates.find(&args.name) else {
        return Err(CommandError::new(
            Exit::Usage,
            "not_found",
            format!("no template named `{}`", args.name),
        )
        .hinted("Run `handover project template list` to see what exists."));
    };
    let answer = json!({
        "name": template.header.name,
        "type": template.header.category,
        "source": template.source,
        "file": template.file,
        "text": template.text(),
    });
    app.ui.answer("template", &answer, |ui| ui.bytes(template.text().as_bytes()))?;
    Ok(Exit::Done)
}
