//! `handover receipt diff`

use handover_context::shape;
use handover_model::{Receipt, ReceiptId};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Compare two receipts, or a receipt with its predecessor
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt diff r_0190…\n  handover receipt diff r_0191… r_0190…"
)]
pub(crate) struct DiffArgs {
    /// Receipt id
    id: ReceiptId,

    /// Receipt to compare with [default: the previous one for the same session, group and role]
    other: Option<ReceiptId>,
}

pub(crate) fn run(app: &App, args: DiffArgs) -> Outcome {
    let receipt = app.store()?.receipt(&args.id)?;
    let older = match args.other {
        Some(id) => app.store()?.receipt(&id)?,
        None => previous(app, &receipt)?,
    };
    let answer = shape::receipt_diff(&older, &receipt);
    app.ui.answer("diff", &answer, |ui| {
        ui.line(format_args!("From {} to {}", older.id, receipt.id))?;
        ui.line(format_args!(
            "Tokens {} → {}, zone {} → {}",
            older.tokens, receipt.tokens, older.zone, receipt.zone
        ))?;
        let items = |key: &str| answer[key].as_array().map(Vec::as_slice).unwrap_or_default();
        for (mark, key) in [("+", "added"), ("-", "removed")] {
            for item in items(key) {
                ui.line(format_args!(
                    "{mark} {} {} v{}",
                    item["kind"].as_str().unwrap_or_default(),
                    item["id"].as_str().unwrap_or_default(),
                    item["version"]
                ))?;
            }
        }
        if items("added").is_empty() && items("removed").is_empty() {
            ui.line("No items changed.")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The previous receipt for the same session, group and role.
fn previous(app: &App, receipt: &Receipt) -> Result<Receipt, CommandError> {
    shape::previous_receipt(app.store()?, receipt)?.ok_or_else(|| {
        CommandError::new(
            Exit::Usage,
            "not_found",
            format!("receipt `{}` has no predecessor for its session, group and role", receipt.id),
        )
        .hinted("Pass a second receipt to compare with.")
    })
}
