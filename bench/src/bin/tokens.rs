//! Token counting against `bpe-openai`: throughput, and the first count in a fresh process.
//!
//! `cargo run --release --bin tokens -- [PATH…]` counts the Markdown and Rust files under the
//! paths (the repository, unless given); `~/.cargo/registry/src` is a corpus that everybody has.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use handover_text::tokens::{self, Tokenizer};

/// At most this much of each kind of text.
const MEGABYTES: usize = 10;

/// Each throughput is the best of so many passes, ours and theirs in turn.
const PASSES: usize = 7;

/// Each first count is the median of so many processes.
const PROCESSES: usize = 21;

/// What a hook counts: a short summary.
const SUMMARY: &str = "Added rate limiting to the login endpoint (src/auth/limiter.rs): 5 attempts \
    per minute and address, HTTP 429 with Retry-After. Open: the limiter is per process.";

#[derive(Clone, Copy)]
enum Counter {
    Ours,
    Theirs,
}

impl Counter {
    const ALL: [(&'static str, Self); 2] = [("ours", Self::Ours), ("theirs", Self::Theirs)];

    fn count(self, tokenizer: Tokenizer, text: &str) -> u64 {
        match (self, tokenizer) {
            (Self::Theirs, Tokenizer::O200k) => bpe_openai::o200k_base().count(text) as u64,
            (Self::Theirs, Tokenizer::Cl100k) => bpe_openai::cl100k_base().count(text) as u64,
            (Self::Ours, _) => tokens::count(tokenizer, text),
            (Self::Theirs, other) => unreachable!("{other} is not compared"),
        }
    }
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, counter, tokenizer] = args.as_slice()
        && first == "--first-count"
    {
        return first_count(counter, tokenizer);
    }
    let mut paths: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    }
    for (kind, extension) in [("prose", "md"), ("code", "rs")] {
        let mut texts = Vec::new();
        let mut room = MEGABYTES << 20;
        for path in &paths {
            collect(path, extension, &mut texts, &mut room)?;
        }
        for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
            throughput(kind, tokenizer, &texts)?;
        }
    }
    for tokenizer in [Tokenizer::O200k, Tokenizer::Cl100k] {
        cold(tokenizer)?;
    }
    Ok(())
}

/// Texts with an extension under a path, in the order of their names.
fn collect(path: &Path, extension: &str, texts: &mut Vec<String>, room: &mut usize) -> Result<()> {
    if path.is_dir() {
        let mut entries = fs_err::read_dir(path)?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<_>>>()?;
        entries.sort();
        for entry in entries {
            let hidden = entry
                .file_name()
                .is_some_and(|name| name == "target" || name.as_encoded_bytes().starts_with(b"."));
            if !hidden {
                collect(&entry, extension, texts, room)?;
            }
        }
    } else if path.extension().is_some_and(|found| found == extension)
        && let Ok(text) = fs_err::read_to_string(path)
        && text.len() <= *room
    {
        *room -= text.len();
        texts.push(text);
    }
    Ok(())
}

fn throughput(kind: &str, tokenizer: Tokenizer, texts: &[String]) -> Result<()> {
    let bytes: usize = texts.iter().map(String::len).sum();
    let mut best = [Duration::MAX; 2];
    let mut totals = [0; 2];
    for _ in 0..PASSES {
        for (i, (_, counter)) in Counter::ALL.into_iter().enumerate() {
            let start = Instant::now();
            totals[i] = texts
                .iter()
                .map(|text| counter.count(tokenizer, text))
                .sum::<u64>();
            best[i] = best[i].min(start.elapsed());
        }
    }
    if totals[0] != totals[1] {
        bail!("{} tokens here, {} there", totals[0], totals[1]);
    }
    let [ours, theirs] = best.map(|time| bytes as f64 / 1e6 / time.as_secs_f64());
    println!(
        "{} {kind:5} {:5.1} MB, {} tokens: {ours:6.1} MB/s, bpe-openai {theirs:6.1} MB/s, ratio {:.2}",
        tokenizer.as_str(),
        bytes as f64 / 1e6,
        totals[0],
        ours / theirs,
    );
    Ok(())
}

/// Runs this program again and again, for one count each.
fn cold(tokenizer: Tokenizer) -> Result<()> {
    let program = std::env::current_exe()?;
    let mut medians = Vec::new();
    for (name, _) in Counter::ALL {
        let mut times = Vec::new();
        for _ in 0..PROCESSES {
            let output = Command::new(&program)
                .args(["--first-count", name, tokenizer.as_str()])
                .output()?;
            times.push(String::from_utf8(output.stdout)?.trim().parse::<u64>()?);
        }
        times.sort_unstable();
        medians.push(times[PROCESSES / 2] as f64 / 1e3);
    }
    println!(
        "{} first count {:.1} µs, bpe-openai {:.1} µs, ratio 1/{:.0}",
        tokenizer.as_str(),
        medians[0],
        medians[1],
        medians[1] / medians[0],
    );
    Ok(())
}

/// Prints the nanoseconds that the first count of this process took.
fn first_count(counter: &str, tokenizer: &str) -> Result<()> {
    let (_, counter) = Counter::ALL
        .into_iter()
        .find(|(name, _)| *name == counter)
        .context("no such counter")?;
    let tokenizer = [Tokenizer::O200k, Tokenizer::Cl100k]
        .into_iter()
        .find(|known| known.as_str() == tokenizer)
        .context("no such tokenizer")?;
    let start = Instant::now();
    black_box(counter.count(tokenizer, black_box(SUMMARY)));
    println!("{}", start.elapsed().as_nanos());
    Ok(())
}
