//! `handover host list`

use serde_json::{Value, json};

use super::settings_file::all;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show which agent programs call Handover, and from where
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover host list\n  handover host list --json")]
pub(crate) struct ListArgs {}

pub(crate) fn run(app: &App, _args: &ListArgs) -> Outcome {
    let mut hosts: Vec<Value> = Vec::new();
    for file in all(app) {
        let found = file.registered();
        let events = found.as_deref().unwrap_or_default();
        let plugin = file.plugin();
        let path = plugin.as_ref().filter(|_| events.is_empty()).unwrap_or(&file.path);
        hosts.push(json!({
            "name": file.host.name(),
            "scope": file.scope,
            "path": path,
            "installed": !events.is_empty(),
            "complete": events.len() == file.host.settings().events().len(),
            "events": events,
            "plugin": plugin.is_some(),
            "problem": found.as_ref().err().map(|error| &error.message),
        }));
    }
    app.ui.answer("hosts", &hosts, |ui| {
        let text = |host: &Value, key: &str| host[key].as_str().unwrap_or_default().to_owned();
        let rows = hosts.iter().map(|host| {
            let state = match (&host["problem"], &host["complete"], &host["installed"]) {
                (Value::String(_), ..) => "broken settings",
                (_, Value::Bool(true), _) if host["plugin"] == true => "installed, and plugin",
                (_, _, Value::Bool(false)) if host["plugin"] == true => "plugin",
                (_, Value::Bool(true), _) => "installed",
                (_, _, Value::Bool(true)) => "in part",
                _ => "no",
            };
            vec![text(host, "name"), text(host, "scope"), state.to_owned(), text(host, "path")]
        });
        ui.table(&["host", "scope", "hooks", "settings"], rows.collect(), "")
    })?;
    Ok(Exit::Done)
}
