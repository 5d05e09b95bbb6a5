//! Developer tasks, run as `cargo xtask …`; `cargo xtask --help` lists them.

mod bench;
mod cargo;
mod eval;
mod power;
mod scratch_store;
mod shots;
mod tidy;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Developer tasks of Handover")]
struct Args {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure a part of Handover, as ratios within one run
    #[command(subcommand)]
    Bench(Bench),
    /// Measure a part of Handover on data given by path
    #[command(subcommand)]
    Eval(Eval),
    /// Let the power fail at moments of real work, and check what is left
    Power(power::PowerArgs),
    /// Kill writers in the middle of their work, and check that nothing acknowledged is lost
    Kill(power::KillArgs),
    /// Take screenshots of every dashboard page
    Shots(shots::Args),
    /// Check crate layers, module cycles and file sizes
    Tidy(tidy::Args),
    /// Build the program, and all packages for one platform
    Dist(packaging::DistArgs),
    /// Prepare a release: version, changelog, tag; with --dry-run also the packages
    Release(packaging::ReleaseArgs),
}

#[derive(Subcommand)]
enum Bench {
    /// Time and memory of `handover assemble`
    Assemble(bench::assemble::Args),
    /// Time of `handover hook`
    Hook(bench::hook::Args),
    /// Time and memory of `handover learn`
    Learn(bench::learn::Args),
    /// Redaction of hostile texts
    Redaction(bench::redaction::Args),
    /// Overhead of the run engine per phase
    Run(bench::run::Args),
    /// Throughput, latency and memory of the service
    Serve(bench::serve::Args),
    /// Queries on a growing store
    Store(bench::store::Args),
    /// Time and size of the dashboard pages
    Web(bench::web::Args),
}

#[derive(Subcommand)]
enum Eval {
    /// Everything that docs/benchmarks.md reports, as far as the data is there
    All(eval::all::Args),
    /// What became of files, symbols and commits that texts name, on histories of real repositories
    Alive(eval::alive::Args),
    /// What briefs say in scripted projects, against what they must say
    Briefs(eval::briefs::Args),
    /// Share of labeled answers that are in a block of limited length
    Blocks(eval::blocks::Args),
    /// Whether later statements replace earlier ones in briefs, and look-alikes do not
    Amended(eval::amended::Args),
    /// Share of decisions in conversations and commits that later briefs contain
    Known(eval::known::Args),
    /// Where to look, against plain BM25, on commits of real repositories
    Places(eval::places::Args),
    /// Recall and false positives of secret redaction
    Redaction(eval::redaction::Args),
    /// Retrieval quality of the ranking
    Retrieval(eval::retrieval::Args),
    /// Recall and false alarms of the screen for texts that speak to agents
    Screen(eval::screen::Args),
    /// Token estimates for Claude against true counts
    Tokens(eval::tokens::Args),
    /// What became of the items of briefs
    Use(eval::uses::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().task {
        Task::Bench(Bench::Assemble(args)) => bench::assemble::run(&args),
        Task::Bench(Bench::Hook(args)) => bench::hook::run(&args),
        Task::Bench(Bench::Learn(args)) => bench::learn::run(&args),
        Task::Bench(Bench::Redaction(args)) => bench::redaction::run(&args),
        Task::Bench(Bench::Run(args)) => bench::run::run(&args),
        Task::Bench(Bench::Serve(args)) => bench::serve::run(&args),
        Task::Bench(Bench::Store(args)) => bench::store::run(&args),
        Task::Bench(Bench::Web(args)) => bench::web::run(&args),
        Task::Eval(Eval::All(args)) => eval::all::run(&args),
        Task::Eval(Eval::Alive(args)) => eval::alive::run(&args),
        Task::Eval(Eval::Briefs(args)) => eval::briefs::run(&args),
        Task::Eval(Eval::Blocks(args)) => eval::blocks::run(&args),
        Task::Eval(Eval::Amended(args)) => eval::amended::run(&args),
        Task::Eval(Eval::Known(args)) => eval::known::run(&args),
        Task::Eval(Eval::Places(args)) => eval::places::run(&args),
        Task::Eval(Eval::Redaction(args)) => eval::redaction::run(&args),
        Task::Eval(Eval::Retrieval(args)) => eval::retrieval::run(&args),
        Task::Eval(Eval::Screen(args)) => eval::screen::run(&args),
        Task::Eval(Eval::Tokens(args)) => eval::tokens::run(&args),
        Task::Eval(Eval::Use(args)) => eval::uses::run(&args),
        Task::Power(args) => power::fail(&args),
        Task::Kill(args) => power::kill(&args),
        Task::Shots(args) => shots::run(&args),
        Task::Tidy(args) => tidy::run(&args),
        Task::Dist(args) => packaging::dist(&args),
        Task::Release(args) => packaging::release(&args),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Every call in the documentation, in blocks and between backticks.
    fn documented() -> Vec<String> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let docs = fs_err::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        let files = ["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md"].map(|name| root.join(name));
        let is_page = |file: &std::path::PathBuf| file.extension().is_some_and(|end| end == "md");
        let mut found = Vec::new();
        for file in docs.filter(is_page).chain(files) {
            let text = fs_err::read_to_string(file).unwrap();
            let calls = text.split("cargo xtask ").skip(1);
            let ends = |c: char| matches!(c, '`' | '#' | '|' | '\n' | ')' | ';');
            found.extend(calls.map(|rest| rest.split(ends).next().unwrap_or_default().to_owned()));
        }
        found
    }

    fn parses(call: &str) -> Result<Args, clap::Error> {
        let words = call.split_whitespace().map(|word| word.trim_matches(['[', ']', '…']));
        Args::try_parse_from(["xtask"].into_iter().chain(words.filter(|word| !word.is_empty())))
    }

    #[test]
    fn calls_in_the_documentation_parse() {
        let calls = documented();
        assert!(calls.len() >= 20, "{calls:?}");
        for call in calls.iter().filter(|call| !call.trim().trim_matches('…').is_empty()) {
            let usable = parses(call).map_err(|error| error.to_string());
            assert!(usable.is_ok(), "cargo xtask {call}: {}", usable.err().unwrap());
        }
        assert!(parses("eval no-such-thing").is_err());
        assert!(parses("bench store --no-such-option 1").is_err());
    }
}
