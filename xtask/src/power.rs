//! Power failures and killed processes, as many as you like. The tests do a few of each.

use std::path::PathBuf;

use handover_testkit::{TestEnv, Writers, assert_kept, power_failures};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct PowerArgs {
    /// How many power failures
    #[arg(long, default_value_t = 1000)]
    cuts: usize,

    /// Chooses other moments, and what is lost
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Program to test instead of a development build
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,
}

#[derive(clap::Args)]
pub(crate) struct KillArgs {
    /// How many acknowledged writes
    #[arg(long, default_value_t = 100_000)]
    writes: usize,

    /// How many processes write at once
    #[arg(long, default_value_t = 4)]
    writers: usize,

    /// How many writes are acknowledged between two kills
    #[arg(long, default_value_t = 200)]
    between: usize,

    /// Program to test instead of a development build
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,
}

fn program(given: Option<&PathBuf>) -> anyhow::Result<PathBuf> {
    given.map_or_else(|| cargo::build_handover("dev"), |path| Ok(path.clone()))
}

pub(crate) fn fail(args: &PowerArgs) -> anyhow::Result<()> {
    let (failures, syncs) = power_failures(&program(args.program.as_ref())?, args.cuts, args.seed);
    println!("{failures} power failures over {syncs} syncs: everything acknowledged was there");
    Ok(())
}

pub(crate) fn kill(args: &KillArgs) -> anyhow::Result<()> {
    let program = program(args.program.as_ref())?;
    let (mut written, mut kills) = (0, 0);
    while written < args.writes {
        let env = TestEnv::new(&program);
        // A fresh store from time to time, because a listing of everything is compared.
        let mut acknowledged = Vec::new();
        while acknowledged.len() < 5_000.min(args.writes - written) {
            let mut writers = Writers::start_after(&env, args.writers, kills);
            writers.wait_for(args.between / args.writers.max(1));
            acknowledged.extend(writers.kill());
            kills += 1;
        }
        assert_kept(&env, &acknowledged);
        env.run(["doctor"]).ok();
        written += acknowledged.len();
        println!("{written} acknowledged writes, {kills} kills, none lost");
    }
    Ok(())
}
