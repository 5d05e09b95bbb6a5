//! `handover token create`

use handover_model::TokenKind;

use super::{RightsArgs, to_json};
use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Create a bearer token for programs and machines
///
/// The token is shown once; only its hash is stored. Clients send it as `Authorization: Bearer TOKEN`;
/// `handover` itself reads it from HANDOVER_TOKEN.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover token create --scope write --name build-server\n  handover token create --scope read --days 30\n  handover token create --scope admin --all-projects --json"
)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    rights: RightsArgs,

    /// Days until it expires [default: never]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=3650))]
    days: Option<u32>,
}

pub(crate) fn run(app: &App, args: CreateArgs) -> Outcome {
    let seconds = args.days.map(|days| i64::from(days) * 86_400);
    let (minted, token) = args.rights.make(app, TokenKind::Bearer, seconds)?;
    let mut answer = to_json(&token);
    answer["token"] = minted.text.as_str().into();
    app.ui.answer("token", &answer, |ui| {
        ui.note(format_args!(
            "Token {} has {} access to {}. It will not be shown again.",
            token.id,
            token.scope,
            token
                .project
                .as_ref()
                .map_or_else(|| "every project".to_owned(), |id| format!("project {id}")),
        ));
        ui.line(&minted.text)
    })?;
    Ok(Exit::Done)
}
