//! `cargo xtask eval all --data DIR`: every figure of docs/benchmarks.md that the data at hand allows.
//!
//! A part that lacks its data is named at the end, with how to get it; a part that fails does not keep the others from
//! running.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::{ArgMatches, Command, FromArgMatches};

use super::{alive, amended, blocks, briefs, known, places, redaction, retrieval, uses};

/// What to measure on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder with the public sets, as `scripts/evaluation-data DIR` makes it
    #[arg(long, value_name = "DIR")]
    data: PathBuf,

    /// Git repository with its whole history; may be given several times. The first surrounds the decisions of `known`
    #[arg(long, value_name = "DIR")]
    repository: Vec<PathBuf>,

    /// Only these parts
    #[arg(long, value_delimiter = ',', value_name = "NAME,…")]
    only: Vec<String>,

    /// Program to judge instead of a build of its own
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,
}

/// The sets, and the BLAKE3 hash of corpus, queries and labels with which docs/benchmarks.md was measured.
const SETS: [(&str, &str); 3] = [
    ("locomo", "83da1ced14817070c5a8dd1dc4e216756b778dec85db9f56cbc0f9dbb9fe484f"),
    ("issues", "de902734fb30f782ffceed31ca56ee89cc6dde4dfa3387a7d91d4511e5be04b6"),
    ("cosqa", "239e48006c45e38765fd5057770868992c1610dd11004a00b7f44e4e449a26c1"),
];

/// Labeled secrets, which nobody may pass on.
const SECRETS: &str = "secrets-dev.jsonl.gz";

/// One part: its name, and its words after `cargo xtask eval`, or why it cannot be measured.
type Part = (&'static str, Result<Vec<String>, String>);

pub fn run(args: &Args) -> Result<()> {
    println!("Handover {}, {}", env!("CARGO_PKG_VERSION"), commit().unwrap_or_default());
    let (mut left_out, mut failed) = (Vec::new(), Vec::new());
    for (name, words) in parts(args)? {
        if !args.only.is_empty() && !args.only.iter().any(|only| only == name) {
            continue;
        }
        match words {
            Err(why) => left_out.push(format!("{name}: {why}")),
            Ok(words) => {
                println!("\n## {name}\n\n    cargo xtask eval {name} {}\n", words.join(" "));
                if let Err(error) = measure(name, &words) {
                    println!("failed: {error:#}");
                    failed.push(name);
                }
            }
        }
    }
    if !left_out.is_empty() {
        println!("\nNot measured:\n  {}", left_out.join("\n  "));
    }
    match failed.is_empty() {
        true => Ok(()),
        false => bail!("failed: {}", failed.join(", ")),
    }
}

fn parts(args: &Args) -> Result<Vec<Part>> {
    let text = |path: &Path| path.display().to_string();
    let mut sets = Vec::new();
    for (name, hash) in SETS {
        let folder = args.data.join(name);
        if !folder.join("corpus.jsonl").is_file() {
            println!(
                "{name}: not there; scripts/evaluation-data {} says how to get it",
                text(&args.data)
            );
            continue;
        }
        let is_same = fingerprint(&folder)? == hash;
        println!(
            "{name}: {}",
            if is_same { "as measured" } else { "NOT the set of docs/benchmarks.md" }
        );
        sets.push(text(&folder));
    }
    let program = || args.program.iter().flat_map(|path| ["--program".to_owned(), text(path)]);
    let sets_or = |wanted: &dyn Fn(&str) -> bool| -> Result<Vec<String>, String> {
        let found: Vec<String> = sets.iter().filter(|set| wanted(set)).cloned().collect();
        match found.is_empty() {
            true => Err(format!("no set in {}", text(&args.data))),
            false => Ok(found),
        }
    };
    let repositories = || -> Result<Vec<String>, String> {
        match args.repository.is_empty() {
            true => Err("needs --repository DIR".to_owned()),
            false => Ok(args.repository.iter().map(|path| text(path)).collect()),
        }
    };
    let secrets = args.data.join(SECRETS);
    let secrets = match secrets.is_file() {
        true => Ok(vec![text(&secrets)]),
        false => Err(format!("no {}; docs/redaction.md says what is in it", text(&secrets))),
    };
    let decisions = |set: &str| -> Result<Vec<String>, String> {
        let first = repositories()?.into_iter().take(1);
        let words = ["--set".to_owned(), set.to_owned(), "--history".to_owned()];
        Ok(words.into_iter().chain(first).chain(program()).collect())
    };
    let pairs = |set: &str| -> Result<Vec<String>, String> {
        Ok(["--set".to_owned(), set.to_owned()].into_iter().chain(program()).collect())
    };
    Ok(vec![
        ("retrieval", sets_or(&|_| true)),
        ("blocks", sets_or(&|set| set.ends_with("locomo"))),
        ("redaction", secrets),
        ("places", repositories()),
        ("alive", repositories()),
        ("known", decisions("first")),
        ("known", decisions("second")),
        ("known", decisions("third")),
        ("known", decisions("fourth")),
        ("amended", pairs("xtask/data/amended-development")),
        ("amended", pairs("xtask/data/amended")),
        ("use", Ok(Vec::new())),
        ("briefs", Ok(program().collect())),
    ])
}

fn measure(name: &str, words: &[String]) -> Result<()> {
    match name {
        "retrieval" => retrieval::run(&read(words)?),
        "blocks" => blocks::run(&read(words)?),
        "redaction" => redaction::run(&read(words)?),
        "places" => places::run(&read(words)?),
        "alive" => alive::run(&read(words)?),
        "known" => known::run(&read(words)?),
        "amended" => amended::run(&read(words)?),
        "use" => uses::run(&read(words)?),
        "briefs" => briefs::run(&read(words)?),
        _ => bail!("there is no part `{name}`"),
    }
}

/// The arguments of a part, as its own command reads them.
fn read<A: clap::Args + FromArgMatches>(words: &[String]) -> Result<A> {
    let command = A::augment_args(Command::new("eval"));
    let all = std::iter::once("eval").chain(words.iter().map(String::as_str));
    let found: ArgMatches = command.try_get_matches_from(all)?;
    Ok(A::from_arg_matches(&found)?)
}

fn fingerprint(folder: &Path) -> Result<String> {
    let mut hash = blake3::Hasher::new();
    for name in ["corpus.jsonl", "queries.jsonl", "qrels.tsv"] {
        hash.update(&fs_err::read(folder.join(name))?);
    }
    Ok(hash.finalize().to_hex().to_string())
}

fn commit() -> Result<String> {
    let words = ["log", "-1", "--format=%h of %cs"];
    let output = std::process::Command::new("git").args(words).output().context("git")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
