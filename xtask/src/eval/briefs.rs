//! Plays the corpus of briefs and prints a table: tokens, general advice, and what is wrong.

use std::path::PathBuf;

use anyhow::{Context, Result, anyhow, bail, ensure};
use handover_testkit::briefs::{Situation, Verdict, judge_briefs};

use crate::cargo;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Print the brief of this situation
    #[arg(long, value_name = "NAME")]
    show: Option<String>,

    /// Program to judge instead of a development build
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,

    /// Only situations whose names contain one of these
    names: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut situations = Situation::all().map_err(|error| anyhow!(error))?;
    if let Some(name) = &args.show {
        situations.retain(|situation| situation.name == *name);
        ensure!(!situations.is_empty(), "no situation is named `{name}`");
    } else if !args.names.is_empty() {
        situations.retain(|one| args.names.iter().any(|name| one.name.contains(name)));
    }
    let program = args
        .program
        .clone()
        .map_or_else(|| cargo::build_handover("dev"), Ok)
        .context("building")?;
    let verdicts = judge_briefs(&program, &situations);
    if args.show.is_some() {
        for brief in verdicts.iter().filter_map(|verdict| verdict.brief.as_ref()) {
            println!("{}", brief.text);
        }
    }
    table(&verdicts);
    let failed = verdicts.iter().filter(|verdict| !verdict.complaints.is_empty()).count();
    if failed > 0 {
        bail!("{failed} of {} situations fail", verdicts.len());
    }
    Ok(())
}

fn table(verdicts: &[Verdict<'_>]) {
    println!("{:40} {:24} {:>6} {:>7}", "situation", "role", "tokens", "advice");
    for Verdict { situation, brief, complaints } in verdicts {
        let (tokens, advice) = brief.as_ref().map_or((0, 0), |b| (b.tokens(), b.advice()));
        let passed = if complaints.is_empty() { "ok" } else { "FAILED" };
        let role = &situation.brief.role;
        println!("{:40} {role:24} {tokens:>6} {advice:>5} %  {passed}", situation.name);
        for complaint in complaints {
            println!("    {complaint}");
        }
    }
}
