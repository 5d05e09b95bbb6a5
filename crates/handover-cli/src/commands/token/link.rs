//! `handover token link`

use handover_model::TokenKind;
use handover_serve::Port;
use serde_json::Value;

use super::{RightsArgs, to_json};
use crate::app::App;
use crate::commands::Outcome;
use crate::commands::serve::{SERVICE_BYTES, SERVICE_FILE};
use crate::error::Exit;

/// Create a one-time link that logs a browser in, valid for ten minutes
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover token link --scope read\n  handover token link --scope write --url http://team.example:4747"
)]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    rights: RightsArgs,

    /// URL of the service [default: the service running in this project]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

const VALID_SECONDS: i64 = 600;

pub(crate) fn run(app: &App, args: LinkArgs) -> Outcome {
    let url = match args.url {
        Some(url) => url,
        None => running(app).unwrap_or_else(|| format!("http://127.0.0.1:{}", Port::DEFAULT)),
    };
    let (minted, token) = args.rights.make(app, TokenKind::Login, Some(VALID_SECONDS))?;
    let link = format!("{}/login?once={}", url.trim_end_matches('/'), minted.text);
    let mut answer = to_json(&token);
    answer["link"] = link.as_str().into();
    app.ui.answer("token", &answer, |ui| ui.line(&link))?;
    Ok(Exit::Done)
}

/// The URL that the service running in this project wrote down when it started.
fn running(app: &App) -> Option<String> {
    let folder = app.project().ok()?.folder();
    let note = folder.read_text(SERVICE_FILE, SERVICE_BYTES).ok()??;
    let note: Value = serde_json::from_str(&note).ok()?;
    note["url"].as_str().map(str::to_owned)
}
