//! `handover receipt list`

use handover_context::shape;
use handover_model::Role;
use handover_store::ReceiptFilter;
use serde_json::Value;

use crate::app::{App, short_id};
use crate::commands::Outcome;
use crate::error::Exit;

/// List receipts, newest first, across all sessions unless one is given
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt list\n  handover receipt list --session login-rework --role developer --json"
)]
pub(crate) struct ListArgs {
    /// Only receipts for this role
    #[arg(long)]
    role: Option<Role>,

    /// Maximum number of receipts
    #[arg(long, value_name = "N")]
    limit: Option<u32>,
}

pub(crate) fn run(app: &App, args: ListArgs) -> Outcome {
    app.check_roles(&args.role)?;
    let filter = ReceiptFilter {
        session: app.named_session()?,
        group: app.group()?,
        role: args.role,
        limit: args.limit,
        ..ReceiptFilter::default()
    };
    let receipts = app.store()?.receipts(&filter)?;
    let answer: Vec<Value> = receipts.iter().map(shape::receipt_row).collect();
    app.ui.answer("receipts", &answer, |ui| {
        let rows = receipts
            .iter()
            .map(|r| {
                vec![
                    short_id(r.id.as_str()).to_owned(),
                    r.session.to_string(),
                    r.role.to_string(),
                    r.group.as_ref().map_or_else(|| "–".to_owned(), ToString::to_string),
                    (r.iteration + 1).to_string(),
                    r.state.to_string(),
                    r.zone.to_string(),
                    r.tokens.to_string(),
                    ui.time(r.created_at),
                ]
            })
            .collect();
        let header =
            ["receipt", "session", "role", "group", "attempt", "state", "zone", "tokens", "time"];
        ui.table(
            &header,
            rows,
            "No receipts yet. `handover brief` and `handover assemble` create them.",
        )
    })?;
    Ok(Exit::Done)
}
