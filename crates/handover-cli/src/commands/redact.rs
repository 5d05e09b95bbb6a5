//! `handover redact`

use std::path::PathBuf;

use serde::Serialize;

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit};
use crate::input;

/// Redact secrets from a file or standard input
///
/// Replaces every secret with a numbered placeholder; equal secrets get the same number, and all other
/// bytes are unchanged. Works outside a project too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  git diff | handover redact\n  handover redact deploy.log --json | jq .redactions\n  handover redact texts.jsonl --jsonl"
)]
pub(crate) struct RedactArgs {
    /// File to read; `-` is standard input. The file stays as it is
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

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
        input::each_text_line(&args.file, &app.stdin, what, |text| {
            app.ui.document(&redacted(app, text)?)
        })?;
    } else if app.ui.is_json() {
        app.ui.document(&redacted(app, &input::file(&args.file, &app.stdin, what)?)?)?;
    } else {
        app.ui
            .bytes(&app.redactor()?.redact_bytes(&input::bytes(&args.file, &app.stdin, what)?))?;
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
