//! `handover data import`

mod bazinga;
mod jsonl;

use std::path::PathBuf;

use clap::Subcommand;

use super::Outcome;
use crate::app::App;
use crate::error::CommandError;

/// Import an export, or the records of another program
///
/// All or nothing. Text is redacted on the way in. Importing the same records again adds nothing; a record
/// that exists with different content is an error, because ids are not unique across projects.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:\n  handover data import project.jsonl\n  gunzip -c project.jsonl.gz | handover data import -\n  handover data import bazinga ../shop/bazinga/bazinga.db"
)]
pub(crate) struct ImportArgs {
    #[command(subcommand)]
    from: Option<From>,

    /// File written by `handover data export`, or `-` for standard input
    file: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum From {
    Bazinga(bazinga::BazingaArgs),
}

pub(crate) fn run(app: &App, args: ImportArgs) -> Outcome {
    match (args.from, args.file) {
        (Some(From::Bazinga(args)), _) => bazinga::run(app, args),
        (None, Some(file)) => jsonl::run(app, &file),
        (None, None) => Err(CommandError::invalid("no file to import was given")
            .hinted("Pass a file written by `handover data export`, or `-` for standard input.")),
    }
}
