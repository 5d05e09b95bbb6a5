//! Whether the answer itself is in the block: the share of labeled texts that an agent reads verbatim.
//!
//! A rank says that the right package was found; only the block says how much of it the agent gets. Each
//! document is a separate package, or many are joined into a long one, as agents write them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result};
use handover_context::assemble::{ContextRequest, Sources, compose};
use handover_context::learning::Binding;
use handover_model::config::AssemblyConfig;
use handover_model::{ReceiptId, Role, SessionId, Timestamp};
use handover_store::Store;
use handover_text::{Redactor, cut, tokens};

use super::labelled::{Data, Document, Question, fill, time};
use crate::scratch_store::ScratchStore;

/// What to measure on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folders with corpus.jsonl, queries.jsonl and qrels.tsv
    #[arg(required = true)]
    folders: Vec<PathBuf>,

    /// The most tokens of a block, markup included
    #[arg(long, default_value = "800")]
    tokens: u64,

    /// The most packages of a block
    #[arg(long, default_value = "50")]
    limit: usize,

    /// Join so many documents to a package; 1 keeps them apart
    #[arg(long, default_values_t = [1, 40])]
    join: Vec<usize>,

    /// The model that counts the tokens, by any of its names
    #[arg(long, default_value = "gpt-5")]
    model: String,

    /// Assemble without a cap, and judge the first so many tokens of the block
    #[arg(long)]
    cut: bool,

    /// Print the block of one question instead of figures
    #[arg(long, value_name = "QUESTION")]
    show: Option<String>,
}

/// Measures each folder and prints a row for each way to join.
pub fn run(args: &Args) -> Result<()> {
    if args.show.is_none() {
        println!(
            "| set | joined | questions | answers in the block | tokens |\n|---|---|---|---|---|"
        );
    }
    for folder in &args.folders {
        let data = Data::load(folder).with_context(|| folder.display().to_string())?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for joined in &args.join {
            let sum = measure(&data, args, *joined)?;
            if args.show.is_none() {
                let n = sum.questions.max(1) as f64;
                println!(
                    "| {name} | {joined} | {} | {:.3} | {:.0} |",
                    sum.questions,
                    sum.shares / n,
                    sum.tokens as f64 / n
                );
            }
        }
    }
    Ok(())
}

#[derive(Default)]
struct Sum {
    questions: usize,
    shares: f64,
    tokens: u64,
}

fn measure(data: &Data, args: &Args, joined: usize) -> Result<Sum> {
    let mut sum = Sum::default();
    let temporary = tempfile::tempdir()?;
    for (number, (pool, documents)) in data.pools().into_iter().enumerate() {
        let path = temporary.path().join(format!("{number}.db"));
        let store = ScratchStore::new(&path, None)?.open()?;
        let packages = join(&documents, joined);
        let session = fill(&*store, &packages.iter().collect::<Vec<_>>())?;
        let words: BTreeMap<&str, String> =
            documents.iter().map(|d| (d.id.as_str(), letters(&d.text))).collect();
        for (question, wanted) in data.questions(pool) {
            let wanted: Vec<&str> = wanted
                .iter()
                .filter(|(_, grade)| **grade > 0.0)
                .map(|(id, _)| id.as_str())
                .collect();
            let show = args.show.as_ref() == Some(&question.id);
            if wanted.is_empty() || (args.show.is_some() && !show) {
                continue;
            }
            let (tokens, markdown) = block(&*store, &session, question, args)?;
            let block = letters(&markdown);
            let found = |id: &&&str| words.get(**id).is_some_and(|words| block.contains(words));
            sum.questions += 1;
            sum.shares += wanted.iter().filter(found).count() as f64 / wanted.len() as f64;
            sum.tokens += tokens;
            if show {
                println!("{}\n\n{markdown}\n{tokens} tokens", question.text);
                for id in &wanted {
                    let verdict = if found(&id) { "in" } else { "MISSING" };
                    println!("{verdict}: {id} {}", words.get(id).map_or("", String::as_str));
                }
            }
        }
    }
    Ok(sum)
}

/// Joins neighboring documents into longer ones, each a paragraph with its speaker.
fn join(documents: &[&Document], count: usize) -> Vec<Document> {
    if count <= 1 {
        return documents.iter().map(|document| (*document).clone()).collect();
    }
    let chunk = |chunk: &[&Document]| {
        let said = |document: &&Document| {
            document.agent.iter().map(|agent| format!("{agent}: ")).collect::<String>()
                + &document.text
        };
        let text = chunk.iter().map(said).collect::<Vec<_>>().join("\n");
        Document { text, ..chunk[0].clone() }
    };
    documents.chunks(count).map(chunk).collect()
}

/// A text without anything that quoting may change.
fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

fn block(
    store: &dyn Store,
    session: &SessionId,
    question: &Question,
    args: &Args,
) -> Result<(u64, String)> {
    let sources = Sources {
        store,
        redactor: &Redactor::default(),
        config: &AssemblyConfig::default(),
        where_to_look: &|_| Vec::new(),
        fresh: &handover_context::assemble::Unchecked,
        notes: true,
        binding: &Binding::default,
        places: None,
    };
    let asked = question.asked_at.as_deref().and_then(time);
    let request = ContextRequest {
        session: session.clone(),
        role: Role::new("developer")?,
        group: None,
        task: Some(question.text.clone()),
        model: Some(args.model.clone()),
        current_tokens: 0,
        iteration: 0,
        reasoning: None,
        reasoning_level: None,
        limit: Some(args.limit),
        cap: (!args.cut).then_some(args.tokens),
        loaded: Vec::new(),
        claim: false,
        explain: false,
        receipt: ReceiptId::new("00000000000000000000000000")?,
        now: asked.unwrap_or(Timestamp::from_micros(1_800_000_000_000_000)),
    };
    let assembly = compose(sources, &request)?;
    if !args.cut {
        return Ok((assembly.tokens, assembly.markdown));
    }
    let tokenizer = tokens::for_model(Some(&args.model));
    let start = cut::cut_to_tokens(&assembly.markdown, tokenizer, args.tokens);
    Ok((tokens::count(tokenizer, &start), start))
}
