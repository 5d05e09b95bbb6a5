//! Chores of the developers, run as `cargo xtask …`.
//!
//! One file per chore; `cargo xtask --help` lists them.

mod eval_redaction;
mod eval_tokens;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Chores of Handover's developers")]
struct Args {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Measure quality on data that is given by path.
    #[command(subcommand)]
    Eval(Eval),
}

#[derive(Subcommand)]
enum Eval {
    /// Recall and false alarms of secret redaction.
    Redaction(eval_redaction::RedactionArgs),
    /// The estimates of Claude's tokens against true counts.
    Tokens(eval_tokens::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().chore {
        Chore::Eval(Eval::Redaction(args)) => eval_redaction::run(&args),
        Chore::Eval(Eval::Tokens(args)) => eval_tokens::run(&args),
    }
}
