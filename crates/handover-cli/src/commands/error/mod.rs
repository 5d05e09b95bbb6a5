//! `handover error …`

mod confirm;
mod list;
mod match_text;
mod record;
mod reject;
mod resolve;
mod state;

use clap::{Args, Subcommand};
use handover_context::shape;
use handover_model::{ErrorPattern, Role};
use handover_store::{CleanSignature, ErrorSighting, Judgement};
use serde_json::Value;

use super::{Outcome, with_state};
use crate::app::{App, short_id};
use crate::error::{CommandError, Exit};
use crate::ui::Ui;

/// Record errors and their solutions, look them up and retire them
///
/// Error patterns belong to the project and are shared by all sessions. Errors that differ only in paths,
/// numbers, ids, times and quoted values are the same pattern.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum ErrorCommand {
    Record(record::RecordArgs),
    Resolve(resolve::ResolveArgs),
    Confirm(confirm::ConfirmArgs),
    Reject(reject::RejectArgs),
    Match(match_text::MatchArgs),
    List(list::ListArgs),
    Retire(state::RetireArgs),
    Restore(state::RestoreArgs),
}

impl ErrorCommand {
    pub(crate) fn run(self, app: &App) -> Outcome {
        match self {
            Self::Record(args) => record::run(app, args),
            Self::Resolve(args) => resolve::run(app, args),
            Self::Confirm(args) => confirm::run(app, args),
            Self::Reject(args) => reject::run(app, args),
            Self::Match(args) => match_text::run(app, args),
            Self::List(args) => list::run(app, args),
            Self::Retire(args) => state::retire(app, args),
            Self::Restore(args) => state::restore(app, args),
        }
    }
}

/// An error, as described on the command line.
#[derive(Debug, Args)]
struct SightingArgs {
    /// Error message
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = crate::input::argument)]
    message: String,

    /// Type, such as TypeError [default: derived from the message]
    #[arg(long = "type", value_name = "NAME")]
    kind: Option<String>,

    /// Command that failed
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = crate::input::argument)]
    command: Option<String>,

    /// Programming language
    #[arg(long, value_name = "NAME")]
    lang: Option<String>,

    /// Role of the agent that hit it
    #[arg(long)]
    role: Option<Role>,

    /// Keyword that distinguishes errors with the same message; repeatable
    #[arg(long, value_name = "TEXT")]
    hint: Vec<String>,
}

impl SightingArgs {
    fn sighting(self, app: &App) -> Result<ErrorSighting, CommandError> {
        if self.message.trim().is_empty() {
            return Err(CommandError::invalid("the message is empty")
                .hinted("Pass the error message to `--message`."));
        }
        let redactor = app.redactor()?;
        let clean = |text: String| redactor.clean(&text);
        // Errors belong to the project, so a session is optional.
        let (session, project) = app.learning()?;
        Ok(ErrorSighting {
            project,
            signature: CleanSignature::new(
                self.kind.as_deref(),
                &self.message,
                &self.hint,
                redactor,
            ),
            language: self.lang.map(|lang| clean(lang.to_lowercase())),
            ttl_days: app.config()?.learning.ttl_days,
            session,
            group: app.group()?,
            role: self.role,
            command: self.command.map(clean),
            now: app.now(),
            trust: app.author()?,
        })
    }
}

fn judge(app: &App, hash: &str, verdict: Judgement) -> Outcome {
    let hash = app.find_error(hash)?;
    let pattern = app.store()?.judge_error(&app.learning()?.1, &hash, verdict, app.now())?;
    answer(app, &pattern)
}

fn answer(app: &App, pattern: &ErrorPattern) -> Outcome {
    app.ui.answer("error", &shape::error(pattern), |ui| print(ui, pattern))?;
    Ok(Exit::Done)
}

fn print(ui: &Ui, pattern: &ErrorPattern) -> Result<(), CommandError> {
    ui.line(format_args!(
        "{}  {}  (confidence {}, seen {}×)",
        short_id(&pattern.hash),
        with_state(pattern.state, &pattern.said()),
        pattern.confidence,
        pattern.occurrences
    ))?;
    match &pattern.solution {
        Some(solution) => {
            let lines = solution.lines().map(str::trim_end).filter(|line| !line.is_empty());
            ui.line(format_args!("  solution: {}", lines.collect::<Vec<_>>().join("\n    ")))
        }
        None => ui.line("  no solution yet"),
    }
}

fn answer_all(app: &App, patterns: &[ErrorPattern], empty: &str) -> Outcome {
    let errors: Vec<Value> = patterns.iter().map(shape::error).collect();
    app.ui.answer("errors", &errors, |ui| {
        if patterns.is_empty() {
            return ui.line(empty);
        }
        patterns.iter().try_for_each(|pattern| print(ui, pattern))
    })?;
    Ok(Exit::Done)
}
