//! `handover completions`

use clap_complete::Shell;

use super::{CommandLine, Outcome};
use crate::app::App;
use crate::error::Exit;

/// Print a shell completion script
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover completions bash > ~/.local/share/bash-completion/completions/handover\n  handover completions zsh > ~/.zfunc/_handover"
)]
pub(crate) struct CompletionsArgs {
    /// Shell to generate the script for
    shell: Shell,
}

pub(crate) fn run(app: &App, line: CommandLine, args: CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut (line.describe)(), "handover", &mut script);
    app.ui.bytes(&script)?;
    Ok(Exit::Done)
}
