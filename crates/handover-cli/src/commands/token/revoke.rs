//! `handover token revoke`

use handover_model::TokenId;

use super::to_json;
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Revoke a token immediately
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover token revoke 3f2a91c04b7e")]
pub(crate) struct RevokeArgs {
    /// Token id, as shown by `handover token list`
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
