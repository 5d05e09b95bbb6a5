//! Benchmarks, as ratios within one run: machines are noisy, and milliseconds on one say little about another.
//!
//! With `--against BINARY` a benchmark compares the release build of this checkout with another build: the
//! two alternate, each on a project it created itself, because stores of different versions may not be
//! compatible.

pub mod assemble;
pub mod hook;
pub mod learn;
mod project;
pub mod redaction;
pub mod run;
pub mod serve;
mod service;
pub mod store;
mod viewers;
pub mod web;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use project::Project;

/// The task of the agents, with words that some packages contain.
const TASK: &str = "Refresh tokens in parallel\n\
    Two refreshes at once sign the user out after a login timeout. Keep the rotation, hold a lock in the \
    session cache, and add a test with word35, word136 and word2202.";

/// Which builds are measured.
#[derive(Debug, clap::Args)]
pub struct Builds {
    /// Compare with this build of handover, alternating between the two
    #[arg(long, value_name = "BINARY")]
    against: Option<PathBuf>,

    /// Measure this program instead of building one, such as the released one of `cargo xtask dist`
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,
}

impl Builds {
    /// The release build of this checkout, unless another program is given.
    fn this(&self) -> Result<PathBuf> {
        match &self.program {
            Some(program) => Ok(fs_err::canonicalize(program)?),
            None => crate::cargo::build_handover("release"),
        }
    }

    /// Both builds, the other one first, if there is one.
    fn pair(&self) -> Result<Option<(PathBuf, PathBuf)>> {
        let Some(other) = &self.against else { return Ok(None) };
        Ok(Some((fs_err::canonicalize(other)?, self.this()?)))
    }
}

const TABLE: &str = "| what | first (ms) | second (ms) | ratio |\n|---|---|---|---|";
const TABLE_OF_BUILDS: &str =
    "| what | other build (ms) | this build (ms) | this / other |\n|---|---|---|---|";

/// Runs both alternately, so that noise affects both, and prints medians and their ratio.
fn compare(
    runs: usize,
    what: &str,
    first: impl Fn() -> Result<Duration>,
    second: impl Fn() -> Result<Duration>,
) -> Result<()> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    first()?;
    second()?;
    for _ in 0..runs {
        a.push(first()?);
        b.push(second()?);
    }
    print_row(what, median(&mut a), median(&mut b));
    Ok(())
}

/// A row of [`TABLE`]; times in seconds.
fn print_row(what: &str, first: f64, second: f64) {
    println!("| {what} | {:.2} | {:.2} | {:.2} |", first * 1e3, second * 1e3, second / first);
}

fn median(times: &mut [Duration]) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

fn time(command: &mut Command) -> Result<Duration> {
    let start = Instant::now();
    let status = command.stdout(Stdio::null()).status()?;
    ensure!(status.success(), "{command:?} failed");
    Ok(start.elapsed())
}
