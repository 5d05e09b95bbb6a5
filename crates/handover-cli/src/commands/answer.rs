//! `handover answer`

use std::collections::BTreeSet;

use handover_engine::{Folded, fold};
use handover_model::{Run, RunId, RunState};
use handover_store::RunFilter;
use serde_json::{Value, json};

use super::{Outcome, run};
use crate::app::App;
use crate::error::{CommandError, Exit};

/// Answer what a run asks, or show what it asks
///
/// A story that nobody can go on with without a person is blocked with a question. The answer is written
/// to the journal of its run; `handover run EPIC --resume`, or `--resume` here, goes on with it.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "handover answer [OPTIONS] [RUN] [STORY] [TEXT|-]",
    after_help = "Examples:\n  handover answer                               show the open questions\n  \
                  handover answer \"Use port 8080\"               answer the only one\n  \
                  handover answer 1-2-login \"Use port 8080\" --resume\n  \
                  handover answer run_01f 1-2-login - < answer.txt"
)]
pub(crate) struct AnswerArgs {
    /// The run and the story, where there are several, and the answer; `-` reads it from standard input
    #[arg(value_name = "WORD", num_args = 0..=3)]
    words: Vec<String>,

    /// Go on with the run afterwards
    #[arg(long)]
    resume: bool,
}

/// A question of a run.
struct Open {
    run: Run,
    story: String,
    question: String,
}

pub(crate) fn run(app: &App, args: AnswerArgs) -> Outcome {
    let AnswerArgs { mut words, resume } = args;
    let named = match words.first() {
        Some(first) if first.starts_with("run_") => Some(RunId::new(words.remove(0))?),
        Some(_) | None => None,
    };
    let mut open = open(app, named)?;
    let Some(text) = words.pop() else {
        return show(app, &open);
    };
    let story = words.pop();
    if let Some(extra) = words.pop() {
        return Err(CommandError::invalid(format!("there is no run `{extra}`"))
            .hinted("`handover answer` shows what is asked, and by which run."));
    }
    if let Some(story) = &story {
        open.retain(|open| open.story == *story);
    }
    let asked = match (open.pop(), open.is_empty()) {
        (Some(asked), true) => asked,
        (Some(_), false) => {
            return Err(CommandError::new(Exit::Usage, "ambiguous", "several questions are open")
                .hinted("Name the run and the story; `handover answer` shows them."));
        }
        (None, _) => {
            let whose = story.map(|story| format!(" by story `{story}`")).unwrap_or_default();
            return Err(CommandError::new(
                Exit::Usage,
                "not_found",
                format!("nothing is asked{whose}"),
            )
            .hinted("`handover answer` shows what is asked."));
        }
    };
    let text = if text == "-" { app.stdin.read("the answer")? } else { text };
    if text.trim().is_empty() {
        return Err(CommandError::invalid("the answer is empty")
            .hinted("Say it in words; the next agent reads exactly that."));
    }
    run::engine(app, |engine| Ok(engine.answer(&asked.run, &asked.story, text.trim())?))?;
    if resume {
        return run::run(app, run::RunArgs::go_on(asked.run.epic.as_str()));
    }
    let answer = json!({"run": asked.run.id, "story": asked.story, "question": asked.question});
    app.ui.answer("answer", &answer, |ui| {
        ui.line(format_args!("Answered {} of run {}", asked.story, asked.run.id))?;
        ui.note(format_args!("Next: `handover run {} --resume`", asked.run.epic));
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// The questions that are open: of one run, or of the latest run of every epic.
fn open(app: &App, named: Option<RunId>) -> Result<Vec<Open>, CommandError> {
    let store = app.store()?;
    let mut epics = BTreeSet::new();
    let mut runs = store.runs(&RunFilter { epic: None, limit: None })?;
    // A later run of the same epic has left the questions of an earlier one behind.
    runs.retain(|run| epics.insert(run.epic.clone()) && run.state == RunState::Blocked);
    if let Some(id) = named {
        let named = store.run_record(&id)?;
        runs.retain(|run| run.id == named.id);
    }
    let mut open = Vec::new();
    for run in runs {
        let Some(Folded { state, .. }) = fold(&run.id, &store.journal(&run.id, 1)?)? else {
            continue;
        };
        for (story, question) in state.questions() {
            open.push(Open { run: run.clone(), story, question });
        }
    }
    Ok(open)
}

fn show(app: &App, open: &[Open]) -> Outcome {
    let answer: Vec<Value> = open
        .iter()
        .map(|open| {
            let Open { run, story, question } = open;
            json!({"run": run.id, "epic": run.epic, "story": story, "question": question})
        })
        .collect();
    app.ui.answer("questions", &answer, |ui| {
        if open.is_empty() {
            return ui.line("Nothing is asked.");
        }
        for Open { run, story, question } in open {
            ui.line(format_args!("{story} (epic {}, {}):", run.epic, run.id))?;
            for line in question.lines() {
                ui.line(format_args!("  {line}"))?;
            }
        }
        ui.note("Answer with `handover answer STORY TEXT`, and go on with `--resume`.");
        Ok(())
    })?;
    Ok(Exit::Done)
}
