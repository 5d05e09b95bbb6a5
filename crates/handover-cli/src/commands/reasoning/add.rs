//! `handover reasoning add`

use std::path::PathBuf;

use handover_context::shape;
use handover_model::{AgentId, Confidence, Phase, Role};
use handover_store::NewReasoning;

use crate::app::App;
use crate::commands::Outcome;
use crate::error::{CommandError, Exit};
use crate::input;
use crate::ui::count;

/// Record reasoning
///
/// Secrets are redacted before it is stored.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  handover reasoning add --role developer --phase decisions \"Adapter per provider: they change weekly\"\n  handover reasoning add --role qa_expert --phase completion --group P1 --file notes.txt"
)]
pub(crate) struct AddArgs {
    /// Role of the agent
    #[arg(long)]
    role: Role,

    /// Phase: understanding, approach, decisions, risks, blockers, pivot or completion
    #[arg(long)]
    phase: Phase,

    /// Confidence: high, medium or low
    #[arg(long)]
    confidence: Option<Confidence>,

    /// Number of the attempt
    #[arg(long, default_value = "0", value_name = "N")]
    iteration: u32,

    /// Id of the agent
    #[arg(long, value_name = "ID")]
    agent_id: Option<AgentId>,

    /// Reference such as a file or ticket; repeatable
    #[arg(long, value_name = "TEXT")]
    reference: Vec<String>,

    /// Text [default: standard input]
    #[arg(allow_hyphen_values = true, value_parser = crate::input::argument)]
    text: Option<String>,

    /// Read the text from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
}

/// Anything longer should be a package.
const MAX_BYTES: usize = 100_000;

pub(crate) fn run(app: &App, args: AddArgs) -> Outcome {
    app.check_role(&args.role)?;
    let text = input::given(args.text, args.file.as_deref(), &app.stdin, "the reasoning")?;
    if text.trim().is_empty() {
        return Err(CommandError::invalid("the reasoning is empty")
            .hinted("Pass it as an argument or on standard input."));
    }
    if text.len() > MAX_BYTES {
        return Err(CommandError::invalid(format!(
            "the reasoning has {} bytes; the limit is {MAX_BYTES}",
            text.len()
        ))
        .hinted("Write it to a file and register that file as a package."));
    }
    let redactor = app.redactor()?;
    let content = redactor.clean(text.trim_end());
    let redactions = content.redactions();
    let new = NewReasoning {
        session: app.session()?,
        group: app.group()?,
        role: args.role,
        agent_id: args.agent_id.map(|id| app.no_secret("agent id", id)).transpose()?,
        iteration: args.iteration,
        phase: args.phase,
        confidence: args.confidence,
        content,
        references: args.reference.iter().map(|text| redactor.clean(text)).collect(),
        now: app.now(),
        trust: app.author()?,
    };
    let kept = app.store()?.add_reasoning(&new)?;
    let answer = shape::recorded(&kept, redactions);
    app.ui.answer("reasoning", &answer, |ui| {
        ui.line(format_args!("Recorded reasoning {} ({} by {})", kept.id, kept.phase, kept.role))?;
        if redactions > 0 {
            ui.note(format_args!("{} redacted", count(redactions, "secret")));
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
