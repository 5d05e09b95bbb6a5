//! Redaction against `veloci`: throughput, and the first use in a fresh process.
//!
//! `cargo run --release --bin redaction -- [PATH…]` reads the text files under the paths (the
//! repository, unless given); `~/.cargo/registry/src` is a corpus that everybody has. A secret is
//! put into every hundredth text, so that replacing is measured too.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// At most this much text.
const MEGABYTES: usize = 40;

/// Each throughput is the best of so many passes, ours and theirs in turn.
const PASSES: usize = 5;

/// Each first use is the median of so many processes.
const PROCESSES: usize = 21;

const EXTENSIONS: [&str; 8] = ["rs", "md", "toml", "lock", "json", "yml", "c", "txt"];

/// What a hook redacts: a short summary with a secret in it.
const SUMMARY: &str = "Added rate limiting to the login endpoint (src/auth/limiter.rs): 5 attempts \
    per minute and address, HTTP 429 with Retry-After. Tested with DB_PASSWORD=s3cr3t-Tr0ub4dor \
    against the local database. Open: the limiter is per process.";

#[derive(Clone, Copy)]
enum Tool {
    Ours,
    Theirs,
}

impl Tool {
    const ALL: [(&'static str, Self); 2] = [("ours", Self::Ours), ("theirs", Self::Theirs)];
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [first, tool] = args.as_slice()
        && first == "--first-use"
    {
        return first_use(tool);
    }
    let mut paths: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    if paths.is_empty() {
        paths.push(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    }
    let mut texts = Vec::new();
    let mut room = MEGABYTES << 20;
    for path in &paths {
        collect(path, &mut texts, &mut room)?;
    }
    for text in texts.iter_mut().step_by(100) {
        text.push_str(SUMMARY);
    }
    throughput(&texts);
    cold()
}

/// Text files under a path, in the order of their names.
fn collect(path: &Path, texts: &mut Vec<String>, room: &mut usize) -> Result<()> {
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
                collect(&entry, texts, room)?;
            }
        }
    } else if path
        .extension()
        .is_some_and(|found| EXTENSIONS.iter().any(|known| found == *known))
        && let Ok(text) = fs_err::read_to_string(path)
        && text.len() <= *room
    {
        *room -= text.len();
        texts.push(text);
    }
    Ok(())
}

fn throughput(texts: &[String]) {
    let bytes: usize = texts.iter().map(String::len).sum();
    let ours = handover_text::Redactor::default();
    let theirs = veloci::Redactor::builder().build();
    let mut best = [Duration::MAX; 2];
    let mut altered = [0; 2];
    for _ in 0..PASSES {
        for (i, (_, tool)) in Tool::ALL.into_iter().enumerate() {
            let start = Instant::now();
            altered[i] = texts
                .iter()
                .filter(|text| match tool {
                    Tool::Ours => ours.clean(text).as_str() != text.as_str(),
                    Tool::Theirs => theirs.redact_str(text) != **text,
                })
                .count();
            best[i] = best[i].min(start.elapsed());
        }
    }
    let [our, their] = best.map(|time| bytes as f64 / 1e6 / time.as_secs_f64());
    println!(
        "{:.1} MB in {} texts: {our:.1} MB/s ({} altered), veloci {their:.1} MB/s ({} altered), ratio {:.2}",
        bytes as f64 / 1e6,
        texts.len(),
        altered[0],
        altered[1],
        our / their,
    );
}

/// Runs this program again and again, for one redaction each.
fn cold() -> Result<()> {
    let program = std::env::current_exe()?;
    let mut medians = Vec::new();
    for (name, _) in Tool::ALL {
        let mut times = Vec::new();
        for _ in 0..PROCESSES {
            let output = Command::new(&program)
                .args(["--first-use", name])
                .output()?;
            times.push(String::from_utf8(output.stdout)?.trim().parse::<u64>()?);
        }
        times.sort_unstable();
        medians.push(times[PROCESSES / 2] as f64 / 1e3);
    }
    println!(
        "first use {:.1} µs, veloci {:.1} µs, ratio 1/{:.0}",
        medians[0],
        medians[1],
        medians[1] / medians[0],
    );
    Ok(())
}

/// Prints the nanoseconds that the first redaction of this process took, set-up included.
fn first_use(tool: &str) -> Result<()> {
    let (_, tool) = Tool::ALL
        .into_iter()
        .find(|(name, _)| *name == tool)
        .context("no such tool")?;
    let start = Instant::now();
    match tool {
        Tool::Ours => {
            let redactor = handover_text::Redactor::default();
            black_box(redactor.clean(black_box(SUMMARY)));
        }
        Tool::Theirs => {
            let redactor = veloci::Redactor::builder().build();
            black_box(redactor.redact_str(black_box(SUMMARY)));
        }
    }
    println!("{}", start.elapsed().as_nanos());
    Ok(())
}
