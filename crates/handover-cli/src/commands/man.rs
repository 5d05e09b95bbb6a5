//! `handover man`

use std::path::PathBuf;

use super::{CommandLine, Outcome};
use crate::app::App;
use crate::error::{Exit, io};

/// Print the manual page, or write one per command
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover man | man -l -\n  handover man --to ~/.local/share/man/man1"
)]
pub(crate) struct ManArgs {
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    to: Option<PathBuf>,
}

pub(crate) fn run(app: &App, line: CommandLine, args: ManArgs) -> Outcome {
    let tree = (line.describe)();
    if let Some(folder) = args.to {
        fs_err::create_dir_all(&folder)
            .and_then(|()| clap_mangen::generate_to(tree, &folder))
            .map_err(|error| io(&error))?;
        return Ok(Exit::Done);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(tree).render(&mut page).map_err(|error| io(&error))?;
    app.ui.bytes(&page)?;
    Ok(Exit::Done)
}
