//! `handover import`

mod bazinga;
mod jsonl;

use std::path::PathBuf;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;
use crate::error::CommandError;

/// Read what `handover export` wrote, or another program's records
///
/// All or nothing. Texts pass redaction. Importing the same again adds nothing; a record that is there and
/// says something else is refused, since numbers of two projects mean different records.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  handover import project.jsonl\n  gunzip -c project.jsonl.gz | handover import -\n  handover import bazinga ../shop/bazinga/bazinga.db"
)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    from: Option<From>,

    /// The file, or `-` for standard input
    file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum From {
    Bazinga(bazinga::BazingaArgs),
}

pub(crate) fn run(app: &App, args: ImportArgs) -> Outcome {
    match (args.from, args.file) {
        (Some(From::Bazinga(args)), _) => bazinga::run(app, args),
        (None, Some(file)) => jsonl::run(app, &file),
        (None, None) => Err(CommandError::invalid("nothing to import was named")
            .hinted("Name a file that `handover export` wrote; `-` is standard input.")),
    }
}
