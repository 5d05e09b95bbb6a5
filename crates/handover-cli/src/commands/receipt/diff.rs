//! `handover receipt diff`

use handover_model::{Receipt, ReceiptId, ReceiptItem};
use handover_store::ReceiptFilter;
use serde_json::{Value, json};

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Show what changed between two receipts, or since the role's previous one
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt diff r_0190…\n  handover receipt diff r_0191… r_0190…"
)]
pub(crate) struct DiffArgs {
    /// The receipt
    id: ReceiptId,

    /// What to compare it with [default: the previous one of the same session, group and role]
    other: Option<ReceiptId>,
}

pub(crate) fn run(app: &App, args: DiffArgs) -> Outcome {
    let receipt = app.store()?.receipt(&args.id)?;
    let former = match args.other {
        Some(id) => app.store()?.receipt(&id)?,
        None => previous(app, &receipt)?,
    };
    let added: Vec<Value> = missing(&receipt, &former);
    let removed: Vec<Value> = missing(&former, &receipt);
    let answer = json!({
        "from": former.id,
        "to": receipt.id,
        "added": added,
        "removed": removed,
        "tokens": {"from": former.tokens, "to": receipt.tokens},
        "zone": {"from": former.zone, "to": receipt.zone},
    });
    app.ui.answer("diff", &answer, |ui| {
        ui.line(format_args!("From {} to {}", former.id, receipt.id))?;
        ui.line(format_args!(
            "Tokens {} → {}, zone {} → {}",
            former.tokens, receipt.tokens, former.zone, receipt.zone
        ))?;
        for (mark, items) in [("+", &added), ("-", &removed)] {
            for item in items {
                ui.line(format_args!(
                    "{mark} {} {} v{}",
                    item["kind"].as_str().unwrap_or_default(),
                    item["id"].as_str().unwrap_or_default(),
                    item["version"]
                ))?;
            }
        }
        if added.is_empty() && removed.is_empty() {
            ui.line("The same items.")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The receipt of the same session, group and role before this one.
fn previous(app: &App, receipt: &Receipt) -> Result<Receipt, CommandError> {
    let filter = ReceiptFilter {
        session: Some(receipt.session.clone()),
        role: Some(receipt.role.clone()),
        ..ReceiptFilter::default()
    };
    let all = app.store()?.receipts(&filter)?;
    let mut older =
        all.iter().filter(|r| r.group == receipt.group).skip_while(|r| r.id != receipt.id);
    older.next();
    match older.next() {
        Some(former) => Ok(app.store()?.receipt(&former.id)?),
        None => Err(CommandError::new(
            Exit::Usage,
            "not_found",
            format!("`{}` is the first receipt of its role", receipt.id),
        )
        .hinted("Name another receipt to compare with.")),
    }
}

/// The items of one receipt that another one does not have.
fn missing(of: &Receipt, in_other: &Receipt) -> Vec<Value> {
    let same = |a: &ReceiptItem, b: &ReceiptItem| {
        a.kind == b.kind && a.id == b.id && a.version == b.version
    };
    of.items
        .iter()
        .filter(|item| !in_other.items.iter().any(|other| same(item, other)))
        .map(|item| json!({"kind": item.kind, "id": item.id, "version": item.version}))
        .collect()
}
