//! `cargo xtask eval use`: what became of the items of briefs, against labels by hand (`xtask/data/use`).

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use handover_handoff::{BriefItem, judge};
use handover_knowledge::transcripts::{self, Transcript};
use handover_knowledge::{ForeignTables, ForeignValue, Place};
use handover_model::{Host, ItemKind, Trace, TraceStep, Use};
use serde::Deserialize;
use serde_json::Value;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The folder with `labels.jsonl`
    #[arg(default_value = "xtask/data/use")]
    folder: PathBuf,
    /// List the items that are judged wrongly
    #[arg(long)]
    wrong: bool,
}

#[derive(Deserialize)]
struct Case {
    transcript: String,
    host: Host,
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    kind: ItemKind,
    id: String,
    place: Option<String>,
    text: String,
    #[serde(rename = "use")]
    expected: Use,
}

impl Item {
    /// As an ending sees it: notes from documents have their file, others have none.
    fn in_brief(&self) -> BriefItem {
        let place = self.place.as_deref().filter(|place| !place.contains([' ', ':']));
        let file = place.map(|place| place.split('#').next().unwrap_or(place).to_owned());
        BriefItem::new(self.kind, &self.id, file, self.text.clone())
    }
}

/// One judged item.
struct Judged {
    expected: Use,
    found: Use,
    what: String,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let judged = judge_all(&args.folder)?;
    println!("{:<8} {:>6} {:>10} {:>8}", "use", "items", "precision", "recall");
    for used in [Use::Opened, Use::Named, Use::Echoed, Use::Unused] {
        let score = score(&judged, |one| one == used);
        println!("{used:<8} {:>6} {:>10.3} {:>8.3}", score.items, score.precision, score.recall);
    }
    let all = score(&judged, |one| one != Use::Unused);
    println!("{:<8} {:>6} {:>10.3} {:>8.3}", "any", all.items, all.precision, all.recall);
    let right = judged.iter().filter(|one| one.expected == one.found).count();
    println!("{right} of {} items are judged as a person judged them.", judged.len());
    for Judged { expected, found, what } in judged.iter().filter(|one| one.expected != one.found) {
        if args.wrong {
            println!("{what}: {found}, not {expected}");
        }
    }
    Ok(())
}

struct Score {
    items: usize,
    precision: f64,
    recall: f64,
}

fn score(judged: &[Judged], is: impl Fn(Use) -> bool) -> Score {
    let count = |keep: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| keep(one)).count();
    let both = count(&|one| is(one.expected) && is(one.found)) as f64;
    let (items, found) = (count(&|one| is(one.expected)), count(&|one| is(one.found)));
    Score { items, precision: both / found.max(1) as f64, recall: both / items.max(1) as f64 }
}

fn judge_all(folder: &Path) -> anyhow::Result<Vec<Judged>> {
    let labels = fs_err::read_to_string(folder.join("labels.jsonl"))?;
    let mut judged = Vec::new();
    for line in labels.lines() {
        let case: Case = serde_json::from_str(line).context("a line of labels.jsonl")?;
        let trace = trace(&folder.join(&case.transcript), case.host)
            .with_context(|| case.transcript.clone())?;
        let items: Vec<BriefItem> = case.items.iter().map(Item::in_brief).collect();
        let brief = brief(&trace).with_context(|| case.transcript.clone())?;
        for (item, found) in case.items.iter().zip(judge(&items, &brief, "", &trace)) {
            let what = format!("{} {} {}", case.transcript, item.kind, item.id);
            judged.push(Judged { expected: item.expected, found, what });
        }
    }
    Ok(judged)
}

/// The brief is what the prompt begins with.
fn brief(trace: &Trace) -> anyhow::Result<String> {
    let prompt = trace.steps().iter().find_map(|step| match step {
        TraceStep::Given(text) => text.split_once("\n---\n").map(|(brief, _)| brief.to_owned()),
        TraceStep::Said(_) | TraceStep::Called(_) | TraceStep::Shown { .. } => None,
    });
    prompt.context("the transcript has no brief")
}

fn trace(file: &Path, host: Host) -> anyhow::Result<Trace> {
    if host.as_str() != "opencode" {
        let (read, conversation) =
            transcripts::read_file(file).map_err(|reason| anyhow::anyhow!("{reason:?}"))?;
        anyhow::ensure!(read == host, "it was taken for one of {read}");
        return Ok(conversation.trace());
    }
    let rows = fs_err::read_to_string(file)?;
    let rows: Vec<Value> = rows.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let id = rows[0]["id"].as_str().unwrap_or_default().to_owned();
    let place = Place::Row { database: file.to_owned(), id: id.clone() };
    let transcript = Transcript { host, id, place, state: String::new() };
    let conversation = transcripts::read(&transcript, Some(&Rows(rows)))
        .map_err(|reason| anyhow::anyhow!("{reason:?}"))?;
    Ok(conversation.trace())
}

/// The rows of a database, one per line.
struct Rows(Vec<Value>);

impl ForeignTables for Rows {
    fn rows(
        &self,
        _database: &Path,
        table: &str,
        columns: &[&str],
        _filter: Option<(&str, &str)>,
        each: &mut dyn FnMut(&[ForeignValue]),
    ) -> Result<(), String> {
        for row in self.0.iter().filter(|row| row["table"] == table) {
            let value = |column: &&str| {
                row[*column]
                    .as_str()
                    .map_or(ForeignValue::Null, |text| ForeignValue::Text(text.to_owned()))
            };
            each(&columns.iter().map(value).collect::<Vec<_>>());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_items_are_judged_as_a_person_judged_them() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/use");
        let judged = judge_all(&folder).unwrap();
        for one in judged.iter().filter(|one| one.expected != one.found) {
            println!("{}: {}, not {}", one.what, one.found, one.expected);
        }
        let any = score(&judged, |one| one != Use::Unused);
        println!("any {:.3} {:.3}", any.precision, any.recall);
        for used in [Use::Opened, Use::Named, Use::Echoed] {
            let score = score(&judged, |one| one == used);
            println!("{used} {:.3} {:.3}", score.precision, score.recall);
        }
        assert!(any.precision >= 0.9, "{}", any.precision);
        assert!(any.recall >= 0.6, "{}", any.recall);
    }
}
