//! `cargo run -p packaging -- …`: the same as `cargo xtask dist` and `cargo xtask release`, without building the rest
//! of xtask.

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "packaging", about = "Makes the packages of a release")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the program, and all packages for one platform
    Dist(packaging::DistArgs),
    /// Write what covers all platforms, from the packages in a folder
    Index(packaging::IndexArgs),
    /// Prepare a release
    Release(packaging::ReleaseArgs),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().task {
        Task::Dist(args) => packaging::dist(&args),
        Task::Index(args) => packaging::index(&args),
        Task::Release(args) => packaging::release(&args),
    }
}
