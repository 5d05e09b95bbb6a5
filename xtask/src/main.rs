//! Chores of the developers, run as `cargo xtask …`.
//!
//! One file per chore; `cargo xtask --help` lists them.

mod bench_store;
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
    /// Measure how the embedded store behaves as it grows, as ratios
    BenchStore(bench_store::Args),
    /// Check what no compiler checks: which crate may know which
    Tidy,
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::BenchStore(args) => bench_store::run(&args),
        Chore::Tidy => tidy::run(),
    }
}
