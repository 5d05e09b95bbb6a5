//! `handover run answer`

use handover_engine::question::{self, AnswerContext, Question};
use handover_model::RunId;
use serde_json::{Value, json};

use super::{Outcome, run};
use crate::app::App;
use crate::env;
use crate::error::{CommandError, Exit};

/// Answer a question from a run, or list the open questions
///
/// A story that needs a human decision is blocked with a question. The answer is added to the run's journal;
/// `--resume`, here or as `handover run EPIC --resume`, then continues the run.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "handover run answer [OPTIONS] [RUN] [STORY] [TEXT|-]",
    after_help = "Examples:\n  handover run answer                           list the open questions\n  \
                  handover run answer \"Use port 8080\"           answer the only open question\n  \
                  handover run answer 1-2-login \"Use port 8080\" --resume\n  \
                  handover run answer run_01f 1-2-login - < answer.txt"
)]
pub(crate) struct AnswerArgs {
    /// Run and story, if there are several open questions, then the answer; `-` reads it from standard input
    #[arg(value_name = "WORD", num_args = 0..=3)]
    words: Vec<String>,

    /// Resume the run afterwards
    #[arg(long)]
    resume: bool,
}

pub(crate) fn run(app: &App, args: AnswerArgs) -> Outcome {
    let AnswerArgs { mut words, resume } = args;
    let named = match words.first() {
        Some(first) if first.starts_with("run_") => Some(RunId::new(words.remove(0))?),
        Some(_) | None => None,
    };
    let open = question::open(app.store()?, named.as_ref())?;
    let Some(text) = words.pop() else {
        return show(app, &open);
    };
    let story = words.pop();
    if let Some(extra) = words.pop() {
        return Err(CommandError::invalid(format!("there is no run `{extra}`"))
            .hinted("`handover run answer` shows what is asked, and by which run."));
    }
    let asked = question::meant(open, story.as_deref())?;
    let text = if text == "-" { app.stdin.read("the answer")? } else { text };
    let context = AnswerContext {
        store: app.store()?,
        redactor: app.redactor()?,
        config: app.config()?,
        machine: &env::machine(),
        author: app.author()?.as_str(),
        now: env::now(),
    };
    context.answer(&asked, &text)?;
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

fn show(app: &App, open: &[Question]) -> Outcome {
    let answer: Vec<Value> = open
        .iter()
        .map(|open| {
            let Question { run, story, question } = open;
            json!({"run": run.id, "epic": run.epic, "story": story, "question": question})
        })
        .collect();
    app.ui.answer("questions", &answer, |ui| {
        if open.is_empty() {
            return ui.line("No open questions.");
        }
        for Question { run, story, question } in open {
            ui.line(format_args!("{story} (epic {}, {}):", run.epic, run.id))?;
            for line in question.lines() {
                ui.line(format_args!("  {line}"))?;
            }
        }
        ui.note("Answer with `handover run answer STORY TEXT`, then continue with `--resume`.");
        Ok(())
    })?;
    Ok(Exit::Done)
}
