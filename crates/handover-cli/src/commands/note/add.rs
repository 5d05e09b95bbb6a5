//! `handover note add`

use std::path::PathBuf;

use handover_context::notes::{Decision, Written};

use super::{answer, named};
use crate::app::App;
use crate::commands::Outcome;
use crate::input;

/// Write a note
///
/// One statement that agents of every later session should know. Secrets are redacted before it is stored. It
/// counts as written by a person if it is typed at a terminal outside of any agent program.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover note add \"Prices are stored in cents; never use floats\"\n  handover note add --title Deployment --file notes.txt"
)]
pub(crate) struct AddArgs {
    /// Title [default: the beginning of the text]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// File that it is about, relative to the project; repeatable
    #[arg(long, value_name = "PATH")]
    path: Vec<String>,

    /// Note that this one replaces
    #[arg(long, value_name = "NOTE")]
    supersedes: Option<String>,

    /// Text [default: standard input]
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: Option<String>,

    /// Read the text from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
}

pub(crate) fn run(app: &App, args: AddArgs) -> Outcome {
    let text = input::given(args.text, args.file.as_deref(), &app.stdin, "the note")?;
    let note = Written {
        text: &text,
        title: args.title.as_deref(),
        paths: &args.path,
        trust: app.author()?,
    };
    let (_, project) = app.learning()?;
    let earlier = args.supersedes.as_deref().map(|id| named(app, &project, id)).transpose()?;
    let written = app.by_hand(&project)?.write_note(&note)?;
    if let Some(earlier) = earlier {
        let replaced = Decision::Confirm { by: Some(&written) };
        app.by_hand(&project)?.decide(&earlier, replaced)?;
    }
    answer(app, &written)
}
