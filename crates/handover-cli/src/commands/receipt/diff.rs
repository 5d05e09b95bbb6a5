//! `handover receipt diff`

use std::collections::HashMap;

use handover_context::shape;
use handover_model::Receipt;
use handover_store::ReceiptFilter;

use super::titles::Titles;
use crate::app::{App, short_id};
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};

/// Compare two receipts, or a receipt with its predecessor
///
/// It always reads from the older to the newer one. Without arguments: the last two for the same session, group and
/// role.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt diff\n  handover receipt diff latest\n  handover receipt diff 4f2a91 07be3d"
)]
pub(crate) struct DiffArgs {
    /// Receipt: its id, at least four characters of it, or `latest` [default: the newest with a predecessor]
    id: Option<String>,

    /// Receipt to compare it with [default: the previous one for the same session, group and role]
    other: Option<String>,
}

pub(crate) fn run(app: &App, args: DiffArgs) -> Outcome {
    let (older, receipt) = match (args.id, args.other) {
        (Some(id), Some(other)) => {
            let (one, other) = (app.find_receipt(&id)?, app.find_receipt(&other)?);
            // Whichever is named first: a difference is what the later agent got and the earlier one did not.
            if one.created_at < other.created_at { (one, other) } else { (other, one) }
        }
        (Some(id), None) => {
            let receipt = app.find_receipt(&id)?;
            (previous(app, &receipt)?, receipt)
        }
        (None, _) => newest_pair(app)?,
    };
    let answer = shape::receipt_diff(&older, &receipt);
    app.ui.answer("diff", &answer, |ui| {
        ui.line(format_args!(
            "From {} to {}",
            short_id(older.id.as_str()),
            short_id(receipt.id.as_str())
        ))?;
        ui.line(format_args!(
            "Tokens {} → {}, zone {} → {}",
            older.tokens, receipt.tokens, older.zone, receipt.zone
        ))?;
        let titles = Titles::new(app, &receipt.session);
        let items = |key: &str| answer[key].as_array().map(Vec::as_slice).unwrap_or_default();
        for (mark, key) in [("+", "added"), ("-", "removed")] {
            for item in items(key) {
                let text = |key: &str| item[key].as_str().unwrap_or_default();
                let title = titles.of(text("kind"), text("id"));
                match text("kind") {
                    "package" => ui.line(format_args!("{mark} {title} v{}", item["version"]))?,
                    _ => ui.line(format_args!("{mark} {title}"))?,
                }
            }
        }
        if items("added").is_empty() && items("removed").is_empty() {
            ui.line("No items changed.")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The newest receipt that has a predecessor, and that one.
fn newest_pair(app: &App) -> Result<(Receipt, Receipt), CommandError> {
    let filter = ReceiptFilter {
        session: app.named_session()?,
        group: app.group()?,
        ..ReceiptFilter::default()
    };
    let all = app.store()?.receipts(&filter)?;
    let mut seen: HashMap<_, &Receipt> = HashMap::new();
    let mut pairs = all.iter().rev().filter_map(|receipt| {
        let agent = (&receipt.session, &receipt.group, &receipt.role);
        seen.insert(agent, receipt).map(|older| (older, receipt))
    });
    match pairs.by_ref().last() {
        Some((older, newer)) => {
            let store = app.store()?;
            Ok((store.receipt(&older.id)?, store.receipt(&newer.id)?))
        }
        None => {
            let message = "no two receipts have the same session, group and role";
            Err(CommandError::new(Exit::Usage, "not_found", message).hinted(
                "Name two: `handover receipt diff ID ID`; `handover receipt list` shows them.",
            ))
        }
    }
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
