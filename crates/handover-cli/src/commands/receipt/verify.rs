//! `handover receipt verify`

use std::path::PathBuf;

use handover_context::package_file::content_hash;
use handover_handoff::marker_of;
use serde_json::json;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::Exit;
use crate::input;

/// Verify that a prompt matches its receipt
///
/// Compares the file's hash with the hash of the prompt that the receipt records. Exits with 0 if they
/// match and with 1 if they do not.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover receipt verify latest prompt.md\n  handover receipt verify 4f2a91 - < prompt.md"
)]
pub(crate) struct VerifyArgs {
    /// Receipt: its id, at least four characters of it, or `latest`
    id: String,

    /// Prompt file, or `-` for standard input
    file: PathBuf,
}

pub(crate) fn run(app: &App, args: VerifyArgs) -> Outcome {
    let receipt = app.find_receipt(&args.id)?;
    let text = input::file(&args.file, &app.stdin, "the prompt")?;
    let hash = content_hash(text.as_bytes());
    let verified = hash == receipt.prompt_hash;
    let carries = marker_of(&text).as_ref() == Some(&receipt.id);
    let answer = json!({
        "receipt": receipt.id, "verified": verified, "marker": carries,
        "expected": receipt.prompt_hash, "found": hash, "state": receipt.state,
    });
    app.ui.answer("verification", &answer, |ui| {
        if verified {
            ui.line(format_args!("Verified: this is the prompt of receipt {} ({})", receipt.id, receipt.state))
        } else if carries {
            ui.line(format_args!(
                "Modified: the text carries the marker of receipt {}, but differs from the recorded prompt",
                receipt.id
            ))
        } else {
            ui.line(format_args!("No match: this is not the prompt of receipt {}", receipt.id))
        }
    })?;
    Ok(if verified { Exit::Done } else { Exit::Failed })
}
