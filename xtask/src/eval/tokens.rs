//! `cargo xtask eval tokens PATH`: the estimates for Claude compared with true counts.
//!
//! Reads JSON lines `{"text", "tokens", "family", "kind"}`; `tokens` is the true number without the
//! frame of a message, `family` the name of a tokenizer. docs/tokens.md says where to get such a
//! file. Prints, by family and kind, the mean error, the constant factor on o200k that suits the
//! whole file best and its mean error, and how far the estimate undercounts.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::PathBuf;

use anyhow::{Context, Result};
use handover_text::tokens::{self, Tokenizer};
use serde::Deserialize;

/// Arguments of `cargo xtask eval tokens`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// JSON lines of {"text", "tokens", "family", "kind"}.
    path: PathBuf,
}

#[derive(Deserialize)]
struct Line {
    text: String,
    tokens: u64,
    family: Tokenizer,
    kind: String,
}

/// One text: the true count, our estimate, and the count of o200k.
struct Sample {
    kind: String,
    truth: f64,
    ours: f64,
    o200k: f64,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let file = std::io::BufReader::new(fs_err::File::open(&args.path)?);
    let mut families: BTreeMap<Tokenizer, Vec<Sample>> = BTreeMap::new();
    for (number, line) in file.lines().enumerate() {
        let line: Line =
            serde_json::from_str(&line?).with_context(|| format!("line {}", number + 1))?;
        if line.tokens == 0 {
            continue;
        }
        families.entry(line.family).or_default().push(Sample {
            truth: line.tokens as f64,
            ours: tokens::count(line.family, &line.text) as f64,
            o200k: tokens::count(Tokenizer::O200k, &line.text) as f64,
            kind: line.kind,
        });
    }
    for (family, samples) in &families {
        let factor = best_factor(samples);
        println!("{family}: {} texts, best constant {factor:.2} × o200k", samples.len());
        println!("| kind | texts | mean error | constant | 1 in 100 undercounts by | worst |");
        println!("|---|---|---|---|---|---|");
        print_row("all", samples.iter(), factor);
        let mut kinds: Vec<&str> = samples.iter().map(|sample| sample.kind.as_str()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        for kind in kinds {
            print_row(kind, samples.iter().filter(|sample| sample.kind == kind), factor);
        }
    }
    Ok(())
}

/// The constant with the smallest mean error, to two digits: the strongest competitor of its kind.
fn best_factor(samples: &[Sample]) -> f64 {
    (80..=300)
        .map(|hundredths| f64::from(hundredths) / 100.0)
        .min_by(|a, b| {
            let error = |factor| mean_error(samples.iter(), |sample| sample.o200k * factor);
            error(*a).total_cmp(&error(*b))
        })
        .unwrap_or(1.0)
}

fn print_row<'s>(name: &str, samples: impl Iterator<Item = &'s Sample> + Clone, factor: f64) {
    let mut under: Vec<f64> =
        samples.clone().map(|sample| (1.0 - sample.ours / sample.truth).max(0.0)).collect();
    under.sort_by(f64::total_cmp);
    println!(
        "| {name} | {} | {:.1} % | {:.1} % | {:.1} % | {:.1} % |",
        under.len(),
        100.0 * mean_error(samples.clone(), |sample| sample.ours),
        100.0 * mean_error(samples, |sample| sample.o200k * factor),
        100.0 * under.get(under.len() * 99 / 100).copied().unwrap_or_default(),
        100.0 * under.last().copied().unwrap_or_default(),
    );
}

fn mean_error<'s>(
    samples: impl Iterator<Item = &'s Sample>,
    guess: impl Fn(&Sample) -> f64,
) -> f64 {
    let (sum, count) = samples.fold((0.0, 0_u32), |(sum, count), sample| {
        (sum + (guess(sample) / sample.truth - 1.0).abs(), count + 1)
    });
    sum / f64::from(count.max(1))
}
