//! `handover receipt list`

use handover_context::shape;
use handover_model::Role;
use handover_store::ReceiptFilter;
use serde_json::Value;

use crate::app::App;
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
    let filter = ReceiptFilter {
        session: app.named_session()?,
        group: app.group()?,
        role: args.role,
        limit: args.limit,
    };
    let receipts = app.store()?.receipts(&filter)?;
    let answer: Vec<Value> = receipts.iter().map(shape::receipt_row).collect();
    app.ui.answer("receipts", &answer, |ui| {
        let rows = receipts
            .iter()
            .map(|r| {
                vec![
                    r.id.to_string(),
                    r.session.to_string(),
                    r.role.to_string(),
                    r.iteration.to_string(),
                    r.state.to_string(),
                    r.zone.to_string(),
                    r.tokens.to_string(),
                    r.created_at.to_string(),
                ]
            })
            .collect();
        let header =
            ["receipt", "session", "role", "iteration", "state", "zone", "tokens", "created"];
        ui.table(
            &header,
            rows,
            "No receipts yet. `handover brief` and `handover assemble` create them.",
        )
    })?;
    Ok(Exit::Done)
}
