//! A pager for what is longer than the terminal.
//!
//! Standard output goes to the pager until the command ends. Without a terminal there is none.

use std::io::{self, IsTerminal, Write as _};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use crate::env;

/// The user's choice, before PAGER.
const VARIABLE: &str = "HANDOVER_PAGER";

/// A running pager.
pub(crate) struct Pager {
    child: Child,
    /// The terminal that standard output was.
    terminal: OwnedFd,
}

impl Pager {
    /// Starts the user's pager, if standard output is a terminal. Nothing else may fail because of it.
    pub(crate) fn start() -> Option<Self> {
        if !io::stdout().is_terminal() || !io::stdin().is_terminal() {
            return None;
        }
        let (program, args) = chosen()?;
        let mut command = Command::new(&program);
        // Leave at once if all fits on a screen, keep colours, and do not clear the screen.
        if env::var("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        let terminal = rustix::io::dup(io::stdout()).ok()?;
        let mut child = command.args(args).stdin(Stdio::piped()).spawn().ok()?;
        let pipe = OwnedFd::from(child.stdin.take()?);
        // What was found out about the terminal counts, although output is a pipe from now on.
        anstream::AutoStream::choice(&io::stdout()).write_global();
        rustix::stdio::dup2_stdout(&pipe).ok()?;
        Some(Self { child, terminal })
    }

    /// Gives the terminal back and waits until the user has left the pager.
    pub(crate) fn finish(mut self) {
        let _ = io::stdout().flush();
        let _ = rustix::stdio::dup2_stdout(&self.terminal);
        let _ = self.child.wait();
    }
}

/// The program and its arguments; none if the user wants none or there is none.
fn chosen() -> Option<(String, Vec<String>)> {
    let text = env::var(VARIABLE).or_else(|| env::var("PAGER"));
    let mut words = shell_words::split(&text.unwrap_or_else(|| "less".to_owned())).ok()?;
    if words.first().is_none_or(|program| program.is_empty() || program == "cat") {
        return None;
    }
    let program = words.remove(0);
    let is_there = program.contains('/') || env::on_path(&program).is_some();
    is_there.then_some((program, words))
}
