//! Whether later beats earlier: pairs of statements of which the later changes the earlier, and look-alikes of which
//! both stay in force.
//!
//! Every pair is played with the real program in a project of its own, as two conversations, commits, documents or
//! packages, and the brief of a later task is read. The later statement must be in it, the earlier one must be
//! absent or on a line that starts with `[outdated]`. Neither statement of a look-alike may be marked or left out as
//! amended.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use handover_text::amend::{self, Compared, Facts};
use serde::Deserialize;
use serde_json::{Value, json};

use super::project::{Project, Speaker, Turn, letters, lines};
use crate::cargo;

/// What to play.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Folder with `pairs.jsonl` and `lookalikes.jsonl`
    #[arg(long, value_name = "DIR", default_value = "xtask/data/amended-development")]
    set: PathBuf,

    /// Program to judge instead of a release build
    #[arg(long, value_name = "BINARY")]
    program: Option<PathBuf>,

    /// Print the ids of what went wrong
    #[arg(long)]
    wrong: bool,

    /// Print what the rule sees in each pair, as JSON lines to fit its weights on
    #[arg(long)]
    features: bool,

    /// Print the brief of one pair instead of figures
    #[arg(long, value_name = "ID")]
    show: Option<String>,
}

#[derive(Deserialize)]
struct Pair {
    id: String,
    kind: Kind,
    earlier: Said,
    later: Said,
    task: String,
    earlier_answer: Vec<String>,
    later_answer: Vec<String>,
}

#[derive(Deserialize)]
struct Said {
    time: String,
    text: String,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Conversation,
    Commit,
    Doc,
    Package,
}

/// How a statement is in a brief.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Plain,
    Outdated,
    /// Left out, because a later statement replaced it.
    Amended,
    Absent,
}

/// Plays both files of a set and prints the figures.
pub fn run(args: &Args) -> Result<()> {
    let set = Path::new(cargo::ROOT).join(&args.set);
    if args.features {
        return print_features(&set);
    }
    let program = match &args.program {
        Some(program) => fs_err::canonicalize(program)?,
        None => cargo::build_handover("release")?,
    };
    let pairs = play(&program, lines(&set.join("pairs.jsonl"))?, args)?;
    let lookalikes = play(&program, lines(&set.join("lookalikes.jsonl"))?, args)?;
    if args.show.is_some() {
        return Ok(());
    }
    let print =
        |what: &str, all: &[Played], wrong: &dyn Fn(&Played) -> bool, share_of_right: bool| {
            let bad: Vec<&str> =
                all.iter().filter(|one| wrong(one)).map(|one| one.id.as_str()).collect();
            let count = if share_of_right { all.len() - bad.len() } else { bad.len() };
            println!(
                "| {what} | {count} of {} | {:.0} % |",
                all.len(),
                100.0 * count as f64 / all.len().max(1) as f64
            );
            if args.wrong {
                println!("  {}", bad.join(" "));
            }
        };
    println!("| what | count | share |\n|---|---|---|");
    print("pairs: the later is in the brief", &pairs, &|one| one.later != Shown::Plain, true);
    print("pairs: the earlier is unmarked", &pairs, &|one| one.earlier == Shown::Plain, false);
    let marked = |one: &Played| {
        [one.earlier, one.later]
            .iter()
            .any(|shown| matches!(shown, Shown::Outdated | Shown::Amended))
    };
    print("look-alikes: wrongly marked", &lookalikes, &marked, false);
    print(
        "look-alikes: both are in the brief",
        &lookalikes,
        &|one| one.earlier != Shown::Plain || one.later != Shown::Plain,
        true,
    );
    Ok(())
}

fn print_features(set: &Path) -> Result<()> {
    for (file, amended) in [("pairs.jsonl", true), ("lookalikes.jsonl", false)] {
        for pair in lines::<Pair>(&set.join(file))? {
            let facts = |said: &Said| match said.text.split_once('\n') {
                Some((heading, text)) => Facts::of(heading, text),
                None => Facts::of("", &said.text),
            };
            let (earlier, later) = (facts(&pair.earlier), facts(&pair.later));
            let compared = Compared::of([&earlier, &later]);
            let Some(features) = amend::features(&earlier, &later, &compared) else { continue };
            let named = amend::FEATURES.iter().zip(features);
            let named: serde_json::Map<_, _> =
                named.map(|(name, value)| ((*name).to_owned(), value.into())).collect();
            println!("{}", json!({"id": pair.id, "amended": amended, "features": named}));
        }
    }
    Ok(())
}

