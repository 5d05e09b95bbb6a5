//! Chores of the developers, run as `cargo xtask …`.
//!
//! One file per chore; `cargo xtask --help` lists them.

mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of Handover's developers")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check what no compiler checks: which crate may know which
    Tidy,
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Tidy => tidy::run(),
    }
}
