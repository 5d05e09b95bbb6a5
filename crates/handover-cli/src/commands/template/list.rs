//! `handover project template list`

use handover_model::Category;
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List all templates: built-in, user and project
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project template list\n  handover project template list --type database --json"
)]
pub(crate) struct ListArgs {
    /// Only templates of this type
    #[arg(long, value_name = "TYPE")]
    r#type: Option<Category>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let templates = app.templates();
    for bad in &templates.bad {
        let problem = &bad.problem;
        app.ui.warn(format_args!("{}:{}: {}", bad.file.display(), problem.line, problem.message));
    }
    let mut listed: Vec<_> = templates
        .iter()
        .filter(|template| args.r#type.is_none_or(|category| template.header.category == category))
        .collect();
    listed.sort_by_key(|template| (template.header.category, &template.header.name));
    let answer: Vec<Value> = listed
        .iter()
        .map(|template| {
            let header = &template.header;
            json!({
                "name": header.name,
                "type": header.category,
                "priority": header.priority,
                "detect": header.detect,
                "compatible_with": header.compatible_with,
                "requires": header.requires,
                "source": template.source,
                "file": template.file,
            })
        })
        .collect();
    app.ui.answer("templates", &answer, |ui| {
        let any = |words: &[String], none: &str| match words.is_empty() {
            true => none.to_owned(),
            false => words.join(", "),
        };
        let rows = listed.iter().map(|template| {
            let header = &template.header;
            vec![
                header.category.to_string(),
                header.name.clone(),
                template.source.as_str().replace('_', " "),
                any(&header.detect, "–"),
                any(&header.compatible_with, "every role"),
            ]
        });
        let header = ["type", "name", "source", "detect", "for"];
        ui.table(&header, rows.collect(), "No templates of that type.")
    })?;
    Ok(Exit::Done)
}
