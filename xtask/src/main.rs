//! Chores of the developers, run as `cargo xtask …`.
//!
//! One file per chore; `cargo xtask --help` lists them.

mod bench;
mod cargo;
mod eval;
mod scratch_store;
mod shots;
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
    /// Measure a part of Handover, as ratios within one run
    #[command(subcommand)]
    Bench(Bench),
    /// Measure a part of Handover on data given by path
    #[command(subcommand)]
    Eval(Eval),
    /// Take pictures of every page of the dashboard
    Shots(shots::Args),
    /// Check what no compiler checks: layers of crates, cycles of modules, long files
    Tidy(tidy::Args),
}

#[derive(Subcommand)]
enum Bench {
    /// What `handover assemble` costs
    Assemble(bench::assemble::Args),
    /// What `handover hook` costs
    Hook(bench::hook::Args),
    /// What the engine of runs adds to each phase
    Run(bench::run::Args),
    /// What the service bears
    Serve(bench::serve::Args),
    /// How a store behaves as it grows
    Store(bench::store::Args),
    /// What the pages of the dashboard cost
    Web(bench::web::Args),
}

#[derive(Subcommand)]
enum Eval {
    /// Recall and false alarms of secret redaction
    Redaction(eval::redaction::Args),
    /// How well the ranking finds what a question needs
    Retrieval(eval::retrieval::Args),
    /// The estimates of Claude's tokens against true counts
    Tokens(eval::tokens::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Bench(Bench::Assemble(args)) => bench::assemble::run(&args),
        Chore::Bench(Bench::Hook(args)) => bench::hook::run(&args),
        Chore::Bench(Bench::Run(args)) => bench::run::run(&args),
        Chore::Bench(Bench::Serve(args)) => bench::serve::run(&args),
        Chore::Bench(Bench::Store(args)) => bench::store::run(&args),
        Chore::Bench(Bench::Web(args)) => bench::web::run(&args),
        Chore::Eval(Eval::Redaction(args)) => eval::redaction::run(&args),
        Chore::Eval(Eval::Retrieval(args)) => eval::retrieval::run(&args),
        Chore::Eval(Eval::Tokens(args)) => eval::tokens::run(&args),
        Chore::Shots(args) => shots::run(&args),
        Chore::Tidy(args) => tidy::run(&args),
    }
}
