//! How well the ranking finds what a question needs, on labeled data given by path.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use handover_context::rank::Metadata;
use handover_context::search::{Query, search};
use handover_model::Timestamp;
use handover_model::config::AssemblyConfig;

use super::labelled::{Data, Document, fill, time};
use crate::scratch_store::ScratchStore;

/// What to measure on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folders with corpus.jsonl, queries.jsonl and qrels.tsv
    #[arg(required = true)]
    folders: Vec<PathBuf>,

    /// The weight of priority and age beside relevance
    #[arg(long, default_value = "0.1")]
    prior: f64,

    /// Keep the packages in a PostgreSQL database, and compare every answer with that of a file
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

/// Rankings that are compared.
#[derive(Debug, Clone, Copy)]
enum Ranking {
    /// `handover search`.
    Ours,
    /// The baseline: metadata alone.
    Formula,
    /// A few lines of SQL: FTS5 with Porter stemming over one column, and its own `bm25()`.
    PlainText,
}

impl Ranking {
    const ALL: [Self; 3] = [Self::Ours, Self::Formula, Self::PlainText];

    fn name(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Formula => "the formula of metadata",
            Self::PlainText => "plain full text (FTS5)",
        }
    }
}

/// Measures each folder and prints a row for each ranking.
pub fn run(args: &Args) -> Result<()> {
    println!(
        "| set | ranking | questions | R@5 | R@10 | nDCG@10 | MRR |\n|---|---|---|---|---|---|---|"
    );
    let mut different = Vec::new();
    let config = AssemblyConfig { prior: args.prior, ..AssemblyConfig::default() };
    for folder in &args.folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (sums, disagreements) = measure(folder, &config, args.store.as_deref())
            .with_context(|| folder.display().to_string())?;
        for (ranking, sum) in Ranking::ALL.iter().zip(sums) {
            let n = sum.count.max(1) as f64;
            println!(
                "| {name} | {} | {} | {:.3} | {:.3} | {:.3} | {:.3} |",
                ranking.name(),
                sum.count,
                sum.recall5 / n,
                sum.recall10 / n,
                sum.ndcg10 / n,
                sum.mrr / n
            );
        }
        different.extend(disagreements);
    }
    if args.store.is_some() {
        ensure!(different.is_empty(), "the stores differ on {}", different.join(", "));
        println!("\nBoth stores gave every question the same packages, scores and snippets.");
    }
    Ok(())
}

#[derive(Default)]
struct Figures {
    count: usize,
    recall5: f64,
    recall10: f64,
    ndcg10: f64,
    mrr: f64,
}

/// The figures of each ranking, and the questions for which a file and the database differ.
fn measure(
    folder: &Path,
    config: &AssemblyConfig,
    url: Option<&str>,
) -> Result<([Figures; 3], Vec<String>)> {
    let mut different = Vec::new();
    let mut sums = <[Figures; 3]>::default();
    let data = Data::load(folder)?;
    let temporary = tempfile::tempdir()?;
    for (number, (pool, documents)) in data.pools().into_iter().enumerate() {
        let path = temporary.path().join(format!("{number}.db"));
        let scratch = ScratchStore::new(&path, url)?;
        let store = scratch.open()?;
        let session = fill(&*store, &documents)?;
        let beside = match url {
            Some(_) => {
                let file = ScratchStore::new(&path, None)?.open()?;
                fill(&*file, &documents)?;
                Some(file)
            }
            None => None,
        };
        let candidates = store.candidates(&session, None, None)?;
        let first = candidates.first().map_or(0, |candidate| candidate.id.0);
        let mut plain = PlainText::new(&documents)?;
        for (question, wanted) in data.questions(pool) {
            let asked = question.asked_at.as_deref().and_then(time);
            let now = asked.unwrap_or(Timestamp::from_micros(1_800_000_000_000_000));
            for (ranking, sum) in Ranking::ALL.iter().zip(&mut sums) {
                let ranked: Vec<usize> = match ranking {
                    Ranking::Ours => {
                        let (text, limit) = (&question.text, 200);
                        let query =
                            Query { session: &session, group: None, text, limit, config, now };
                        let found = search(&*store, &query)?;
                        if let Some(beside) = &beside
                            && found != search(&**beside, &query)?
                        {
                            different.push(question.id.clone());
                        }
                        found.iter().map(|hit| index_of(&hit.package.path)).collect()
                    }
                    Ranking::Formula => {
                        let mut scored: Vec<(f64, i64)> = candidates
                            .iter()
                            .map(|c| (Metadata::plain(c, now).score(), c.id.0))
                            .collect();
                        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
                        scored.iter().map(|(_, id)| (id - first) as usize).collect()
                    }
                    Ranking::PlainText => plain.search(&question.text)?,
                };
                let before = |at: &usize| {
                    let written = documents.get(*at).and_then(|d| d.created_at.as_deref());
                    asked.is_none_or(|asked| written.and_then(time).is_none_or(|t| t < asked))
                };
                let grades: Vec<f64> = ranked
                    .into_iter()
                    .filter(before)
                    .map(|at| wanted.get(&documents[at].id).copied().unwrap_or(0.0))
                    .collect();
                add(sum, &grades, wanted);
            }
        }
    }
    Ok((sums, different))
}

