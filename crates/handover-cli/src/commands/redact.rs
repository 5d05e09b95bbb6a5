//! `handover redact`

use serde::Serialize;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Redact secrets from standard input
///
/// Replaces every secret with a numbered placeholder; equal secrets get the same number, and all other
/// bytes are unchanged. Works outside a project too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  git diff | handover redact\n  handover redact --json < deploy.log | jq .redactions\n  handover redact --jsonl < texts.jsonl"
)]
pub(crate) struct RedactArgs {
    /// Read and write a JSON object with a `text` per line
    #[arg(long)]
    jsonl: bool,
}

#[derive(Debug, Serialize)]
struct Redacted {
    schema: u32,
    text: String,
    redactions: Vec<Redaction>,
}

/// A redacted secret, as a byte range of the input.
#[derive(Debug, Serialize)]
struct Redaction {
    rule: String,
    start: usize,
    end: usize,
}

pub(crate) fn run(app: &App, args: RedactArgs) -> Outcome {
    let what = "the text";
    if args.jsonl {
        app.stdin.each_text_line(what, |text| app.ui.document(&redacted(app, text)?))?;
    } else if app.ui.is_json() {
        app.ui.document(&redacted(app, &app.stdin.read(what)?)?)?;
    } else {
        app.ui.bytes(&app.redactor()?.redact_bytes(&app.stdin.bytes(what)?))?;
    }
    Ok(Exit::Done)
}

fn redacted(app: &App, text: &str) -> Result<Redacted, CommandError> {
    let redactor = app.redactor()?;
    let found = redactor.find(text).into_iter();
    Ok(Redacted {
        schema: 1,
        text: redactor.clean(text).as_str().to_owned(),
        redactions: found.map(|f| Redaction { rule: f.rule, start: f.start, end: f.end }).collect(),
    })
}
