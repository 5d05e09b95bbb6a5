//! `handover template show`

use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Print a template as it is, to read it or to begin one of your own
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover template show rust\n  handover template show python > .handover/specializations/python.md"
)]
pub(crate) struct ShowArgs {
    /// The template
    name: String,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let templates = app.templates();
    let Some(template) = templates.find(&args.name) else {
        return Err(CommandError::new(
            Exit::Usage,
            "not_found",
            format!("there is no template `{}`", args.name),
        )
        .hinted("`handover template list` shows what there is."));
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