/// The documents in a plain full-text table of the sqlite3 shell: our own SQLite is built without FTS5.
struct PlainText {
    shell: Child,
    asked: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// What the shell prints after an answer.
const END: &str = "end";

impl PlainText {
    fn new(documents: &[&Document]) -> Result<Self> {
        let mut shell = Command::new("sqlite3")
            .args(["-batch", "-bail", ":memory:"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("is the sqlite3 shell installed?")?;
        let mut asked = shell.stdin.take().context("no standard input")?;
        let answers = BufReader::new(shell.stdout.take().context("no standard output")?).lines();
        writeln!(
            asked,
            "CREATE VIRTUAL TABLE t USING fts5 (text, tokenize = 'porter unicode61'); BEGIN;"
        )?;
        for (at, document) in documents.iter().enumerate() {
            let title = document.title.as_deref().unwrap_or_default();
            let text = format!("{title}\n{}\n{}", document.files.join(" "), document.body());
            let text = text.replace('\0', " ").replace('\'', "''");
            writeln!(asked, "INSERT INTO t (rowid, text) VALUES ({at}, '{text}');")?;
        }
        writeln!(asked, "COMMIT;")?;
        Ok(Self { shell, asked, answers })
    }

    fn search(&mut self, text: &str) -> Result<Vec<usize>> {
        let words: Vec<String> = text
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(|word| format!("\"{word}\""))
            .collect();
        if words.is_empty() {
            return Ok(Vec::new());
        }
        writeln!(
            self.asked,
            "SELECT rowid FROM t WHERE t MATCH '{}' ORDER BY rank LIMIT 200; SELECT '{END}';",
            words.join(" OR ")
        )?;
        self.asked.flush()?;
        let mut found = Vec::new();
        for line in &mut self.answers {
            match line?.as_str() {
                END => return Ok(found),
                number => found.push(number.parse()?),
            }
        }
        bail!("the sqlite3 shell ended; has it FTS5?")
    }
}

impl Drop for PlainText {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

fn index_of(path: &str) -> usize {
    path.trim_start_matches("d/").trim_end_matches(".md").parse().unwrap_or(0)
}

fn add(sum: &mut Figures, ranked: &[f64], wanted: &BTreeMap<String, f64>) {
    let total = wanted.values().filter(|grade| **grade > 0.0).count().max(1) as f64;
    let found = |k: usize| ranked.iter().take(k).filter(|grade| **grade > 0.0).count() as f64;
    let gain = |grades: &mut dyn Iterator<Item = f64>| -> f64 {
        grades.take(10).enumerate().map(|(i, grade)| grade / ((i + 2) as f64).log2()).sum()
    };
    let mut best: Vec<f64> = wanted.values().copied().collect();
    best.sort_by(|a, b| b.total_cmp(a));
    let ideal = gain(&mut best.into_iter()).max(f64::MIN_POSITIVE);
    sum.count += 1;
    sum.recall5 += found(5) / total;
    sum.recall10 += found(10) / total;
    sum.ndcg10 += gain(&mut ranked.iter().copied()) / ideal;
    let first = ranked.iter().position(|grade| *grade > 0.0);
    sum.mrr += first.map_or(0.0, |at| 1.0 / (at + 1) as f64);
}
