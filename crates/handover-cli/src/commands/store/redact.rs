//! `handover data redact`

use handover_context::archive::{RedactMode, redact};
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;
use crate::ui::count;

/// Apply the current redaction rules to stored records
///
/// New rules protect what is stored from then on; this applies them to all records of the store, in one
/// transaction, and rebuilds the text index. Hashes of receipts and packages stay those of the delivered
/// prompts and the files, so that they can still be verified. Package files are not changed, and neither are
/// copies of the store: renew them with `handover data backup`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover data redact --dry-run\n  handover data redact && handover data backup"
)]
pub(crate) struct RedactArgs {
    /// Only count what would change
    #[arg(long)]
    dry_run: bool,
}

pub(crate) fn run(app: &App, args: RedactArgs) -> Outcome {
    let mode = if args.dry_run { RedactMode::DryRun } else { RedactMode::Apply };
    let found = redact(app.existing_store()?, app.redactor()?, mode)?;
    let answer = json!({
        "dry_run": args.dry_run, "records": found.total(), "kinds": found.records,
        "rules": found.rules,
    });
    app.ui.answer("redacted", &answer, |ui| {
        let verb = if args.dry_run { "Would redact" } else { "Redacted" };
        ui.line(format_args!("{verb} {}", count(found.total(), "record")))?;
        for (kind, count) in &found.records {
            ui.line(format_args!("  {count:>6}  {kind}"))?;
        }
        for (rule, count) in &found.rules {
            ui.line(format_args!("  {count:>6}  found by {rule}"))?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
