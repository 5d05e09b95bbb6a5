//! What no compiler checks: which crate may use which, cycles between modules, who admits prompts,
//! and how long files get.

mod cycles;
mod layers;
mod rules;
mod sources;
mod stats;
mod tokens;

use anyhow::{Result, bail};

/// What to do.
#[derive(clap::Args)]
pub struct Args {
    /// Print test lines per code line and what is long, instead of checking
    #[arg(long)]
    stats: bool,
}

/// Fails with everything that breaks a rule, one line each.
pub fn run(args: &Args) -> Result<()> {
    let packages = crate::cargo::packages()?;
    let crates = sources::read(&packages)?;
    if args.stats {
        stats::print(&crates);
        return Ok(());
    }
    let mut problems = layers::check(&fs_err::read_to_string("ARCHITECTURE.md")?, &packages)?;
    problems.extend(cycles::check(&crates));
    problems.extend(rules::check(&crates));
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}