struct Played {
    id: String,
    earlier: Shown,
    later: Shown,
}

fn play(program: &Path, pairs: Vec<Pair>, args: &Args) -> Result<Vec<Played>> {
    let mut played = Vec::new();
    for pair in pairs {
        if args.show.as_ref().is_some_and(|id| *id != pair.id) {
            continue;
        }
        let temporary = tempfile::tempdir()?;
        let project = Project::new(program.to_owned(), temporary.path())?;
        prepare(&project, &pair)?;
        let brief =
            project.handover(&["brief", "--role", "developer", "--task", &pair.task, "--json"])?;
        let text = brief["text"].as_str().context("a brief without text")?;
        let receipt = brief["receipt"].as_str().context("a brief without a receipt")?;
        let receipt = project.handover(&["receipt", "show", receipt, "--json"])?;
        let amended = amended(&receipt);
        if args.show.is_some() {
            println!("{text}\n\n{:#}\n", receipt["receipt"]["left_out"]);
        }
        played.push(Played {
            id: pair.id,
            earlier: shown(text, &pair.earlier_answer, amended),
            // A later statement is never left out on purpose, unless the earlier was not.
            later: shown(text, &pair.later_answer, amended),
        });
    }
    Ok(played)
}

/// Whether anything was left out because a later statement replaced it.
fn amended(receipt: &Value) -> bool {
    let left_out = receipt["receipt"]["left_out"].as_array();
    left_out.into_iter().flatten().any(|item| item["reason"] == "amended since")
}

/// How a statement with these answers is in a brief.
fn shown(text: &str, answers: &[String], amended: bool) -> Shown {
    let has = |text: &str| {
        let text = letters(text);
        answers.iter().all(|answer| text.contains(&letters(answer)))
    };
    let plain: String = text.lines().filter(|line| !line.starts_with("[outdated]")).collect();
    match (has(&plain), has(text)) {
        (true, _) => Shown::Plain,
        (false, true) => Shown::Outdated,
        (false, false) if amended => Shown::Amended,
        (false, false) => Shown::Absent,
    }
}

/// A project that knows both statements.
fn prepare(project: &Project, pair: &Pair) -> Result<()> {
    project.init()?;
    project.write("README.md", "# Project\n")?;
    project.commit_all("Start", "2026-01-02T08:00:00Z")?;
    let both = [("earlier", &pair.earlier), ("later", &pair.later)];
    for (name, said) in both {
        match pair.kind {
            Kind::Conversation => {
                let turn = |speaker, text: &str| Turn { speaker, text: text.to_owned() };
                let turns =
                    [turn(Speaker::Person, &said.text), turn(Speaker::Agent, "Understood.")];
                project.write_transcript(&format!("{}-{name}", pair.id), &said.time, &turns)?;
            }
            Kind::Commit => {
                project.write(&format!("src/{name}.txt"), &said.time)?;
                project.commit_all(&said.text, &said.time)?;
            }
            Kind::Doc => {
                project.write(&format!("docs/{name}.md"), &format!("# {}\n", said.text))?;
                project.commit_all("Add a document", &said.time)?;
            }
            Kind::Package => {}
        }
    }
    project.handover(&["init", "--json"])?;
    project.handover(&["session", "new", "later", "--json"])?;
    if matches!(pair.kind, Kind::Package) {
        for (name, said) in both {
            let file = format!("{name}.md");
            project.write(&file, &format!("{}\n", said.text))?;
            let add = [
                "package",
                "add",
                &file,
                "--kind",
                "decisions",
                "--producer",
                "tech_lead",
                "--json",
            ];
            project.handover(&add)?;
        }
    } else {
        project.handover(&["learn", "--json"])?;
    }
    Ok(())
}
