//! `handover token list`

use serde_json::Value;

use super::to_json;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// List tokens and their rights, newest first
///
/// The tokens themselves are not stored and cannot be shown.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover token list\n  handover token list --all --json")]
pub(crate) struct ListArgs {
    /// Include expired and revoked tokens
    #[arg(long)]
    all: bool,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    let now = app.now();
    let mut tokens = app.store()?.tokens()?;
    tokens.retain(|token| args.all || token.is_good(now));
    let answer: Vec<Value> = tokens.iter().map(to_json).collect();
    app.ui.answer("tokens", &answer, |ui| {
        let rows = tokens
            .iter()
            .map(|token| {
                let ended = match (token.ended_at, token.expires_at) {
                    (Some(time), _) => format!("ended {}", ui.time(time)),
                    (None, Some(time)) => format!("until {time}"),
                    (None, None) => "–".to_owned(),
                };
                vec![
                    token.id.to_string(),
                    token.kind.to_string(),
                    token.scope.to_string(),
                    token.project.as_ref().map_or_else(|| "all".to_owned(), ToString::to_string),
                    ui.time(token.created_at),
                    ended,
                    token.name.clone().unwrap_or_default(),
                ]
            })
            .collect();
        let header = ["token", "kind", "scope", "project", "created", "validity", "name"];
        ui.table(&header, rows, "No tokens. Create one with `handover token create`.")
    })?;
    Ok(Exit::Done)
}
