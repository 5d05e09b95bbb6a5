//! `handover token link`

use handover_model::TokenKind;
use handover_serve::Port;
use serde_json::Value;

use super::{RightsArgs, to_json};
use crate::app::App;
use crate::commands::Outcome;
use crate::commands::serve::NOTE;
use crate::error::Exit;

/// Make a link that logs one browser in, once, within ten minutes
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover token link --scope read\n  handover token link --scope write --url http://team.example:4747"
)]
pub(crate) struct LinkArgs {
    #[command(flatten)]
    rights: RightsArgs,

    /// Where the service is [default: the one that runs here]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

const GOOD_FOR_SECONDS: i64 = 600;

pub(crate) fn run(app: &App, args: LinkArgs) -> Outcome {
    let url = match args.url {
        Some(url) => url,
        None => running(app).unwrap_or_else(|| format!("http://127.0.0.1:{}", Port::USUAL)),
    };
    let (minted, token) = args.rights.make(app, TokenKind::Login, Some(GOOD_FOR_SECONDS))?;
    let link = format!("{}/login?once={}", url.trim_end_matches('/'), minted.text);
    let mut answer = to_json(&token);
    answer["link"] = link.as_str().into();
    app.ui.answer("token", &answer, |ui| ui.line(&link))?;
    Ok(Exit::Done)
}

/// The address of the service that runs here, as it left it.
fn running(app: &App) -> Option<String> {
    let note = fs_err::read_to_string(app.project().ok()?.folder().join(NOTE)).ok()?;
    let note: Value = serde_json::from_str(&note).ok()?;
    note["url"].as_str().map(str::to_owned)
}
