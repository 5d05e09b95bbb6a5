//! `handover undo`

use std::collections::BTreeMap;

use handover_context::by_hand::undone;
use handover_model::{Edit, Operation, OperationId};
use handover_store::OperationFilter;
use serde_json::{Value, json};

use super::Outcome;
use crate::app::{App, short_id};
use crate::error::Exit;

/// Undo what was changed by hand
///
/// Retired and restored records, decisions about notes, notes and packages that were added, new versions of
/// packages, closed and reopened sessions, and what has expired. Nothing is deleted: what was added is retired, and
/// an old version of a package becomes its newest one. Undoing is logged itself, so it can be undone by its id.
/// `note purge`, `learn --forget` and `session purge` erase and cannot be undone.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UndoArgs {
    /// Operation id, or at least four characters of its beginning or end [default: the last change]
    id: Option<String>,

    /// List what was changed by hand, newest first
    #[arg(long, conflicts_with = "id")]
    list: bool,

    /// Maximum number of operations to list
    #[arg(long, value_name = "N", requires = "list")]
    limit: Option<u32>,
}

const EXAMPLES: &str = "\
Examples:
  handover undo
  handover undo --list
  handover undo 7be3d5";

pub(crate) fn run(app: &App, args: UndoArgs) -> Outcome {
    let (_, project) = app.learning()?;
    if args.list {
        let all = app.store()?.operations(&project, &OperationFilter::default())?;
        return list(app, &all, args.limit);
    }
    let (operation, by) = app.by_hand(&project)?.undo(args.id.as_deref())?;
    let answer = json!({"undone": operation, "operation": by});
    app.ui.answer_all(answer, |ui| {
        ui.line(format_args!("Undone: {}", described(&operation)))?;
        ui.note(format_args!("To redo: `handover undo {}`", short(&by.id)));
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn list(app: &App, all: &[Operation], limit: Option<u32>) -> Outcome {
    let undone: BTreeMap<&OperationId, &OperationId> = undone(all).into_iter().collect();
    let shown = &all[..all.len().min(limit.map_or(usize::MAX, |limit| limit as usize))];
    let values: Vec<Value> = shown
        .iter()
        .map(|operation| {
            let mut value = serde_json::to_value(operation).unwrap_or_default();
            value["undone_by"] = json!(undone.get(&operation.id));
            value
        })
        .collect();
    app.ui.answer("operations", &values, |ui| {
        let rows = shown
            .iter()
            .map(|operation| {
                let state = undone.get(&operation.id).map(|by| format!("undone by {}", short(by)));
                vec![
                    short(&operation.id).to_owned(),
                    ui.time(operation.created_at),
                    operation.trust.to_string(),
                    state.unwrap_or_default(),
                    ui.last_cell(&described(operation), 90),
                ]
            })
            .collect();
        let none = "Nothing was changed by hand.";
        ui.table(&["id", "time", "by", "state", "what"], rows, none)
    })?;
    Ok(Exit::Done)
}

/// The end of an id, which is enough to name it.
fn short(id: &OperationId) -> &str {
    short_id(id.as_str())
}

/// An operation in words.
fn described(operation: &Operation) -> String {
    let subjects: Vec<String> = operation.changes.iter().map(subject).collect();
    let what = match subjects.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first, rest @ ..] => format!("{first} and {} more", rest.len()),
    };
    match &operation.undoes {
        Some(undone) => format!("{} {}: {what}", operation.action, short(undone)),
        None => format!("{} {what}", operation.action),
    }
}

/// A record as lists name it.
fn subject(edit: &Edit) -> String {
    match edit {
        Edit::Note { id, .. } => format!("note {}", short_id(id.as_str())),
        Edit::Strategy { id, .. } => format!("strategy {}", short_id(id)),
        Edit::Error { id, .. } => format!("error {}", short_id(id)),
        Edit::Package { .. }
        | Edit::Version { .. }
        | Edit::Session { .. }
        | Edit::Decision { .. } => edit.subject(),
    }
}
