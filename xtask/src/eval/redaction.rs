//! `cargo xtask eval redaction PATH`: recall and false positives on labeled texts.
//!
//! The file holds one JSON object per line (`text`, `secret`, `label`, `source`, `kind`), plain or gzipped.
//! A secret counts as found if the output no longer contains it as a whole; one without a label, if anything changed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;

use anyhow::Context as _;
use flate2::read::MultiGzDecoder;
use handover_model::RedactionMode;
use handover_model::config::RedactionConfig;
use handover_text::Redactor;
use serde::Deserialize;

use super::category::Category;

/// Kinds of negatives that a careful redactor may reasonably redact: not ordinary text.
const HARD: [&str; 2] = ["nearmiss", "tool_fp"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Labeled texts as JSONL, `.gz` or not
    path: PathBuf,
    /// List the secrets that stay
    #[arg(long)]
    misses: bool,
    /// List the ordinary texts that are changed
    #[arg(long)]
    alarms: bool,
    /// Only texts of this source
    #[arg(long)]
    source: Option<String>,
    /// Leave this source out
    #[arg(long)]
    without: Vec<String>,
    /// Run the patterns without the generic rule
    #[arg(long)]
    pattern_only: bool,
}

#[derive(Deserialize)]
struct Case {
    text: String,
    secret: String,
    label: Label,
    source: String,
    kind: String,
}

#[derive(Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Label {
    Positive,
    Negative,
}

#[derive(Default)]
struct Tally {
    hit: u32,
    all: u32,
}

impl Tally {
    fn add(&mut self, hit: bool) {
        self.hit += u32::from(hit);
        self.all += 1;
    }

    fn print(&self, name: &str) {
        let share = 100.0 * f64::from(self.hit) / f64::from(self.all.max(1));
        println!("{name:<24} {:>6} / {:<6} {share:>7.2} %", self.hit, self.all);
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let config = RedactionConfig {
        mode: if args.pattern_only {
            RedactionMode::PatternOnly
        } else {
            RedactionMode::PatternAndEntropy
        },
        ..RedactionConfig::default()
    };
    let redactor = Redactor::new(&config)?;
    let mut recall = BTreeMap::<String, Tally>::new();
    let mut categories = BTreeMap::<Category, Tally>::new();
    let mut alarms = BTreeMap::<String, Tally>::new();
    let mut recall_total = Tally::default();
    let mut alarms_total = Tally::default();
    for line in open(args)?.lines() {
        let case: Case = serde_json::from_str(&line?).context("a line is not a labeled text")?;
        let other = args.source.as_ref().is_some_and(|s| *s != case.source);
        if other || args.without.contains(&case.source) {
            continue;
        }
        let clean = redactor.clean(&case.text);
        if case.label == Label::Positive {
            let found = match case.secret.as_str() {
                "" => clean.as_str() != case.text,
                secret => !clean.as_str().contains(secret),
            };
            categories.entry(Category::of(&case.secret, &case.kind)).or_default().add(found);
            recall.entry(case.source.clone()).or_default().add(found);
            recall_total.add(found);
            if args.misses && !found {
                println!("MISS {} | {:?} | {:?}", case.source, case.text, case.secret);
            }
        } else {
            let alarm = clean.as_str() != case.text;
            alarms.entry(case.kind.clone()).or_default().add(alarm);
            if HARD.contains(&case.kind.as_str()) {
                continue;
            }
            alarms_total.add(alarm);
            if args.alarms && alarm {
                let rules = clean.redactions_by_rule();
                println!("ALARM {} | {:?} | {:?} {rules:?}", case.kind, case.text, clean.as_str());
            }
        }
    }
    println!("recall by source");
    recall.iter().for_each(|(name, tally)| tally.print(name));
    recall_total.print("total");
    println!("\nrecall by category");
    categories.iter().for_each(|(category, tally)| tally.print(category.name()));
    println!("\ntexts altered by kind");
    alarms.iter().for_each(|(name, tally)| tally.print(name));
    alarms_total.print("ordinary text");
    Ok(())
}

fn open(args: &Args) -> anyhow::Result<BufReader<Box<dyn Read>>> {
    let file = fs_err::File::open(&args.path)?;
    let reader: Box<dyn Read> = if args.path.extension().is_some_and(|e| e == "gz") {
        Box::new(MultiGzDecoder::new(file))
    } else {
        Box::new(file)
    };
    Ok(BufReader::new(reader))
}
