//! `handover tokens`

use std::path::PathBuf;

use handover_text::tokens::{Count, for_model};
use serde::Serialize;

use super::Outcome;
use crate::app::App;
use crate::error::Exit;
use crate::input;

/// Count the tokens of a text
///
/// Exact for OpenAI models; an estimate for Claude models that errs on the high side. In JSON, `exact` says
/// which. Works outside a project too.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover tokens README.md\n  git diff | handover tokens --model gpt-5 --json\n  handover tokens texts.jsonl --model opus --jsonl"
)]
pub(crate) struct TokensArgs {
    /// File to count; `-` is standard input
    #[arg(default_value = "-", hide_default_value = true)]
    file: PathBuf,

    /// Model, by any of its names [default: a current Claude model]
    #[arg(long, value_name = "NAME")]
    model: Option<String>,

    /// Read a JSON object with a `text` per line; write its count per line
    #[arg(long)]
    jsonl: bool,
}

#[derive(Debug, Serialize)]
struct Counted {
    schema: u32,
    #[serde(flatten)]
    count: Count,
}

pub(crate) fn run(app: &App, args: TokensArgs) -> Outcome {
    app.check_model(args.model.as_deref())?;
    let tokenizer = for_model(args.model.as_deref());
    let counted = |text: &str| Counted { schema: 1, count: Count::of(tokenizer, text) };
    let what = "the text";
    if args.jsonl {
        input::each_text_line(&args.file, &app.stdin, what, |text| {
            app.ui.document(&counted(text))
        })?;
        return Ok(Exit::Done);
    }
    // Invalid UTF-8 still costs tokens.
    let counted = counted(&String::from_utf8_lossy(&input::bytes(&args.file, &app.stdin, what)?));
    if app.ui.is_json() {
        app.ui.document(&counted)?;
    } else {
        app.ui.line(counted.count.tokens)?;
    }
    Ok(Exit::Done)
}
