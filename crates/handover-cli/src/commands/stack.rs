//! `handover project stack`

use handover_context::specialize::suggested;
use handover_context::stack::{Component, Evidence, Item, Stack};
use handover_model::Category;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Show the project's technology stack and versions
///
/// Reads manifests and version files; runs no programs. In a monorepo, every folder with a manifest is a
/// component. Outside a project, inspects the current folder.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover project stack\n  handover project stack --evidence\n  handover project stack --json --project ../shop"
)]
pub(crate) struct StackArgs {
    /// Show the file and key that each value was read from
    #[arg(long)]
    evidence: bool,
}

/// The categories that are listed as libraries.
const LIBRARIES: &[Category] =
    &[Category::Messaging, Category::Api, Category::Data, Category::Ai, Category::Security];

pub(crate) fn run(app: &App, args: StackArgs) -> Outcome {
    let stack = app.stack()?;
    let templates = app.templates();
    let component = |component: &Component| {
        let view = stack.view(Some(&component.path));
        let names = |categories: &[Category]| -> Vec<&str> {
            let of = view.items.iter().filter(|item| categories.contains(&item.category));
            of.map(|item| item.name.as_str()).collect()
        };
        let versions: Value = view
            .items
            .iter()
            .filter_map(|item| Some((item.name.clone(), Value::from(item.version.clone()?))))
            .collect::<serde_json::Map<_, _>>()
            .into();
        let language = component.language.as_deref().and_then(|name| view.item(name));
        json!({
            "path": component.path,
            "language": component.language,
            "version": language.and_then(|item| item.version.clone()),
            "languages": names(&[Category::Language]),
            "frameworks": names(&[Category::Framework]),
            "databases": names(&[Category::Database]),
            "infrastructure": names(&[Category::Infrastructure]),
            "testing": names(&[Category::Testing]),
            "libraries": names(LIBRARIES),
            "versions": versions,
            "templates": suggested(&stack, Some(&component.path), &templates),
            "evidence": view.items.iter().flat_map(evidence).collect::<Vec<_>>(),
        })
    };
    if app.ui.is_json() {
        let answer = json!({
            "components": stack.components.iter().map(component).collect::<Vec<_>>(),
            "templates": suggested(&stack, None, &templates),
            "notes": stack.notes,
        });
        app.ui.answer_all(answer, |_| Ok(()))?;
        return Ok(Exit::Done);
    }
    for note in &stack.notes {
        app.ui.warn(format_args!("{}: {}", note.file, note.message));
    }
    if args.evidence {
        evidence_table(app, &stack)?;
    } else {
        table(app, &stack)?;
        let suggested = suggested(&stack, None, &templates);
        if !suggested.is_empty() {
            app.ui.note(format_args!("Templates: {}", suggested.join(", ")));
        }
    }
    Ok(Exit::Done)
}

fn evidence(item: &Item) -> Vec<Value> {
    let of = |evidence: &Evidence| {
        json!({
            "name": item.name,
            "file": evidence.file,
            "key": evidence.key,
            "version": evidence.version,
        })
    };
    item.evidence.iter().map(of).collect()
}

const EMPTY: &str = "No manifests found.";

fn table(app: &App, stack: &Stack) -> Result<(), CommandError> {
    let rows = stack.components.iter().map(|component| {
        let view = stack.view(Some(&component.path));
        let list = |categories: &[Category]| {
            let of = view.items.iter().filter(|item| categories.contains(&item.category));
            let words: Vec<String> = of.map(shown).collect();
            if words.is_empty() { "–".to_owned() } else { words.join(", ") }
        };
        let mut used = vec![Category::Framework];
        used.extend(LIBRARIES);
        vec![
            component.path.clone(),
            list(&[Category::Language]),
            list(&used),
            list(&[Category::Database]),
            list(&[Category::Infrastructure]),
            list(&[Category::Testing]),
        ]
    });
    let header = ["component", "language", "frameworks", "databases", "infrastructure", "testing"];
    app.ui.table(&header, rows.collect(), EMPTY)
}

fn shown(item: &Item) -> String {
    match &item.version {
        Some(version) => format!("{} {version}", item.name),
        None => item.name.clone(),
    }
}

fn evidence_table(app: &App, stack: &Stack) -> Result<(), CommandError> {
    let mut rows = Vec::new();
    for component in &stack.components {
        for item in &stack.view(Some(&component.path)).items {
            for evidence in &item.evidence {
                rows.push(vec![
                    component.path.clone(),
                    item.category.to_string(),
                    shown(item),
                    evidence.file.clone(),
                    evidence.key.clone(),
                    evidence.version.clone().unwrap_or_else(|| "–".to_owned()),
                ]);
            }
        }
    }
    let header = ["component", "type", "name", "file", "key", "version"];
    app.ui.table(&header, rows, EMPTY)
}
