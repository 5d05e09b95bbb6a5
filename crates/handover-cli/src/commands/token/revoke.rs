//! `handover token revoke`

use handover_model::TokenId;

use super::to_json;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Take a token's rights back, at once
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover token revoke 3f2a91c04b7e")]
pub(crate) struct RevokeArgs {
    /// The token's id, as `handover token list` shows it
    id: TokenId,
}

pub(crate) fn run(app: &App, args: &RevokeArgs) -> Outcome {
    let store = app.store()?;
    store.token(&args.id)?;
    store.end_token(&args.id, app.now())?;
    let token = store.token(&args.id)?;
    app.ui.answer("token", &to_json(&token), |ui| ui.line(format_args!("Revoked {}", token.id)))?;
    Ok(Exit::Done)
}
