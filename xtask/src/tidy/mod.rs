//! Checks what the compiler cannot: crate layers, module cycles, who may admit prompts, and file lengths.

mod cycles;
mod layers;
mod rules;
mod sources;
mod stats;
mod tokens;

use std::path::Path;

use anyhow::{Result, bail};

use crate::cargo::{ROOT, packages};

/// What to do.
#[derive(clap::Args)]
pub struct Args {
    /// Print test lines per code line and what is long, instead of checking
    #[arg(long)]
    stats: bool,
}

/// Fails with everything that breaks a rule, one line each.
pub fn run(args: &Args) -> Result<()> {
    if args.stats {
        stats::print(&sources::read(&packages()?)?);
        return Ok(());
    }
    let problems = problems()?;
    if problems.is_empty() { Ok(()) } else { bail!("{}", problems.join("\n")) }
}

fn problems() -> Result<Vec<String>> {
    let packages = packages()?;
    let crates = sources::read(&packages)?;
    let architecture = fs_err::read_to_string(Path::new(ROOT).join("ARCHITECTURE.md"))?;
    let mut problems = layers::check(&architecture, &packages)?;
    problems.extend(cycles::check(&crates));
    problems.extend(rules::check(&crates));
    Ok(problems)
}

#[cfg(test)]
mod tests {
    /// Part of the tests, so that CI needs no separate build for it.
    #[test]
    fn the_workspace_is_tidy() {
        assert_eq!(super::problems().unwrap().join("\n"), "");
    }
}
