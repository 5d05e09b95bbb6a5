//! `handover watch`, and the board that `handover run` shows on a terminal.

mod board;
mod render;
mod scene;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGTERM};

use super::Outcome;
use crate::app::App;
use crate::error::{CommandError, Exit, io as io_error};

pub(crate) use board::{Board, Press};
pub(crate) use scene::Ongoing;

/// Watch agents at work: runs, sessions, what each agent got and said
///
/// Updates by itself. The arrow keys choose an agent and Enter shows its receipt; questions that only a person can
/// decide are shown with the command that answers them. Without a terminal, prints everything once.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  handover watch\n  handover watch --once")]
pub(crate) struct WatchArgs {
    /// Print everything once instead
    #[arg(long)]
    once: bool,
}

/// How long a key is waited for before the store is asked what changed.
const TICK: Duration = Duration::from_millis(300);

pub(crate) fn run(app: &App, args: WatchArgs) -> Outcome {
    if app.ui.is_json() {
        return Err(CommandError::new(Exit::Usage, "usage", "this view has no JSON output")
            .hinted("`handover status --json` and `handover receipt list --json` have the data."));
    }
    let board = if args.once { None } else { Board::open(app)? };
    let Some(mut board) = board else {
        for line in render::everything(&scene::collect(app)?, app.now()) {
            app.ui.line(line.paint(false))?;
        }
        return Ok(Exit::Done);
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&stop)).map_err(|error| io_error(&error))?;
    }
    while !stop.load(Ordering::Relaxed) {
        match board.turn(TICK, &Ongoing::default())? {
            Some(Press::Quit | Press::Interrupt) => return Ok(Exit::Done),
            None => {}
        }
    }
    Ok(Exit::Interrupted)
}
