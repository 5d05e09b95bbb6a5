//! `handover project template show`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::typos::nearest;

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
        let message = format!("there is no template `{}`", args.name);
        let error = CommandError::new(Exit::Usage, "not_found", message);
        let known = templates.iter().map(|template| template.header.name.as_str());
        return Err(match nearest(&args.name, known) {
            Some(meant) => error.hinted(format!("Did you mean `{meant}`?")),
            None => error.hinted("Run `handover project template list` to see what exists."),
        });
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
