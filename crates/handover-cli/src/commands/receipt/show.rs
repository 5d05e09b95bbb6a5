//! `handover receipt show`

use handover_model::ReceiptId;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;

/// Show what an agent was given, what was left out, and why
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt show r_0190…\n  handover receipt show r_0190… --json"
)]
pub(crate) struct ShowArgs {
    /// The receipt
    id: ReceiptId,
}

pub(crate) fn run(app: &App, args: ShowArgs) -> Outcome {
    let receipt = app.store()?.receipt(&args.id)?;
    app.ui.answer("receipt", &receipt, |ui| {
        ui.line(format_args!("Receipt    {} ({})", receipt.id, receipt.state))?;
        let group = receipt.group.as_ref().map_or("–", |group| group.as_str());
        ui.line(format_args!(
            "For        {} of group {group}, iteration {}",
            receipt.role, receipt.iteration
        ))?;
        ui.line(format_args!("Session    {}", receipt.session))?;
        ui.line(format_args!(
            "Model      {} ({})",
            receipt.model.as_deref().unwrap_or("–"),
            receipt.tokenizer
        ))?;
        ui.line(format_args!("Zone       {}, {} tokens", receipt.zone, receipt.tokens))?;
        for section in &receipt.sections {
            ui.line(format_args!(
                "  {:<10} {} of {} tokens",
                section.name, section.used, section.budget
            ))?;
        }
        for item in &receipt.items {
            ui.line(format_args!(
                "In         {} {} v{} ({}), score {:.3}, {} tokens",
                item.kind, item.id, item.version, item.form, item.score, item.tokens
            ))?;
        }
        for item in &receipt.left_out {
            ui.line(format_args!(
                "Out        {} {}: {}, score {:.3}",
                item.kind, item.id, item.reason, item.score
            ))?;
        }
        for (rule, count) in &receipt.redactions {
            ui.line(format_args!("Redacted   {count} by {rule}"))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
